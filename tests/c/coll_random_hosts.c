// ranks: 8
// hosts in turns: 2
// timeout: 120
/* The same on two hosts that ranks were dealt out to in turns: neighbours in the order of ranks are never on one host, and of a
 * communicator of every second rank nobody is on the other one. */
#include "coll_random.c"
