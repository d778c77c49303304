// ranks: 2
// only: posthaste
// A program that closes descriptors it does not know takes the memory from MPI_Alloc_mem out of its peers' reach: messages
// from and into it take other ways, and what the peers have reached before stays with them.
#include "check.h"

#include <dirent.h>
#include <unistd.h>

enum { LEN = 300000 };

static void close_memory(void)
{
    DIR *all = opendir("/proc/self/fd");
    int closed = 0;
    CHECK(all != NULL);
    for (struct dirent *one; (one = readdir(all)) != NULL;) {
        char path[300], name[300];
        snprintf(path, sizeof path, "/proc/self/fd/%s", one->d_name);
        ssize_t len = readlink(path, name, sizeof name - 1);
        name[len < 0 ? 0 : len] = 0;
        if (strstr(name, "posthaste-memory")) closed += close(atoi(one->d_name)) == 0;
    }
    closedir(all);
    CHECK(closed == 1);
}

static void exchange(char *out, char *in, int peer, int with)
{
    memset(out, with, LEN);
    MPI_Sendrecv(out, LEN, MPI_BYTE, peer, 1, in, LEN, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == (char)with && in[LEN - 1] == (char)with);
}

int main(int argc, char **argv)
{
    char *out, *in, *plain = malloc(LEN);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPI_Alloc_mem(LEN, MPI_INFO_NULL, &out) == MPI_SUCCESS);
    CHECK(MPI_Alloc_mem(LEN, MPI_INFO_NULL, &in) == MPI_SUCCESS);
    if (rank == 0) close_memory();
    for (int i = 0; i < 200; i++) {
        exchange(out, in, 1 - rank, i);
        exchange(plain, in, 1 - rank, i + 1);
        exchange(out, plain, 1 - rank, i + 2);
    }
    if (rank == 1) close_memory();
    for (int i = 0; i < 200; i++) exchange(out, in, 1 - rank, i);
    MPI_Free_mem(out);
    MPI_Free_mem(in);
    free(plain);
    MPI_Finalize();
    return 0;
}
