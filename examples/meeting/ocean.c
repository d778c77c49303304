/* A solver that lets another one find it: mpiexec -n 2 ./ocean, and in another shell mpiexec -n 2 ./air. */
#include "meeting.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int rank;
    double cells[CELLS] = {0};
    MPI_Comm air;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name(service(argc, argv), MPI_INFO_NULL, port);
        printf("ocean: waits for air\n");
        fflush(stdout);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &air);
    if (rank == 0) MPI_Unpublish_name(service(argc, argv), MPI_INFO_NULL, port);
    for (int i = 0; i < STEPS; i++) {
        exchange(air, cells, CELLS - 1);
        step(cells);
    }
    MPI_Comm_disconnect(&air);
    if (rank == 0) {
        MPI_Close_port(port);
        printf("ocean: %.2f degrees at the surface after %d steps\n", cells[CELLS - 1], STEPS);
    }
    MPI_Finalize();
    return 0;
}
