// ranks: 2
// timeout: 120
/* Random nested types, other ones on both sides with the same signature, against an explicit type map: every byte of
 * both memories is compared, between and around the blocks too. One in eight receives is too short. The seed is
 * printed; `type_random SEED` does the same again. `type_random SEED tame` leaves out empty blocks and receives that
 * are too short, which not every implementation survives. MPI-5.0 sections 3.3.1, 5.1 and 5.1.12. */
#include "check.h"
#include "dice.h"

#include <stdint.h>
#include <time.h>

enum { ROUNDS = 300, DEPTH = 4, MOST_BLOCKS = 120000, MOST_SPAN = 1 << 22 };

/* A type and its basic elements, in order. */
struct shape {
    MPI_Datatype type;
    int count, atoms;
    MPI_Aint *at;
    int *length;
};

static unsigned long long seed;
static int turn;
/* The least count, block length and number of blocks. */
static int least;

static void fail_seed(void)
{
    if (turn < ROUNDS) fprintf(stderr, "rank %d: to see this again: type_random %llu (turn %d)\n", rank, seed, turn);
}

static void forget(struct shape *shape)
{
    OK(MPI_Type_free(&shape->type));
    free(shape->at);
    free(shape->length);
}

/* An empty map with room for `count` blocks. */
static struct shape room(int count)
{
    struct shape shape = {MPI_DATATYPE_NULL, 0, 0, NULL, NULL};
    shape.at = malloc(sizeof *shape.at * (size_t)(count + 1));
    shape.length = malloc(sizeof *shape.length * (size_t)(count + 1));
    return shape;
}

/* Appends `copies` of a child, an extent apart, at `displacement`. */
static void append(struct shape *shape, const struct shape *child, MPI_Aint displacement, int copies)
{
    MPI_Aint lower, extent;
    OK(MPI_Type_get_extent(child->type, &lower, &extent));
    for (int copy = 0; copy < copies; copy++) {
        for (int i = 0; i < child->count; i++) {
            shape->at[shape->count] = displacement + copy * extent + child->at[i];
            shape->length[shape->count++] = child->length[i];
        }
        shape->atoms += child->atoms;
    }
}

/* The signature of every message is a sequence of atoms of one kind; an atom of several elements may lie in any way. */
enum { KINDS = 6 };

static struct shape atom(int kind)
{
    static const int sizes[KINDS - 1] = {1, 2, 4, 8, 16};
    const MPI_Datatype basic[KINDS - 1] = {MPI_CHAR, MPI_INT16_T, MPI_INT, MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX};
    struct shape shape = room(3);
    shape.atoms = 1;
    if (kind < KINDS - 1) {
        shape.count = 1;
        shape.at[0] = 0;
        shape.length[0] = sizes[kind];
        OK(MPI_Type_dup(basic[kind], &shape.type));
        return shape;
    }
    const MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    static const MPI_Aint ways[3][3] = {{0, 8, 16}, {9, 1, 0}, {-4, 20, 0}};
    const int ones[3] = {1, 1, 1}, lengths[3] = {4, 8, 1};
    const MPI_Aint *way = ways[below(3)];
    OK(MPI_Type_create_struct(3, ones, way, parts, &shape.type));
    for (int i = 0; i < 3; i++) {
        shape.at[i] = way[i];
        shape.length[i] = lengths[i];
    }
    shape.count = 3;
    return shape;
}

