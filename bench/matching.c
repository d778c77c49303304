/* matching.c: two ranks; rank 0 sends windows of short messages of a vector type, and rank 1 receives them in another
 * order, posted before they come and after, and in the order in which they were sent. A pipe tells that all have come, so that nobody spins and every run counts
 * the same. Run under callgrind by `cargo xtask test`, which counts the instructions of the functions matching_*.
 * Usage: matching ROUNDS FOLDER, where the folder is empty; each function is called ROUNDS times for WINDOW messages. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW = 64 };

/* What rank 1 does first. */
enum turn { POSTED, KEPT, THERE, TURNS };

static int rank, pipes[2];
static int in[WINDOW][8], out[8];
static MPI_Datatype vector;
static MPI_Request requests[WINDOW];

static void fail(const char *what)
{
    fprintf(stderr, "matching: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The k-th in an order of its own for each `step`, which has no factor of WINDOW in it. */
static int place(int k, int step) { return (k * step + 5) % WINDOW; }

static void tell(void)
{
    if (write(pipes[rank], "", 1) != 1) fail("a pipe is broken");
}

static void hear(void)
{
    char token;
    if (read(pipes[1 - rank], &token, 1) != 1) fail("a pipe is broken");
}

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
    if (there) fail("a message came that nobody sent");
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
    tell();
    hear();
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
        if (in[k][0] != k) fail("a message went to another receive");
        in[k][0] = -1;
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 100;
    char name[2][400];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3) fail("usage: matching ROUNDS FOLDER");
    for (int of = 0; of < 2; of++) {
        snprintf(name[of], sizeof name[of], "%s/%d", argv[2], of);
        if (rank == 0 && mkfifo(name[of], 0600) != 0) fail("no pipe could be made");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int of = 0; of < 2; of++) {
        pipes[of] = open(name[of], of == rank ? O_WRONLY : O_RDONLY);
        if (pipes[of] < 0) fail("a pipe could not be opened");
    }
    MPI_Type_vector(4, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    for (int i = 0; i < rounds * TURNS; i++) {
        if (rank == 1) {
            receive_window(i % TURNS);
        } else {
            hear();
            send_window(i % TURNS);
            tell();
        }
    }
    MPI_Type_free(&vector);
    MPI_Finalize();
    return 0;
}
