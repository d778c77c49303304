/* A rank kills itself, and the others go on, with the functions that MPICH's own mpi.h has for that. Run with -disable-auto-cleanup. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

#define EXPECT(what, wanted)                                                                                                     \
    do {                                                                                                                         \
        int class_ = -1, code_ = (what);                                                                                         \
        MPI_Error_class(code_, &class_);                                                                                         \
        if (class_ != (wanted)) {                                                                                                \
            printf("rank %d: %s gave %d, expected %d\n", rank, #what, class_, (wanted));                                         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                                        \
        }                                                                                                                        \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size, value = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm all, left;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    const int lost = 1;
    if (rank == lost) raise(SIGKILL);

    EXPECT(MPI_Recv(&value, 1, MPI_INT, lost, 0, all, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    MPI_Group failed, world;
    EXPECT(MPIX_Comm_failure_ack(all), MPI_SUCCESS);
    EXPECT(MPIX_Comm_failure_get_acked(all, &failed), MPI_SUCCESS);
    MPI_Comm_group(all, &world);
    int first = 0, where = -1, count = 0;
    MPI_Group_size(failed, &count);
    MPI_Group_translate_ranks(failed, 1, &first, world, &where);
    if (count != 1 || where != lost) {
        printf("rank %d: %d are lost, the first is %d\n", rank, count, where);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int flag = rank == 0 ? 6 : 3;
    EXPECT(MPIX_Comm_agree(all, &flag), MPI_SUCCESS);
    if (flag != 2) {
        printf("rank %d: %d was agreed on\n", rank, flag);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) EXPECT(MPIX_Comm_revoke(all), MPI_SUCCESS);
    EXPECT(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, all, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    EXPECT(MPIX_Comm_shrink(all, &left), MPI_SUCCESS);
    int one = 1, sum = 0;
    EXPECT(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left), MPI_SUCCESS);
    if (sum == size - 1) printf("rank %d: %d are left\n", rank, sum);
    MPI_Group_free(&failed);
    MPI_Group_free(&world);
    MPI_Comm_free(&left);
    MPI_Comm_free(&all);
    MPI_Finalize();
    return 0;
}
