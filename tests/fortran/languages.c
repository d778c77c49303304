/* What a C library with a Fortran interface does: handles and statuses of Fortran come in, others go out. MPI-5.0 section
 * 19.3. */
#include <mpi.h>

/* The sum of the ranks; the error code is that of MPI. */
int sum_of_ranks(const MPI_Fint *comm, const MPI_Fint *op, MPI_Fint *sum)
{
    int rank, code = MPI_Comm_rank(MPI_Comm_f2c(*comm), &rank);
    return code ? code : MPI_Allreduce(&rank, sum, 1, MPI_INT, MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
}

/* A type made here, used and freed in Fortran. */
MPI_Fint pair_of(const MPI_Fint *type)
{
    MPI_Datatype pair;
    if (MPI_Type_contiguous(2, MPI_Type_f2c(*type), &pair) || MPI_Type_commit(&pair)) pair = MPI_DATATYPE_NULL;
    return MPI_Type_c2f(pair);
}

/* How many elements a status of Fortran counts, and where they came from. */
int of_status(const MPI_Fint *status, const MPI_Fint *type, MPI_Fint *source)
{
    MPI_Status here;
    int count = -1;
    if (MPI_Status_f2c(status, &here) || MPI_Get_count(&here, MPI_Type_f2c(*type), &count)) return -1;
    *source = here.MPI_SOURCE;
    return count;
}

/* A request made here, completed in Fortran. */
MPI_Fint barrier_on(const MPI_Fint *comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_Comm_f2c(*comm), &request);
    return MPI_Request_c2f(request);
}

/* Which of Fortran's two statuses that are ignored a status is, and whether it is one of mpi_f08: 1, 2; 0 if it is none. */
int ignored(const void *status, const MPI_Fint *f08)
{
    const void *one = *f08 ? (const void *)MPI_F08_STATUS_IGNORE : (const void *)MPI_F_STATUS_IGNORE;
    const void *many = *f08 ? (const void *)MPI_F08_STATUSES_IGNORE : (const void *)MPI_F_STATUSES_IGNORE;
    MPI_Status here;
    int code = *f08 ? MPI_Status_f082c(status, &here) : MPI_Status_f2c(status, &here);
    if ((code == MPI_SUCCESS) != (status != one && status != many)) return -1;
    return status == one ? 1 : status == many ? 2 : 0;
}
