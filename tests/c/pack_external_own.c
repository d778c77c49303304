// ranks: 1
// only: posthaste
/* What other implementations lack of MPI_Pack_external: pair types, structures, long double, Fortran's sized
 * types, wide characters; values that do not fit; another representation, buffers that are too small, wrong positions. */
#include "check.h"
#include <math.h>
#include <stddef.h>
#include <wchar.h>

static unsigned char buffer[4096];

static MPI_Aint sized(MPI_Datatype type)
{
    MPI_Aint bytes = -1;
    OK(MPI_Pack_external_size("external32", 1, type, &bytes));
    return bytes;
}

/* So many bytes of it, which come back; the first of them are these. */
static void round_trip(const void *in, size_t bytes, MPI_Datatype type, MPI_Aint size, const char *first)
{
    unsigned char back[64] = {0};
    MPI_Aint position = 0;
    EQUAL(sized(type), size);
    OK(MPI_Pack_external("external32", in, 1, type, buffer, size, &position));
    EQUAL(position, size);
    if (first) CHECK(memcmp(buffer, first, strlen(first)) == 0, "%02x %02x %02x", buffer[0], buffer[1], buffer[2]);
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, size, &position, back, 1, type));
    EQUAL(position, size);
    CHECK(memcmp(back, in, bytes) == 0, "does not come back");
}

static void says(int code, int wanted, const char *text)
{
    int class;
    OK(MPI_Error_class(code, &class));
    EQUAL(class, wanted);
    CHECK(strstr(check_text(code), text), "\"%s\" is not in \"%s\"", text, check_text(code));
}

static void pairs(void)
{
    struct { double x; int n; } d = {0};
    struct { long l; int n; } l = {0};
    struct { short s; int n; } s = {0};
    struct { long double x; int n; } e;
    int both[2] = {1, 2};
    d.x = 2, d.n = 3;
    l.l = -1, l.n = 3;
    s.s = -1, s.n = 3;
    memset(&e, 0, sizeof e);
    e.x = 0, e.n = 3;
    round_trip(&d, offsetof(__typeof__(d), n) + 4, MPI_DOUBLE_INT, 12, "\x40");
    round_trip(&l, offsetof(__typeof__(l), n) + 4, MPI_LONG_INT, 8, "\xff\xff\xff\xff");
    round_trip(&s, offsetof(__typeof__(s), n) + 4, MPI_SHORT_INT, 6, "\xff\xff");
    round_trip(&e, offsetof(__typeof__(e), n) + 4, MPI_LONG_DOUBLE_INT, 20, NULL);
    round_trip(both, 8, MPI_2INT, 8, NULL);
    EQUAL(sized(MPI_FLOAT_INT), 8);
    EQUAL(sized(MPI_2REAL), 8);
    EQUAL(sized(MPI_2DOUBLE_PRECISION), 16);
    EQUAL(sized(MPI_2INTEGER), 8);
}

static void long_doubles(void)
{
    static const long double numbers[] = {0.0L, -0.0L, 1.0L, -1.5L, 0x1p-16445L, 0x1.fffffffffffffffep+16383L, 1e4000L,
                                          3.14159265358979323846264338327950288L, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        long double in, back = 7;
        MPI_Aint position = 0;
        memset(&in, 0, sizeof in);
        in = numbers[i];
        OK(MPI_Pack_external("external32", &in, 1, MPI_LONG_DOUBLE, buffer, 16, &position));
        position = 0;
        OK(MPI_Unpack_external("external32", buffer, 16, &position, &back, 1, MPI_LONG_DOUBLE));
        CHECK(in == back && !signbit(in) == !signbit(back), "%Lg became %Lg", in, back);
    }
    {
        long double nan = NAN, back = 0;
        MPI_Aint position = 0;
        static const unsigned char one[16] = {0x3f, 0xff}, third[16] = {0x3f, 0xfd, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55,
                                                                      0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55};
        OK(MPI_Pack_external("external32", &nan, 1, MPI_LONG_DOUBLE, buffer, 16, &position));
        position = 0;
        OK(MPI_Unpack_external("external32", buffer, 16, &position, &back, 1, MPI_LONG_DOUBLE));
        CHECK(isnan(back));
        position = 0;
        OK(MPI_Unpack_external("external32", one, 16, &position, &back, 1, MPI_LONG_DOUBLE));
        CHECK(back == 1.0L);
        /* More digits than there is room for are rounded. */
        position = 0;
        OK(MPI_Unpack_external("external32", third, 16, &position, &back, 1, MPI_LONG_DOUBLE));
        CHECK(back == 1.0L / 3, "%.21Lg", back);
    }
    EQUAL(sized(MPI_C_LONG_DOUBLE_COMPLEX), 32);
}

static void the_rest(void)
{
    wchar_t e = 0xe9;
    int wide[2] = {1, 2};
    round_trip(&e, sizeof e, MPI_WCHAR, 2, NULL);
    EQUAL(buffer[1], 0xe9);
    EQUAL(sized(MPI_LOGICAL), 4);
    EQUAL(sized(MPI_INTEGER), 4);
    EQUAL(sized(MPI_REAL), 4);
    EQUAL(sized(MPI_DOUBLE_PRECISION), 8);
    EQUAL(sized(MPI_CHARACTER), 1);
    EQUAL(sized(MPI_COMPLEX), 8);
    EQUAL(sized(MPI_DOUBLE_COMPLEX), 16);
    EQUAL(sized(MPI_CXX_BOOL), 1);
    EQUAL(sized(MPI_CXX_LONG_DOUBLE_COMPLEX), 32);
    EQUAL(sized(MPI_LOGICAL1), 1);
    EQUAL(sized(MPI_LOGICAL16), 16);
    EQUAL(sized(MPI_INTEGER2), 2);
    EQUAL(sized(MPI_INTEGER16), 16);
    EQUAL(sized(MPI_REAL2), 2);
    EQUAL(sized(MPI_REAL16), 16);
    EQUAL(sized(MPI_COMPLEX4), 4);
    EQUAL(sized(MPI_COMPLEX32), 32);
    round_trip(wide, 8, MPI_INTEGER8, 8, NULL);
}

