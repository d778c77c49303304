// ranks: 4 2
// says: work queue: 1000 items
/* The queue of work of the examples. */
#include "../../examples/windows/work_queue.c"
