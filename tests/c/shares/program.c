/* A C program and an extension that has the Rust crate linked in, with one engine. program EXTENSION ORDER: "CE" calls MPI_Init
 * first, "EC" opens the extension first. Whoever came first ends first. "T": the extension is used on a thread of its own. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mpi.h>

#define CHECK(condition)                                                                        \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                             \
            exit(1);                                                                            \
        }                                                                                       \
    } while (0)

static void *extension;

static int call(const char *name, int first, int second)
{
    int (*function)(int, int);
    void *found = dlsym(extension, name);
    CHECK(found);
    memcpy(&function, &found, sizeof function);
    return function(first, second);
}

static void begin(char who)
{
    if (who == 'C')
        CHECK(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    else if (call("extension_open", 0, 0) != 0)
        exit(3);
}

static void end(char who)
{
    if (who == 'C')
        CHECK(MPI_Finalize() == MPI_SUCCESS);
    else
        CHECK(call("extension_close", 0, 0) == 0);
}

enum { ROUNDS = 5000 };

static void *echo(void *rank)
{
    begin('E');
    CHECK(call("extension_echo", *(int *)rank, ROUNDS) == 0);
    end('E');
    return NULL;
}

/* Each of the two threads waits for the other, in another copy of the library. */
static void on_two_threads(void)
{
    int provided, rank, got;
    pthread_t thread;
    CHECK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(pthread_create(&thread, NULL, echo, &rank) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Send(&round, 1, MPI_INT, rank, 8, MPI_COMM_WORLD);
        MPI_Recv(&got, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == round);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    const char *order = argv[2];
    extension = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!extension)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(extension);
    if (*order == 'T') {
        on_two_threads();
        puts("one engine");
        return 0;
    }
    for (const char *who = order; *who; who++)
        begin(*who);
    if (strlen(order) == 2) {
        int rank, size, got, sent = 41;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        CHECK(call("extension_rank", 0, 0) == rank);
        int next = (rank + 1) % size, previous = (rank + size - 1) % size;
        CHECK(call("extension_send", 17, next) == 0);
        MPI_Recv(&got, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(got == 17);
        MPI_Request request;
        MPI_Irecv(&got, 1, MPI_INT, previous, 8, MPI_COMM_WORLD, &request);
        MPI_Send(&sent, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
        CHECK(call("extension_receive", previous, 0) == 41);
        MPI_Send(&sent, 1, MPI_INT, next, 8, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == 41);
    }
    for (const char *who = order; *who; who++)
        end(*who);
    /* The extension may come again, also after MPI_Finalize. */
    begin('E');
    CHECK(call("extension_rank", 0, 0) >= 0);
    end('E');
    puts("one engine");
    return 0;
}
