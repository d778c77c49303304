// ranks: 2 5 16 20
// timeout: 120
/* Everybody sends to everybody by MPI_Isend and MPI_Irecv, short and long, several rounds at once; also with the
 * order of the peers turned round, so that many messages are unexpected. */
#include "check.h"

static void exchange(int length, int backwards)
{
    unsigned char *out = malloc((size_t)size * (size_t)length + 1), *in = malloc((size_t)size * (size_t)length + 1);
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    for (int peer = 0; peer < size; peer++) {
        check_fill(out + (size_t)peer * (size_t)length, (size_t)length, (unsigned)(rank * 1000 + peer));
    }
    memset(in, 0, (size_t)size * (size_t)length);
    for (int i = 0; i < size; i++) {
        int peer = backwards ? (rank + size - i) % size : (rank + i) % size;
        unsigned char *to = in + (size_t)peer * (size_t)length;
        if (backwards) OK(MPI_Isend(out + (size_t)peer * (size_t)length, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[size + i]));
        else OK(MPI_Irecv(to, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < size; i++) {
        int peer = (rank + i) % size;
        unsigned char *to = in + (size_t)peer * (size_t)length;
        if (backwards) OK(MPI_Irecv(to, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[i]));
        else OK(MPI_Isend(out + (size_t)peer * (size_t)length, length, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[size + i]));
    }
    OK(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < size; peer++) {
        check_filled(in + (size_t)peer * (size_t)length, (size_t)length, (unsigned)(peer * 1000 + rank));
    }
    free(out);
    free(in);
    free(requests);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 8, 1000, 8192, 30000, 200000};
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int round = 0; round < 4; round++) exchange(lengths[i], round % 2);
    }
    return check_end();
}
