// ranks: 2 5
// of memory
// only: posthaste
// env: POSTHASTE_EXPLAIN=1
// env: POSTHASTE_BOUNCE_BUFFER=1048576
// env: POSTHASTE_COPY_STORE=string
// says: posthaste: rank 0 copies long messages on its node through a bounce buffer of 1024 KiB for each pair, by string copies, else small bounce buffers, by string copies, as POSTHASTE_BOUNCE_BUFFER and POSTHASTE_COPY_STORE say
// says: posthaste: rank 1 sends 3000 bytes to rank 0, tag 1, MPI_COMM_WORLD: stream through shared memory, because
// says: posthaste: rank 1 sends 2000 bytes to rank 0, tag 2, MPI_COMM_WORLD: eager through shared memory, because
/* A bounce buffer for each pair takes messages from 2 KiB on. Those of medium length lie in it until they are received, and
 * are received in another order than they were sent; long ones come past them. */
#include "check.h"

enum { MEDIUM = 3000, SHORT = 2000, LONG = 3 << 20, COUNT = 200 };

static void fill(unsigned char *data, int len, int seed)
{
    for (int i = 0; i < len; i++) data[i] = (unsigned char)(seed * 31 + i + (i >> 8));
}

static int is_right(const unsigned char *data, int len, int seed)
{
    for (int i = 0; i < len; i++)
        if (data[i] != (unsigned char)(seed * 31 + i + (i >> 8))) return 0;
    return 1;
}

int main(int argc, char **argv)
{
    unsigned char *data = malloc(LONG);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank > 0) {
        fill(data, MEDIUM, 1);
        MPI_Send(data, MEDIUM, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        fill(data, SHORT, 2);
        MPI_Send(data, SHORT, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        for (int i = 0; i < COUNT; i++) {
            fill(data, MEDIUM + i, i);
            MPI_Send(data, MEDIUM + i, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD);
        }
        fill(data, LONG, 3);
        MPI_Send(data, LONG, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    } else {
        for (int from = 1; from < size; from++) {
            MPI_Recv(data, LONG, MPI_BYTE, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(is_right(data, LONG, 3));
            for (int at = 0; at < COUNT; at++) {
                /* 37 and the number of messages have no common divisor: each comes once. */
                int i = at * 37 % COUNT;
                MPI_Recv(data, LONG, MPI_BYTE, from, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                CHECK(is_right(data, MEDIUM + i, i));
            }
            MPI_Recv(data, LONG, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(is_right(data, MEDIUM, 1));
            MPI_Recv(data, LONG, MPI_BYTE, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(is_right(data, SHORT, 2));
        }
    }
    free(data);
    MPI_Finalize();
    return 0;
}
