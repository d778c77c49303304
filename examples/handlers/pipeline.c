/* pipeline.c: blocks of data go through all ranks; each adds its rank to every element and passes them on. A stage is two
 * handlers: the block that has come is worked on and sent, and the one that has left makes room for the next. Several blocks
 * are under way in each rank at once, and the main program only waits for the word that the last one is through.
 *
 *     mpicc pipeline.c -o pipeline && mpiexec -n 4 ./pipeline */
#include <posthaste.h>

#include <stdlib.h>

enum { BLOCKS = 64, ELEMENTS = 10000, SLOTS = 4, ALL_THROUGH = BLOCKS };

struct slot {
    double data[ELEMENTS];
    MPI_Request in, out;
};

static int rank, size, started, passed, wrong;

/* Receives the next block, if there is one; its number is its tag. */
static void make_room(struct slot *slot)
{
    if (started++ < BLOCKS) MPI_Start(&slot->in);
}

/* A block has left. */
static void left(MPI_Request request, void *extra_state)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    passed++;
    make_room(extra_state);
}

/* A block has come to the last rank. */
static void check(struct slot *slot, int block)
{
    for (int at = 0; at < ELEMENTS; at++) wrong += slot->data[at] != block + size * (size - 1) / 2.0;
    make_room(slot);
    if (++passed < BLOCKS) return;
    for (int to = 0; to < size; to++) MPI_Send(NULL, 0, MPI_BYTE, to, ALL_THROUGH, MPI_COMM_WORLD);
}

/* A block has come. */
static void came(MPI_Request request, void *extra_state)
{
    struct slot *slot = extra_state;
    MPI_Status status;
    MPI_Wait(&request, &status);
    for (int at = 0; at < ELEMENTS; at++) slot->data[at] += rank;
    if (rank == size - 1) {
        check(slot, status.MPI_TAG);
    } else {
        MPI_Isend(slot->data, ELEMENTS, MPI_DOUBLE, rank + 1, status.MPI_TAG, MPI_COMM_WORLD, &slot->out);
        Posthaste_Request_attach(&slot->out, left, slot);
    }
}

static void feed(struct slot *slots)
{
    MPI_Request requests[SLOTS];
    for (int first = 0; first < BLOCKS; first += SLOTS) {
        for (int at = 0; at < SLOTS; at++) {
            for (int element = 0; element < ELEMENTS; element++) slots[at].data[element] = first + at;
            MPI_Isend(slots[at].data, ELEMENTS, MPI_DOUBLE, 1, first + at, MPI_COMM_WORLD, &requests[at]);
        }
        MPI_Waitall(SLOTS, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    struct slot *slots = calloc(SLOTS, sizeof *slots);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "pipeline: two ranks at least, please\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) feed(slots);
    for (int at = 0; rank > 0 && at < SLOTS; at++) {
        slots[at].out = MPI_REQUEST_NULL;
        MPI_Recv_init(slots[at].data, ELEMENTS, MPI_DOUBLE, rank - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &slots[at].in);
        Posthaste_Request_attach(&slots[at].in, came, &slots[at]);
        make_room(&slots[at]);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, size - 1, ALL_THROUGH, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the handlers run in here */
    for (int at = 0; rank > 0 && at < SLOTS; at++) {
        if (rank < size - 1) MPI_Wait(&slots[at].out, MPI_STATUS_IGNORE);
        MPI_Request_free(&slots[at].in);
    }
    if (rank == size - 1) printf("pipeline: %d blocks through %d ranks, %d elements wrong\n", passed, size, wrong);
    free(slots);
    MPI_Finalize();
    return wrong != 0;
}
