/* instructions.c: two ranks, so many short sends, window-wise nonblocking messages, and sends of other modes. Run under
 * callgrind by `cargo xtask test`, which counts the instructions of the calls. Usage: instructions COUNT (a multiple
 * of 64). */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char data[8] = {0};
    int rank, count = argc > 1 ? atoi(argv[1]) : 6400;
    MPI_Request requests[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            MPI_Send(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    /* Windows: the receives are posted before the messages are sent, so that every run counts the same. */
    for (int i = 0; i < count; i += 64) {
        if (rank == 0) {
            MPI_Recv(data, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int k = 0; k < 64; k++) MPI_Isend(data, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[k]);
        } else {
            for (int k = 0; k < 64; k++) MPI_Irecv(data, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[k]);
            MPI_Send(data, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        }
        MPI_Waitall(64, requests, MPI_STATUSES_IGNORE);
    }
    /* Other modes, in turns, so that there is always room; the answers take a function that is not counted. */
    MPI_Request persistent;
    MPI_Message message;
    static char attached[4096];
    int size;
    void *back;
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Send_init(data, 8, MPI_BYTE, 1, 4, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < count; i++) {
        if (rank == 0) {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, MPI_STATUS_IGNORE);
            MPI_Recv(data, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Bsend(data, 8, MPI_BYTE, 1, 4, MPI_COMM_WORLD);
            MPI_Recv(data, 0, MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int k = 0; k < 2; k++) {
                MPI_Mprobe(0, 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
                MPI_Mrecv(data, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE);
                MPI_Rsend(data, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD);
            }
        }
    }
    MPI_Request_free(&persistent);
    MPI_Buffer_detach(&back, &size);
    MPI_Finalize();
    return 0;
}
