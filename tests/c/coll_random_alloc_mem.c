// ranks: 2 8
// of memory
// timeout: 120
/* The same with all buffers in memory from MPI_Alloc_mem, which comes and goes with each operation. MPI-5.0 section 9.2. */
#define IN_ALLOC_MEM 1
#include "coll_random.c"
