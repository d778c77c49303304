/* tasks.c: messages as tasks of OpenMP. Heat spreads along a ring of cells, which lies in blocks on all ranks. Everything is a task
 * with dependences: the blocks, and the messages that bring the cells beside the first and the last one. A message is a detached
 * task: its body starts the message and attaches a handler, and the task is over when the message is. So no thread waits for a
 * message; it works on other blocks meanwhile.
 *
 *     mpicc -fopenmp tasks.c -o tasks && mpiexec -n 4 ./tasks
 */
#include <omp.h>
#include <posthaste.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCKS = 4, LENGTH = 50, CELLS = BLOCKS * LENGTH, STEPS = 40, THREADS = 3, OVER = 2 * STEPS };

/* The cells of this rank between those beside them, before and after a step. */
static double cells[2][CELLS + 2];
/* What tasks depend on: the blocks, and the cells beside them. */
static char of[2][BLOCKS + 2];
static int rank, size;

/* A message is over, and so is its task. */
static void ends(MPI_Request request, void *event)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
}

static void sends(double *cell, int to, int tag, omp_event_handle_t event)
{
    MPI_Request request;
    MPI_Isend(cell, 1, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &request);
    Posthaste_Request_attach(&request, ends, (void *)(uintptr_t)event);
}

static void receives(double *cell, int from, int tag, omp_event_handle_t event)
{
    MPI_Request request;
    MPI_Irecv(cell, 1, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
    Posthaste_Request_attach(&request, ends, (void *)(uintptr_t)event);
}

/* The outermost cells go to the neighbours, and theirs come from them. */
static void exchange(int step)
{
    double *own = cells[step % 2];
    int left = (rank + size - 1) % size, right = (rank + 1) % size, to_left = 2 * step, to_right = 2 * step + 1;
    omp_event_handle_t event;
#pragma omp task detach(event) depend(in : of[step % 2][1])
    sends(&own[1], left, to_left, event);
#pragma omp task detach(event) depend(in : of[step % 2][BLOCKS])
    sends(&own[CELLS], right, to_right, event);
#pragma omp task detach(event) depend(out : of[step % 2][0])
    receives(&own[0], left, to_right, event);
#pragma omp task detach(event) depend(out : of[step % 2][BLOCKS + 1])
    receives(&own[CELLS + 1], right, to_left, event);
}

static void spread(const double *before, double *after, int count)
{
    for (int at = 0; at < count; at++) after[at] = 0.25 * before[at - 1] + 0.5 * before[at] + 0.25 * before[at + 1];
}

static void make_tasks(void)
{
    for (int step = 0; step < STEPS; step++) {
        int now = step % 2, next = 1 - now;
        exchange(step);
        for (int block = 1; block <= BLOCKS; block++) {
            int first = (block - 1) * LENGTH + 1;
#pragma omp task depend(in : of[now][block - 1], of[now][block], of[now][block + 1]) depend(out : of[next][block])
            spread(&cells[now][first], &cells[next][first], LENGTH);
        }
    }
#pragma omp task depend(iterator(block = 1 : BLOCKS + 1), in : of[STEPS % 2][block])
    MPI_Send(NULL, 0, MPI_BYTE, 0, OVER, MPI_COMM_SELF);
}

/* How many cells of this rank are not those of the whole ring, on one thread without a message. */
static int wrong(void)
{
    int all = size * CELLS, found = 0;
    double *ring[2] = {malloc((size_t)(all + 2) * sizeof(double)), malloc((size_t)(all + 2) * sizeof(double))};
    for (int at = 1; at <= all; at++) ring[0][at] = at;
    for (int step = 0; step < STEPS; step++) {
        double *before = ring[step % 2];
        before[0] = before[all], before[all + 1] = before[1];
        spread(&before[1], &ring[(step + 1) % 2][1], all);
    }
    for (int at = 1; at <= CELLS; at++) found += cells[STEPS % 2][at] != ring[STEPS % 2][rank * CELLS + at];
    free(ring[0]), free(ring[1]);
    return found;
}

int main(int argc, char **argv)
{
    int provided, found, all;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int at = 1; at <= CELLS; at++) cells[0][at] = rank * CELLS + at;
#pragma omp parallel num_threads(THREADS)
#pragma omp single nowait
    {
        make_tasks();
        MPI_Recv(NULL, 0, MPI_BYTE, 0, OVER, MPI_COMM_SELF, MPI_STATUS_IGNORE); /* handlers run in here, tasks on other threads */
    }
    found = wrong();
    MPI_Reduce(&found, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("tasks: %d steps of %d blocks on each of %d ranks, %d cells wrong\n", STEPS, BLOCKS, size, all);
    MPI_Finalize();
    return found != 0;
}
