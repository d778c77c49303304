// ranks: 1 2
// only: posthaste
// alone
/* Handles that never were, or are no more, are found out: the error class of their kind, never a crash.
 * The ABI promises nothing here; this is a promise of posthaste. */
#include "check.h"

#include <stdint.h>

static const uintptr_t garbage[] = {1,      2,          0x0fff,     0x1000,     0x1001,     0x7fffffff,
                                    0xffff, 0xdeadbeef, 0x80000000, UINTPTR_MAX, 0x7fffdeadbeefUL, 0x12345678};

int main(int argc, char **argv)
{
    int value = 0, flag;
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        void *wild = (void *)garbage[i];
        MPI_Request request = (MPI_Request)wild;
        MPI_Comm comm = (MPI_Comm)wild;
        MPI_Group group = (MPI_Group)wild;
        MPI_Datatype type = (MPI_Datatype)wild;
        MPI_Errhandler errhandler = (MPI_Errhandler)wild;
        REFUSED(MPI_Send(&value, 1, MPI_INT, rank, 1, comm), MPI_ERR_COMM);
        REFUSED(MPI_Comm_rank(comm, &value), MPI_ERR_COMM);
        REFUSED(MPI_Comm_free(&comm), MPI_ERR_COMM);
        REFUSED(MPI_Send(&value, 1, type, rank, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
        REFUSED(MPI_Type_size(type, &value), MPI_ERR_TYPE);
        REFUSED(MPI_Type_free(&type), MPI_ERR_TYPE);
        REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        REFUSED(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        REFUSED(MPI_Request_free(&request), MPI_ERR_REQUEST);
        REFUSED(MPI_Group_size(group, &value), MPI_ERR_GROUP);
        REFUSED(MPI_Allreduce(&value, &flag, 1, MPI_INT, (MPI_Op)wild, MPI_COMM_SELF), MPI_ERR_OP);
        REFUSED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler), MPI_ERR_ERRHANDLER);
    }
    /* Handles that were freed. */
    MPI_Comm comm, old_comm;
    MPI_Datatype type, old_type;
    MPI_Request request, old_request;
    MPI_Group group, old_group;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    old_comm = comm;
    OK(MPI_Comm_free(&comm));
    REFUSED(MPI_Comm_size(old_comm, &value), MPI_ERR_COMM);
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    old_type = type;
    OK(MPI_Type_free(&type));
    REFUSED(MPI_Type_size(old_type, &value), MPI_ERR_TYPE);
    OK(MPI_Comm_group(MPI_COMM_SELF, &group));
    old_group = group;
    OK(MPI_Group_free(&group));
    REFUSED(MPI_Group_size(old_group, &value), MPI_ERR_GROUP);
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    old_request = request;
    OK(MPI_Send(&flag, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    REFUSED(MPI_Wait(&old_request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    /* Its place is taken by others: the old handle still finds nothing. */
    for (int i = 0; i < 500; i++) {
        MPI_Request pair[2];
        OK(MPI_Irecv(&value, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &pair[0]));
        OK(MPI_Isend(&flag, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &pair[1]));
        REFUSED(MPI_Wait(&old_request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
        OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    }
    return check_end();
}