/* Blocks of one length or of several, regular or not, in elements or in bytes: all constructors of that family. */
static struct shape blocks(const struct shape *child, int which)
{
    int n = between(least, 5), lengths[5], starts[5], length = between(least, 3), next = 0;
    MPI_Aint bytes[5], lower, extent, stride;
    struct shape shape = room(child->count * 15);
    OK(MPI_Type_get_extent(child->type, &lower, &extent));
    for (int i = 0; i < 5; i++) {
        lengths[i] = which >= 4 ? length : between(least, 3);
        starts[i] = next + between(0, 2);
        next = starts[i] + lengths[i];
        bytes[i] = starts[i] * extent + between(0, 1) * i;
    }
    if (below(2)) {
        /* In another order. */
        int i = below(5), j = below(5), t = starts[i], l = lengths[i];
        MPI_Aint b = bytes[i];
        starts[i] = starts[j], lengths[i] = lengths[j], bytes[i] = bytes[j];
        starts[j] = t, lengths[j] = l, bytes[j] = b;
    }
    int step = below(3) ? length + between(0, 3) : -length - between(0, 3);
    stride = step * extent + between(0, 9);
    switch (which) {
    case 0: OK(MPI_Type_vector(n, length, step, child->type, &shape.type)); break;
    case 1: OK(MPI_Type_create_hvector(n, length, stride, child->type, &shape.type)); break;
    case 2: OK(MPI_Type_indexed(n, lengths, starts, child->type, &shape.type)); break;
    case 3: OK(MPI_Type_create_hindexed(n, lengths, bytes, child->type, &shape.type)); break;
    case 4: OK(MPI_Type_create_indexed_block(n, length, starts, child->type, &shape.type)); break;
    default: OK(MPI_Type_create_hindexed_block(n, length, bytes, child->type, &shape.type)); break;
    }
    for (int i = 0; i < n; i++) {
        MPI_Aint at = which == 0 ? i * step * extent : which == 1 ? i * stride : which == 2 || which == 4 ? starts[i] * extent : bytes[i];
        append(&shape, child, at, which < 2 ? length : lengths[i]);
    }
    return shape;
}

static struct shape subarray(const struct shape *child)
{
    int n = between(1, 3), sizes[3] = {1, 1, 1}, parts[3] = {1, 1, 1}, starts[3] = {0, 0, 0}, in_c = below(2);
    struct shape shape = room(child->count * 27);
    MPI_Aint lower, extent;
    OK(MPI_Type_get_extent(child->type, &lower, &extent));
    for (int i = 0; i < n; i++) {
        parts[i] = between(1, 3);
        starts[i] = between(0, 2);
        sizes[i] = parts[i] + starts[i] + between(0, 2);
    }
    OK(MPI_Type_create_subarray(n, sizes, parts, starts, in_c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, child->type, &shape.type));
    /* Slowest dimension first; the dimensions that are not there have size 1. */
    int slow = in_c ? 0 : 2, fast = in_c ? 2 : 0;
    for (int i = 0; i < parts[slow]; i++)
        for (int j = 0; j < parts[1]; j++)
            for (int k = 0; k < parts[fast]; k++) {
                int place = ((starts[slow] + i) * sizes[1] + starts[1] + j) * sizes[fast] + starts[fast] + k;
                append(&shape, child, place * extent, 1);
            }
    return shape;
}

static struct shape nested(int kind, int depth);

static struct shape structure(int kind, int depth)
{
    int n = between(least, 3), lengths[3], total = 0;
    struct shape children[3];
    MPI_Datatype types[3];
    MPI_Aint at[3], next = 0;
    for (int i = 0; i < n; i++) {
        MPI_Aint lower, extent;
        children[i] = nested(kind, depth);
        types[i] = children[i].type;
        lengths[i] = between(least, 2);
        total += lengths[i] * children[i].count;
        OK(MPI_Type_get_true_extent(types[i], &lower, &extent));
        at[i] = next - lower + between(-3, 9);
        next = at[i] + lower + lengths[i] * extent + between(0, 40);
    }
    struct shape shape = room(total);
    OK(MPI_Type_create_struct(n, lengths, at, types, &shape.type));
    for (int i = 0; i < n; i++) {
        append(&shape, &children[i], at[i], lengths[i]);
        forget(&children[i]);
    }
    return shape;
}

static struct shape nested(int kind, int depth)
{
    if (depth == 0 || below(6) == 0) return atom(kind);
    if (below(6) == 0) return structure(kind, depth - 1);
    struct shape child = nested(kind, depth - 1), shape;
    MPI_Aint lower, extent;
    OK(MPI_Type_get_true_extent(child.type, &lower, &extent));
    int which = child.count > 2000 ? 8 + below(2) : below(11), n = between(least, 4);
    switch (which) {
    case 6:
        shape = room(child.count * n);
        OK(MPI_Type_contiguous(n, child.type, &shape.type));
        append(&shape, &child, 0, n);
        break;
    case 7: shape = subarray(&child); break;
    case 8:
        shape = room(child.count);
        OK(MPI_Type_dup(child.type, &shape.type));
        append(&shape, &child, 0, 1);
        break;
    case 9:
    case 10:
        /* The bounds that the standard calls lb and ub markers; neighbours may be closer or further apart. */
        shape = room(child.count);
        OK(MPI_Type_create_resized(child.type, lower - between(0, 9), extent + between(0, 30), &shape.type));
        append(&shape, &child, 0, 1);
        break;
    default: shape = blocks(&child, which);
    }
    forget(&child);
    return shape;
}

