/* A process is killed at a step of spawning or meeting: behind the N-th call of the system by which it has said something to
 * another process, or heard something, or reached one. So every state between two messages is met, whatever the speed of the
 * machine. VICTIM names the process (0:0 is rank 0 of the first job, 1:0 of a spawned one), STEP is N.
 *
 *   killed spawn          all ranks start two processes of themselves, exchange words with them and part
 *   killed accept FILE    leaves the name of a port in FILE, and meets one job after the other until one says goodbye
 *   killed connect FILE   meets that job
 *   killed goodbye FILE   the same, and says goodbye
 *   killed introduce      starts two jobs of two processes, joins one, and makes an intercommunicator with the other, which does not
 *                         know the first; steps count from there, and the processes are 0:0, left:0, left:1, right:0 and right:1
 *   killed MODE           makes a communicator in one of these ways, synchronises in it and parts; steps count from the call that makes it
 *     found                 MPI_Comm_create_from_group, all ranks; the processes are 0:RANK
 *     found-jobs            the same with two processes that they start, children:0 and children:1, behind them
 *     between               MPI_Intercomm_create_from_groups of the lower and the upper half of the ranks
 *     between-jobs          the same of all ranks and two processes that they start
 *     join                  MPI_Comm_join of two ranks
 *
 * Who is left says what became of its calls; with a MODE each says "made NAME" when it has the communicator, and at its end "told NAME" when
 * any of its calls has failed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The steps. Those of MPI_Init count where it is part of the meeting: in a process that was spawned. */
static long at, count;
static int counts;
static char own[64];

static void choose(const char *job, const char *rank)
{
    const char *victim = getenv("VICTIM"), *step = getenv("STEP");
    snprintf(own, sizeof own, "%s:%s", job ? job : "", rank ? rank : "");
    if (victim && step && !strcmp(victim, own)) at = atol(step);
}

__attribute__((constructor)) static void begin(void)
{
    const char *spawned = getenv("PMI_SPAWNED");
    choose(spawned, getenv("PMI_RANK"));
    counts = spawned && !strcmp(spawned, "1");
}

static long stepped(long result, int fd)
{
    int error = errno, type;
    socklen_t length = sizeof type;
    if (at && counts && result > 0 && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && ++count == at) {
        static const char said[] = "killed here\n";
        syscall(SYS_write, 2, said, sizeof said - 1);
        kill(getpid(), SIGKILL);
    }
    errno = error;
    return result;
}

ssize_t read(int fd, void *to, size_t n) { return stepped(syscall(SYS_read, fd, to, n), fd); }
ssize_t readv(int fd, const struct iovec *to, int n) { return stepped(syscall(SYS_readv, fd, to, n), fd); }
ssize_t recv(int fd, void *to, size_t n, int flags) { return stepped(syscall(SYS_recvfrom, fd, to, n, flags, NULL, NULL), fd); }
ssize_t write(int fd, const void *from, size_t n) { return stepped(syscall(SYS_write, fd, from, n), fd); }
ssize_t writev(int fd, const struct iovec *from, int n) { return stepped(syscall(SYS_writev, fd, from, n), fd); }
ssize_t send(int fd, const void *from, size_t n, int flags) { return stepped(syscall(SYS_sendto, fd, from, n, flags, NULL, 0), fd); }
ssize_t sendmsg(int fd, const struct msghdr *from, int flags) { return stepped(syscall(SYS_sendmsg, fd, from, flags), fd); }

int accept4(int fd, struct sockaddr *from, socklen_t *length, int flags)
{
    long accepted = syscall(SYS_accept4, fd, from, length, flags);
    if (accepted >= 0) stepped(1, fd);
    return (int)accepted;
}

int connect(int fd, const struct sockaddr *to, socklen_t length)
{
    long result = syscall(SYS_connect, fd, to, length);
    if (result == 0 || errno == EINPROGRESS) stepped(1, fd);
    return (int)result;
}

/* What is done. */
enum { GO_ON = 1, GOODBYE = 2 };

static int has_failed;

static int went(const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    if (code == MPI_SUCCESS) return 1;
    has_failed = 1;
    MPI_Error_string(code, text, &length);
    fprintf(stderr, "word: %s: %s\n", call, text);
    return 0;
}

/* What the other side has said; 0 when it is lost. */
static int exchange(MPI_Comm inter, int word)
{
    int theirs = GO_ON, rank;
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Comm_rank(inter, &rank);
    /* The first ranks talk; all part, whatever became of that, because others of their job wait for them there. */
    int talked = rank > 0 || went("MPI_Sendrecv", MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
    int parted = went("MPI_Comm_disconnect", MPI_Comm_disconnect(&inter));
    return talked && parted ? theirs : 0;
}

static void spawn(char *program)
{
    MPI_Comm inter;
    if (went("MPI_Comm_spawn", MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)))
        exchange(inter, GO_ON);
}

static void accept_all(const char *path)
{
    char port[MPI_MAX_PORT_NAME], whole[4096];
    MPI_Comm inter;
    if (!went("MPI_Open_port", MPI_Open_port(MPI_INFO_NULL, port))) return;
    snprintf(whole, sizeof whole, "%s.new", path);
    FILE *file = fopen(whole, "w");
    if (!file) exit(1);
    fputs(port, file);
    fclose(file);
    if (rename(whole, path)) exit(1);
    for (int said = 0; said != GOODBYE;)
        if (went("MPI_Comm_accept", MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter))) said = exchange(inter, GO_ON);
    went("MPI_Close_port", MPI_Close_port(port));
}

