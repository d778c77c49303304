// ranks: 2 4
// only: posthaste
/* partitioned_early.c: each partition travels as soon as it is ready. MPI-5.0 chapter 4 allows that and demands it of
 * nobody; here a receiver waits for every partition while the others are still being made. */
#include "check.h"

static int peer, sends;

enum { MOST = 24 * 4096 };
static int out[MOST], in[MOST];

static int value(int at, int round)
{
    return at * 3 + round * 1000003;
}

static void fill(int n, int round)
{
    for (int i = 0; i < n; i++) out[i] = value(i, round), in[i] = -1;
}

static void wait_for(MPI_Request request, int partition)
{
    int flag = 0;
    while (!flag) OK(MPI_Parrived(request, partition, &flag));
}

/* Every mix of partitions, one by one: what was made ready arrives, and nothing else has. */
static void one_by_one(int partitions_out, int partitions_in, int per_unit)
{
    int n = 24 * per_unit, mine = sends ? partitions_out : partitions_in, flag;
    MPI_Request r;
    MPI_Status st;
    if (sends) OK(MPI_Psend_init_c(out, mine, n / mine, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    else OK(MPI_Precv_init_c(in, mine, n / mine, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    for (int round = 0; round < 3; round++) {
        fill(n, round);
        OK(MPI_Start(&r));
        if (sends) {
            for (int i = 0; i < mine; i++) {
                int token, partition = (i * 5 + 3) % mine;
                OK(MPI_Pready(partition, r));
                OK(MPI_Send(&partition, 1, MPI_INT, peer, 5, MPI_COMM_WORLD));
                OK(MPI_Recv(&token, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            }
        } else {
            static char ready[24];
            memset(ready, 0, sizeof ready);
            for (int i = 0; i < partitions_out; i++) {
                int made;
                OK(MPI_Recv(&made, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st));
                EQUAL(st.MPI_SOURCE, peer);
                ready[made] = 1;
                for (int p = 0; p < mine; p++) {
                    /* In units of 1 / (mine * partitions_out). */
                    int from = p * partitions_out, to = from + partitions_out, covered = 1;
                    for (int s = 0; s < partitions_out; s++)
                        if (s * mine < to && (s + 1) * mine > from && !ready[s]) covered = 0;
                    if (!covered) {
                        OK(MPI_Parrived(r, p, &flag));
                        CHECK(!flag, "partition %d of %d has arrived before %d of %d", p, mine, i, partitions_out);
                        continue;
                    }
                    wait_for(r, p);
                    for (int k = p * (n / mine); k < (p + 1) * (n / mine); k++) EQUAL(in[k], value(k, round));
                }
                OK(MPI_Send(&made, 1, MPI_INT, peer, 5, MPI_COMM_WORLD));
            }
        }
        OK(MPI_Wait(&r, &st));
        CHECK(r != MPI_REQUEST_NULL);
        if (!sends) {
            int count;
            OK(MPI_Get_count(&st, MPI_INT, &count));
            EQUAL(count, n);
            CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == 5, "from %d with tag %d", st.MPI_SOURCE, st.MPI_TAG);
            for (int k = 0; k < n; k++) EQUAL(in[k], value(k, round));
        }
    }
    OK(MPI_Request_free(&r));
    CHECK(r == MPI_REQUEST_NULL);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 8, 24};
    check_start(&argc, &argv);
    peer = rank ^ 1;
    for (int turn = 0; turn < 2; turn++) {
        sends = (rank + turn) % 2 == 0;
        for (int length = 1; length <= 4096; length *= 64)
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) one_by_one(counts[a], counts[b], length);
    }
    return check_end();
}
