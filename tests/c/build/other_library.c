/* other_library.c: as much of another library of the standard ABI as beside.c needs to start: it has no handlers. */
#include <mpi.h>
#include <string.h>

int MPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    return MPI_SUCCESS;
}

int MPI_Get_library_version(char *version, int *resultlen)
{
    strcpy(version, "another library 1.0\nof nobody");
    *resultlen = (int)strlen(version);
    return MPI_SUCCESS;
}

int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    (void)buf, (void)count, (void)datatype, (void)source, (void)tag, (void)comm;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
    (void)comm, (void)errorcode;
    return MPI_SUCCESS;
}

/* Linked, and not called. */
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    (void)buf, (void)count, (void)datatype, (void)dest, (void)tag, (void)comm;
    return MPI_ERR_OTHER;
}

int MPI_Start(MPI_Request *request)
{
    (void)request;
    return MPI_ERR_OTHER;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)request, (void)status;
    return MPI_ERR_OTHER;
}

int MPI_Request_free(MPI_Request *request)
{
    (void)request;
    return MPI_ERR_OTHER;
}
