/* An example of a method in its own shared object: sockets of the Unix domain, between ranks of one host.
 *
 *     cc -shared -fPIC -O2 -o libposthaste_unix.so unix_method.c
 *     POSTHASTE_PLUGIN=./libposthaste_unix.so POSTHASTE_METHODS=plugin mpiexec -n 4 ./program
 *
 * Each process listens under an abstract name. Whoever has something for it connects to that name, says once who it is, and
 * uses the connection for its own packets only; so a pair that talks both ways has two, and nobody has to decide which of
 * two simultaneous ones counts. SOCK_SEQPACKET keeps packets whole and in order. One epoll set watches everything, and its
 * own descriptor is the one to sleep on.
 *
 * Who is at the other end: the kernel says whose process it is, and the first packet must bear the job's secret.
 */
#define _GNU_SOURCE
#include "posthaste_method.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    LONGEST = 16 << 10, /* a packet */
    SECRET = 32,
    EVENTS = 64,  /* looked at in one poll */
    PACKETS = 16, /* of one connection in one poll */
};

/* What an event of the set belongs to: a rank that we send to, an accepted connection, or the listening socket. */
#define OUTGOING(rank) ((uint64_t)(rank))
#define INCOMING(at) ((uint64_t)1 << 32 | (at))
#define LISTENER ((uint64_t)1 << 33)

/* The first packet on each connection. */
typedef struct {
    unsigned char secret[SECRET];
    uint32_t rank;
} Hello;

/* A rank that we send to. */
typedef struct {
    int fd; /* -1: not connected yet, or not any more */
    int is_lost;
    char *address;
} Peer;

/* A connection that others have made. */
typedef struct {
    int fd;       /* -1: closed */
    int64_t from; /* -1: it has not said yet */
} Caller;

typedef struct {
    Hello hello;
    uint32_t ranks;
    int set;
    int listener;
    Peer *peers;
    Caller *callers;
    uint32_t caller_count;
    /* Ranks whose loss `send` has noticed, for `poll`. */
    uint32_t lost_count;
    struct {
        uint32_t peer;
        int error;
    } *lost;
    char address[64];
    unsigned char packet[LONGEST];
} Unix;

static void *fail(char *why, const char *doing)
{
    snprintf(why, POSTHASTE_METHOD_TEXT, "%s: %s", doing, strerror(errno));
    return NULL;
}

/* The socket address of an abstract name, and its length. */
static socklen_t place(const char *name, struct sockaddr_un *address)
{
    size_t len = strlen(name);
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, len);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
}

static int watch(const Unix *self, int fd, uint32_t events, uint64_t token)
{
    struct epoll_event event = {.events = events, .data.u64 = token};
    return epoll_ctl(self->set, EPOLL_CTL_ADD, fd, &event);
}

/* Whether the process at the other end is the same user's. */
static int is_ours(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
}

static void unix_close(void *unix_method)
{
    Unix *self = unix_method;
    for (uint32_t rank = 0; self->peers && rank < self->ranks; rank++) {
        if (self->peers[rank].fd >= 0)
            close(self->peers[rank].fd);
        free(self->peers[rank].address);
    }
    for (uint32_t at = 0; at < self->caller_count; at++)
        if (self->callers[at].fd >= 0)
            close(self->callers[at].fd);
    if (self->listener >= 0)
        close(self->listener);
    if (self->set >= 0)
        close(self->set);
    free(self->peers);
    free(self->callers);
    free(self->lost);
    free(self);
}

static int start(Unix *self)
{
    uint64_t random[2];
    struct sockaddr_un address;
    if (!self->peers || !self->lost || getrandom(random, sizeof random, 0) != sizeof random)
        return -1;
    snprintf(self->address, sizeof self->address, "posthaste-%016llx%016llx", (unsigned long long)random[0],
             (unsigned long long)random[1]);
    socklen_t len = place(self->address, &address);
    self->set = epoll_create1(EPOLL_CLOEXEC);
    self->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (self->set < 0 || self->listener < 0)
        return -1;
    if (bind(self->listener, (struct sockaddr *)&address, len) < 0 || listen(self->listener, SOMAXCONN) < 0)
        return -1;
    return watch(self, self->listener, EPOLLIN, LISTENER);
}

static void *unix_open(const posthaste_job *job, char *why)
{
    Unix *self = calloc(1, sizeof *self);
    if (!self)
        return fail(why, "starting");
    self->set = self->listener = -1;
    self->ranks = job->ranks;
    self->hello.rank = job->rank;
    memcpy(self->hello.secret, job->secret, SECRET);
    self->peers = calloc(job->ranks, sizeof *self->peers);
    self->lost = calloc(job->ranks, sizeof *self->lost);
    for (uint32_t rank = 0; self->peers && rank < job->ranks; rank++)
        self->peers[rank].fd = -1;
    if (start(self) < 0) {
        fail(why, "listening on a socket of the Unix domain");
        unix_close(self);
        return NULL;
    }
    return self;
}

static const char *unix_address(void *unix_method)
{
    return ((Unix *)unix_method)->address;
}

/* Sends need the connection, so it is made there: the other end may have no room for it yet. */
static int unix_connect(void *unix_method, uint32_t peer, const char *address, char *why)
{
    Unix *self = unix_method;
    if (strlen(address) >= sizeof self->address) {
        snprintf(why, POSTHASTE_METHOD_TEXT, "\"%.100s\" is no name of a socket", address);
        return -1;
    }
    self->peers[peer].address = strdup(address);
    return self->peers[peer].address ? 0 : (fail(why, "keeping an address"), -1);
}

