/* datatypes.c: pack and unpack of derived types against loops written by hand, and their ping-pong.
 * Plain MPI. Usage: datatypes pack (1 rank) | datatypes pingpong (2 ranks)
 * A row of "pack" is (time of the loop) / (time of MPI), the best of many short turns taken alternately: on a busy
 * machine only that says anything. Output: lines "result NAME VALUE UNIT" from rank 0. Called by `cargo xtask bench`. */
#define _GNU_SOURCE
#include "measure.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A record as programs have them: fields of several sizes and gaps between them. */
struct record {
    char kind;
    double at[2];
    int id;
    short flags;
    float color[3];
};
enum { RECORD_BYTES = 1 + 2 * 8 + 4 + 2 + 3 * 4 };

enum { SIDE = 128 }; /* the cube: SIDE^3 doubles, as in cube[k][j][i] */

struct shape {
    const char *name;
    MPI_Datatype type;
    int count;       /* elements of the type */
    size_t packed;   /* bytes of all of them */
    size_t span;     /* bytes of memory they lie in */
    /* What the loops need. */
    int n, box[3];
    int *where;
    void (*pack)(const struct shape *, char *restrict, const char *restrict);
    void (*unpack)(const struct shape *, char *restrict, const char *restrict);
};

static void pack_vector_8(const struct shape *s, char *restrict out, const char *restrict in)
{
    double *to = (double *)out;
    const double *from = (const double *)in;
    for (int i = 0; i < s->n; i++) to[i] = from[2 * i];
}
static void unpack_vector_8(const struct shape *s, char *restrict out, const char *restrict in)
{
    double *to = (double *)out;
    const double *from = (const double *)in;
    for (int i = 0; i < s->n; i++) to[2 * i] = from[i];
}

static void pack_vector_64(const struct shape *s, char *restrict out, const char *restrict in)
{
    for (int i = 0; i < s->n; i++) memcpy(out + (size_t)i * 64, in + (size_t)i * 128, 64);
}
static void unpack_vector_64(const struct shape *s, char *restrict out, const char *restrict in)
{
    for (int i = 0; i < s->n; i++) memcpy(out + (size_t)i * 128, in + (size_t)i * 64, 64);
}

static void pack_box(const struct shape *s, char *restrict out, const char *restrict in)
{
    const double(*cube)[SIDE][SIDE] = (const void *)in;
    double *to = (double *)out;
    for (int k = 0; k < s->box[0]; k++)
        for (int j = 0; j < s->box[1]; j++)
            for (int i = 0; i < s->box[2]; i++) *to++ = cube[k][j][i];
}
static void unpack_box(const struct shape *s, char *restrict out, const char *restrict in)
{
    double(*cube)[SIDE][SIDE] = (void *)out;
    const double *from = (const double *)in;
    for (int k = 0; k < s->box[0]; k++)
        for (int j = 0; j < s->box[1]; j++)
            for (int i = 0; i < s->box[2]; i++) cube[k][j][i] = *from++;
}
/* One element thick in the last dimension: who writes that loop leaves the innermost one out. */
static void pack_column(const struct shape *s, char *restrict out, const char *restrict in)
{
    const double(*cube)[SIDE][SIDE] = (const void *)in;
    double *to = (double *)out;
    for (int k = 0; k < s->box[0]; k++)
        for (int j = 0; j < s->box[1]; j++) *to++ = cube[k][j][0];
}
static void unpack_column(const struct shape *s, char *restrict out, const char *restrict in)
{
    double(*cube)[SIDE][SIDE] = (void *)out;
    const double *from = (const double *)in;
    for (int k = 0; k < s->box[0]; k++)
        for (int j = 0; j < s->box[1]; j++) cube[k][j][0] = *from++;
}

