/* race.c: looks at a receive buffer that another thread is just writing, which MPI forbids; for the test that such a
 * race is found (`cargo xtask test --only races`). */
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static volatile char buffer[8];

static void *send(void *unused)
{
    (void)unused;
    /* Waits for the match, so it is this thread that brings the message. */
    MPI_Ssend("abcdefg", 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t sender;
    MPI_Request request;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Irecv((void *)buffer, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
    pthread_create(&sender, NULL, send, NULL);
    while (buffer[0] != 'a') usleep(1000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pthread_join(sender, NULL);
    MPI_Finalize();
    return 0;
}
