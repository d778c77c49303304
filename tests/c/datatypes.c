// ranks: 2
// timeout: 90
/* The type constructors, sent and received in every combination with plain arrays, and through MPI_Pack and
 * MPI_Unpack; sizes, extents and bounds; types that are freed while in use. MPI-5.0 chapter 5. */
#include "check.h"

#include <stddef.h>

enum { DOUBLES = 4096 };

struct record {
    char name[3];
    double x;
    int n[2];
};

static double field[DOUBLES], other[DOUBLES], plain[DOUBLES];

static void number(double *to, int count)
{
    for (int i = 0; i < count; i++) to[i] = 1000.5 + i;
}

/* `type` sends `count` of itself from `field`; `places` says which doubles these are, in order. */
static void shape(const char *name, MPI_Datatype type, int count, const int *places, int total)
{
    MPI_Status status;
    int found = -1, size_of = -1, position = 0, room = 0;
    MPI_Aint lower, extent;
    static char packed[DOUBLES * 8 + 1024];
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &size_of));
    CHECK(size_of * count == total * 8, "%s: size %d, count %d, doubles %d", name, size_of, count, total);
    OK(MPI_Type_get_extent(type, &lower, &extent));
    if (rank == 0) {
        number(field, DOUBLES);
        OK(MPI_Send(field, count, type, 1, 1, MPI_COMM_WORLD));
        for (int i = 0; i < total; i++) plain[i] = field[places[i]];
        OK(MPI_Send(plain, total, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD));
        OK(MPI_Send(field, count, type, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Pack_size(count, type, MPI_COMM_WORLD, &room));
        CHECK(room >= total * 8 && room <= (int)sizeof packed, "%s: MPI_Pack_size gives %d", name, room);
        OK(MPI_Pack(field, count, type, packed, (int)sizeof packed, &position, MPI_COMM_WORLD));
        CHECK(position > 0 && position <= room);
        OK(MPI_Send(packed, position, MPI_PACKED, 1, 4, MPI_COMM_WORLD));
        OK(MPI_Send(packed, position, MPI_PACKED, 1, 5, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(plain, DOUBLES, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_DOUBLE, &found));
        EQUAL(found, total);
        for (int i = 0; i < total; i++) CHECK(plain[i] == 1000.5 + places[i], "%s: element %d is %g", name, i, plain[i]);
        for (int way = 2; way <= 5; way++) {
            for (int i = 0; i < DOUBLES; i++) other[i] = -1;
            if (way == 4) {
                OK(MPI_Recv(packed, (int)sizeof packed, MPI_PACKED, 0, 4, MPI_COMM_WORLD, &status));
                OK(MPI_Get_count(&status, MPI_PACKED, &found));
                OK(MPI_Unpack(packed, found, &position, other, count, type, MPI_COMM_WORLD));
                EQUAL(position, found);
            } else {
                OK(MPI_Recv(other, count, type, 0, way, MPI_COMM_WORLD, &status));
                OK(MPI_Get_count(&status, type, &found));
                EQUAL(found, count);
                OK(MPI_Get_elements(&status, type, &found));
                EQUAL(found, total);
            }
            for (int i = 0; i < total; i++) {
                CHECK(other[places[i]] == 1000.5 + places[i], "%s: way %d, double %d is %g", name, way, places[i], other[places[i]]);
                other[places[i]] = -1;
            }
            for (int i = 0; i < DOUBLES; i++) CHECK(other[i] == -1, "%s: way %d, double %d between was changed", name, way, i);
        }
    }
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
}

static int places[DOUBLES];

static void shapes(void)
{
    MPI_Datatype type, inner, types[2] = {MPI_DOUBLE, MPI_DOUBLE};
    int n = 0, lengths[3] = {2, 1, 3}, starts[3] = {7, 3, 20};
    MPI_Aint bytes[3] = {7 * 8, 3 * 8, 20 * 8};
    static const int counts[] = {1, 5, 40};

    for (int i = 0; i < 60; i++) places[i] = i;
    OK(MPI_Type_contiguous(20, MPI_DOUBLE, &type));
    shape("contiguous", type, 3, places, 60);

    /* A column of a 60 x 60 array, and blocks of such. */
    for (int k = 0; k < 3; k++) {
        n = 0;
        for (int i = 0; i < counts[k]; i++) for (int j = 0; j < k + 1; j++) places[n++] = i * 60 + j;
        OK(MPI_Type_vector(counts[k], k + 1, 60, MPI_DOUBLE, &type));
        shape("vector", type, 1, places, n);
        OK(MPI_Type_create_hvector(counts[k], k + 1, 60 * 8, MPI_DOUBLE, &type));
        shape("hvector", type, 1, places, n);
    }
    n = 0;
    for (int c = 0; c < 2; c++)
        for (int b = 0; b < 3; b++) for (int j = 0; j < lengths[b]; j++) places[n++] = c * 20 + starts[b] + j;
    OK(MPI_Type_indexed(3, lengths, starts, MPI_DOUBLE, &inner));
    OK(MPI_Type_create_resized(inner, 0, 20 * 8, &type));
    OK(MPI_Type_free(&inner));
    shape("indexed, resized", type, 2, places, n);
    OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_DOUBLE, &inner));
    OK(MPI_Type_create_resized(inner, 0, 20 * 8, &type));
    OK(MPI_Type_free(&inner));
    shape("hindexed, resized", type, 2, places, n);

    n = 0;
    for (int b = 0; b < 2; b++) for (int j = 0; j < lengths[b]; j++) places[n++] = starts[b] + j;
    OK(MPI_Type_create_struct(2, lengths, bytes, types, &type));
    shape("struct", type, 1, places, n);

    /* A vector of vectors, duplicated. */
    n = 0;
    for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) places[n++] = i * 200 + j * 3;
    OK(MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &inner));
    OK(MPI_Type_create_hvector(3, 1, 200 * 8, inner, &type));
    OK(MPI_Type_free(&inner));
    inner = type;
    OK(MPI_Type_dup(inner, &type));
    OK(MPI_Type_free(&inner));
    shape("vector of vectors, dup", type, 1, places, n);
}

