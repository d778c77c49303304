/* A profiling tool that is preloaded: it sees every call from Fortran once, and none that the Fortran library makes for
 * itself. MPI-5.0 section 15.2. */
#include <mpi.h>
#include <stdio.h>

#define COUNTED(name, parameters, arguments) \
    static int calls_of_##name; \
    int MPI_##name parameters \
    { \
        calls_of_##name++; \
        return PMPI_##name arguments; \
    }

COUNTED(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c))
COUNTED(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r), (b, n, t, to, tag, c, r))
COUNTED(Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
COUNTED(Allreduce, (const void *b, void *into, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, into, n, t, op, c))
COUNTED(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COUNTED(Gatherv,
        (const void *b, int n, MPI_Datatype t, void *into, const int *counts, const int *places, MPI_Datatype of, int root, MPI_Comm c),
        (b, n, t, into, counts, places, of, root, c))
COUNTED(Alltoallw,
        (const void *b, const int *n, const int *at, const MPI_Datatype *t, void *into, const int *counts, const int *places,
         const MPI_Datatype *of, MPI_Comm c),
        (b, n, at, t, into, counts, places, of, c))
COUNTED(Iscan, (const void *b, void *into, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request *r), (b, into, n, t, op, c, r))
COUNTED(Barrier_init, (MPI_Comm c, MPI_Info i, MPI_Request *r), (c, i, r))
COUNTED(Start, (MPI_Request * r), (r))
COUNTED(Win_create, (void *b, MPI_Aint bytes, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w), (b, bytes, unit, i, c, w))
COUNTED(Win_fence, (int assert, MPI_Win w), (assert, w))
COUNTED(Put, (const void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype of, MPI_Win w), (b, n, t, to, at, m, of, w))
COUNTED(Get, (void *b, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype of, MPI_Win w), (b, n, t, to, at, m, of, w))
COUNTED(Fetch_and_op, (const void *b, void *into, MPI_Datatype t, int to, MPI_Aint at, MPI_Op op, MPI_Win w), (b, into, t, to, at, op, w))
COUNTED(Win_free, (MPI_Win * w), (w))
/* What the Fortran library may need and the program does not call. */
COUNTED(Comm_size, (MPI_Comm c, int *n), (c, n))
COUNTED(Type_commit, (MPI_Datatype * t), (t))
COUNTED(Type_free, (MPI_Datatype * t), (t))
COUNTED(Wait, (MPI_Request * r, MPI_Status *s), (r, s))

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("counter: %d sends, %d + %d nonblocking, %d reductions,", calls_of_Send, calls_of_Isend, calls_of_Waitall, calls_of_Allreduce);
        printf(" %d + %d + %d + %d collective,", calls_of_Bcast, calls_of_Gatherv, calls_of_Alltoallw, calls_of_Iscan);
        printf(" %d + %d persistent,", calls_of_Barrier_init, calls_of_Start);
        printf(" %d + %d + %d + %d + %d + %d one-sided,", calls_of_Win_create, calls_of_Win_fence, calls_of_Put, calls_of_Get,
               calls_of_Fetch_and_op, calls_of_Win_free);
        printf(" %d of its own\n", calls_of_Comm_size + calls_of_Type_commit + calls_of_Type_free + calls_of_Wait);
        fflush(stdout);
    }
    return PMPI_Finalize();
}
