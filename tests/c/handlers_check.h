/* handlers_check.h: what the tests of handlers with several threads share. */
#ifndef HANDLERS_CHECK_H
#define HANDLERS_CHECK_H

#include "check.h"

#include <posthaste.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* A word that a thread waits for, for at most 20 seconds. */
static inline void await(atomic_int *word, int value, const char *what)
{
    for (int tries = 0; atomic_load(word) < value; tries++) {
        if (tries > 20000) FAIL("%s is %d, expected %d", what, atomic_load(word), value);
        usleep(1000);
    }
}

static inline MPI_Status marked(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = status.MPI_TAG = 4711;
    return status;
}

#endif /* HANDLERS_CHECK_H */
