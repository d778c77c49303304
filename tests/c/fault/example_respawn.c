/* The example, for `cargo xtask test --only faults`. */
#include "../../../examples/faults/respawn.c"
