// ranks: 2 3
/* Thousands of long messages to each other, of all lengths between 3 KiB and 1 MiB, in windows and one by one, received in order and out of
 * it, early and late: while pairs try which way of copying is best, each arrives as it was sent. */
#include "check.h"

enum { WINDOW = 6, LONGEST = 1 << 20, ROUNDS = 600 };

static unsigned char sent[WINDOW][LONGEST], got[WINDOW][LONGEST];

/* Each message is different, at each place. */
static void fill(unsigned char *bytes, int len, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;
    for (int at = 0; at < len; at += 4) {
        state = state * 1664525u + 1013904223u;
        unsigned value = state ^ (unsigned)at;
        memcpy(bytes + at, &value, 4);
    }
}

static int is_right(const unsigned char *bytes, int len, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;
    for (int at = 0; at < len; at += 4) {
        state = state * 1664525u + 1013904223u;
        unsigned value = state ^ (unsigned)at;
        if (memcmp(bytes + at, &value, 4) != 0) return 0;
    }
    return 1;
}

static int length_of(int round, int message)
{
    static const int lengths[] = {3 << 10, 4 << 10, 9000, 16 << 10, 40004, 64 << 10, 100 << 10, 256 << 10, LONGEST};
    /* Long ones are rare: they say as much as many short ones. */
    int which = round * 7 + message * 5, most = round % 20 == 0 ? 9 : 6;
    return lengths[which % most];
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        int count = round % 3 == 0 ? 1 : WINDOW;
        MPI_Request requests[2 * WINDOW];
        for (int m = 0; m < count; m++) fill(sent[m], length_of(round, m), (unsigned)(rank * 1000 + round * WINDOW + m));
        int late = round % 5 == 4;
        for (int m = 0; m < count && !late; m++)
            OK(MPI_Irecv(got[m], length_of(round, m), MPI_BYTE, before, m, MPI_COMM_WORLD, &requests[m]));
        for (int m = 0; m < count; m++)
            OK(MPI_Isend(sent[m], length_of(round, m), MPI_BYTE, next, m, MPI_COMM_WORLD, &requests[count + m]));
        /* The last one first. */
        for (int m = count - 1; m >= 0 && late; m--)
            OK(MPI_Irecv(got[m], length_of(round, m), MPI_BYTE, before, m, MPI_COMM_WORLD, &requests[m]));
        OK(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
        for (int m = 0; m < count; m++)
            CHECK(is_right(got[m], length_of(round, m), (unsigned)(before * 1000 + round * WINDOW + m)),
                  "round %d, message %d of %d bytes is not what was sent", round, m, length_of(round, m));
    }
    return check_end();
}
