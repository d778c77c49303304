// ranks: 1 2
// only: posthaste
// of memory
/* Ranks of two jobs come together by nothing that is numbered or named within a job: memory, hardware, process sets, in one
 * communicator and in the intercommunicator that they have met in. MPI-5.0 sections 7.4.2 and 11.8. */
#include "check.h"

#include <unistd.h>

static MPI_Comm all, inter;

static int has(MPI_Comm comm, int type, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm part;
    int n = 0;
    if (key) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Comm_split_type(comm, type, 0, info, &part));
    if (key) OK(MPI_Info_free(&info));
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_size(part, &n));
        OK(MPI_Comm_free(&part));
    }
    return n;
}

static void part(void)
{
    EQUAL(has(all, MPI_COMM_TYPE_SHARED, NULL, NULL), size);
    EQUAL(has(all, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), size);
    EQUAL(has(all, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), size);
    EQUAL(has(all, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    /* The widest thing that not all share is the memory of a job. */
    EQUAL(has(all, MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL), size);
    EQUAL(has(inter, MPI_COMM_TYPE_SHARED, NULL, NULL), 0);
    EQUAL(has(inter, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), 0);
}

int main(int argc, char **argv)
{
    static char own[4096];
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    int is_parent = inter == MPI_COMM_NULL;
    if (is_parent) {
        CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
        OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    }
    OK(MPI_Intercomm_merge(inter, !is_parent, &all));
    part();
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&inter));
    return check_end();
}
