/* bad_check.h: what the tests of wrong arguments share. Every wrong call must give the right error class and a
 * sentence that names the call and the argument; afterwards everything must still work, and no byte outside or inside
 * the buffers may have changed. Handles that are no handles are a promise of posthaste, not of the ABI. */
#ifndef BAD_CHECK_H
#define BAD_CHECK_H

#include "check.h"

#include <stdint.h>

/* The call must fail with this class, and its sentence must name the call and contain `says`. */
#define BAD(wanted, says, name, ...)                                                                      \
    bad_answer(name(__VA_ARGS__), wanted, #wanted, #name, says, #name "(" #__VA_ARGS__ ")", __LINE__)

static int bad_calls, bad_failures;

/* Goes on, so that one run shows everything that is wrong; bad_end fails. */
static inline void bad_wrong(int line, const char *call, const char *found, const char *wanted)
{
    if (bad_failures++ < 20)
        fprintf(stderr, "line %d: rank %d: %s: \"%s\", expected \"%s\"\n", line, rank, call, found, wanted);
}

static inline void bad_answer(int code, int wanted, const char *class_name, const char *name, const char *says,
                              const char *call, int line)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "", start[80];
    int class = MPI_SUCCESS, length = -1;
    bad_calls++;
    snprintf(start, sizeof start, "; %s on rank %d of MPI_COMM_WORLD", name, rank);
    if (code == MPI_SUCCESS) return bad_wrong(line, call, "it succeeds", class_name);
    if (MPI_Error_class(code, &class) != MPI_SUCCESS) return bad_wrong(line, call, "the code has no class", class_name);
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return bad_wrong(line, call, "the code has no text", says);
    if (class != wanted) return bad_wrong(line, call, text, class_name);
    if (length != (int)strlen(text)) return bad_wrong(line, call, text, "the length of the text");
    if (!strstr(text, start)) return bad_wrong(line, call, text, start + 2);
    if (!strstr(text, says)) return bad_wrong(line, call, text, says);
}

/* Handles that are none of a kind: never were, are null, were freed, or belong to objects of another kind. */
enum bad_kind { BAD_COMM, BAD_GROUP, BAD_TYPE, BAD_OP, BAD_INFO, BAD_ERRHANDLER, BAD_REQUEST, BAD_MESSAGE, BAD_KINDS };
enum { BAD_WILD = 9, BAD_MOST = BAD_WILD + 2 * BAD_KINDS + 2 };
static uintptr_t bad_handles[BAD_KINDS][BAD_MOST];
static int bad_counts[BAD_KINDS];

