// ranks: 3 7 9
// hosts in turns: 3
// only: posthaste
// of memory
/* The same on three hosts. */
#define HOSTS 3
#include "split_type_hosts.c"