static void pack_blocks(const struct shape *s, char *restrict out, const char *restrict in)
{
    for (int i = 0; i < s->n; i++) memcpy(out + (size_t)i * 32, in + (size_t)s->where[i] * 8, 32);
}
static void unpack_blocks(const struct shape *s, char *restrict out, const char *restrict in)
{
    for (int i = 0; i < s->n; i++) memcpy(out + (size_t)s->where[i] * 8, in + (size_t)i * 32, 32);
}

static void pack_records(const struct shape *s, char *restrict out, const char *restrict in)
{
    const struct record *from = (const void *)in;
    for (int i = 0; i < s->n; i++, from++, out += RECORD_BYTES) {
        memcpy(out, &from->kind, 1);
        memcpy(out + 1, from->at, 16);
        memcpy(out + 17, &from->id, 4);
        memcpy(out + 21, &from->flags, 2);
        memcpy(out + 23, from->color, 12);
    }
}
static void unpack_records(const struct shape *s, char *restrict out, const char *restrict in)
{
    struct record *to = (void *)out;
    for (int i = 0; i < s->n; i++, to++, in += RECORD_BYTES) {
        memcpy(&to->kind, in, 1);
        memcpy(to->at, in + 1, 16);
        memcpy(&to->id, in + 17, 4);
        memcpy(&to->flags, in + 21, 2);
        memcpy(to->color, in + 23, 12);
    }
}

static struct shape vector_of(const char *name, size_t packed, int doubles)
{
    struct shape s = {.name = name, .count = 1, .packed = packed, .span = 2 * packed};
    s.n = (int)(packed / 8) / doubles;
    s.pack = doubles == 1 ? pack_vector_8 : pack_vector_64;
    s.unpack = doubles == 1 ? unpack_vector_8 : unpack_vector_64;
    MPI_Type_vector(s.n, doubles, 2 * doubles, MPI_DOUBLE, &s.type);
    return s;
}

static struct shape box_of(const char *name, int k, int j, int i)
{
    struct shape s = {.name = name, .count = 1, .packed = (size_t)k * j * i * 8, .box = {k, j, i}};
    int cube[3] = {SIDE, SIDE, SIDE}, from[3] = {0, 0, 0};
    s.span = sizeof(double) * SIDE * SIDE * SIDE;
    s.pack = i == 1 ? pack_column : pack_box;
    s.unpack = i == 1 ? unpack_column : unpack_box;
    MPI_Type_create_subarray(3, cube, s.box, from, MPI_ORDER_C, MPI_DOUBLE, &s.type);
    return s;
}

/* Blocks of four doubles, one in each eight, each pair of blocks exchanged with another at random. */
static struct shape blocks_of(const char *name, size_t packed)
{
    struct shape s = {.name = name, .count = 1, .packed = packed, .span = 2 * packed};
    uint64_t random = 88172645463325252u;
    s.n = (int)(packed / 32);
    s.where = malloc((size_t)s.n * sizeof *s.where);
    s.pack = pack_blocks;
    s.unpack = unpack_blocks;
    for (int i = 0; i < s.n; i++) s.where[i] = 8 * i;
    for (int i = s.n - 1; i > 0; i--) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int other = (int)(random % (uint64_t)(i + 1)), was = s.where[i];
        s.where[i] = s.where[other];
        s.where[other] = was;
    }
    MPI_Type_create_indexed_block(s.n, 4, s.where, MPI_DOUBLE, &s.type);
    return s;
}

static struct shape records_of(const char *name, size_t packed)
{
    struct shape s = {.name = name};
    int lengths[5] = {1, 2, 1, 1, 3};
    MPI_Aint where[5] = {offsetof(struct record, kind), offsetof(struct record, at), offsetof(struct record, id),
        offsetof(struct record, flags), offsetof(struct record, color)};
    MPI_Datatype fields[5] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT, MPI_FLOAT}, packed_type;
    s.count = s.n = (int)(packed / RECORD_BYTES);
    s.packed = (size_t)s.n * RECORD_BYTES;
    s.span = (size_t)s.n * sizeof(struct record);
    s.pack = pack_records;
    s.unpack = unpack_records;
    MPI_Type_create_struct(5, lengths, where, fields, &packed_type);
    MPI_Type_create_resized(packed_type, 0, sizeof(struct record), &s.type);
    MPI_Type_free(&packed_type);
    return s;
}