/* Memory for `count` of a shape, between guards, and the place of offset 0 in it. */
struct memory {
    unsigned char *bytes, *origin;
    size_t length;
    MPI_Aint extent;
};

/* The span of `count` elements; false when that is more than a test needs. */
static int span(const struct shape *shape, int count, MPI_Aint *low, MPI_Aint *high)
{
    MPI_Aint lower, extent;
    OK(MPI_Type_get_extent(shape->type, &lower, &extent));
    *low = *high = 0;
    for (int i = 0; i < shape->count; i++) {
        MPI_Aint last = shape->at[i] + (count - 1) * extent, first = shape->at[i];
        if (first > last) first = last, last = shape->at[i];
        if (first < *low) *low = first;
        if (last + shape->length[i] > *high) *high = last + shape->length[i];
    }
    return (long long)shape->count * count <= MOST_BLOCKS && *high - *low <= MOST_SPAN;
}

static struct memory memory_for(const struct shape *shape, int count)
{
    struct memory memory;
    MPI_Aint low, high, lower;
    span(shape, count, &low, &high);
    memory.length = (size_t)(high - low);
    memory.bytes = check_guarded(memory.length);
    memory.origin = memory.bytes - low;
    OK(MPI_Type_get_extent(shape->type, &lower, &memory.extent));
    return memory;
}

/* Whether a receive of `count` would write a byte twice, which MPI forbids. */
static int overlaps(const struct shape *shape, int count)
{
    struct memory memory = memory_for(shape, count);
    int found = 0;
    for (int i = 0; i < count && !found; i++)
        for (int b = 0; b < shape->count && !found; b++)
            for (int k = 0; k < shape->length[b]; k++) {
                unsigned char *byte = memory.origin + i * memory.extent + shape->at[b] + k;
                found |= *byte != CHECK_GUARD_BYTE;
                *byte = 0;
            }
    check_free_guarded(memory.bytes, memory.length);
    return found;
}

/* A shape and a count with about `atoms` atoms, for a receive without overlaps. */
static struct shape pick(int kind, int atoms, int receives, int *count)
{
    MPI_Aint low, high;
    for (;;) {
        struct shape shape = nested(kind, between(1, DEPTH));
        /* Mostly types that hold something. */
        if (shape.atoms == 0 && atoms > 0 && below(40)) {
            forget(&shape);
            continue;
        }
        *count = shape.atoms > 0 ? atoms / shape.atoms : between(least, 3);
        if (receives && shape.atoms > 0) *count += *count * shape.atoms < atoms;
        if (span(&shape, *count, &low, &high) && !(receives && overlaps(&shape, *count))) {
            OK(MPI_Type_commit(&shape.type));
            return shape;
        }
        forget(&shape);
    }
}

/* The same bytes by absolute addresses. */
static MPI_Datatype absolute(MPI_Datatype type, int count, void *origin)
{
    MPI_Aint address;
    MPI_Datatype placed;
    OK(MPI_Get_address(origin, &address));
    OK(MPI_Type_create_hindexed(1, &count, &address, type, &placed));
    OK(MPI_Type_commit(&placed));
    return placed;
}

struct side {
    struct shape shape;
    struct memory memory;
    int count;
    void *buffer;
    int number;
    MPI_Datatype type;
};

static struct side side_of(int kind, int atoms, int receives)
{
    struct side side;
    side.shape = pick(kind, atoms, receives, &side.count);
    side.memory = memory_for(&side.shape, side.count);
    side.buffer = side.memory.origin;
    side.number = side.count;
    side.type = side.shape.type;
    if (below(4) == 0) {
        side.type = absolute(side.shape.type, side.count, side.memory.origin);
        side.buffer = MPI_BOTTOM;
        side.number = 1;
    }
    return side;
}

static void done_with(struct side *side)
{
    if (side->type != side->shape.type) OK(MPI_Type_free(&side->type));
    check_free_guarded(side->memory.bytes, side->memory.length);
    forget(&side->shape);
}

/* Goes through the named bytes of a side in order. */
struct walk {
    const struct side *side;
    int element, block, byte;
};

