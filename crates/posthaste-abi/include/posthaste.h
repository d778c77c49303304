/* posthaste.h: what posthaste has beside the standard, for C and C++ programs.
 *
 * Include it after, or instead of, mpi.h. Everything here is found when the program runs, so a program built with this
 * header is linked with nothing but the standard ABI and starts with every library that follows it. There, a call of one of
 * these functions says so and raises MPI_ERR_UNSUPPORTED_OPERATION; Posthaste_is_there asks first.
 *
 * Handlers of requests: docs/handlers.md says what they do and when.
 * A descriptor for event loops: docs/async.md.
 * Continuations: as the MPI forum's working group proposes them (hybrid-issues 6), over the same mechanism.
 */
#ifndef POSTHASTE_H
#define POSTHASTE_H

#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if !defined(POSTHASTE_INLINE)
#if defined(__GNUC__)
#define POSTHASTE_INLINE static __inline__ __attribute__((unused))
#else
#define POSTHASTE_INLINE static inline
#endif
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* A handler: it is given the request that is finished, by value, and what was attached with it. It may call whatever the
 * program may call, and complete the request by a test or wait. What extra_state points to must last until it has returned: a
 * wait of another thread may be over before, from when it has completed the request. */
typedef void (Posthaste_handler_function)(MPI_Request request, void *extra_state);
#define POSTHASTE_HANDLER_NULL ((Posthaste_handler_function *)0)

/* Where a request is (Posthaste_Request_get_state). */
#define POSTHASTE_NULL     0
#define POSTHASTE_INACTIVE 1
#define POSTHASTE_ACTIVE   2
#define POSTHASTE_FINISHED 3

/* What a continuation is told: MPI_SUCCESS, or the error code of the first operation that failed. It returns MPI_SUCCESS, or
 * an error code that the continuation request ends with. */
typedef int (MPIX_Continue_cb_function)(int rc, void *cb_data);

#define MPIX_CONT_REQBUF_VOLATILE (1 << 0) /* the older name of the next one */
#define MPIX_CONT_REQUESTS_FREE   (1 << 1) /* the requests' places are not used after the call */
#define MPIX_CONT_POLL_ONLY       (1 << 2) /* run when the continuation request is tested or waited for, and only then */
#define MPIX_CONT_DEFER_COMPLETE  (1 << 3) /* not inside MPIX_Continue itself, if everything is over already */
#define MPIX_CONT_INVOKE_FAILED   (1 << 4) /* run also when an operation failed */

/* The address of a function of this process's MPI library, or NULL. */
POSTHASTE_INLINE void *Posthaste_find(const char *name)
{
    return dlsym((void *)0, name); /* RTLD_DEFAULT, which needs a feature macro */
}

/* Whether this process's MPI library has what is declared here. */
POSTHASTE_INLINE int Posthaste_is_there(void)
{
    return Posthaste_find("Posthaste_Request_attach") ? 1 : 0;
}

/* Another library: says so, and raises the error. */
POSTHASTE_INLINE int Posthaste_missing(const char *name)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    version[0] = '\0';
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    fprintf(stderr, "posthaste.h: %s is a function of posthaste, and this process runs with another MPI library: %s\n",
        name, version);
    MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* Defines a function that is looked up once in each file that uses it. */
#define POSTHASTE_FUNCTION(name, parameters, arguments)     \
    POSTHASTE_INLINE int name parameters                    \
    {                                                       \
        typedef int(function) parameters;                   \
        static function *found;                             \
        if (!found) {                                       \
            void *address = Posthaste_find(#name);          \
            if (!address) return Posthaste_missing(#name);  \
            memcpy((void *)&found, &address, sizeof found); \
        }                                                   \
        return found arguments;                             \
    }

/* Attaches a handler to a request, in the place of the one that it has; POSTHASTE_HANDLER_NULL detaches it. The handle may
 * become another one: that of a request that was over when it was started. */
POSTHASTE_FUNCTION(Posthaste_Request_attach,
    (MPI_Request *request, Posthaste_handler_function *handler, void *extra_state), (request, handler, extra_state))

/* Detaches the handler of a request. */
POSTHASTE_FUNCTION(Posthaste_Request_detach, (MPI_Request *request), (request))

/* The handler of a request and what was attached with it; POSTHASTE_HANDLER_NULL if it has none. */
POSTHASTE_FUNCTION(Posthaste_Request_get_handler,
    (MPI_Request request, Posthaste_handler_function **handler, void **extra_state), (request, handler, extra_state))

/* Where a request is, without making progress. */
POSTHASTE_FUNCTION(Posthaste_Request_get_state, (MPI_Request request, int *state), (request, state))

/* Disables all handlers of this process, until the calling thread enables them as often. Handlers that run go on. */
POSTHASTE_FUNCTION(Posthaste_Handlers_disable, (void), ())

/* Enables them; those that have become due run before this returns. */
POSTHASTE_FUNCTION(Posthaste_Handlers_enable, (void), ())

/* Whether handlers are disabled, by any thread. */
POSTHASTE_FUNCTION(Posthaste_Handlers_are_disabled, (int *flag), (flag))

/* A descriptor of this process for event loops (poll, epoll, and what stands on them), the same at every call: it can be read when
 * a request that is watched can be completed by a test. It needs the progress thread: from the first call on there is one,
 * if the library was initialised for MPI_THREAD_MULTIPLE or POSTHASTE_PROGRESS_THREAD=1 is set, and it is an error otherwise.
 * Never read or close it. */
POSTHASTE_FUNCTION(Posthaste_Get_fd, (int *fd), (fd))

/* Makes it unreadable. Call this first when it can be read, and then test all requests that are watched. */
POSTHASTE_FUNCTION(Posthaste_Drain_fd, (void), ())

/* Watches a request until it is finished, once: a persistent one is watched again after each start. */
POSTHASTE_FUNCTION(Posthaste_Request_watch, (MPI_Request request), (request))

/* A continuation request: persistent, inactive, and over when all continuations that were registered with it have run. At
 * most max_poll of them run in one test of it, 0: any number. Keys of info: mpi_continue_poll_only,
 * mpi_continue_enqueue_complete, mpi_continue_max_poll, mpi_continue_thread (all, application). */
POSTHASTE_FUNCTION(MPIX_Continue_init, (int flags, int max_poll, MPI_Info info, MPI_Request *cont_req),
    (flags, max_poll, info, cont_req))

/* Registers a continuation of one operation, or of several together. The requests become MPI_REQUEST_NULL, persistent ones
 * inactive when they are over. */
POSTHASTE_FUNCTION(MPIX_Continue,
    (MPI_Request *request, MPIX_Continue_cb_function *cb, void *cb_data, int flags, MPI_Status *status,
        MPI_Request cont_req),
    (request, cb, cb_data, flags, status, cont_req))
POSTHASTE_FUNCTION(MPIX_Continueall,
    (int count, MPI_Request *array_of_requests, MPIX_Continue_cb_function *cb, void *cb_data, int flags,
        MPI_Status *array_of_statuses, MPI_Request cont_req),
    (count, array_of_requests, cb, cb_data, flags, array_of_statuses, cont_req))

/* What was registered with the continuations that failed: at most count of them, and count is how many they are. */
POSTHASTE_FUNCTION(MPIX_Continue_get_failed, (MPI_Request cont_req, int *count, void **cb_data),
    (cont_req, count, cb_data))

#undef POSTHASTE_FUNCTION

#if defined(__cplusplus)
}
#endif

#endif /* POSTHASTE_H */
