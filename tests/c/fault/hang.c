/* hang.c: programs that wait for ever in a chosen way, for the tests of what mpiexec says about them
 * (`cargo xtask test --only hangs`). Usage: hang WHAT. */
#include <mpi.h>
#include <posthaste.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char *buffer;
enum { LONG = 4 << 20 };

static void receive(int from, int tag, MPI_Comm comm)
{
    MPI_Recv(buffer, LONG, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

static MPI_Comm duplicate(const char *name)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, name);
    return copy;
}

static void stop(int number)
{
    (void)number;
    raise(SIGSTOP);
}

/* Ranks 0 and 2 wait for each other, and nobody has sent them anything by which they could tell. */
static void gather_and_bcast(void)
{
    if (rank < size - 1)
        MPI_Gather(buffer, 4, MPI_BYTE, buffer + LONG, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(buffer, 4, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void crossed_barriers(void)
{
    MPI_Comm rows = duplicate("rows"), columns = duplicate("columns");
    MPI_Barrier(rank == 0 ? rows : columns);
    MPI_Barrier(rank == 0 ? columns : rows);
}

/* The ranks of the second half, in reverse: their numbers differ from those in the world. */
static void reversed(void)
{
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &half);
    MPI_Comm_set_name(half, "half");
    MPI_Ssend(buffer, 8, MPI_BYTE, rank % 2, 3, half);
}

static void several_requests(void)
{
    MPI_Request requests[3];
    MPI_Irecv(buffer, 8, MPI_BYTE, rank ^ 1, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(buffer + 8, 8, MPI_BYTE, rank ^ 1, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Recv_init(buffer + 16, 8, MPI_BYTE, rank ^ 1, 6, MPI_COMM_WORLD, &requests[2]);
    MPI_Start(&requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static MPI_Win window(void)
{
    MPI_Win win;
    int *base;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "board");
    return win;
}

/* Rank 1 has the lock of rank 2 and waits for rank 0, which wants it. */
static void wanted_lock(MPI_Win win)
{
    if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    receive(0, 1, MPI_COMM_WORLD);
}

/* Ranks 0 and 1 share the lock of rank 2, which rank 0 wants for itself when it has given its own back; rank 1 waits for rank 0. */
static void shared_lock(MPI_Win win)
{
    if (rank < 2) MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_unlock(2, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
    }
    receive(0, 1, MPI_COMM_WORLD);
}

/* Rank 1 is stopped while it changes elements of rank 0 under their lock, which rank 0 wants. */
static void stopped_with_elements(void)
{
    enum { MANY = 1 << 19 };
    static double ones[MANY];
    MPI_Win win;
    double *base;
    int pid = (int)getpid();
    MPI_Win_allocate(sizeof ones, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "board");
    MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (;;) {
        if (rank == 0) kill(pid, SIGSTOP);
        MPI_Accumulate(ones, rank == 0 ? 2 : MANY, MPI_DOUBLE, 0, 0, rank == 0 ? 2 : MANY, MPI_DOUBLE, MPI_SUM, win);
        if (rank == 0) kill(pid, SIGCONT);
        if (rank == 0) usleep(5000);
    }
}

/* A window that is not mapped: what is to be done with its memory, its owner does, and its locks are the owner's to keep. */
static MPI_Win window_of_packets(void)
{
    static int memory[16];
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "board");
    return win;
}

/* Ranks 0 and 1 wait for both ends of an epoch that rank 3 has not begun, rank 2 for a fence; rank 3 waits for rank 0. */
static void epochs(MPI_Win win)
{
    MPI_Group world, last;
    int three = 3;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &three, &last);
    if (rank == 0) MPI_Win_start(last, 0, win);
    if (rank == 1) {
        MPI_Win_post(last, 0, win);
        MPI_Win_wait(win);
    }
    if (rank == 2) MPI_Win_fence(0, win);
    receive(0, 1, MPI_COMM_WORLD);
}

/* Rank 0 waits for what rank 1 has to do for it, which is stopped, its thread for windows as well. */
static void flush(MPI_Win win)
{
    int one = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) raise(SIGSTOP);
    usleep(200000); /* that thread has stopped, too */
    MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win);
    MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(1, win);
    MPI_Win_unlock(1, win);
}

/* Rank 0 has an edge from rank 1, which has none to it. */
static void half_an_edge(void)
{
    MPI_Comm graph;
    int other = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0, &other, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Comm_set_name(graph, "half an edge");
    MPI_Neighbor_alltoall(buffer, 4, MPI_BYTE, buffer + LONG, 4, MPI_BYTE, graph);
}

static void *second_thread(void *unused)
{
    (void)unused;
    MPI_Recv(buffer + LONG, 4, MPI_BYTE, rank ^ 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void two_threads(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, second_thread, NULL);
    receive(rank ^ 1, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

static void waits_inside(MPI_Request request, void *unused)
{
    (void)request, (void)unused;
    receive(1, 4, MPI_COMM_WORLD);
}

static void *waits_for(void *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return NULL;
}

/* Rank 0 waits for a message inside a handler, or for a request whose handler another thread has disabled. */
static void handler(int disabled)
{
    pthread_t thread;
    MPI_Request request;
    if (rank == 1) {
        MPI_Send(buffer, 4, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        receive(0, 5, MPI_COMM_WORLD);
        return;
    }
    if (disabled) Posthaste_Handlers_disable();
    MPI_Irecv(buffer, 4, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
    Posthaste_Request_attach(&request, waits_inside, NULL);
    if (disabled) {
        pthread_create(&thread, NULL, waits_for, &request);
        receive(1, 4, MPI_COMM_WORLD);
        pthread_join(thread, NULL);
    } else {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided;
    buffer = calloc(2, LONG);
    int several = !strcmp(what, "threads") || !strcmp(what, "disabled");
    MPI_Init_thread(&argc, &argv, several ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size;
    if (!strcmp(what, "ssend")) {
        MPI_Ssend(buffer, 100, MPI_BYTE, rank ^ 1, 5, MPI_COMM_WORLD);
    } else if (!strcmp(what, "send")) {
        MPI_Send(buffer, LONG, MPI_BYTE, rank ^ 1, 5, MPI_COMM_WORLD);
        receive(rank ^ 1, 5, MPI_COMM_WORLD);
    } else if (!strcmp(what, "cycle")) {
        receive(next, 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "any")) {
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD);
    } else if (!strcmp(what, "tag")) {
        if (rank == 1) MPI_Send(buffer, 4, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        if (rank == 0) receive(1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "synchronous-tag")) {
        if (rank == 1) MPI_Ssend(buffer, 4, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
        if (rank == 0) receive(1, 7, MPI_COMM_WORLD);
    } else if (!strcmp(what, "communicator")) {
        MPI_Comm row = duplicate("row");
        if (rank == 1) MPI_Send(buffer, 4, MPI_BYTE, 0, 7, row);
        if (rank == 0) receive(1, 7, MPI_COMM_WORLD);
        MPI_Barrier(row);
    } else if (!strcmp(what, "collectives")) {
        gather_and_bcast();
    } else if (!strcmp(what, "roots")) {
        MPI_Bcast(buffer, 4, MPI_BYTE, rank ^ 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "absent")) {
        if (rank == 1) receive(2, 9, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(what, "edge")) {
        half_an_edge();
    } else if (!strcmp(what, "barriers")) {
        crossed_barriers();
    } else if (!strcmp(what, "reversed")) {
        reversed();
    } else if (!strcmp(what, "requests")) {
        several_requests();
    } else if (!strcmp(what, "probe")) {
        if (rank == 0) MPI_Probe(1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "sendrecv")) {
        MPI_Sendrecv(buffer, 4, MPI_BYTE, rank ^ 1, 1, buffer, 4, MPI_BYTE, rank ^ 1, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    } else if (!strcmp(what, "computing")) {
        if (rank == 1) for (volatile int forever = 1; forever;) {}
        receive(1, 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "asleep")) {
        if (rank == 1) sleep(1000);
        receive(1, 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "stopped")) {
        if (rank == 1) {
            signal(SIGALRM, stop);
            alarm(1);
        }
        receive(rank ^ 1, 1, MPI_COMM_WORLD);
    } else if (!strcmp(what, "threads")) {
        two_threads();
    } else if (!strcmp(what, "asked")) {
        wanted_lock(window_of_packets());
    } else if (!strcmp(what, "elements")) {
        stopped_with_elements();
    } else if (!strcmp(what, "shared")) {
        shared_lock(window());
    } else if (!strcmp(what, "asked-shared")) {
        shared_lock(window_of_packets());
    } else if (!strcmp(what, "lock")) {
        wanted_lock(window());
    } else if (!strcmp(what, "epochs")) {
        epochs(window());
    } else if (!strcmp(what, "asked-epochs")) {
        epochs(window_of_packets());
    } else if (!strcmp(what, "flush")) {
        flush(window_of_packets());
    } else if (!strcmp(what, "handler")) {
        handler(0);
    } else if (!strcmp(what, "disabled")) {
        handler(1);
    } else if (!strcmp(what, "late")) {
        /* Waits for a while, then goes on: nothing of it may stay on the status page. */
        if (rank == 0) {
            receive(1, 1, MPI_COMM_WORLD);
            sleep(1000);
        }
        sleep(1);
        MPI_Send(buffer, 4, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        fprintf(stderr, "hang: what?\n");
        return 2;
    }
    MPI_Finalize();
    return 0;
}
