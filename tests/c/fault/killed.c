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
 *
 * Who is left says what became of its calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
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

static void choose(const char *job, const char *rank)
{
    const char *victim = getenv("VICTIM"), *step = getenv("STEP");
    char own[64];
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

static int went(const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    if (code == MPI_SUCCESS) return 1;
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

static void spawn(char *own)
{
    MPI_Comm inter;
    if (went("MPI_Comm_spawn", MPI_Comm_spawn(own, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE)))
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
static void introduce(char *own, const char *job, MPI_Comm parent)
{
    MPI_Comm left = parent, right = parent, near = MPI_COMM_WORLD, made;
    char number[16], *arguments[2][2] = {{"left", NULL}, {"right", NULL}};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!job &&
        !(went("MPI_Comm_spawn", MPI_Comm_spawn(own, arguments[0], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &left, MPI_ERRCODES_IGNORE)) &&
          went("MPI_Comm_spawn", MPI_Comm_spawn(own, arguments[1], 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &right, MPI_ERRCODES_IGNORE))))
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

int main(int argc, char **argv)
{
    MPI_Comm parent;
    int introduces = argc > 1 && (!strcmp(argv[1], "introduce") || !strcmp(argv[1], "left") || !strcmp(argv[1], "right"));
    if (introduces) counts = 0;
    if (!went("MPI_Init", MPI_Init(&argc, &argv))) return 1;
    counts = !introduces;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_get_parent(&parent);
    if (introduces)
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
