// ranks: 6
/* Ranks that are ahead of a root that comes late: their buffers are theirs again when a call returns, another communicator's operations come
 * between, and some are in MPI_Finalize before the root has taken anything. MPI-5.0 sections 6.1 and 11.2.2. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

enum { ROUNDS = 40, MOST = 1 << 17 };

static int rank, size;

/* What a rank gives in a round at a place. */
static int given(int from, int round, int at) { return from * 1000003 + round * 1009 + at % 251; }

static void gathered(MPI_Comm comm, int count, int round, int *give, int *got)
{
    for (int at = 0; at < count; at++) give[at] = given(rank, round, at);
    OK(MPI_Gather(give, count, MPI_INT, got, count, MPI_INT, 0, comm));
    for (int at = 0; at < count; at++) give[at] = -1;
    for (int from = 0; rank == 0 && from < size; from++)
        for (int at = 0; at < count; at += count / 7 + 1) CHECK(got[from * count + at] == given(from, round, at));
}

static void reduced(MPI_Comm comm, int count, int round, int *give, int *got)
{
    for (int at = 0; at < count; at++) give[at] = given(rank, round, at);
    OK(MPI_Reduce(give, got, count, MPI_INT, MPI_BXOR, 0, comm));
    for (int at = 0; at < count; at++) give[at] = -1;
    for (int at = 0; rank == 0 && at < count; at += count / 7 + 1) {
        int all = 0;
        for (int from = 0; from < size; from++) all ^= given(from, round, at);
        CHECK(got[at] == all);
    }
}

int main(int argc, char **argv)
{
    static const int counts[] = {1 << 10, 12 << 10, 1 << 14, (1 << 15) + 3, MOST};
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    int *give = malloc(sizeof(int) * MOST), *got = malloc(sizeof(int) * MOST * size);
    CHECK(give && got);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0 && round % 10 == 0) usleep(100000);
        int count = counts[round % 5];
        gathered(round % 3 ? MPI_COMM_WORLD : other, count, round, give, got);
        reduced(round % 2 ? MPI_COMM_WORLD : other, count, round, give, got);
    }
    OK(MPI_Comm_free(&other));
    if (rank == 0) usleep(300000);
    gathered(MPI_COMM_WORLD, MOST, ROUNDS, give, got);
    free(give), free(got);
    MPI_Finalize();
    return 0;
}
