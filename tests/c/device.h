/* Included before a C test, this puts all its message buffers into the memory of the simulated device of
 * POSTHASTE_SIMULATED_DEVICE: MPI gets each address with a bit that no accessible address has, so an implementation that
 * follows one dies at once. The test goes on using its memory as it is, as a program on the device would.
 *
 * The calls are in `device_calls.h`, which the runner writes from the list of MPI's functions: each calls its `PMPI_` twin.
 * Addresses that are parts of a datatype (with MPI_BOTTOM) stay those of the processor's memory. */
#include <mpi.h>
#include <stdint.h>

static inline void *on_device(const void *buffer)
{
    uintptr_t at = (uintptr_t)buffer;
    return (void *)(at < 4096 ? at : at | (uintptr_t)1 << 52);
}

/* Functions that are not there yet are among them, and nobody calls those. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattribute-warning"
#include "device_calls.h"
#pragma GCC diagnostic pop
