/* HDF5 as Debian has built it for MPICH, over our library: files of one process each, in memory and on disk; a file of all of them
 * takes MPI-IO, which is not there, and says so. The argument is a folder. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEN 1000

static int rank;

static void check(int is_right, const char *what) {
    if (!is_right) {
        printf("rank %d: %s is wrong\n", rank, what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* A dataset with an attribute goes out and comes back. */
static void there_and_back(hid_t access, const char *name) {
    double out[LEN], in[LEN] = {0};
    hsize_t len = LEN;
    for (int at = 0; at < LEN; at++) out[at] = rank + at / 8.0;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    check(file >= 0, "a new file");
    hid_t space = H5Screate_simple(1, &len, NULL);
    hid_t set = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0, "what is written");
    hid_t scalar = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(set, "rank", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Awrite(attribute, H5T_NATIVE_INT, &rank) >= 0, "an attribute");
    check(H5Dclose(set) >= 0 && H5Aclose(attribute) >= 0 && H5Fclose(file) >= 0, "the end");

    int found = -1;
    file = H5Fopen(name, H5F_ACC_RDONLY, access);
    check(file >= 0, "the file again");
    set = H5Dopen2(file, "values", H5P_DEFAULT);
    check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, in) >= 0, "what is read");
    attribute = H5Aopen(set, "rank", H5P_DEFAULT);
    check(H5Aread(attribute, H5T_NATIVE_INT, &found) >= 0 && found == rank, "the attribute that is read");
    check(memcmp(in, out, sizeof in) == 0, "what came back");
    H5Aclose(attribute);
    H5Dclose(set);
    H5Fclose(file);
}

int main(int argc, char **argv) {
    char name[600];
    int ranks, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(argc == 2, "the argument");

    hid_t on_disk = H5Pcreate(H5P_FILE_ACCESS), in_memory = H5Pcreate(H5P_FILE_ACCESS);
    check(H5Pset_fapl_sec2(on_disk) >= 0 && H5Pset_fapl_core(in_memory, 1 << 16, 1) >= 0, "a driver");
    snprintf(name, sizeof name, "%s/disk-%d.h5", argv[1], rank);
    there_and_back(on_disk, name);
    snprintf(name, sizeof name, "%s/memory-%d.h5", argv[1], rank);
    there_and_back(in_memory, name);

    hid_t together = H5Pcreate(H5P_FILE_ACCESS);
    check(H5Pset_fapl_mpio(together, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0, "the driver of MPI-IO");
    snprintf(name, sizeof name, "%s/together.h5", argv[1]);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, together);
    check(file < 0, "a file of all of them");

    check(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS, "a sum");
    check(sum == ranks * (ranks - 1) / 2, "the sum");
    if (rank == 0) puts("hdf5: right");
    check(H5close() >= 0, "the end of HDF5");
    MPI_Finalize();
    return 0;
}
