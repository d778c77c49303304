// ranks: 1 2 3 8
/* A token goes round a ring, several times, with growing messages; each rank adds its number. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int length = 1; length <= 200000; length *= 7) {
        long long *token = calloc((size_t)length, sizeof *token);
        MPI_Request request;
        if (rank == 0) {
            for (int i = 0; i < length; i++) token[i] = i;
            OK(MPI_Isend(token, length, MPI_LONG_LONG, right, length, MPI_COMM_WORLD, &request));
            long long *home = calloc((size_t)length, sizeof *home);
            OK(MPI_Recv(home, length, MPI_LONG_LONG, left, length, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            for (int i = 0; i < length; i++) EQUAL(home[i], i + (long long)size * (size - 1) / 2);
            free(home);
        } else {
            OK(MPI_Recv(token, length, MPI_LONG_LONG, left, length, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < length; i++) token[i] += rank;
            OK(MPI_Send(token, length, MPI_LONG_LONG, right, length, MPI_COMM_WORLD));
        }
        free(token);
    }
    return check_end();
}
