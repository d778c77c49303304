// ranks: 1 2 16 64
// timeout: 60
// alone
/* The smallest program, also as a singleton and with far more ranks than CPUs. */
#include "check.h"

int main(int argc, char **argv)
{
    int length = -1, flag = 0, version = 0, subversion = 0, sum = -1;
    char name[MPI_MAX_PROCESSOR_NAME], text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 0);
    check_start(&argc, &argv);
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 1);
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 0);
    CHECK(rank >= 0 && rank < size, "%d of %d", rank, size);
    OK(MPI_Get_processor_name(name, &length));
    EQUAL(strlen(name), length);
    CHECK(length > 0);
    OK(MPI_Get_library_version(text, &length));
    EQUAL(strlen(text), length);
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version >= 4, "%d.%d", version, subversion);
    double before = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    CHECK(MPI_Wtime() >= before);
    check_end();
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 1);
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 1);
    return 0;
}
