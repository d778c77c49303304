// ranks: 2
// only: posthaste
/* Handles and statuses as Fortran has them, as libraries with Fortran interfaces use them: a communicator comes in as an
 * MPI_Fint and is used, a handle goes out and comes back the same. MPI-5.0 section 19.3. */
#include "check.h"

/* Both ways for a handle that exists, and for the null handle. */
#define THERE_AND_BACK(Type, Name, handle, null)                               \
    do {                                                                       \
        MPI_Fint number_ = MPI_##Name##_c2f(handle);                           \
        CHECK(MPI_##Name##_f2c(number_) == (handle), #Name " %d", number_);    \
        CHECK(PMPI_##Name##_f2c(PMPI_##Name##_c2f(handle)) == (handle));       \
        CHECK(MPI_##Name##_f2c(MPI_##Name##_c2f(null)) == (null));             \
        CHECK(number_ != MPI_##Name##_c2f(null));                              \
    } while (0)

/* What a Fortran interface of a C library does. */
static void sum_of_ranks_f(MPI_Fint *comm, MPI_Fint *type, MPI_Fint *op, int *sum)
{
    int me;
    MPI_Comm_rank(MPI_Comm_f2c(*comm), &me);
    OK(MPI_Allreduce(&me, sum, 1, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm)));
}

static void statuses(void)
{
    int value = rank, got = -1, count = -1, flag = -1;
    MPI_Fint f_status[MPI_F_STATUS_SIZE];
    MPI_F08_status f08;
    MPI_Status status, back;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, 1 - rank, 5, &got, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &status));
    status.MPI_ERROR = MPI_ERR_TRUNCATE;
    OK(MPI_Status_c2f(&status, f_status));
    EQUAL(f_status[MPI_F_SOURCE], 1 - rank);
    EQUAL(f_status[MPI_F_TAG], 5);
    EQUAL(f_status[MPI_F_ERROR], MPI_ERR_TRUNCATE);
    OK(MPI_Status_f2f08(f_status, &f08));
    EQUAL(f08.MPI_SOURCE, 1 - rank);
    EQUAL(f08.MPI_TAG, 5);
    EQUAL(f08.MPI_ERROR, MPI_ERR_TRUNCATE);
    memset(f_status, 0, sizeof f_status);
    OK(MPI_Status_f082f(&f08, f_status));
    memset(&back, 0, sizeof back);
    OK(MPI_Status_f2c(f_status, &back));
    CHECK(memcmp(&status, &back, sizeof status) == 0);
    memset(&back, 0, sizeof back);
    memset(&f08, 0, sizeof f08);
    OK(MPI_Status_c2f08(&status, &f08));
    OK(MPI_Status_f082c(&f08, &back));
    CHECK(memcmp(&status, &back, sizeof status) == 0);
    /* What the library hides in a status has come along. */
    OK(MPI_Get_count(&back, MPI_INT, &count));
    EQUAL(count, 1);
    OK(MPI_Test_cancelled(&back, &flag));
    EQUAL(flag, 0);
    EQUAL(sizeof(MPI_F08_status), MPI_F_STATUS_SIZE * sizeof(MPI_Fint));
    CHECK(MPI_F_STATUS_IGNORE != f_status && MPI_F_STATUSES_IGNORE != f_status);
    CHECK(MPI_F08_STATUS_IGNORE != &f08 && MPI_F08_STATUSES_IGNORE != &f08);
    /* A status that is ignored has nothing to convert (MPI-5.0 section 19.3.5). */
    EQUAL(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back), MPI_ERR_ARG);
    EQUAL(MPI_Status_c2f(MPI_STATUS_IGNORE, f_status), MPI_ERR_ARG);
    EQUAL(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &back), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm copy;
    MPI_Group group;
    MPI_Datatype pair;
    MPI_Info info;
    MPI_Request request;
    MPI_Message message;
    int value = 7, got = -1, sum = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_group(copy, &group));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Info_create(&info));
    THERE_AND_BACK(MPI_Comm, Comm, copy, MPI_COMM_NULL);
    THERE_AND_BACK(MPI_Group, Group, group, MPI_GROUP_NULL);
    THERE_AND_BACK(MPI_Datatype, Type, pair, MPI_DATATYPE_NULL);
    THERE_AND_BACK(MPI_Info, Info, info, MPI_INFO_NULL);
    THERE_AND_BACK(MPI_Op, Op, MPI_SUM, MPI_OP_NULL);
    THERE_AND_BACK(MPI_Errhandler, Errhandler, MPI_ERRORS_RETURN, MPI_ERRHANDLER_NULL);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);

    OK(MPI_Irecv(&got, 1, MPI_INT, rank, 3, copy, &request));
    THERE_AND_BACK(MPI_Request, Request, request, MPI_REQUEST_NULL);
    MPI_Fint number = MPI_Request_c2f(request);
    OK(MPI_Send(&value, 1, MPI_INT, rank, 3, MPI_Comm_f2c(MPI_Comm_c2f(copy))));
    request = MPI_Request_f2c(number);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(got, 7);
    OK(MPI_Isend(&value, 1, MPI_INT, rank, 4, copy, &request));
    OK(MPI_Mprobe(rank, 4, copy, &message, MPI_STATUS_IGNORE));
    THERE_AND_BACK(MPI_Message, Message, message, MPI_MESSAGE_NULL);
    OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));

    MPI_Fint comm_f = MPI_Comm_c2f(MPI_COMM_WORLD), int_f = MPI_Type_c2f(MPI_INT), sum_f = MPI_Op_c2f(MPI_SUM);
    sum_of_ranks_f(&comm_f, &int_f, &sum_f, &sum);
    EQUAL(sum, size * (size - 1) / 2);
    statuses();
    OK(MPI_Info_free(&info));
    OK(MPI_Type_free(&pair));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&copy));
    return check_end();
}