/* A structure, packed whole and unpacked in two portions. */
static void structures(void)
{
    struct thing { int n; double x; long l; short s[3]; } things[5], back[5];
    int lengths[4] = {1, 1, 1, 3};
    MPI_Aint at[4] = {offsetof(struct thing, n), offsetof(struct thing, x), offsetof(struct thing, l),
                      offsetof(struct thing, s)};
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_LONG, MPI_SHORT}, type, whole;
    MPI_Aint position = 0, bytes = 0;
    memset(things, 0, sizeof things);
    memset(back, 0, sizeof back);
    for (int i = 0; i < 5; i++) {
        things[i].n = i - 2;
        things[i].x = i / 8.0;
        things[i].l = -i;
        for (int k = 0; k < 3; k++) things[i].s[k] = (short)(10 * i + k);
    }
    OK(MPI_Type_create_struct(4, lengths, at, types, &type));
    OK(MPI_Type_create_resized(type, 0, sizeof(struct thing), &whole));
    OK(MPI_Type_commit(&whole));
    OK(MPI_Pack_external_size("external32", 5, whole, &bytes));
    EQUAL(bytes, 5 * (4 + 8 + 4 + 6));
    OK(MPI_Pack_external("external32", things, 5, whole, buffer, bytes, &position));
    EQUAL(position, bytes);
    position = 0;
    OK(MPI_Unpack_external("external32", buffer, bytes, &position, back, 2, whole));
    EQUAL(position, 44);
    OK(MPI_Unpack_external("external32", buffer, bytes, &position, back + 2, 3, whole));
    EQUAL(position, bytes);
    CHECK(memcmp(back, things, sizeof things) == 0);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&whole));
}

static void wrong(void)
{
    long large = 1L << 31;
    wchar_t face = 0x1f600;
    int n[4] = {1, 2, 3, 4};
    MPI_Aint position = 0, bytes = -1;
    MPI_Datatype uncommitted;
    says(MPI_Pack_external("external32", &large, 1, MPI_LONG, buffer, 8, &position), MPI_ERR_CONVERSION,
         "MPI_LONG does not fit into the 4 bytes");
    EQUAL(position, 0);
    says(MPI_Pack_external("external32", &face, 1, MPI_WCHAR, buffer, 8, &position), MPI_ERR_CONVERSION, "MPI_WCHAR");
    says(MPI_Pack_external("native", n, 1, MPI_INT, buffer, 8, &position), MPI_ERR_UNSUPPORTED_DATAREP,
         "datarep is \"native\", expected \"external32\"");
    REFUSED(MPI_Pack_external_size("External32", 1, MPI_INT, &bytes), MPI_ERR_UNSUPPORTED_DATAREP);
    REFUSED(MPI_Unpack_external("", buffer, 8, &position, n, 1, MPI_INT), MPI_ERR_UNSUPPORTED_DATAREP);
    REFUSED(MPI_Pack_external(NULL, n, 1, MPI_INT, buffer, 8, &position), MPI_ERR_ARG);
    says(MPI_Pack_external("external32", n, 4, MPI_INT, buffer, 15, &position), MPI_ERR_TRUNCATE,
         "outsize is 15 with 15 bytes left behind position 0, expected 16 packed bytes there");
    position = 13;
    says(MPI_Unpack_external("external32", buffer, 16, &position, n, 1, MPI_INT), MPI_ERR_TRUNCATE,
         "insize is 16 with 3 bytes left behind position 13");
    EQUAL(position, 13);
    position = 17;
    says(MPI_Unpack_external("external32", buffer, 16, &position, n, 0, MPI_INT), MPI_ERR_ARG, "position is 17");
    position = -1;
    REFUSED(MPI_Pack_external("external32", n, 1, MPI_INT, buffer, 16, &position), MPI_ERR_ARG);
    position = 0;
    REFUSED(MPI_Pack_external("external32", n, -1, MPI_INT, buffer, 16, &position), MPI_ERR_COUNT);
    REFUSED(MPI_Pack_external("external32", n, 1, MPI_INT, buffer, -1, &position), MPI_ERR_ARG);
    REFUSED(MPI_Pack_external("external32", NULL, 1, MPI_INT, buffer, 16, &position), MPI_ERR_BUFFER);
    REFUSED(MPI_Pack_external("external32", n, 1, MPI_INT, NULL, 16, &position), MPI_ERR_BUFFER);
    REFUSED(MPI_Pack_external("external32", n, 1, MPI_DATATYPE_NULL, buffer, 16, &position), MPI_ERR_TYPE);
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    REFUSED(MPI_Pack_external("external32", n, 1, uncommitted, buffer, 16, &position), MPI_ERR_TYPE);
    OK(MPI_Pack_external_size("external32", 1, uncommitted, &bytes));
    EQUAL(bytes, 8);
    OK(MPI_Type_free(&uncommitted));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    pairs();
    long_doubles();
    the_rest();
    structures();
    wrong();
    return check_end();
}