/* Runs the statement with `v` as each bad handle of the kind, type T. */
#define EACH(kind, T, v)                                                                                   \
    for (int i_##v = 0; i_##v < bad_counts[kind]; i_##v++)                                                 \
        for (T v = (T)bad_handles[kind][i_##v], *once_##v = &v; once_##v; once_##v = NULL)

/* For calls in which a null handle is right. */
#define EACH_NOT_NULL(kind, T, v, null) EACH(kind, T, v) if (v != (null))

static inline void bad_add(int kind, uintptr_t handle)
{
    if (bad_counts[kind] >= BAD_MOST) FAIL("too many bad handles");
    bad_handles[kind][bad_counts[kind]++] = handle;
}

static void bad_reduction(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void bad_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static int bad_place;
static MPI_Comm bad_live_comm;
static MPI_Group bad_live_group;
static MPI_Datatype bad_live_type;
static MPI_Op bad_live_op;
static MPI_Info bad_live_info;
static MPI_Errhandler bad_live_errhandler;
static MPI_Request bad_live_request;

static inline void bad_make(uintptr_t made[BAD_KINDS])
{
    OK(MPI_Comm_dup(MPI_COMM_SELF, &bad_live_comm));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &bad_live_group));
    OK(MPI_Type_contiguous(3, MPI_INT, &bad_live_type));
    OK(MPI_Op_create(bad_reduction, 1, &bad_live_op));
    OK(MPI_Info_create(&bad_live_info));
    OK(MPI_Comm_create_errhandler(bad_handler, &bad_live_errhandler));
    OK(MPI_Irecv(&bad_place, 1, MPI_INT, 0, 999, MPI_COMM_SELF, &bad_live_request));
    const uintptr_t all[BAD_KINDS] = {(uintptr_t)bad_live_comm,    (uintptr_t)bad_live_group,
                                      (uintptr_t)bad_live_type,    (uintptr_t)bad_live_op,
                                      (uintptr_t)bad_live_info,    (uintptr_t)bad_live_errhandler,
                                      (uintptr_t)bad_live_request, (uintptr_t)MPI_MESSAGE_NO_PROC};
    memcpy(made, all, sizeof all);
}

static inline void bad_unmake(void)
{
    OK(MPI_Comm_free(&bad_live_comm));
    OK(MPI_Group_free(&bad_live_group));
    OK(MPI_Type_free(&bad_live_type));
    OK(MPI_Op_free(&bad_live_op));
    OK(MPI_Info_free(&bad_live_info));
    OK(MPI_Errhandler_free(&bad_live_errhandler));
    OK(MPI_Send(&bad_place, 1, MPI_INT, 0, 999, MPI_COMM_SELF));
    OK(MPI_Wait(&bad_live_request, MPI_STATUS_IGNORE));
}

/* Collects the bad handles. The live objects of other kinds stay until bad_end. */
static inline void bad_start(int *argc, char ***argv)
{
    const uintptr_t wild[BAD_WILD] = {0,          1,           0x0fff,     0x1000,          0x7fffffff,
                                      0xdeadbeef, 0x80000000u, UINTPTR_MAX, 0x7fffdeadbeefu};
    const uintptr_t null[BAD_KINDS] = {
        (uintptr_t)MPI_COMM_NULL, (uintptr_t)MPI_GROUP_NULL,      (uintptr_t)MPI_DATATYPE_NULL, (uintptr_t)MPI_OP_NULL,
        (uintptr_t)MPI_INFO_NULL, (uintptr_t)MPI_ERRHANDLER_NULL, (uintptr_t)MPI_REQUEST_NULL,  (uintptr_t)MPI_MESSAGE_NULL};
    const uintptr_t predefined[BAD_KINDS] = {
        (uintptr_t)MPI_COMM_WORLD, (uintptr_t)MPI_GROUP_EMPTY,   (uintptr_t)MPI_INT, (uintptr_t)MPI_SUM,
        (uintptr_t)MPI_INFO_ENV,   (uintptr_t)MPI_ERRORS_RETURN, 0,                  (uintptr_t)MPI_MESSAGE_NO_PROC};
    uintptr_t freed[BAD_KINDS], live[BAD_KINDS];
    check_start(argc, argv);
    bad_make(freed);
    bad_unmake();
    bad_make(live);
    for (int kind = 0; kind < BAD_KINDS; kind++) {
        for (int i = 0; i < BAD_WILD; i++) bad_add(kind, wild[i]);
        bad_add(kind, null[kind]);
        if (kind != BAD_MESSAGE) bad_add(kind, freed[kind]);
        for (int other = 0; other < BAD_KINDS; other++) {
            if (other == kind) continue;
            if (predefined[other]) bad_add(kind, predefined[other]);
            if (other != BAD_MESSAGE) bad_add(kind, live[other]);
        }
    }
}

/* A ping-pong, a reduction and a datatype still do what they should. */
static inline void bad_still_works(void)
{
    int sent = 100 + rank, got = -1, sum = -1, peer = rank ^ 1;
    if (peer < size) {
        OK(MPI_Sendrecv(&sent, 1, MPI_INT, peer, 3, &got, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(got, 100 + peer);
        if (rank < peer) {
            OK(MPI_Send(&sent, 1, MPI_INT, peer, 4, MPI_COMM_WORLD));
            OK(MPI_Recv(&got, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(&got, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(&sent, 1, MPI_INT, peer, 5, MPI_COMM_WORLD));
        }
        EQUAL(got, 100 + peer);
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    /* Nothing that was refused was sent all the same. */
    int flag = -1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 0);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 0);
    /* What comes next is sent only when everybody has looked. */
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static inline int bad_end(void)
{
    bad_still_works();
    bad_unmake();
    if (bad_failures > 0) FAIL("%d of %d wrong calls were not answered as they should be", bad_failures, bad_calls);
    if (rank == 0) printf("%d wrong calls refused\n", bad_calls);
    return check_end();
}

#endif
