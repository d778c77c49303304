/* check.h: what the C tests share. A failed check says where, on which rank, and what was found, and ends the
 * job with exit code 1. Plain MPI: the same tests run with any implementation of the standard ABI. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank = -1, size = -1;

#define FAIL(...)                                                              \
    do {                                                                       \
        fprintf(stderr, "%s:%d: rank %d: ", __FILE__, __LINE__, rank);         \
        fprintf(stderr, __VA_ARGS__);                                          \
        fprintf(stderr, "\n");                                                 \
        exit(1);                                                               \
    } while (0)

/* The condition must hold; the rest of the arguments says what was found. */
#define CHECK(condition, ...)                                                  \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "  " __VA_ARGS__);                                 \
            fprintf(stderr, "\n");                                             \
            FAIL("not true: %s", #condition);                                  \
        }                                                                      \
    } while (0)

#define EQUAL(found, wanted)                                                   \
    do {                                                                       \
        long long found_ = (long long)(found), wanted_ = (long long)(wanted);  \
        if (found_ != wanted_) FAIL("%s is %lld, expected %lld", #found, found_, wanted_); \
    } while (0)

/* The call must succeed. */
#define OK(call)                                                               \
    do {                                                                       \
        int code_ = (call);                                                    \
        if (code_ != MPI_SUCCESS) FAIL("%s gives \"%s\"", #call, check_text(code_)); \
    } while (0)

/* The call must fail with this error class. */
#define REFUSED(call, wanted_class)                                            \
    do {                                                                       \
        int code_ = (call), class_ = MPI_SUCCESS;                              \
        if (code_ != MPI_SUCCESS) MPI_Error_class(code_, &class_);             \
        if (class_ != (wanted_class))                                          \
            FAIL("%s gives class %d \"%s\", expected %s", #call, class_, check_text(code_), #wanted_class); \
    } while (0)

static inline const char *check_text(int code)
{
    static char text[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "error %d without a text", code);
    return text;
}

/* Starts MPI; errors come back as codes. */
static inline void check_start(int *argc, char ***argv)
{
    int code = MPI_Init(argc, argv);
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "MPI_Init gives %d\n", code);
        exit(1);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline int check_end(void)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    return 0;
}

/* A byte that depends on the place and on a seed. */
static inline unsigned char check_byte(size_t at, unsigned seed)
{
    return (unsigned char)(at * 131 + (at >> 8) * 17 + seed * 59 + 3);
}

static inline void check_fill(void *buffer, size_t length, unsigned seed)
{
    unsigned char *p = buffer;
    for (size_t i = 0; i < length; i++) p[i] = check_byte(i, seed);
}

static inline void check_filled(const void *buffer, size_t length, unsigned seed)
{
    const unsigned char *p = buffer;
    for (size_t i = 0; i < length; i++) {
        if (p[i] != check_byte(i, seed))
            FAIL("byte %zu of %zu is %d, expected %d", i, length, p[i], check_byte(i, seed));
    }
}

/* Memory with guard bytes on both sides. */
enum { CHECK_GUARD = 64, CHECK_GUARD_BYTE = 0xA5 };

static inline unsigned char *check_guarded(size_t length)
{
    unsigned char *all = malloc(length + 2 * CHECK_GUARD);
    if (!all) FAIL("no memory for %zu bytes", length);
    memset(all, CHECK_GUARD_BYTE, length + 2 * CHECK_GUARD);
    return all + CHECK_GUARD;
}

static inline void check_guards(const unsigned char *buffer, size_t length)
{
    for (int i = 0; i < CHECK_GUARD; i++) {
        if (buffer[-1 - i] != CHECK_GUARD_BYTE) FAIL("the guard byte %d before the buffer was overwritten", i);
        if (buffer[length + i] != CHECK_GUARD_BYTE) FAIL("the guard byte %d after the buffer was overwritten", i);
    }
}

static inline void check_free_guarded(unsigned char *buffer, size_t length)
{
    check_guards(buffer, length);
    free(buffer - CHECK_GUARD);
}

/* So that unused helpers and variables are no warnings in a test that needs only a few. */
static inline void check_unused(void)
{
    (void)rank;
    (void)size;
    (void)check_unused;
}

#endif