enum { SHAPES = 17, MOST = 16 << 20 };
static struct shape shapes[SHAPES];

static void make_shapes(void)
{
    struct shape *s = shapes;
    *s++ = vector_of("vector8_8K", 8 << 10, 1);
    *s++ = vector_of("vector8_1M", 1 << 20, 1);
    *s++ = vector_of("vector64_8K", 8 << 10, 8);
    *s++ = vector_of("vector64_1M", 1 << 20, 8);
    *s++ = box_of("planes_8K", 1, 32, 32);
    *s++ = box_of("planes_128K", 1, SIDE, SIDE);
    *s++ = box_of("planes_1M", 8, SIDE, SIDE);
    *s++ = box_of("rows_8K", 32, 1, 32);
    *s++ = box_of("rows_128K", SIDE, 1, SIDE);
    *s++ = box_of("rows_1M", SIDE, 8, SIDE);
    *s++ = box_of("columns_8K", 32, 32, 1);
    *s++ = box_of("columns_128K", SIDE, SIDE, 1);
    *s++ = box_of("columns_1M", SIDE, SIDE, 8);
    *s++ = blocks_of("blocks_8K", 8 << 10);
    *s++ = blocks_of("blocks_1M", 1 << 20);
    *s++ = records_of("records_8K", 8 << 10);
    *s++ = records_of("records_1M", 1 << 20);
    for (s = shapes; s < shapes + SHAPES; s++) MPI_Type_commit(&s->type);
}

static void free_shapes(void)
{
    for (struct shape *s = shapes; s < shapes + SHAPES; s++) {
        MPI_Type_free(&s->type);
        free(s->where);
    }
}

static void fill(char *bytes, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) bytes[i] = (char)((i + seed) * 2654435761u >> 11);
}

