/* dice.h: for random tests, which have to be seen again: dice that fall the same on every rank and machine from one seed. */
#ifndef DICE_H
#define DICE_H

#include <stdint.h>

static uint64_t dice;

static int below(int n)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (int)((dice >> 16) % (uint64_t)n);
}

static int between(int low, int high)
{
    return low + below(high - low + 1);
}

#endif
