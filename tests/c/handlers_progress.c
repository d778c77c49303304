// ranks: 2
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* With the progress thread a handler runs while the program computes and calls nothing: it receives, answers, and starts its
 * request again, so a rank serves without being inside MPI; and what runs there is waited for by the program's own thread. */
#include "handlers_check.h"

enum { ASK = 1, ANSWER = 2, STOP = 3, ROUNDS = 50 };

static int question;
static atomic_int served, stopped, by_program;
static pthread_t program;

static void serve(MPI_Request request, void *extra_state)
{
    MPI_Status status;
    (void)extra_state;
    if (pthread_equal(pthread_self(), program)) atomic_fetch_add(&by_program, 1);
    OK(MPI_Wait(&request, &status));
    int answer = question * 2;
    OK(MPI_Start(&request));
    OK(MPI_Send(&answer, 1, MPI_INT, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD));
    atomic_fetch_add(&served, 1);
}

static void stop(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    usleep(20000);
    atomic_store(&stopped, 1);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    program = pthread_self();
    if (rank == 0) {
        int word = 0;
        MPI_Request requests[2];
        MPI_Status status = marked();
        OK(MPI_Recv_init(&question, 1, MPI_INT, 1, ASK, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Irecv(&word, 1, MPI_INT, 1, STOP, MPI_COMM_WORLD, &requests[1]));
        OK(Posthaste_Request_attach(&requests[0], serve, NULL));
        OK(Posthaste_Request_attach(&requests[1], stop, NULL));
        OK(MPI_Start(&requests[0]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        await(&served, ROUNDS, "what was served"); /* no call of MPI */
        CHECK(atomic_load(&by_program) <= 1, "%d answers came from the program's thread", by_program); /* in the barrier */
        OK(MPI_Wait(&requests[1], &status)); /* for its handler, too, which returns without completing it */
        EQUAL(atomic_load(&stopped), 1);
        EQUAL(status.MPI_TAG, STOP);
        OK(Posthaste_Request_detach(&requests[0]));
        OK(MPI_Cancel(&requests[0]));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&requests[0]));
    } else {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int round = 0; round < ROUNDS; round++) {
            int answer = -1;
            OK(MPI_Sendrecv(&round, 1, MPI_INT, 0, ASK, &answer, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EQUAL(answer, round * 2);
        }
        OK(MPI_Send(&rank, 1, MPI_INT, 0, STOP, MPI_COMM_WORLD));
    }
    OK(MPI_Finalize());
    return 0;
}
