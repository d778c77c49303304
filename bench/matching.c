/* matching.c: two ranks; rank 0 sends windows of short messages of a vector type, and rank 1 receives them in another
 * order, posted before they come and after, and in the order in which they were sent. A pipe tells that all have come, so that nobody spins and every run counts
 * the same. Run under callgrind by `cargo xtask test`, which counts the instructions of the functions matching_*.
 * Usage: matching ROUNDS FOLDER; each function is called ROUNDS times for WINDOW messages. */
#include "pipes.h"
#include <stdlib.h>

enum { WINDOW = 64 };

/* What rank 1 does first. */
enum turn { POSTED, KEPT, THERE, TURNS };

static int in[WINDOW][8], out[8];
static MPI_Datatype vector;
static MPI_Request requests[WINDOW];

/* The k-th in an order of its own for each `step`, which has no factor of WINDOW in it. */
static int place(int k, int step) { return (k * step + 5) % WINDOW; }

static void send_window(enum turn turn)
{
    for (int k = 0; k < WINDOW; k++) {
        out[0] = turn == THERE ? k : place(k, 3);
        MPI_Send(out, 1, vector, 1, out[0], MPI_COMM_WORLD);
    }
}

static void start(int at)
{
    MPI_Irecv(in[at], 1, vector, 0, at, MPI_COMM_WORLD, &requests[at]);
}

/* Before anything comes. */
__attribute__((noinline)) void matching_post(void)
{
    for (int k = 0; k < WINDOW; k++) start(place(k, 7));
}

/* Messages and receives meet. */
__attribute__((noinline)) void matching_meet(void) { MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE); }

/* Messages come that nobody has asked for yet. */
__attribute__((noinline)) void matching_keep(void)
{
    int there;
    MPI_Iprobe(0, WINDOW, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) pipes_fail("a message came that nobody sent");
}

/* They are received. */
__attribute__((noinline)) void matching_take(void)
{
    for (int k = 0; k < WINDOW; k++) start(place(k, 7));
}

/* Receives of messages that nobody has looked at yet, each that of the message that is next. */
__attribute__((noinline)) void matching_there(void)
{
    for (int k = 0; k < WINDOW; k++) start(k);
}

/* They are over already. */
__attribute__((noinline)) void matching_end(void)
{
    for (int k = 0; k < WINDOW; k++) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
}

static void receive_window(enum turn turn)
{
    if (turn == POSTED) matching_post();
    pipes_tell();
    pipes_hear();
    if (turn == POSTED) {
        matching_meet();
    } else if (turn == KEPT) {
        matching_keep();
        matching_take();
        matching_end();
    } else {
        matching_there();
        matching_end();
    }
    for (int k = 0; k < WINDOW; k++) {
        if (in[k][0] != k) pipes_fail("a message went to another receive");
        in[k][0] = -1;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    pipes_open(argc > 2 ? argv[2] : ".");
    MPI_Type_vector(4, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < rounds * TURNS; i++) {
        if (pipes_rank == 1) {
            receive_window(i % TURNS);
        } else {
            pipes_hear();
            send_window(i % TURNS);
            pipes_tell();
        }
    }
    MPI_Type_free(&vector);
    MPI_Finalize();
    return 0;
}
