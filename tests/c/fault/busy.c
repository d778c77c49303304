/* Every second rank computes for some seconds and calls nothing, while processes that do nothing but use CPUs are at work beside all of them:
 * whoever waits for those that compute goes on waiting, nobody is taken for lost, and everything comes to its end. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SECONDS = 6, SPINNERS = 2, LONG = 1 << 20 };

static pid_t spinners[SPINNERS];

static double work(double seconds)
{
    volatile double value = 1;
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        for (int i = 0; i < 100000; i++) value = value * 0.999 + 1;
    return value;
}

/* Before MPI_Init, so that they have nothing of it. */
static void begin_spinning(void)
{
    for (int i = 0; i < SPINNERS; i++) {
        spinners[i] = fork();
        CHECK(spinners[i] >= 0, "no process");
        if (spinners[i]) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turn = 0;;) turn++;
    }
}

static void nobody_is_lost(void)
{
    MPI_Group group;
    int lost = -1;
    OK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group));
    OK(MPI_Group_size(group, &lost));
    EQUAL(lost, 0);
    OK(MPI_Group_free(&group));
}

int main(int argc, char **argv)
{
    begin_spinning();
    check_start(&argc, &argv);
    int computes = rank % 2, flag = 3, count = 0, sum = -1, word = -1;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    char *in = malloc((size_t)size * LONG), *out = malloc(LONG);
    MPI_Request *requests = malloc(2 * (size_t)size * sizeof *requests);
    check_fill(out, LONG, (unsigned)rank);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    if (computes) work(SECONDS);
    for (int peer = 0; peer < size; peer++) {
        if (peer % 2 == computes) continue;
        OK(MPI_Irecv(in + (size_t)peer * LONG, LONG, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[count++]));
        OK(MPI_Issend(out, LONG, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[count++]));
        if (computes) OK(MPI_Send(&rank, 1, MPI_INT, peer, 2, MPI_COMM_WORLD));
    }
    /* Anybody may be lost for such a receive. */
    for (int peer = 1; !computes && peer < size; peer += 2) {
        OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(word % 2 == 1 && word < size, "from %d", word);
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    CHECK(MPI_Wtime() - began > SECONDS - 0.1, "nobody has computed: %g s", MPI_Wtime() - began);
    for (int peer = 0; peer < size; peer++)
        if (peer % 2 != computes) check_filled(in + (size_t)peer * LONG, LONG, (unsigned)peer);
    nobody_is_lost();
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    EQUAL(flag, 3);
    nobody_is_lost();
    for (int i = 0; i < SPINNERS; i++) kill(spinners[i], SIGKILL);
    free(in);
    free(out);
    free(requests);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return check_end();
}
