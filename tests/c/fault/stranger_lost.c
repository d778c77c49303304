/* stranger_lost.c: a spawned process is lost that none of its parents has ever talked to, which nobody tells another job: who receives
 * from anybody hears of it, who receives from the lost one, who tests for ever, who probes, and who asks.
 * Usage: stranger_lost any|named|tests|probes|asks, one rank. */
#include "killed.h"

enum { CHILDREN = 3, VICTIM = 1 };

static void is_lost(int code, int expected)
{
    int class;
    OK(MPI_Error_class(code, &class));
    CHECK(class == expected, "class %d: %s", class, check_text(code));
}

static void child(MPI_Comm parents)
{
    int word = 0;
    if (rank == VICTIM) {
        /* All others are inside, too: nobody waits for this one in MPI_Init. */
        OK(MPI_Barrier(MPI_COMM_WORLD));
        die(0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, parents, MPI_STATUS_IGNORE));
    EQUAL(word, 7);
}

static int until_tested(MPI_Comm children)
{
    MPI_Request request;
    int word, flag = 0, code = MPI_SUCCESS;
    OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, children, &request));
    while (!flag && code == MPI_SUCCESS) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    CHECK(request != MPI_REQUEST_NULL, "the receive is over");
    OK(MPI_Cancel(&request));
    OK(MPI_Request_free(&request));
    return code;
}

static int until_probed(MPI_Comm children)
{
    int flag = 0, code = MPI_SUCCESS;
    while (!flag && code == MPI_SUCCESS) code = MPI_Iprobe(VICTIM, 3, children, &flag, MPI_STATUS_IGNORE);
    return code;
}

static void parent(const char *program, const char *mode)
{
    char *words[] = {(char *)mode, NULL};
    int word = 7;
    double begin = MPI_Wtime();
    MPI_Comm children;
    OK(MPI_Comm_spawn(program, words, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN));
    if (strcmp(mode, "any") == 0)
        is_lost(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, children, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    else if (strcmp(mode, "named") == 0)
        is_lost(MPI_Recv(&word, 1, MPI_INT, VICTIM, 3, children, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    else if (strcmp(mode, "tests") == 0)
        is_lost(until_tested(children), MPIX_ERR_PROC_FAILED_PENDING);
    else if (strcmp(mode, "probes") == 0)
        is_lost(until_probed(children), MPIX_ERR_PROC_FAILED);
    else
        until_lost(children);
    CHECK(MPI_Wtime() - begin < 20, "it was heard after %.1f s", MPI_Wtime() - begin);
    for (int to = 0; to < CHILDREN; to++)
        if (to != VICTIM) OK(MPI_Send(&(int){7}, 1, MPI_INT, to, 0, children));
    MPI_Comm_free(&children);
}

int main(int argc, char **argv)
{
    MPI_Comm parents;
    check_start(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_get_parent(&parents));
    if (parents == MPI_COMM_NULL)
        parent(argv[0], argv[1]);
    else
        child(parents);
    printf("goes on\n");
    fflush(stdout);
    OK(MPI_Finalize());
    return 0;
}
