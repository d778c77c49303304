// ranks: 1
// alone
// only: posthaste
// says: pool: tasks 4 to 27 by 3 workers
// says: pool: pi is 3.141593
/* The pool of workers of the examples. */
#include "../../examples/pool/pool.c"
