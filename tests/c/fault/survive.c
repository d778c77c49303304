/* Rank 1 is killed; the others hear of it within a second, by name, in whatever they do with it, and go on without it. With
 * an argument, 8-byte messages between two survivors are timed before and after: the best of several rounds. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

enum { VICTIM = 1, ROUNDS = 40, TURNS = 2000 };

static double best_round(MPI_Comm comm, int me)
{
    double best = 1e9;
    char word[8] = "";
    for (int round = 0; round < ROUNDS; round++) {
        double began = MPI_Wtime();
        for (int turn = 0; turn < TURNS; turn++) {
            if (me == 0) OK(MPI_Send(word, 8, MPI_CHAR, 1, 7, comm));
            OK(MPI_Recv(word, 8, MPI_CHAR, 1 - me, 7, comm, MPI_STATUS_IGNORE));
            if (me == 1) OK(MPI_Send(word, 8, MPI_CHAR, 0, 7, comm));
        }
        double took = (MPI_Wtime() - began) / TURNS / 2 * 1e6;
        if (took < best) best = took;
    }
    return best;
}

static void fails_with(int expected, int code, double since, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    if (code == MPI_SUCCESS) { printf("%s: no error\n", what); exit(1); }
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    EQUAL(class, expected);
    if (!strstr(text, "rank 1 of the world")) { printf("%s: %s\n", what, text); exit(1); }
    if (MPI_Wtime() - since > 1.0) { printf("%s: heard too late, after %g s\n", what, MPI_Wtime() - since); exit(1); }
}

static void fails(int code, double since, const char *what)
{
    fails_with(MPI_ERR_PROC_ABORTED, code, since, what);
}

int main(int argc, char **argv)
{
    MPI_Comm survivors;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == VICTIM ? MPI_UNDEFINED : 0, rank, &survivors));
    int me = rank > VICTIM ? rank - 1 : rank, n = size - 1, pair = argc > 1 && me < 2;
    int *in = malloc(1 << 22), word = 5;
    double before = pair && rank != VICTIM ? best_round(survivors, me) : 0;
    /* Something from everybody to everybody, so that all have spoken. */
    OK(MPI_Allreduce(&word, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == VICTIM) {
        /* It has begun to send a long message to rank 0, and dies in the middle. */
        MPI_Request request;
        MPI_Isend(in, 1 << 20, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    MPI_Request request, any;
    OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &any));
    OK(MPI_Irecv(in, 1, MPI_INT, VICTIM, 4, MPI_COMM_WORLD, &request));
    double since = MPI_Wtime() + 0.1;
    fails(MPI_Wait(&request, MPI_STATUS_IGNORE), since, "a receive that was posted");
    fails_with(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&any, MPI_STATUS_IGNORE), since, "a receive from anybody");
    OK(MPI_Cancel(&any)); /* it would go on */
    OK(MPI_Wait(&any, MPI_STATUS_IGNORE));
    since = MPI_Wtime();
    if (me == 0) fails(MPI_Recv(in, 1 << 20, MPI_INT, VICTIM, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE), since, "a long message");
    fails(MPI_Recv(in, 1, MPI_INT, VICTIM, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE), since, "a later receive");
    fails(MPI_Send(in, 1, MPI_INT, VICTIM, 5, MPI_COMM_WORLD), since, "a later send");
    fails(MPI_Send(in, 1 << 20, MPI_INT, VICTIM, 5, MPI_COMM_WORLD), since, "a later long send");
    /* The others are as they were. */
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, survivors));
        EQUAL(sum, n * (n - 1) / 2);
    }
    if (pair) {
        double after = best_round(survivors, me);
        if (me == 0) printf("latency of 8 bytes: %.4f us before, %.4f us after, ratio %.3f\n", before, after, after / before);
    }
    OK(MPI_Barrier(survivors));
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    free(in);
    return MPI_Finalize();
}
