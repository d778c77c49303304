// ranks: 1
/* MPI_Pack_external, MPI_Unpack_external and MPI_Pack_external_size: the bytes of external32 are big-endian with the
 * sizes of MPI-5.0 section 14.5.2, whatever the machine; several things into one buffer and out again in other
 * portions; derived types; the _c forms. What has no value here is checked by pack_external_own.c. */
#include "check.h"
#include <stdint.h>
#include <wchar.h>

static unsigned char buffer[65536];

/* The type has this size, the value these bytes, and comes back. */
static void value(MPI_Datatype type, const void *in, int bytes, MPI_Aint size, const unsigned char *expected)
{
    MPI_Aint position = 3, found = -1;
    MPI_Count large = 3, found_large = -1;
    unsigned char back[64];
    int length;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Type_get_name(type, name, &length));
    OK(MPI_Pack_external_size("external32", 1, type, &found));
    CHECK(found == size, "%s: %ld bytes, expected %ld", name, (long)found, (long)size);
    OK(MPI_Pack_external_size("external32", 1000, type, &found));
    CHECK(found == 1000 * size, "%s: %ld bytes for 1000, expected %ld", name, (long)found, (long)(1000 * size));
    OK(MPI_Pack_external_size_c("external32", 3, type, &found_large));
    CHECK(found_large == 3 * size, "%s", name);
    for (int large_form = 0; large_form < 2; large_form++) {
        memset(buffer, 0xA5, 128);
        position = 3;
        large = 3;
        if (large_form) {
            OK(MPI_Pack_external_c("external32", in, 1, type, buffer, sizeof buffer, &large));
            position = (MPI_Aint)large;
        } else {
            OK(MPI_Pack_external("external32", in, 1, type, buffer, sizeof buffer, &position));
        }
        CHECK(position == 3 + size, "%s: position %ld", name, (long)position);
        CHECK(buffer[2] == 0xA5 && buffer[3 + size] == 0xA5, "%s: written beside its place", name);
        for (int i = 0; expected && i < size; i++)
            CHECK(buffer[3 + i] == expected[i], "%s: byte %d is %02x, expected %02x", name, i, buffer[3 + i], expected[i]);
        memset(back, 0, sizeof back);
        position = 3;
        large = 3;
        if (large_form) {
            OK(MPI_Unpack_external_c("external32", buffer, 3 + size, &large, back, 1, type));
            position = (MPI_Aint)large;
        } else {
            OK(MPI_Unpack_external("external32", buffer, 3 + size, &position, back, 1, type));
        }
        CHECK(position == 3 + size, "%s: position %ld after unpacking", name, (long)position);
        CHECK(memcmp(back, in, (size_t)bytes) == 0, "%s does not come back", name);
    }
}

#define VALUE(type, ctype, number, size, ...)                                                    \
    do {                                                                                         \
        ctype v_ = (number);                                                                     \
        unsigned char e_[] = {__VA_ARGS__};                                                      \
        EQUAL(sizeof e_, size);                                                                  \
        value(type, &v_, sizeof v_, size, e_);                                                   \
    } while (0)

