/* killed.c, whose processes go on where it ends: who comes to MPI_Finalize makes a communicator of all that are left of its job, uses it,
 * and finalizes. Each says "begun PID" when MPI has begun for it, and "goes on PID" when all of that has succeeded. Here nobody is killed
 * but in MPI_Finalize itself. */
#define main killed_main
#include "killed.c"
#undef main
#include <mpi-ext.h>

int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) fprintf(stderr, "begun %d\n", getpid());
    return code;
}

/* Works with whoever is left of this job. */
static int works(void)
{
    enum { ROUNDS = 3, LONG = 1 << 15 };
    static int out[LONG], in[LONG];
    MPI_Comm left;
    int n = 0, me = 0, sum = 0;
    if (!went("MPIX_Comm_shrink", MPIX_Comm_shrink(MPI_COMM_WORLD, &left))) return 0;
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    MPI_Comm_size(left, &n);
    MPI_Comm_rank(left, &me);
    for (int round = 0; round < ROUNDS; round++) {
        int to = (me + 1) % n, from = (me + n - 1) % n;
        out[LONG - 1] = me;
        if (!went("MPI_Allreduce", MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, left)) || sum != n * (n - 1) / 2) return 0;
        if (!went("MPI_Sendrecv", MPI_Sendrecv(out, LONG, MPI_INT, to, round, in, LONG, MPI_INT, from, round, left, MPI_STATUS_IGNORE)) ||
            in[LONG - 1] != from)
            return 0;
    }
    return went("MPI_Comm_free", MPI_Comm_free(&left));
}

int MPI_Finalize(void)
{
    int counted = counts;
    counts = 0;
    int fine = works();
    counts = counted;
    int code = PMPI_Finalize();
    if (fine && code == MPI_SUCCESS) fprintf(stderr, "goes on %d\n", getpid());
    return code;
}

int main(int argc, char **argv) { return killed_main(argc, argv); }
