// ranks: 2
// of memory
// env: POSTHASTE_METHODS=plugin
// env: POSTHASTE_PLUGIN=nowhere
// exit: nonzero
// says: loading a method from a plug-in (POSTHASTE_PLUGIN): libposthaste_nowhere.so
// only: posthaste
//
// A plug-in that is not there: the job does not start, and the sentence names the file.
#include <mpi.h>

int main(void)
{
    MPI_Init(0, 0);
    return MPI_Finalize();
}
