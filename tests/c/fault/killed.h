/* killed.h: how a process of a test is killed, by itself. */
#ifndef KILLED_H
#define KILLED_H

#include "../check.h"

#include <mpi-ext.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { LATER_MS = 300 };

static inline void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static inline void die_later(void)
{
    struct sigaction action = {.sa_handler = die, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {0, LATER_MS * 1000}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0, "no timer");
}

/* Waits until somebody in `comm` is known to be lost. */
static inline void until_lost(MPI_Comm comm)
{
    for (int count = 0; count == 0;) {
        MPI_Group failed;
        OK(MPIX_Comm_get_failed(comm, &failed));
        OK(MPI_Group_size(failed, &count));
        OK(MPI_Group_free(&failed));
    }
}

#endif
