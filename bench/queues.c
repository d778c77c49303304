/* queues.c: two ranks: one-way time of 8 bytes while both ranks have many posted receives, or many unexpected
 * messages, of other tags. Plain MPI. Usage: queues
 * Output: lines "result NAME VALUE UNIT" from rank 0, several of each name. Called by `cargo xtask bench`. */
#include "measure.h"

enum { DEPTH = 16384, PASSES = 3, FIRST = 1000 };

static int rank, peer;
static char out[8], in[8], others[DEPTH];
static MPI_Request requests[DEPTH];

/* One message each way; `what` says from whom it is received. */
static void ping_pong(void *what)
{
    int source = *(int *)what;
    if (rank == 0) MPI_Send(out, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 8, MPI_BYTE, source, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void report(const char *queue)
{
    int sources[] = {peer, MPI_ANY_SOURCE};
    static const char *const names[] = {"exact", "any"};
    for (int i = 0; i < 2; i++) {
        char name[40];
        double one_way = measure(ping_pong, &sources[i], 0.002, 0) / 2;
        snprintf(name, sizeof name, "%s_%s", queue, names[i]);
        if (rank == 0) measure_report(name, one_way * 1e6, "us");
    }
}

static void post(int source)
{
    for (int i = 0; i < DEPTH; i++)
        MPI_Irecv(&others[i], 1, MPI_BYTE, source, FIRST + i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* In turns: a library that keeps little for nobody's use must not be flooded from both sides. */
static void send_all(void)
{
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < DEPTH && rank == turn; i++) MPI_Send(out, 1, MPI_BYTE, peer, FIRST + i, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void posted(const char *queue, int source)
{
    memset(others, 0, sizeof others);
    post(source);
    report(queue);
    send_all();
    MPI_Waitall(DEPTH, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < DEPTH; i++)
        if (others[i] != 3) measure_fail(queue);
}

static void unexpected(const char *queue)
{
    memset(others, 0, sizeof others);
    send_all();
    report(queue);
    for (int i = 0; i < DEPTH; i++)
        MPI_Recv(&others[i], 1, MPI_BYTE, peer, FIRST + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < DEPTH; i++)
        if (others[i] != 3) measure_fail(queue);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    memset(out, 3, sizeof out);
    for (int pass = 0; pass < PASSES; pass++) {
        report("queue_empty");
        posted("queue_posted", peer);
        posted("queue_wild", MPI_ANY_SOURCE);
        unexpected("queue_unexpected");
    }
    MPI_Finalize();
    return 0;
}
