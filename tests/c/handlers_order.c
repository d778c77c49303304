// ranks: 2 3
// only: posthaste
/* The deadlock that made handlers need more than MPI-1 guarantees: a handler waits for a message that was sent after many
 * others which nobody receives yet, and whose receives come only when the handler has returned. A library that keeps messages
 * in one queue, or gives up when it has no room for more of them, never gets to the later one. Short messages, medium and
 * long ones, more of them than any budget holds, and handlers on both sides at once. Seed: "Reason #1". */
#include "check.h"

#include <posthaste.h>
#include <stdatomic.h>

enum { EARLIER = 300, LONG = 200000, ASK = 1, EARLY = 2, LATE = 3, ACK = 4 };

static char *early, *room;
static int lengths[EARLIER];
static atomic_int served;

/* Asked: receives what was sent last, answers it, and only then lets the earlier messages be received. */
static void serve(MPI_Request request, void *extra_state)
{
    MPI_Status status;
    int got = 0, question = *(int *)extra_state;
    OK(MPI_Wait(&request, &status));
    OK(MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, LATE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(got, question * 10);
    OK(MPI_Ssend(&got, 1, MPI_INT, status.MPI_SOURCE, ACK, MPI_COMM_WORLD));
    served++;
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    early = malloc(LONG), room = malloc(LONG);
    memset(early, rank + 1, LONG);
    for (int at = 0; at < EARLIER; at++) lengths[at] = at % 100 == 99 ? LONG : at % 10 == 9 ? 20000 : 100;
    int questions[8], answer, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    MPI_Request asked, sends[EARLIER], late, ack;

    for (int round = 1; round <= 3; round++) {
        int question = round, later = round * 10;
        OK(MPI_Irecv(&questions[0], 1, MPI_INT, previous, ASK, MPI_COMM_WORLD, &asked));
        OK(Posthaste_Request_attach(&asked, serve, &questions[0]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int at = 0; at < EARLIER; at++)
            OK(MPI_Isend(early, lengths[at], MPI_CHAR, next, EARLY, MPI_COMM_WORLD, &sends[at]));
        OK(MPI_Irecv(&answer, 1, MPI_INT, next, ACK, MPI_COMM_WORLD, &ack));
        OK(MPI_Send(&question, 1, MPI_INT, next, ASK, MPI_COMM_WORLD));
        OK(MPI_Isend(&later, 1, MPI_INT, next, LATE, MPI_COMM_WORLD, &late));
        /* Nobody has received one of the earlier messages: both sides wait inside this for the later ones. */
        OK(MPI_Wait(&ack, MPI_STATUS_IGNORE));
        EQUAL(answer, later);
        OK(MPI_Wait(&asked, MPI_STATUS_IGNORE));
        /* The request is over as soon as its handler has completed it; that may go on, on a progress thread. */
        for (int flag; served < round;) OK(MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        for (int at = 0; at < EARLIER; at++) {
            OK(MPI_Recv(room, LONG, MPI_CHAR, previous, EARLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(room[0] == previous + 1 && room[lengths[at] - 1] == previous + 1, "message %d is another one", at);
        }
        OK(MPI_Waitall(EARLIER, sends, MPI_STATUSES_IGNORE));
        OK(MPI_Wait(&late, MPI_STATUS_IGNORE));
    }
    free(early), free(room);
    OK(MPI_Finalize());
    return 0;
}
