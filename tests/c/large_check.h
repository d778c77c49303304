/* large_check.h: what the tests of large datatypes share: address space for 24 GiB, of which memory is used only where
 * it is touched. */
#ifndef LARGE_CHECK_H
#define LARGE_CHECK_H

#include "type_check.h"

#include <sys/mman.h>
#include <sys/resource.h>

static const MPI_Count many = 3LL << 30, middle = 3LL << 32;

enum { PIECE = 50000 };

static int *region;

/* The memory that the vector describes: 24 GiB less 4 bytes. */
static void reserve(void)
{
    void *at = mmap(NULL, 6ULL << 32, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) FAIL("no address space for 24 GiB");
    /* Large pages would make much of little. */
    madvise(at, 6ULL << 32, MADV_NOHUGEPAGE);
    region = at;
}

/* What a process may have used in the end. */
static inline void check_memory(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    CHECK(used.ru_maxrss < 100000, "the process took %ld KiB", used.ru_maxrss);
}

#endif
