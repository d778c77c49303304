/* server.c: a server without a loop over MPI_Waitany. Each kind of question has a persistent receive with a handler of its own;
 * the main program waits for the last word, and everything else happens inside that one wait.
 *
 *     mpicc server.c -o server && mpiexec -n 4 ./server
 *
 * Rank 0 serves; the others ask it to add and to multiply, and say when they have had enough. */
#include <posthaste.h>

#include <stdlib.h>

enum { ADD = 1, MULTIPLY, ENOUGH, ANSWER, QUESTIONS = 100 };

struct service {
    double question[2];
    double (*answer)(double, double);
    int served;
};

static double sum(double a, double b) { return a + b; }
static double product(double a, double b) { return a * b; }

/* Takes the question, makes room for the next one, and answers. */
static void serve(MPI_Request request, void *extra_state)
{
    struct service *service = extra_state;
    MPI_Status status;
    MPI_Wait(&request, &status);
    double answer = service->answer(service->question[0], service->question[1]);
    MPI_Start(&request); /* this handler stays attached, and is called for the next one */
    MPI_Send(&answer, 1, MPI_DOUBLE, status.MPI_SOURCE, ANSWER, MPI_COMM_WORLD);
    service->served++;
}

static void serve_all(int clients)
{
    struct service services[2] = {{{0, 0}, sum, 0}, {{0, 0}, product, 0}};
    MPI_Request requests[2];
    for (int kind = 0; kind < 2; kind++) {
        MPI_Recv_init(services[kind].question, 2, MPI_DOUBLE, MPI_ANY_SOURCE, ADD + kind, MPI_COMM_WORLD, &requests[kind]);
        Posthaste_Request_attach(&requests[kind], serve, &services[kind]);
        MPI_Start(&requests[kind]);
    }
    for (int left = clients; left > 0; left--) /* the handlers run in here */
        MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, ENOUGH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int kind = 0; kind < 2; kind++) {
        Posthaste_Request_detach(&requests[kind]);
        MPI_Cancel(&requests[kind]);
        MPI_Wait(&requests[kind], MPI_STATUS_IGNORE);
        MPI_Request_free(&requests[kind]);
    }
    printf("server: %d sums and %d products for %d clients\n", services[0].served, services[1].served, clients);
}

static void ask(int kind, double a, double b, double expected)
{
    double question[2] = {a, b}, answer;
    MPI_Send(question, 2, MPI_DOUBLE, 0, kind, MPI_COMM_WORLD);
    MPI_Recv(&answer, 1, MPI_DOUBLE, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (answer != expected) {
        fprintf(stderr, "client: the answer is %g, expected %g\n", answer, expected);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        serve_all(size - 1);
    } else {
        for (int number = 0; number < QUESTIONS; number++) {
            ask(ADD, number, rank, number + rank);
            ask(MULTIPLY, number, rank, (double)number * rank);
        }
        MPI_Send(NULL, 0, MPI_BYTE, 0, ENOUGH, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
