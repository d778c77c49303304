// ranks: 1 3
/* Reductions in quadruple precision give bit for bit what the compiler's own arithmetic gives. */
#include "check.h"

#ifndef __SIZEOF_FLOAT128__
int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    return check_end();
}
#else
typedef __float128 quad;

enum { MANY = 20000 };

static unsigned long long state = 12345;

static unsigned long long dice(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Any bits at all, or numbers near each other, or few bits in the fraction, or subnormal ones. */
static quad any(void)
{
    union { quad value; unsigned long long half[2]; } it = {.half = {dice(), dice()}};
    switch (dice() % 6) {
    case 0: break;
    case 1: it.half[1] = (it.half[1] & 0x8000ffffffffffff) | (0x3ff0 + dice() % 32) << 48; break;
    case 2: it.half[1] = (it.half[1] & 0x8000ffffffffffff) | (0x3f80 + dice() % 256) << 48; break;
    case 3: it.half[0] = 0, it.half[1] = (it.half[1] & 0x8000f00000000000) | (0x3ff0 + dice() % 32) << 48; break;
    case 4: it.half[1] = (it.half[1] & 0x8000ffffffffffff) | (dice() % 4) << 48; break;
    default: it.half[1] = (it.half[1] & 0x8000ffffffffffff) | (0x2000 + dice() % 8) << 48; break;
    }
    return it.value;
}

static int same(quad a, quad b)
{
    return (a != a && b != b) || memcmp(&a, &b, sizeof a) == 0;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static quad a[MANY], b[MANY], c[MANY];
    for (int i = 0; i < MANY; i++) a[i] = any(), b[i] = any();
    memcpy(c, b, sizeof c);
    OK(MPI_Reduce_local(a, c, MANY, MPI_REAL16, MPI_SUM));
    for (int i = 0; i < MANY; i++) CHECK(same(c[i], a[i] + b[i]), "sum %d", i);
    memcpy(c, b, sizeof c);
    OK(MPI_Reduce_local(a, c, MANY, MPI_REAL16, MPI_PROD));
    for (int i = 0; i < MANY; i++) CHECK(same(c[i], a[i] * b[i]), "product %d", i);
    for (int i = 0; i < MANY; i++) c[i] = b[i];
    OK(MPI_Reduce_local(a, c, MANY, MPI_REAL16, MPI_MAX));
    for (int i = 0; i < MANY; i++)
        if (a[i] == a[i] && b[i] == b[i]) CHECK(c[i] == (a[i] > b[i] ? a[i] : b[i]), "maximum %d", i);
    memcpy(c, b, sizeof c);
    OK(MPI_Reduce_local(a, c, MANY / 2, MPI_COMPLEX32, MPI_PROD));
    for (int i = 0; i < MANY; i += 2) {
        CHECK(same(c[i], a[i] * b[i] - a[i + 1] * b[i + 1]), "real part %d", i);
        CHECK(same(c[i + 1], a[i] * b[i + 1] + a[i + 1] * b[i]), "imaginary part %d", i);
    }
    quad mine = (quad)(rank + 1) / 3, sum = 0, expected = 0;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD));
    for (int r = size - 1; r >= 0; r--) expected += (quad)(r + 1) / 3;
    quad off = sum - expected;
    CHECK(off < 1e-30Q && off > -1e-30Q, "sum over the ranks");
    return check_end();
}
#endif