static void values(void)
{
    struct { float re, im; } fc = {1, -2};
    struct { double re, im; } dc = {1, -2};
    VALUE(MPI_CHAR, char, 'x', 1, 'x');
    VALUE(MPI_SIGNED_CHAR, signed char, -2, 1, 0xfe);
    VALUE(MPI_UNSIGNED_CHAR, unsigned char, 0xfe, 1, 0xfe);
    VALUE(MPI_BYTE, unsigned char, 0x80, 1, 0x80);
    VALUE(MPI_PACKED, unsigned char, 0x81, 1, 0x81);
    VALUE(MPI_C_BOOL, _Bool, 1, 1, 1);
    VALUE(MPI_SHORT, short, -2, 2, 0xff, 0xfe);
    VALUE(MPI_UNSIGNED_SHORT, unsigned short, 0x1234, 2, 0x12, 0x34);
    VALUE(MPI_INT, int, 0x12345678, 4, 0x12, 0x34, 0x56, 0x78);
    VALUE(MPI_UNSIGNED, unsigned, 0xfedcba98u, 4, 0xfe, 0xdc, 0xba, 0x98);
    VALUE(MPI_LONG, long, -3, 4, 0xff, 0xff, 0xff, 0xfd);
    VALUE(MPI_UNSIGNED_LONG, unsigned long, 0x79abcdefUL, 4, 0x79, 0xab, 0xcd, 0xef);
    VALUE(MPI_LONG_LONG, long long, 0x0102030405060708, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    VALUE(MPI_UNSIGNED_LONG_LONG, unsigned long long, 0xf102030405060708, 8, 0xf1, 2, 3, 4, 5, 6, 7, 8);
    VALUE(MPI_AINT, MPI_Aint, 0x0102030405060708, 8, 1, 2, 3, 4, 5, 6, 7, 8);
    VALUE(MPI_OFFSET, MPI_Offset, -2, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe);
    VALUE(MPI_COUNT, MPI_Count, 258, 8, 0, 0, 0, 0, 0, 0, 1, 2);
    VALUE(MPI_INT8_T, int8_t, -1, 1, 0xff);
    VALUE(MPI_UINT8_T, uint8_t, 200, 1, 200);
    VALUE(MPI_INT16_T, int16_t, 258, 2, 1, 2);
    VALUE(MPI_UINT16_T, uint16_t, 0xff01, 2, 0xff, 1);
    VALUE(MPI_INT32_T, int32_t, -2, 4, 0xff, 0xff, 0xff, 0xfe);
    VALUE(MPI_UINT32_T, uint32_t, 1, 4, 0, 0, 0, 1);
    VALUE(MPI_INT64_T, int64_t, -2, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe);
    VALUE(MPI_UINT64_T, uint64_t, 7, 8, 0, 0, 0, 0, 0, 0, 0, 7);
    VALUE(MPI_FLOAT, float, -1.5f, 4, 0xbf, 0xc0, 0, 0);
    VALUE(MPI_DOUBLE, double, 1.0 / 3, 8, 0x3f, 0xd5, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55);
    value(MPI_C_FLOAT_COMPLEX, &fc, sizeof fc, 8, (unsigned char[]){0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0});
    value(MPI_C_DOUBLE_COMPLEX, &dc, sizeof dc, 16,
          (unsigned char[]){0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0});
}

/* Several things in one buffer, derived types, and out again in other portions. */
static void portions(void)
{
    double numbers[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    short shorts[8] = {10, 11, 12, 13, 14, 15, 16, 17}, row[4] = {0};
    MPI_Datatype column, four;
    MPI_Aint position = 0, bytes = 0;
    OK(MPI_Type_vector(4, 1, 2, MPI_SHORT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Type_contiguous(4, MPI_SHORT, &four));
    OK(MPI_Type_commit(&four));
    OK(MPI_Pack_external_size("external32", 2, column, &bytes));
    EQUAL(bytes, 16);
    OK(MPI_Pack_external("external32", numbers, 6, MPI_DOUBLE, buffer, sizeof buffer, &position));
    EQUAL(position, 48);
    OK(MPI_Pack_external("external32", shorts, 1, column, buffer, 56, &position));
    EQUAL(position, 56);
    EQUAL(buffer[55], 16);
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, 56, &position, back, 2, MPI_DOUBLE));
    EQUAL(position, 16);
    OK(MPI_Unpack_external("external32", buffer, 56, &position, back + 2, 4, MPI_DOUBLE));
    OK(MPI_Unpack_external("external32", buffer, 56, &position, row, 1, four));
    EQUAL(position, 56);
    CHECK(memcmp(back, numbers, sizeof back) == 0);
    for (int i = 0; i < 4; i++) EQUAL(row[i], 10 + 2 * i);
    position = 0;
    OK(MPI_Pack_external("external32", numbers, 0, MPI_DOUBLE, buffer, 0, &position));
    EQUAL(position, 0);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&four));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    values();
    portions();
    return check_end();
}