/* Long enough for every protocol, with different shapes on both sides. */
static void long_vectors(void)
{
    enum { ROWS = 2000, WIDTH = 100 };
    double *matrix = malloc(sizeof(double) * ROWS * WIDTH);
    MPI_Datatype columns, same;
    for (int block = 1; block <= 64; block *= 4) {
        OK(MPI_Type_vector(ROWS, block, WIDTH, MPI_DOUBLE, &columns));
        OK(MPI_Type_commit(&columns));
        OK(MPI_Type_contiguous(ROWS, MPI_DOUBLE, &same));
        OK(MPI_Type_commit(&same));
        for (int i = 0; i < ROWS * WIDTH; i++) matrix[i] = rank == 0 ? i : -1;
        if (rank == 0) {
            OK(MPI_Send(matrix + 3, 1, columns, 1, block, MPI_COMM_WORLD));
            OK(MPI_Send(matrix, block, same, 1, block, MPI_COMM_WORLD));
        } else {
            OK(MPI_Recv(matrix + 3, 1, columns, 0, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < ROWS * WIDTH; i++) {
                int column = i % WIDTH;
                double wanted = column >= 3 && column < 3 + block ? i : -1;
                CHECK(matrix[i] == wanted, "blocks of %d: double %d is %g", block, i, matrix[i]);
            }
            OK(MPI_Recv(matrix, 1, columns, 0, block, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < ROWS * block; i++) {
                CHECK(matrix[i / block * WIDTH + i % block] == i, "blocks of %d: double %d is %g", block, i, matrix[i / block * WIDTH + i % block]);
            }
        }
        OK(MPI_Type_free(&columns));
        OK(MPI_Type_free(&same));
    }
    free(matrix);
}

static void records(void)
{
    enum { COUNT = 3000 };
    struct record *list = calloc(COUNT, sizeof *list);
    int lengths[3] = {3, 1, 2};
    MPI_Aint starts[3] = {offsetof(struct record, name), offsetof(struct record, x), offsetof(struct record, n)};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, bare, type;
    MPI_Aint lower, extent, true_lower, true_extent;
    OK(MPI_Type_create_struct(3, lengths, starts, types, &bare));
    OK(MPI_Type_create_resized(bare, 0, sizeof(struct record), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_get_extent(type, &lower, &extent));
    EQUAL(lower, 0);
    EQUAL(extent, sizeof(struct record));
    OK(MPI_Type_get_true_extent(type, &true_lower, &true_extent));
    EQUAL(true_lower, 0);
    EQUAL(true_extent, offsetof(struct record, n) + 8);
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) list[i] = (struct record){{'a', (char)i, 'c'}, i * 0.5, {i, -i}};
        OK(MPI_Send(list, COUNT, type, 1, 1, MPI_COMM_WORLD));
    } else {
        MPI_Status status;
        int count;
        OK(MPI_Recv(list, COUNT, type, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, type, &count));
        EQUAL(count, COUNT);
        for (int i = 0; i < COUNT; i++) {
            CHECK(list[i].name[1] == (char)i && list[i].x == i * 0.5 && list[i].n[0] == i && list[i].n[1] == -i, "record %d", i);
        }
    }
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&bare));
    free(list);
}