static unsigned char *next_byte(struct walk *walk)
{
    const struct shape *shape = &walk->side->shape;
    if (shape->count == 0 || walk->element == walk->side->count) return NULL;
    unsigned char *at = walk->side->memory.origin + walk->element * walk->side->memory.extent + shape->at[walk->block] + walk->byte;
    if (++walk->byte == shape->length[walk->block]) {
        walk->byte = 0;
        if (++walk->block == shape->count) {
            walk->block = 0;
            walk->element++;
        }
    }
    return at;
}

/* Compares the receiver's memory with what the sender had, and sets what arrived back to the guard byte, so that
 * afterwards all of the memory must hold that. Of a message that was cut only the places are checked. */
static void compare(const struct side *from, const struct side *to, int cut)
{
    struct walk out = {from, 0, 0, 0}, into = {to, 0, 0, 0};
    unsigned char *sent, *got;
    for (long at = 0; (sent = next_byte(&out)) && (got = next_byte(&into)); at++) {
        CHECK(*got == *sent || (cut && *got == CHECK_GUARD_BYTE), "byte %ld is %d, sent was %d", at, *got, *sent);
        *got = CHECK_GUARD_BYTE;
    }
    for (size_t i = 0; i < to->memory.length; i++)
        CHECK(to->memory.bytes[i] == CHECK_GUARD_BYTE, "byte %zu of %zu between or behind the blocks was changed", i, to->memory.length);
}

static void transfer(int sender, int receiver)
{
    static const int most[4] = {8, 200, 3000, 30000};
    int kind = below(KINDS), atoms = below(most[below(4)] + 1), way = below(4);
    int cut = way > 0 && sender != receiver && least == 0 && below(6) == 0;
    struct side from = side_of(kind, atoms, 0);
    int sent = from.count * from.shape.atoms;
    struct side to = side_of(kind, cut ? sent - sent / 5 : sent + below(2) * between(0, 9), 1);
    int capacity = to.count * to.shape.atoms, code = MPI_SUCCESS;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    for (size_t i = 0; i < from.memory.length; i++) from.memory.bytes[i] = check_byte(i, (unsigned)turn);
    if (way == 0 || sender == receiver) {
        if (rank == receiver) OK(MPI_Irecv(to.buffer, to.number, to.type, sender, turn, MPI_COMM_WORLD, &requests[0]));
        if (rank == sender) OK(MPI_Isend(from.buffer, from.number, from.type, receiver, turn, MPI_COMM_WORLD, &requests[1]));
        if (rank == receiver) code = MPI_Wait(&requests[0], &status);
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    } else if (rank == sender) {
        if (way == 1) OK(MPI_Ssend(from.buffer, from.number, from.type, receiver, turn, MPI_COMM_WORLD));
        else OK(MPI_Send(from.buffer, from.number, from.type, receiver, turn, MPI_COMM_WORLD));
    } else if (rank == receiver) {
        if (way == 2) OK(MPI_Probe(sender, turn, MPI_COMM_WORLD, &status));
        code = MPI_Recv(to.buffer, to.number, to.type, sender, turn, MPI_COMM_WORLD, &status);
    }
    if (rank == receiver) {
        if (sent > capacity) {
            /* Not every implementation reports it of a receive that has no room at all. */
            if (capacity > 0) REFUSED(code, MPI_ERR_TRUNCATE);
        } else {
            int elements = -1;
            OK(code);
            if (sent > 0) {
                OK(MPI_Get_elements(&status, to.type, &elements));
                EQUAL(elements, sent * (kind == KINDS - 1 ? 3 : 1));
            }
        }
        compare(&from, &to, sent > capacity);
    }
    for (size_t i = 0; i < from.memory.length; i++)
        CHECK(from.memory.bytes[i] == check_byte(i, (unsigned)turn), "byte %zu of the send buffer was changed", i);
    done_with(&from);
    done_with(&to);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (rank == 0) seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
    least = argc > 2;
    OK(MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("type_random %llu\n", seed);
    atexit(fail_seed);
    for (turn = 0; turn < ROUNDS; turn++) {
        /* The same on both ranks, which build the types of both sides. */
        dice = (seed + 1) * 0x9E3779B97F4A7C15u + (unsigned)turn * 0xBF58476D1CE4E5B9u;
        dice |= 1;
        int self = below(6) == 0, sender = below(2);
        transfer(sender, self ? sender : 1 - sender);
    }
    return check_end();
}
