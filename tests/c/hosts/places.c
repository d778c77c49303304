/* Says which rank it is, on which node, and with whom it shares memory there; all ranks then talk to all others, in short
 * and in long messages. For jobs on several hosts. */
#include "../check.h"

enum { LONG = 1 << 18 };

int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME], with[1024] = "";
    int length, near_size, *near_ranks;
    MPI_Comm near;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Get_processor_name(name, &length));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &near_size));
    near_ranks = malloc((size_t)near_size * sizeof(int));
    OK(MPI_Allgather(&rank, 1, MPI_INT, near_ranks, 1, MPI_INT, near));
    for (int i = 0; i < near_size; i++) sprintf(with + strlen(with), " %d", near_ranks[i]);

    int *out = malloc(LONG * sizeof(int)), *in = malloc(LONG * sizeof(int));
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        for (int count = 1; count <= LONG; count *= 64) {
            for (int i = 0; i < count; i++) out[i] = rank * 1000 + i, in[i] = -1;
            OK(MPI_Sendrecv(out, count, MPI_INT, to, step, in, count, MPI_INT, from, step, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
            for (int i = 0; i < count; i++) EQUAL(in[i], from * 1000 + i);
        }
    }
    int sum;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    printf("rank %d of %d, sum %d, on %s with%s\n", rank, size, sum, name, with);
    free(out), free(in), free(near_ranks);
    OK(MPI_Comm_free(&near));
    OK(MPI_Finalize());
    return 0;
}
