/* A pool of workers that come and go: mpiexec -n 1 ./pool, or ./pool alone. There is one worker while there is little to do, and
 * there are several while there is much. Each is a job of its own, so any of them can leave. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 3, STEPS = 1 << 20, DONE = 1 };

/* A part of the integral of 4 / (1 + x * x) from 0 to 1. */
typedef struct {
    int first, end;
} Task;

static double solve(Task task)
{
    double sum = 0;
    for (int i = task.first; i < task.end; i++) {
        double x = (i + 0.5) / STEPS;
        sum += 4 / (1 + x * x) / STEPS;
    }
    return sum;
}

static int work(MPI_Comm pool)
{
    for (;;) {
        Task task;
        MPI_Status status;
        MPI_Recv(&task, 2, MPI_INT, 0, MPI_ANY_TAG, pool, &status);
        if (status.MPI_TAG == DONE) break;
        double sum = solve(task);
        MPI_Send(&sum, 1, MPI_DOUBLE, 0, 0, pool);
    }
    MPI_Comm_disconnect(&pool);
    return MPI_Finalize();
}

/* Hires and dismisses until there are `wanted` workers. */
static void staff(MPI_Comm *workers, int *count, int wanted, char *program)
{
    while (*count < wanted) {
        MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &workers[*count], MPI_ERRCODES_IGNORE);
        ++*count;
    }
    while (*count > wanted) {
        --*count;
        MPI_Send(NULL, 0, MPI_INT, 0, DONE, workers[*count]);
        MPI_Comm_disconnect(&workers[*count]);
    }
}

/* Has the tasks from `first` to before `end`, of so many, done by whoever is free. */
static double deal(MPI_Comm *workers, int count, int first, int end, int tasks)
{
    MPI_Request requests[MOST];
    double sums[MOST], sum = 0;
    int next = first, busy = 0, at;
    for (at = 0; at < MOST; at++) requests[at] = MPI_REQUEST_NULL;
    for (int given = 0; given < count && next < end; given++, busy++, next++) {
        Task task = {STEPS / tasks * next, STEPS / tasks * (next + 1)};
        MPI_Irecv(&sums[given], 1, MPI_DOUBLE, 0, 0, workers[given], &requests[given]);
        MPI_Send(&task, 2, MPI_INT, 0, 0, workers[given]);
    }
    while (busy > 0) {
        MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
        sum += sums[at];
        busy--;
        if (next == end) continue;
        Task task = {STEPS / tasks * next, STEPS / tasks * (next + 1)};
        MPI_Irecv(&sums[at], 1, MPI_DOUBLE, 0, 0, workers[at], &requests[at]);
        MPI_Send(&task, 2, MPI_INT, 0, 0, workers[at]);
        busy++;
        next++;
    }
    return sum;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, workers[MOST];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) return work(parent);
    /* How many workers there are, until which of 32 tasks is done. */
    const int plan[][2] = {{1, 4}, {MOST, 28}, {1, 32}};
    int count = 0, first = 0;
    double pi = 0;
    for (int part = 0; part < 3; part++) {
        staff(workers, &count, plan[part][0], argv[0]);
        pi += deal(workers, count, first, plan[part][1], 32);
        printf("pool: tasks %d to %d by %d worker%s\n", first, plan[part][1] - 1, count, count == 1 ? "" : "s");
        first = plan[part][1];
    }
    staff(workers, &count, 0, argv[0]);
    printf("pool: pi is %.6f\n", pi);
    return MPI_Finalize();
}