static void connect_to(const char *path, int word)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    FILE *file = fopen(path, "r");
    if (!file || !fgets(port, sizeof port, file)) exit(1);
    fclose(file);
    if (went("MPI_Comm_connect", MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter))) exchange(inter, word);
}

/* In a process that was spawned `job` is "left" or "right". */
static void introduce(char *program, const char *job, MPI_Comm parent)
{
    MPI_Comm left = parent, right = parent, near = MPI_COMM_WORLD, made;
    char number[16], *arguments[2][2] = {{"left", NULL}, {"right", NULL}};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!job &&
        !(went("MPI_Comm_spawn", MPI_Comm_spawn(program, arguments[0], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &left, MPI_ERRCODES_IGNORE)) &&
          went("MPI_Comm_spawn", MPI_Comm_spawn(program, arguments[1], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &right, MPI_ERRCODES_IGNORE))))
        return;
    int is_right = job && !strcmp(job, "right");
    if (!is_right && !went("MPI_Intercomm_merge", MPI_Intercomm_merge(left, job != NULL, &near))) return;
    MPI_Comm_set_errhandler(near, MPI_ERRORS_RETURN);
    snprintf(number, sizeof number, "%d", rank);
    choose(job ? job : "0", number);
    counts = 1;
    /* The leaders are the parent and the first of the right. */
    if (went("MPI_Intercomm_create", MPI_Intercomm_create(near, 0, right, 0, 4, &made))) exchange(made, GO_ON);
}

/* The rank of this process counts in MPI_COMM_WORLD; steps count from here on. */
static void from_here(int is_child, int rank)
{
    char number[16];
    snprintf(number, sizeof number, "%d", rank);
    choose(is_child ? "children" : "0", number);
    counts = 1;
}

/* A socket between ranks 0 and 1. */
static int connected(int rank)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof place;
    int fd = socket(AF_INET, SOCK_STREAM, 0), other = fd;
    if (rank == 0 && (bind(fd, (struct sockaddr *)&place, length) || listen(fd, 1) || getsockname(fd, (struct sockaddr *)&place, &length))) exit(1);
    MPI_Bcast(&place.sin_port, 1, MPI_UINT16_T, 0, MPI_COMM_WORLD);
    /* Who is outside MPI sends nothing. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        fd = accept(other, NULL, NULL);
        close(other);
    } else if (connect(fd, (struct sockaddr *)&place, length)) {
        exit(1);
    }
    return fd;
}

static MPI_Group part(MPI_Group whole, int first, int behind)
{
    MPI_Group some;
    int range[1][3] = {{first, behind - 1, 1}};
    MPI_Group_range_incl(whole, 1, range, &some);
    return some;
}

static void make(char *program, char *mode, MPI_Comm children)
{
    MPI_Comm all = MPI_COMM_WORLD, made;
    MPI_Group whole, low, high;
    int is_child = children != MPI_COMM_NULL, rank, place, n, parents, code;
    char *arguments[] = {mode, NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strstr(mode, "-jobs")) {
        if (!is_child &&
            !went("MPI_Comm_spawn", MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE)))
            return;
        MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
        if (!went("MPI_Intercomm_merge", MPI_Intercomm_merge(children, is_child, &all))) return;
        MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    }
    /* All have come so far, although not all may hear of it. */
    MPI_Barrier(all);
    MPI_Comm_group(all, &whole);
    MPI_Comm_size(all, &n);
    MPI_Comm_rank(all, &place);
    parents = strstr(mode, "-jobs") ? n - 2 : n / 2;
    if (!strcmp(mode, "join")) {
        int fd = connected(rank);
        from_here(is_child, rank);
        code = MPI_Comm_join(fd, &made);
    } else if (!strncmp(mode, "found", 5)) {
        from_here(is_child, rank);
        code = MPI_Comm_create_from_group(whole, "found", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    } else {
        low = part(whole, 0, parents);
        high = part(whole, parents, n);
        int is_low = place < parents;
        from_here(is_child, rank);
        code = MPI_Intercomm_create_from_groups(is_low ? low : high, 0, is_low ? high : low, 0, "between", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                                &made);
    }
    if (went(mode, code)) {
        fprintf(stderr, "made %s\n", own);
        MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
        went("MPI_Barrier", MPI_Barrier(made));
        went("MPI_Comm_disconnect", MPI_Comm_disconnect(&made));
    }
    if (has_failed) fprintf(stderr, "told %s\n", own);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int introduces = argc > 1 && (!strcmp(argv[1], "introduce") || !strcmp(argv[1], "left") || !strcmp(argv[1], "right"));
    int makes = argc > 1 && (!strncmp(argv[1], "found", 5) || !strncmp(argv[1], "between", 7) || !strcmp(argv[1], "join"));
    if (introduces || makes) counts = 0;
    if (!went("MPI_Init", MPI_Init(&argc, &argv))) return 1;
    counts = !introduces && !makes;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    if (makes)
        make(argv[0], argv[1], parent);
    else if (introduces)
        introduce(argv[0], parent == MPI_COMM_NULL ? NULL : argv[1], parent);
    else if (parent != MPI_COMM_NULL)
        exchange(parent, GO_ON);
    else if (argc == 2)
        spawn(argv[0]);
    else if (!strcmp(argv[1], "accept"))
        accept_all(argv[2]);
    else
        connect_to(argv[2], strcmp(argv[1], "goodbye") ? GO_ON : GOODBYE);
    MPI_Finalize();
    return 0;
}
