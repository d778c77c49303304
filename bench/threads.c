/* threads.c: two ranks of two threads each; thread pairs exchange windows of short messages, each pair on its own
 * communicator. Plain MPI with MPI_THREAD_MULTIPLE and POSIX threads. Usage: threads
 * Output: lines "result NAME VALUE UNIT" from rank 0. Called by `cargo xtask bench`. */
#include "measure.h"

#include <pthread.h>

enum { PAIRS = 2, WINDOW = 64, PASSES = 12 };

static int rank, peer, windows;

static void window(MPI_Comm comm)
{
    static char data[8];
    MPI_Request requests[WINDOW];
    char token = 0;
    for (int i = 0; i < WINDOW; i++) {
        if (rank == 0) MPI_Isend(data, 8, MPI_BYTE, peer, 2, comm, &requests[i]);
        else MPI_Irecv(data, 8, MPI_BYTE, peer, 2, comm, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(&token, 1, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE);
    else MPI_Send(&token, 1, MPI_BYTE, peer, 3, comm);
}

static void *pair(void *comm)
{
    for (int i = 0; i < windows; i++) window(*(MPI_Comm *)comm);
    return NULL;
}

/* Million messages a second of so many pairs together. */
static double rate(MPI_Comm *comms, int pairs)
{
    pthread_t threads[PAIRS];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 1; i < pairs; i++) pthread_create(&threads[i], NULL, pair, &comms[i]);
    pair(&comms[0]);
    for (int i = 1; i < pairs; i++) pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    return pairs * (double)windows * WINDOW / (MPI_Wtime() - start) * 1e-6;
}

int main(int argc, char **argv)
{
    int level;
    MPI_Comm comms[PAIRS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) measure_fail("no MPI_THREAD_MULTIPLE");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (int i = 0; i < PAIRS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int pairs = 1; pairs <= PAIRS; pairs++) {
        char name[40];
        /* About ten milliseconds each, whatever the library: rank 0 finds out how many windows that are. */
        windows = 16;
        double seconds = windows * WINDOW * pairs / rate(comms, pairs) * 1e-6;
        windows = (int)(windows * 0.01 / seconds) + 1;
        MPI_Bcast(&windows, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int pass = 0; pass < PASSES; pass++) {
            double found = rate(comms, pairs);
            snprintf(name, sizeof name, "thread_pairs_%d", pairs);
            if (rank == 0) measure_report(name, found, "M/s");
        }
    }
    for (int i = 0; i < PAIRS; i++) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
