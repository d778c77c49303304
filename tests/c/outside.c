// ranks: 1
// only: posthaste
// alone
/* Calls before MPI_Init and after MPI_Finalize, from every chapter: each ends its process, a job of its own, with one
 * sentence that names the call and says what is missing. MPI-5.0 section 11.4.1. */
#include "check.h"

#include <posthaste.h>
#include <sys/wait.h>
#include <unistd.h>

static int n, m, v[4];
static void *place = v;
static char text[MPI_MAX_LIBRARY_VERSION_STRING];
static MPI_Aint a, b;
static MPI_Comm comm = MPI_COMM_WORLD, made;
static MPI_Datatype type;
static MPI_Group group = MPI_GROUP_EMPTY, other;
static MPI_Message message = MPI_MESSAGE_NO_PROC;
static MPI_Op op;
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Status status;
static Posthaste_handler_function *handler;
#define W MPI_COMM_WORLD
#define I MPI_INT

static void reduction(void *in, void *inout, int *count, MPI_Datatype *t)
{
    (void)in, (void)inout, (void)count, (void)t;
}

#define CALLS(C)                                                                                       \
    C(MPI_Send, v, 1, I, 0, 1, W) C(MPI_Ssend_c, v, 1, I, 0, 1, W) C(MPI_Bsend, v, 1, I, 0, 1, W)       \
    C(MPI_Recv, v, 1, I, 0, 1, W, &status) C(MPI_Isend, v, 1, I, 0, 1, W, &request)                     \
    C(MPI_Irecv_c, v, 1, I, 0, 1, W, &request) C(MPI_Send_init, v, 1, I, 0, 1, W, &request)             \
    C(MPI_Sendrecv, v, 1, I, 0, 1, v + 2, 1, I, 0, 1, W, &status) C(MPI_Probe, 0, 1, W, &status)        \
    C(MPI_Iprobe, 0, 1, W, &n, &status) C(MPI_Mprobe, 0, 1, W, &message, &status)                       \
    C(MPI_Mrecv, v, 1, I, &message, &status) C(MPI_Buffer_attach, v, 16)                               \
    C(MPI_Wait, &request, &status) C(MPI_Test, &request, &n, &status)                                  \
    C(MPI_Waitall, 1, &request, &status) C(MPI_Testany, 1, &request, &n, &m, &status)                  \
    C(MPI_Start, &request) C(MPI_Cancel, &request) C(MPI_Request_free, &request)                       \
    C(MPI_Type_contiguous, 2, I, &type) C(MPI_Type_size, I, &n) C(MPI_Type_get_extent, I, &a, &b)       \
    C(MPI_Pack_size, 1, I, W, &n) C(MPI_Pack, v, 1, I, text, 100, &n, W)                                \
    C(MPI_Barrier, W) C(MPI_Bcast, v, 1, I, 0, W) C(MPI_Allreduce, v, v + 2, 1, I, MPI_SUM, W)          \
    C(MPI_Gather, v, 1, I, v + 2, 1, I, 0, W) C(MPI_Alltoall_c, v, 1, I, v + 2, 1, I, W)                \
    C(MPI_Ibarrier, W, &request) C(MPI_Iscan, v, v + 2, 1, I, MPI_SUM, W, &request)                     \
    C(MPI_Allgather_init, v, 1, I, v + 2, 1, I, W, MPI_INFO_NULL, &request)                             \
    C(MPI_Reduce_local, v, v + 2, 1, I, MPI_SUM) C(MPI_Op_create, reduction, 1, &op)                    \
    C(MPI_Comm_rank, W, &n) C(MPI_Comm_size, W, &n) C(MPI_Comm_dup, W, &made)                           \
    C(MPI_Comm_split, W, 0, 0, &made) C(MPI_Comm_free, &comm) C(MPI_Comm_group, W, &group)              \
    C(MPI_Comm_set_name, W, "name") C(MPI_Comm_get_parent, &made) C(MPI_Group_size, group, &n)          \
    C(MPI_Group_union, group, group, &other) C(MPI_Cart_create, W, 1, v, v, 0, &made)                   \
    C(MPI_Comm_get_attr, W, MPI_TAG_UB, &place, &n)                         \
    C(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &n, NULL)                \
    C(MPI_Comm_set_errhandler, W, MPI_ERRORS_RETURN) C(MPI_Comm_call_errhandler, W, MPI_ERR_ARG)       \
    C(MPI_Get_processor_name, text, &n) C(MPI_Alloc_mem, 10, MPI_INFO_NULL, &place)                    \
    C(MPI_Query_thread, &n) C(MPI_Is_thread_main, &n) C(MPI_Finalize)                                   \
    C(Posthaste_Request_attach, &request, handler, NULL) C(Posthaste_Request_detach, &request)          \
    C(Posthaste_Request_get_handler, request, &handler, &place)                                        \
    C(Posthaste_Request_get_state, request, &n) C(Posthaste_Request_watch, request)                    \
    C(Posthaste_Handlers_disable) C(Posthaste_Handlers_enable) C(Posthaste_Get_fd, &n)                  \
    C(MPIX_Continue_init, 0, 0, MPI_INFO_NULL, &request)                                               \
    C(MPIX_Continue, &request, NULL, NULL, 0, &status, request)

#define NAME(F, ...) #F,
static const char *const names[] = {CALLS(NAME)};
enum { MOST = sizeof names / sizeof *names };

/* The call with this number; one that comes back has failed to end the process. */
static void call(int number)
{
    int at = 0;
#define CALL(F, ...) if (at++ == number) F(__VA_ARGS__);
    CALLS(CALL)
    printf("it comes back\n");
    exit(0);
}

/* Runs this program anew, without a launcher, for one call; `said` is what it writes. */
static int run(const char *program, const char *when, int number, char *said, size_t room)
{
    char digits[12], library[4096], *const environment[] = {library, NULL};
    const char *path = getenv("LD_LIBRARY_PATH");
    int ends[2], code;
    size_t length = 0;
    ssize_t got;
    snprintf(digits, sizeof digits, "%d", number);
    snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s", path ? path : "");
    CHECK(pipe(ends) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 1), dup2(ends[1], 2), close(ends[0]), close(ends[1]);
        execle(program, program, when, digits, (char *)NULL, environment);
        _exit(0);
    }
    close(ends[1]);
    while (length + 1 < room && (got = read(ends[0], said + length, room - 1 - length)) > 0) length += (size_t)got;
    said[length] = 0;
    close(ends[0]);
    CHECK(waitpid(pid, &code, 0) == pid);
    return code;
}

static void check(const char *program, const char *when, const char *missing)
{
    for (int i = 0; i < MOST; i++) {
        char said[4000] = "", start[100];
        int code = run(program, when, i, said, sizeof said), lines = 0;
        for (const char *c = said; *c; c++) lines += *c == '\n';
        snprintf(start, sizeof start, "posthaste: %s", names[i]);
        int ended = WIFEXITED(code) && WEXITSTATUS(code) != 0;
        int right = lines == 1 && strncmp(said, start, strlen(start)) == 0 && strstr(said, missing);
        CHECK(ended && right, "%s %s: status %#x, it says: %s", names[i], when, (unsigned)code, said);
    }
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        if (strcmp(argv[1], "after") == 0) {
            MPI_Init(NULL, NULL);
            MPI_Finalize();
        }
        call(atoi(argv[2]));
    }
    check(argv[0], "before", "MPI_Init");
    check(argv[0], "after", "MPI_Finalize");
    check_start(&argc, &argv);
    return check_end();
}
