// ranks: 2
// exit: nonzero
// says: MPI_Comm_dup on rank 0 of MPI_COMM_WORLD: an attribute callback of the program returned error 16385: the cupboard is bare
// only: posthaste
/* Where errors are fatal, the sentence says the code of the callback and what the program says of it, and the job fails
 * also when the low byte of the code is 0. */
#include "check.h"

static int code;

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return code;
}

int main(int argc, char **argv)
{
    int class, key;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the cupboard is bare");
    MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    if (rank == 0) MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(copy);
    check_unused();
    return 0;
}
