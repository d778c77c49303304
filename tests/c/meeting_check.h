/* meeting_check.h: how a test starts a second job of itself and talks to it: `prog ROLE PORT` under a mpiexec of its own. */
#ifndef MEETING_CHECK_H
#define MEETING_CHECK_H

#include "check.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts a job of this program on so many ranks, with an option or NULL; the launcher is the one that has started this process. */
static inline pid_t job_start_with(const char *option, const char *ranks, const char *role, const char *port)
{
    static char own[4096], launcher[4096], link[64];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(n > 0, "no program");
    own[n] = 0;
    snprintf(link, sizeof link, "/proc/%d/exe", getppid());
    n = readlink(link, launcher, sizeof launcher - 1);
    CHECK(n > 0, "no launcher");
    launcher[n] = 0;
    const char *all[] = {launcher, option, "-n", ranks, own, role, port, NULL}, **arguments = all;
    if (!option) {
        arguments++;
        arguments[0] = launcher;
    }
    pid_t pid;
    fflush(NULL);
    int failed = posix_spawn(&pid, launcher, NULL, NULL, (char **)arguments, environ);
    CHECK(failed == 0, "starting %s: %s", launcher, strerror(failed));
    return pid;
}

static inline pid_t job_start(const char *ranks, const char *role, const char *port)
{
    return job_start_with(NULL, ranks, role, port);
}

/* The job must have ended well. */
static inline void job_end(pid_t pid)
{
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid, "the job is gone");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the other job ends with status %#x", (unsigned)status);
}

/* Everything that an intercommunicator is good for. */
static inline void use(MPI_Comm inter, int high)
{
    enum { LONG = 1 << 18 };
    int mine, local, remote, flag = 0;
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_test_inter(inter, &flag));
    EQUAL(flag, 1);
    OK(MPI_Comm_rank(inter, &mine));
    OK(MPI_Comm_size(inter, &local));
    OK(MPI_Comm_remote_size(inter, &remote));
    /* Short and long messages between all pairs, at the same time. */
    int *out = malloc(LONG * sizeof *out), *in = malloc((size_t)remote * LONG * sizeof *in);
    MPI_Request *requests = malloc(4 * (size_t)remote * sizeof *requests);
    for (int i = 0; i < LONG; i++) out[i] = i * 7 + mine + 1000 * high;
    int greeting = mine + 1000 * high, greetings[64], count = 0;
    for (int peer = 0; peer < remote; peer++) {
        OK(MPI_Irecv(in + (size_t)peer * LONG, LONG, MPI_INT, peer, 5, inter, &requests[count++]));
        OK(MPI_Irecv(&greetings[peer], 1, MPI_INT, peer, 6, inter, &requests[count++]));
        OK(MPI_Isend(out, LONG, MPI_INT, peer, 5, inter, &requests[count++]));
        OK(MPI_Isend(&greeting, 1, MPI_INT, peer, 6, inter, &requests[count++]));
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < remote; peer++) {
        EQUAL(greetings[peer], peer + 1000 * !high);
        for (int i = 0; i < LONG; i += 997) EQUAL(in[(size_t)peer * LONG + i], i * 7 + peer + 1000 * !high);
    }
    /* Collective operations across the groups. */
    int own = mine + 1, sum = -1, word = high ? -1 : 4711;
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter));
    EQUAL(sum, remote * (remote + 1) / 2);
    OK(MPI_Bcast(&word, 1, MPI_INT, high ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    EQUAL(word, 4711);
    /* One group of both, and communicators out of it. */
    MPI_Comm all, twin, part;
    OK(MPI_Intercomm_merge(inter, high, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    int place = -1, n = -1;
    OK(MPI_Comm_rank(all, &place));
    OK(MPI_Comm_size(all, &n));
    EQUAL(n, local + remote);
    EQUAL(place, high ? remote + mine : mine);
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all));
    EQUAL(sum, n * (n - 1) / 2);
    int right = (place + 1) % n, left = (place + n - 1) % n, from = -1;
    OK(MPI_Sendrecv(&place, 1, MPI_INT, right, 1, &from, 1, MPI_INT, left, 1, all, MPI_STATUS_IGNORE));
    EQUAL(from, left);
    OK(MPI_Comm_split(all, place % 2, -place, &part));
    int part_size = -1, part_rank = -1;
    OK(MPI_Comm_size(part, &part_size));
    OK(MPI_Comm_rank(part, &part_rank));
    EQUAL(part_size, (n + 1 - place % 2) / 2);
    OK(MPI_Allreduce(&part_rank, &sum, 1, MPI_INT, MPI_SUM, part));
    EQUAL(sum, part_size * (part_size - 1) / 2);
    OK(MPI_Comm_dup(inter, &twin));
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, twin));
    EQUAL(sum, remote * (remote + 1) / 2);
    /* Memory that all can reach. */
    MPI_Win win;
    int cell = -1, ones = place + 1;
    OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, all, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&ones, 1, MPI_INT, right, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    EQUAL(cell, left + 1);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free(&all));
    free(out);
    free(in);
    free(requests);
}

#endif
