/* A rank in an event loop: it sleeps in poll(2) for a terminal, sockets, timers, and for messages, which are one more
 * descriptor. Rank 0 serves what the others ask; they ask once in a while.
 *
 *     mpicc event_loop.c -o event_loop && mpiexec -n 4 ./event_loop
 */
#include <poll.h>
#include <posthaste.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUESTION = 1, ANSWER = 2, ROUNDS = 20 };

/* Sleeps until one of the requests has finished, and completes it. Other descriptors stand beside ours in a real program. */
static int next(int fd, int count, MPI_Request requests[], MPI_Status *status)
{
    for (;;) {
        int which, flag;
        Posthaste_Drain_fd(); /* before looking: what finishes from now on makes it readable again */
        MPI_Testany(count, requests, &which, &flag, status);
        if (flag) return which;
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        if (poll(&watched, 1, -1) < 0) perror("poll");
    }
}

static void serve(int fd, int clients)
{
    int *questions = malloc((size_t)clients * sizeof *questions);
    MPI_Request *requests = malloc((size_t)clients * sizeof *requests);
    for (int client = 0; client < clients; client++) {
        MPI_Recv_init(&questions[client], 1, MPI_INT, client + 1, QUESTION, MPI_COMM_WORLD, &requests[client]);
        MPI_Start(&requests[client]);
        Posthaste_Request_watch(requests[client]);
    }
    for (int served = 0; served < clients * ROUNDS; served++) {
        MPI_Status status;
        int client = next(fd, clients, requests, &status);
        int answer = questions[client] * 2;
        MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
        if (questions[client] < ROUNDS) {
            MPI_Start(&requests[client]);
            Posthaste_Request_watch(requests[client]); /* for its next message */
        }
    }
    printf("event loop: %d questions of %d ranks\n", clients * ROUNDS, clients);
    for (int client = 0; client < clients; client++) MPI_Request_free(&requests[client]);
    free(requests);
    free(questions);
}

static void ask(int fd)
{
    for (int question = 1; question <= ROUNDS; question++) {
        int answer = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&answer, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, &request);
        Posthaste_Request_watch(request);
        MPI_Send(&question, 1, MPI_INT, 0, QUESTION, MPI_COMM_WORLD);
        next(fd, 1, &request, &status);
        if (answer != question * 2) MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int provided, rank, size, fd = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided); /* messages move on another thread meanwhile */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Posthaste_Get_fd(&fd);
    if (rank == 0) {
        serve(fd, size - 1);
    } else {
        ask(fd);
    }
    MPI_Finalize();
    return 0;
}