/* A rank is lost: `poll` reports it. */
static void lose(Unix *self, uint32_t rank, int error)
{
    Peer *peer = &self->peers[rank];
    if (peer->fd >= 0)
        close(peer->fd);
    peer->fd = -1;
    if (!peer->is_lost) {
        peer->is_lost = 1;
        self->lost[self->lost_count].peer = rank;
        self->lost[self->lost_count++].error = error;
    }
}

/* Whether there is room for more of what the call has just failed to send; if it failed for good, the rank is lost. */
static int refused(Unix *self, uint32_t rank)
{
    if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
        lose(self, rank, errno);
    return 0;
}

/* Connects to a rank and says who we are. 0: not now. */
static int reach(Unix *self, uint32_t rank)
{
    struct sockaddr_un address;
    socklen_t len = place(self->peers[rank].address, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, len) < 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        errno = error;
        return refused(self, rank);
    }
    self->peers[rank].fd = fd;
    if (!is_ours(fd)) {
        lose(self, rank, EPERM);
    } else if (send(fd, &self->hello, sizeof self->hello, MSG_NOSIGNAL) < 0 || watch(self, fd, 0, OUTGOING(rank)) < 0) {
        lose(self, rank, errno); /* the first packet always has room */
    }
    return self->peers[rank].fd >= 0;
}

static int unix_send(void *unix_method, uint32_t rank, const posthaste_piece *pieces, size_t count)
{
    Unix *self = unix_method;
    struct msghdr message = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = count};
    if (self->peers[rank].is_lost || (self->peers[rank].fd < 0 && !reach(self, rank)))
        return 0;
    return sendmsg(self->peers[rank].fd, &message, MSG_NOSIGNAL) >= 0 || refused(self, rank);
}

static void accept_callers(Unix *self)
{
    int fd;
    while ((fd = accept4(self->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        uint32_t at = 0;
        while (at < self->caller_count && self->callers[at].fd >= 0)
            at++;
        if (at == self->caller_count) {
            Caller *more = realloc(self->callers, (at + 1) * sizeof *more);
            if (!more) {
                close(fd);
                return;
            }
            self->callers = more;
            self->caller_count++;
        }
        self->callers[at] = (Caller){.fd = fd, .from = -1};
        if (!is_ours(fd) || watch(self, fd, EPOLLIN, INCOMING(at)) < 0) {
            close(fd);
            self->callers[at].fd = -1;
        }
    }
}

/* The first packet of a connection; whoever does not know the secret is shut out. */
static int greet(const Unix *self, Caller *caller, ssize_t n)
{
    Hello hello;
    unsigned char differs = 0;
    if (n != sizeof hello)
        return -1;
    memcpy(&hello, self->packet, sizeof hello);
    for (int i = 0; i < SECRET; i++)
        differs |= hello.secret[i] ^ self->hello.secret[i];
    if (differs || hello.rank >= self->ranks)
        return -1;
    caller->from = hello.rank;
    return 0;
}

/* Reads up to so many packets of a connection. */
static void hear(Unix *self, Caller *caller, const posthaste_receiver *receiver, int packets)
{
    while (caller->fd >= 0 && packets-- > 0) {
        ssize_t n = recv(caller->fd, self->packet, sizeof self->packet, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n > 0 && caller->from >= 0) {
            receiver->packet(receiver->context, (uint32_t)caller->from, self->packet, (size_t)n);
        } else if (n <= 0 || greet(self, caller, n) < 0) {
            int error = n < 0 ? errno : 0;
            close(caller->fd);
            caller->fd = -1;
            if (caller->from >= 0)
                lose(self, (uint32_t)caller->from, error);
        }
    }
}

/* What a rank that is lost has sent before is reported first. */
static void hear_out(Unix *self, uint32_t rank, const posthaste_receiver *receiver)
{
    accept_callers(self);
    for (uint32_t at = 0; at < self->caller_count; at++)
        if (self->callers[at].from < 0 || self->callers[at].from == rank)
            hear(self, &self->callers[at], receiver, INT_MAX);
}

static int unix_poll(void *unix_method, const posthaste_receiver *receiver)
{
    Unix *self = unix_method;
    struct epoll_event events[EVENTS];
    int found = epoll_wait(self->set, events, EVENTS, 0);
    for (int i = 0; i < found; i++) {
        uint64_t token = events[i].data.u64;
        if (token == LISTENER)
            accept_callers(self);
        else if (token >= INCOMING(0))
            hear(self, &self->callers[(uint32_t)token], receiver, PACKETS);
        else if (self->peers[token].fd >= 0) /* watched for its end only */
            lose(self, (uint32_t)token, 0);
    }
    while (self->lost_count > 0) {
        uint32_t peer = self->lost[--self->lost_count].peer;
        int error = self->lost[self->lost_count].error;
        hear_out(self, peer, receiver);
        receiver->down(receiver->context, peer, error ? strerror(error) : "it has closed its connection");
        found++;
    }
    return found > 0;
}

static int unix_descriptor(void *unix_method)
{
    return ((Unix *)unix_method)->set;
}

/* What `send` has taken is in the kernel. */
static int unix_flush(void *unix_method)
{
    (void)unix_method;
    return 1;
}

const posthaste_method posthaste_method_table = {
    .version = POSTHASTE_METHOD_VERSION,
    .longest = LONGEST,
    .name = "unix",
    .open = unix_open,
    .address = unix_address,
    .connect = unix_connect,
    .send = unix_send,
    .poll = unix_poll,
    .descriptor = unix_descriptor,
    .flush = unix_flush,
    .close = unix_close,
};
