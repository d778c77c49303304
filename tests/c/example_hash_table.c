// ranks: 4 2
// says: hash table: 
/* The hash table of the examples. */
#include "../../examples/windows/hash_table.c"