/* Absolute addresses: two arrays that lie anywhere, as one message from MPI_BOTTOM. */
static void bottom(void)
{
    static int first[10], second[7];
    int lengths[2] = {10, 7}, count = -1;
    MPI_Aint places_of[2], distance;
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, type;
    MPI_Status status;
    OK(MPI_Get_address(first, &places_of[0]));
    OK(MPI_Get_address(second, &places_of[1]));
    distance = MPI_Aint_diff(places_of[1], places_of[0]);
    CHECK(MPI_Aint_add(places_of[0], distance) == places_of[1]);
    OK(MPI_Type_create_struct(2, lengths, places_of, types, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 10; i++) first[i] = rank == 0 ? i : -1;
    for (int i = 0; i < 7; i++) second[i] = rank == 0 ? 100 + i : -1;
    if (rank == 0) {
        OK(MPI_Send(MPI_BOTTOM, 1, type, 1, 1, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_elements(&status, type, &count));
        EQUAL(count, 17);
        for (int i = 0; i < 10; i++) EQUAL(first[i], i);
        for (int i = 0; i < 7; i++) EQUAL(second[i], 100 + i);
    }
    OK(MPI_Type_free(&type));
}

/* A message that ends in the middle of a type: no count, but elements. */
static void partial(void)
{
    int values[6] = {1, 2, 3, 4, 5, 6}, count = -1;
    MPI_Datatype pair;
    MPI_Status status;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    if (rank == 0) {
        OK(MPI_Send(values, 5, MPI_INT, 1, 1, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(values, 3, pair, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, pair, &count));
        EQUAL(count, MPI_UNDEFINED);
        OK(MPI_Get_elements(&status, pair, &count));
        EQUAL(count, 5);
    }
    OK(MPI_Type_free(&pair));
}

/* A type may be freed while a message with it is under way. */
static void freed_in_flight(void)
{
    enum { COUNT = 50000 };
    int *values = malloc(2 * COUNT * sizeof *values);
    MPI_Datatype type;
    MPI_Request request;
    for (int i = 0; i < 2 * COUNT; i++) values[i] = rank == 0 ? i : -1;
    OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    if (rank == 0) OK(MPI_Isend(values, 1, type, 1, 1, MPI_COMM_WORLD, &request));
    else OK(MPI_Irecv(values, 1, type, 0, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&type));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * COUNT && rank == 1; i++) EQUAL(values[i], i % 2 ? -1 : i);
    free(values);
}

static void predefined(void)
{
    MPI_Datatype types[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                            MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT,
                            MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_WCHAR, MPI_C_BOOL, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T,
                            MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_COUNT,
                            MPI_OFFSET, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_BYTE, MPI_FLOAT_INT, MPI_2INT};
    int sizes[] = {1, 2, 4, sizeof(long), 8, 1, 1, 2, 4, sizeof(long), 8, 4, 8, sizeof(long double), sizeof(wchar_t), 1,
                   1, 2, 4, 8, 1, 2, 4, 8, sizeof(MPI_Aint), sizeof(MPI_Count), sizeof(MPI_Offset), 8, 16, 1, 8, 8};
    unsigned char out[32], in[32];
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int found, length = 0;
        char name[MPI_MAX_OBJECT_NAME];
        MPI_Aint lower, extent;
        OK(MPI_Type_size(types[i], &found));
        EQUAL(found, sizes[i]);
        OK(MPI_Type_get_extent(types[i], &lower, &extent));
        EQUAL(extent, sizes[i]);
        OK(MPI_Type_get_name(types[i], name, &length));
        CHECK(strncmp(name, "MPI_", 4) == 0 && length == (int)strlen(name), "type %u has the name \"%s\"", i, name);
        check_fill(out, sizeof out, i);
        OK(MPI_Sendrecv(out, 1, types[i], 1 - rank, (int)i, in, 1, types[i], 1 - rank, (int)i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_filled(in, (size_t)sizes[i], i);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    predefined();
    shapes();
    long_vectors();
    records();
    freed_in_flight();
    bottom();
    partial();
    return check_end();
}
