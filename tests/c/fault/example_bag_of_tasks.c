/* The example, for `cargo xtask test --only faults`. */
#include "../../../examples/faults/bag_of_tasks.c"
