/* A bag of tasks that survives `kill -9` of its workers.
 *
 *     mpicc bag_of_tasks.c -o bag_of_tasks
 *     mpiexec -continue-on-loss -n 4 ./bag_of_tasks 2
 *
 * Rank 0 gives out tasks, the others do them: each counts the primes in a block of numbers. The argument is the number of
 * workers that kill themselves in the middle of their first task, as if the machine had (default 0); one has to be left. What a lost
 * worker had goes back into the bag. Workers may as well be killed from outside at any time.
 *
 * The manager receives from anybody. When a worker is lost, that fails until the manager has acknowledged the loss:
 * MPIX_Comm_get_failed says who it is. No communicator has to be repaired for that, because nobody needs all workers at once. */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 400, BLOCK = 500, WORK = 1, RESULT = 2, NONE = -1 };

static int primes_in(int task)
{
    int found = 0;
    for (int number = task * BLOCK; number < (task + 1) * BLOCK; number++) {
        int prime = number > 1;
        for (int by = 2; prime && by * by <= number; by++) prime = number % by != 0;
        found += prime;
    }
    return found;
}

static void work(int rank, int deaths)
{
    for (;;) {
        int task, result[2];
        if (MPI_Recv(&task, 1, MPI_INT, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) exit(1);
        if (task == NONE) return;
        if (rank <= deaths) raise(SIGKILL);
        result[0] = task;
        result[1] = primes_in(task);
        MPI_Send(result, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

/* The tasks that nobody has done and nobody does. */
static int bag[TASKS], tasks_in_bag;
/* What each worker does, and whether it is lost. */
static int *task_of, *is_lost, lost;

static void give(int worker)
{
    task_of[worker] = tasks_in_bag > 0 ? bag[--tasks_in_bag] : NONE;
    /* If the worker is lost, the next receive says so. */
    if (task_of[worker] != NONE) MPI_Send(&task_of[worker], 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
}

/* Takes back what lost workers had, and gives it to who has nothing to do. */
static void look_for_lost(int size)
{
    MPI_Group world, failed;
    int count;
    MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
    MPI_Group_size(failed, &count);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int place = 0; place < count; place++) {
        int worker;
        MPI_Group_translate_ranks(failed, 1, &place, world, &worker);
        if (is_lost[worker]) continue;
        is_lost[worker] = 1;
        lost++;
        if (task_of[worker] != NONE) bag[tasks_in_bag++] = task_of[worker];
        task_of[worker] = NONE;
    }
    MPI_Group_free(&failed);
    MPI_Group_free(&world);
    /* Only those that were looked at: somebody may have been lost since. */
    MPIX_Comm_ack_failed(MPI_COMM_WORLD, count, &count);
    if (lost == size - 1) {
        fprintf(stderr, "bag of tasks: no worker is left\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int worker = 1; worker < size; worker++)
        if (!is_lost[worker] && task_of[worker] == NONE && tasks_in_bag > 0) give(worker);
}

static int manage(int size)
{
    int primes = 0;
    task_of = malloc(size * sizeof *task_of);
    is_lost = calloc(size, sizeof *is_lost);
    for (int task = 0; task < TASKS; task++) bag[tasks_in_bag++] = task;
    for (int worker = 1; worker < size; worker++) give(worker);
    for (int done = 0; done < TASKS;) {
        int result[2];
        MPI_Status status;
        if (MPI_Recv(result, 2, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status) != MPI_SUCCESS) {
            look_for_lost(size);
            continue;
        }
        if (is_lost[status.MPI_SOURCE]) continue; /* it was sent before the end, and its task is in the bag again */
        primes += result[1];
        done++;
        give(status.MPI_SOURCE);
    }
    int none = NONE;
    for (int worker = 1; worker < size; worker++)
        if (!is_lost[worker]) MPI_Send(&none, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
    free(task_of);
    free(is_lost);
    return primes;
}

int main(int argc, char **argv)
{
    int rank, size, code = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int deaths = argc > 1 ? atoi(argv[1]) : 0;
    if (size < 2 || deaths > size - 2) {
        if (rank == 0) fprintf(stderr, "bag of tasks: a manager and a worker that lives are needed\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank > 0) {
        work(rank, deaths);
    } else {
        int expected = 0, primes = manage(size);
        for (int task = 0; task < TASKS; task++) expected += primes_in(task);
        printf("bag of tasks: %d primes, %s, %d workers lost\n", primes, primes == expected ? "right" : "WRONG", lost);
        code = primes != expected;
    }
    MPI_Finalize();
    return code;
}
