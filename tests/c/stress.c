// ranks: 2 3 5 8 16
/* stress.c: many messages of all lengths between all ranks at once, known content, in MPI's order.
 * Every rank knows the whole plan (a pseudo-random list of messages). Receives are posted in windows, exact, by
 * ANY_TAG, or after a probe of ANY_SOURCE; sends are standard or synchronous, blocking or not. */
#include "check.h"

#include <stdlib.h>

enum { MESSAGES = 600, WINDOW = 24, MOST = 400000 };

static unsigned long long state = 88172645463325252ull;
static unsigned draw(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 11) % n;
}

struct message {
    int from, to, length, synchronous;
};

static void fill(char *data, int length, int number)
{
    for (int i = 0; i < length; i++) data[i] = (char)(i * 31 + number * 7 + (i >> 8));
}

static int is_right(const char *data, int length, int number)
{
    for (int i = 0; i < length; i++)
        if (data[i] != (char)(i * 31 + number * 7 + (i >> 8))) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static struct message plan[MESSAGES];
    static const int lengths[] = {0, 8, 100, 2000, 4063, 4064, 4065, 4200, 9000, 16384, 16385, 40000, 131072, 140000, MOST};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int m = 0; m < MESSAGES; m++) {
        plan[m].from = (int)draw((unsigned)size);
        plan[m].to = (int)draw((unsigned)size);
        plan[m].length = lengths[draw(sizeof lengths / sizeof *lengths)] + (int)draw(3);
        plan[m].synchronous = draw(5) == 0;
    }
    for (int first = 0; first < MESSAGES; first += WINDOW) {
        MPI_Request requests[2 * WINDOW];
        char *buffers[2 * WINDOW];
        int numbers[2 * WINDOW], pending = 0, late = draw(2);
        /* Some windows post their receives late, so that messages arrive unexpected. */
        for (int turn = 0; turn < 2; turn++)
            for (int m = first; m < first + WINDOW && m < MESSAGES; m++) {
                const struct message *p = &plan[m];
                if (turn == late && p->to == rank) {
                    buffers[pending] = malloc((size_t)p->length + 8);
                    memset(buffers[pending], 0x5a, (size_t)p->length + 8);
                    numbers[pending] = m;
                    MPI_Irecv(buffers[pending], p->length, MPI_CHAR, p->from, m, MPI_COMM_WORLD, &requests[pending]);
                    pending++;
                }
                if (turn != late && p->from == rank) {
                    buffers[pending] = malloc((size_t)p->length + 8);
                    fill(buffers[pending], p->length, m);
                    numbers[pending] = -1;
                    if (p->synchronous)
                        MPI_Issend(buffers[pending], p->length, MPI_CHAR, p->to, m, MPI_COMM_WORLD, &requests[pending]);
                    else
                        MPI_Isend(buffers[pending], p->length, MPI_CHAR, p->to, m, MPI_COMM_WORLD, &requests[pending]);
                    pending++;
                }
            }
        MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < pending; i++) {
            if (numbers[i] >= 0) {
                int length = plan[numbers[i]].length;
                CHECK(is_right(buffers[i], length, numbers[i]), "message %d of %d bytes from %d", numbers[i], length,
                      plan[numbers[i]].from);
                for (int guard = 0; guard < 8; guard++)
                    CHECK(buffers[i][length + guard] == 0x5a, "message %d overran its buffer", numbers[i]);
            }
            free(buffers[i]);
        }
    }
    /* Everybody floods rank 0, which takes what comes. */
    if (rank > 0) {
        char *data = malloc(MOST);
        for (int i = 0; i < 40; i++) {
            int length = lengths[i % 14];
            fill(data, length, i);
            MPI_Send(data, length, MPI_CHAR, 0, i, MPI_COMM_WORLD);
        }
        free(data);
    } else {
        int *next = calloc((size_t)size, sizeof *next);
        for (int i = 0; i < 40 * (size - 1); i++) {
            MPI_Status status;
            int length;
            char *data;
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_CHAR, &length);
            data = malloc((size_t)length + 1);
            MPI_Recv(data, length, MPI_CHAR, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == next[status.MPI_SOURCE], "rank %d: tag %d overtook %d", status.MPI_SOURCE,
                  status.MPI_TAG, next[status.MPI_SOURCE]);
            CHECK(is_right(data, length, status.MPI_TAG), "flood from %d tag %d", status.MPI_SOURCE, status.MPI_TAG);
            next[status.MPI_SOURCE]++;
            free(data);
        }
        free(next);
    }
    MPI_Finalize();
    return 0;
}
