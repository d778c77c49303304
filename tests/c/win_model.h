/* win_model.h: for the random test of one-sided communication: datatypes of one kind of element with
 * the places of their elements, and what the operations of MPI_Accumulate make of an element, by hand. */
#ifndef WIN_MODEL_H
#define WIN_MODEL_H

#include "dice.h"
#include "win.h"

static void fill(unsigned char *bytes, int length)
{
    for (int i = 0; i < length; i++) bytes[i] = (unsigned char)(below(1 << 16) >> 3);
}

/* What windows hold. */
enum { BASICS = 11, INTEGERS = 8 };
static const struct basic { MPI_Datatype type; int width, is_signed; } basics[BASICS] = {
    {MPI_INT8_T, 1, 1},   {MPI_UINT8_T, 1, 0},  {MPI_INT16_T, 2, 1},  {MPI_UINT16_T, 2, 0}, {MPI_INT32_T, 4, 1}, {MPI_UINT32_T, 4, 0},
    {MPI_INT64_T, 8, 1},  {MPI_UINT64_T, 8, 0}, {MPI_FLOAT, 4, 0},    {MPI_DOUBLE, 8, 0},   {MPI_C_DOUBLE_COMPLEX, 16, 0},
};

/* Elements of one kind: `count` of a datatype, and where each of its elements begins, in bytes, in the order of the datatype. */
struct layout {
    MPI_Datatype type;
    int count, elements, span, is_made;
    int *at;
};

static int divisor(int n)
{
    int tried = between(1, n < 12 ? n : 12);
    while (n % tried) tried--;
    return tried;
}

/* Blocks of random lengths, `gap` bytes or a multiple of it apart, in any order. */
static int blocks(int n, int width, int gap, int *lengths, MPI_Aint *places)
{
    int many = between(1, n < 9 ? n : 9), left = n, end = 0;
    for (int i = 0; i < many; i++) {
        lengths[i] = i == many - 1 ? left : between(1, left - (many - 1 - i));
        left -= lengths[i];
        places[i] = end + below(4) * gap;
        end = (int)places[i] + lengths[i] * width;
    }
    for (int i = many - 1; i > 0; i--) {
        int other = below(i + 1), length = lengths[i];
        MPI_Aint place = places[i];
        lengths[i] = lengths[other], places[i] = places[other];
        lengths[other] = length, places[other] = place;
    }
    return many;
}

/* A layout of `n` elements, of which gaps are multiples of `gap`; with its datatype only if that is needed here. */
static struct layout lay_out(int n, const struct basic *basic, int gap, int is_needed)
{
    struct layout l = {basic->type, n, n, 0, 0, malloc(sizeof(int) * (size_t)(n + 1))};
    int width = basic->width, form = n > 0 ? below(7) : 0, lengths[9], ints[9], starts[2];
    MPI_Aint places[9];
    MPI_Datatype types[9], made = MPI_DATATYPE_NULL;
    for (int i = 0; i < n; i++) l.at[i] = i * width;
    if (form == 1) {
        int block = divisor(n);
        l.count = n / block;
        if (is_needed) OK(MPI_Type_contiguous(block, basic->type, &made));
    } else if (form == 2) {
        int block = divisor(n), stride = block + below(4);
        l.count = divisor(n / block);
        int many = n / block / l.count, extent = (many - 1) * stride + block;
        for (int i = 0; i < n; i++) l.at[i] = width * (i / (many * block) * extent + i / block % many * stride + i % block);
        if (is_needed) OK(MPI_Type_vector(many, block, stride, basic->type, &made));
    } else if (form == 3 || form == 4) {
        /* A struct may have its blocks anywhere, an indexed type where elements are. */
        int many = blocks(n, width, form == 3 ? width : gap, lengths, places), next = 0;
        for (int i = 0; i < many; i++) {
            for (int k = 0; k < lengths[i]; k++) l.at[next++] = (int)places[i] + k * width;
            types[i] = basic->type;
            ints[i] = (int)places[i] / width;
        }
        l.count = 1;
        if (is_needed && form == 3) OK(MPI_Type_indexed(many, lengths, ints, basic->type, &made));
        if (is_needed && form == 4) OK(MPI_Type_create_struct(many, lengths, places, types, &made));
    } else if (form == 5) {
        int inner = divisor(n), outer = n / inner, is_fortran = below(2);
        starts[0] = below(3), starts[1] = below(3);
        int row = starts[1] + inner + below(3), rows = starts[0] + outer + below(2);
        for (int i = 0; i < n; i++) l.at[i] = width * ((starts[0] + i / inner) * row + starts[1] + i % inner);
        l.count = 1;
        int sizes[2] = {rows, row}, parts[2] = {outer, inner};
        if (is_fortran) {
            sizes[0] = row, sizes[1] = rows, parts[0] = inner, parts[1] = outer;
            int start = starts[0];
            starts[0] = starts[1], starts[1] = start;
        }
        if (is_needed) OK(MPI_Type_create_subarray(2, sizes, parts, starts, is_fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C, basic->type, &made));
    }
    for (int i = 0; i < n; i++)
        if (l.at[i] + width > l.span) l.span = l.at[i] + width;
    if (made != MPI_DATATYPE_NULL) {
        OK(MPI_Type_commit(&made));
        l.type = made;
        l.is_made = 1;
    }
    return l;
}

static void forget(struct layout *l)
{
    if (l->is_made) OK(MPI_Type_free(&l->type));
    free(l->at);
    l->at = NULL;
}

/* Operations by their numbers; the first so many may meet on an element in any order, and the first five of these by any type of integer. */
enum { SUM, PROD, BAND, BOR, BXOR, MIN, MAX, LAND, LOR, LXOR, REPLACE, NO_OP, OPS, IN_ANY_ORDER = LAND };

static MPI_Op op_of(int number)
{
    const MPI_Op all[OPS] = {MPI_SUM, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MIN, MPI_MAX, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
    return all[number];
}

/* What `number` does to an element. */
static void combine(int number, const struct basic *basic, unsigned char *element, const unsigned char *operand)
{
    uint64_t a = 0, b = 0, c;
    if (number == NO_OP) return;
    if (number == REPLACE) {
        memcpy(element, operand, (size_t)basic->width);
        return;
    }
    for (int i = basic->width - 1; i >= 0; i--) a = a << 8 | element[i], b = b << 8 | operand[i];
    /* The highest bit of a signed number is turned, so that it compares as one without a sign. */
    uint64_t sign = basic->is_signed ? (uint64_t)1 << (8 * basic->width - 1) : 0;
    int is_less = (a ^ sign) < (b ^ sign);
    switch (number) {
    case SUM: c = a + b; break;
    case PROD: c = a * b; break;
    case BAND: c = a & b; break;
    case BOR: c = a | b; break;
    case BXOR: c = a ^ b; break;
    case MIN: c = is_less ? a : b; break;
    case MAX: c = is_less ? b : a; break;
    case LAND: c = a && b; break;
    case LOR: c = a || b; break;
    default: c = !a != !b;
    }
    for (int i = 0; i < basic->width; i++) element[i] = (unsigned char)(c >> 8 * i);
}

#endif