/* One turn of one contender. */
static void turn(const struct shape *s, int unpacking, int by_hand, char *user, char *packed)
{
    int at = 0;
    if (by_hand) {
        if (unpacking) s->unpack(s, user, packed);
        else s->pack(s, packed, user);
    } else if (unpacking) {
        MPI_Unpack(packed, (int)s->packed, &at, user, s->count, s->type, MPI_COMM_SELF);
    } else {
        MPI_Pack(user, s->count, s->type, packed, (int)s->packed, &at, MPI_COMM_SELF);
    }
    __asm__ volatile("" ::: "memory");
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double timed(const struct shape *s, int unpacking, int by_hand, char *user, char *packed)
{
    int turns = s->packed > 100000 ? 1 : 8;
    double start = seconds();
    for (int i = 0; i < turns; i++) turn(s, unpacking, by_hand, user, packed);
    return (seconds() - start) / turns;
}

/* The loop and MPI in turns; an order that changes, so that neither always finds the other's cache. */
static void against_the_loop(const struct shape *s, int unpacking, char *user, char *packed)
{
    double best[2] = {1e9, 1e9}, end = seconds() + 0.15;
    char name[48];
    for (int round = 0; round < 1000 && (round < 20 || seconds() < end); round++) {
        for (int k = 0; k < 2; k++) {
            int by_hand = k ^ (round & 1);
            double took = timed(s, unpacking, by_hand, user, packed);
            if (took < best[by_hand]) best[by_hand] = took;
        }
    }
    snprintf(name, sizeof name, "%s_%s", unpacking ? "unpack" : "pack", s->name);
    measure_report(name, best[1] / best[0], "x loop");
    printf("  %s: loop %.2f us, MPI %.2f us, %.1f GB/s\n", name, best[1] * 1e6, best[0] * 1e6, s->packed / best[0] * 1e-9);
}

static void check_pack(const struct shape *s, char *user, char *packed, char *user2, char *packed2)
{
    fill(user, s->span, 1);
    turn(s, 0, 1, user, packed);
    turn(s, 0, 0, user, packed2);
    if (memcmp(packed, packed2, s->packed) != 0) measure_fail(s->name);
    memset(user, 0, s->span);
    memset(user2, 0, s->span);
    turn(s, 1, 1, user, packed);
    turn(s, 1, 0, user2, packed);
    if (memcmp(user, user2, s->span) != 0) measure_fail(s->name);
}

static void ping_pong(const struct shape *s, int rank, int turns)
{
    static char *out, *in;
    if (out == NULL) {
        out = aligned_alloc(4096, MOST);
        in = aligned_alloc(4096, MOST);
        fill(out, MOST, 3);
        memset(in, 0, MOST);
    }
    for (int i = 0; i < turns; i++) {
        if (rank == 0) {
            MPI_Send(out, s->count, s->type, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(in, s->count, s->type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(in, s->count, s->type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, s->count, s->type, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* Seconds for one way, on rank 0: the best of many short turns, since both CPUs are rarely left alone for long. */
static double one_way(const struct shape *s, int rank)
{
    double best = 1e9, spent = 0;
    int plan[2] = {4, 20}; /* ping-pongs in a turn, turns */
    while (plan[1] > 0) {
        for (int i = 0; i < plan[1]; i++) {
            double start = seconds(), took;
            ping_pong(s, rank, plan[0]);
            took = seconds() - start;
            spent += took;
            if (took / plan[0] < best) best = took / plan[0];
        }
        /* About 0.1 ms in a turn and 0.2 s in all. */
        plan[0] = best < 25e-6 ? (int)(100e-6 / best) : 4;
        plan[1] = spent < 0.2 ? (int)((0.2 - spent) / (best * plan[0])) / 4 + 1 : 0;
        MPI_Bcast(plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return best / 2;
}

/* What rank 0 sends as this type arrives at rank 1 as the same bytes. */
static void check_message(const struct shape *s, char *user, char *packed, char *packed2, int rank)
{
    fill(user, s->span, 5);
    s->pack(s, packed, user);
    if (rank == 0) {
        MPI_Send(user, s->count, s->type, 1, 2, MPI_COMM_WORLD);
        return;
    }
    memset(user, 0, s->span);
    MPI_Recv(user, s->count, s->type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s->pack(s, packed2, user);
    if (memcmp(packed, packed2, s->packed) != 0) measure_fail(s->name);
}

int main(int argc, char **argv)
{
    int rank, size;
    char *user = aligned_alloc(4096, MOST), *packed = aligned_alloc(4096, MOST);
    char *user2 = aligned_alloc(4096, MOST), *packed2 = aligned_alloc(4096, MOST);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wanted = argc > 1 && strcmp(argv[1], "pingpong") == 0 ? 2 : 1;
    if (argc < 2 || size != wanted) measure_fail("usage: datatypes pack (1 rank) | datatypes pingpong (2 ranks)");
    make_shapes();
    for (struct shape *s = shapes; s < shapes + SHAPES; s++) {
        if (argc > 2 && strstr(s->name, argv[2]) == NULL) continue;
        if (size == 1) {
            check_pack(s, user, packed, user2, packed2);
            against_the_loop(s, 0, user, packed);
            against_the_loop(s, 1, user, packed);
            continue;
        }
        char name[48];
        check_message(s, user, packed, packed2, rank);
        double best = one_way(s, rank);
        snprintf(name, sizeof name, "pingpong_%s", s->name);
        if (rank == 0) measure_report(name, best * 1e6, "us");
    }
    free_shapes();
    free(user), free(packed), free(user2), free(packed2);
    MPI_Finalize();
    return 0;
}
