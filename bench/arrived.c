/* arrived.c: two ranks: collective operations of 8 bytes at the rank that comes last, and messages that have come before their
 * receive, or before who waits for it, so that nobody spins and every run counts the same. Run under callgrind by
 * `cargo xtask test`, which counts the instructions of the blocking functions.
 * Rank 1 calls the nonblocking ones, which leave its messages and return: MPI does not say that the two may meet, but in
 * this library they are the same messages. Usage: arrived COUNT FOLDER */
#include "pipes.h"
#include <stdlib.h>

enum { OPERATIONS = 4, TAG = 5, BUFFERS = 7 };
#define COUNTED __attribute__((noinline)) void

/* Each operation finds other buffers than its like before. */
static long long owns[BUFFERS][2], alls[BUFFERS][2], *own = owns[0], *all = alls[0];

static void first(int operation, MPI_Request *request)
{
    switch (operation) {
    case 0: MPI_Ibarrier(MPI_COMM_WORLD, request); break;
    case 1: MPI_Iallreduce(own, all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, request); break;
    case 2: MPI_Ialltoall(own, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD, request); break;
    default: MPI_Iallgather(own, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD, request); break;
    }
}

static void last(int operation)
{
    switch (operation) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(own, all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD); break;
    case 2: MPI_Alltoall(own, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD); break;
    default: MPI_Allgather(own, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, MPI_COMM_WORLD); break;
    }
}

COUNTED arrived_recv(void)
{
    MPI_Recv(all, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

COUNTED arrived_wait(MPI_Request *posted)
{
    MPI_Wait(posted, MPI_STATUS_IGNORE);
}

static void message(int is_posted)
{
    MPI_Request posted = MPI_REQUEST_NULL;
    if (pipes_rank == 1) {
        pipes_hear();
        MPI_Send(own, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        pipes_tell();
        return;
    }
    all[0] = 0;
    if (is_posted) MPI_Irecv(all, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &posted);
    pipes_tell();
    pipes_hear();
    if (is_posted) arrived_wait(&posted); else arrived_recv();
    if (all[0] != 10) pipes_fail("a message came wrong");
}

/* What rank 0 sends is 1 and 2, what rank 1 sends 10 and 20. */
static int is_right(int operation)
{
    long long expected[OPERATIONS][2] = {{0, 0}, {11, 0}, {pipes_rank == 0 ? 1 : 2, pipes_rank == 0 ? 10 : 20}, {1, 10}};
    return all[0] == expected[operation][0] && all[1] == expected[operation][1];
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    pipes_open(argc > 2 ? argv[2] : ".");
    for (int i = 0; i < count * OPERATIONS; i++) {
        own = owns[i % BUFFERS], all = alls[i % BUFFERS];
        own[0] = pipes_rank == 0 ? 1 : 10;
        own[1] = 2 * own[0];
        all[0] = all[1] = 0;
        if (pipes_rank == 1) {
            first(i % OPERATIONS, &request);
            pipes_tell();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            pipes_hear();
            last(i % OPERATIONS);
        }
        if (!is_right(i % OPERATIONS)) pipes_fail("an operation gave a wrong result");
    }
    for (int i = 0; i < 2 * count; i++) message(i % 2);
    MPI_Finalize();
    return 0;
}
