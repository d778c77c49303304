// ranks: 2
// only: posthaste
// says: ocean: 
// says: air: 
/* The two solvers of the examples, each in a job of its own. */
#define main ocean
#include "../../examples/meeting/ocean.c"
#undef main
#define main air
#include "../../examples/meeting/air.c"
#undef main

#include "meeting_check.h"

int main(int argc, char **argv)
{
    char name[64];
    const char *own = getenv("PMI_RANK");
    if (argc > 2) return air(argc, argv);
    snprintf(name, sizeof name, "example_meeting of %d", (int)getppid());
    char *arguments[] = {argv[0], name, NULL};
    pid_t job = own && atoi(own) == 0 ? job_start("2", "air", name) : 0;
    int code = ocean(2, arguments);
    if (job) job_end(job);
    return code;
}
