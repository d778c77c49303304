// ranks: 1 2
// only: posthaste
// alone
/* Every argument of the functions of the environment and the ABI wrong in turn. MPI-5.0 chapters 9, 11 and 20. */
#include "bad_check.h"

int main(int argc, char **argv)
{
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, provided;
    unsigned char truth[16] = {1}, falsehood[16] = {0};
    void *base;
    bad_start(&argc, &argv);
    BAD(MPI_ERR_OTHER, "already", MPI_Init, &argc, &argv);
    BAD(MPI_ERR_OTHER, "already", MPI_Init_thread, &argc, &argv, MPI_THREAD_SINGLE, &provided);
    BAD(MPI_ERR_ARG, "required is 99,", MPI_Init_thread, &argc, &argv, 99, &provided);
    BAD(MPI_ERR_ARG, "provided is NULL", MPI_Init_thread, &argc, &argv, MPI_THREAD_SINGLE, NULL);
    BAD(MPI_ERR_ARG, "provided is NULL", MPI_Query_thread, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Is_thread_main, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Initialized, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Finalized, NULL);
    BAD(MPI_ERR_ARG, "version is NULL", MPI_Get_version, NULL, &n);
    BAD(MPI_ERR_ARG, "subversion is NULL", MPI_Get_version, &n, NULL);
    BAD(MPI_ERR_ARG, "version is NULL", MPI_Get_library_version, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Get_library_version, name, NULL);
    BAD(MPI_ERR_ARG, "name is NULL", MPI_Get_processor_name, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Get_processor_name, name, NULL);
    BAD(MPI_ERR_ARG, "hw_info is NULL", MPI_Get_hw_resource_info, NULL);
    BAD(MPI_ERR_ARG, "size is -1,", MPI_Alloc_mem, -1, MPI_INFO_NULL, &base);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Alloc_mem, 10, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_NO_MEM, "bytes", MPI_Alloc_mem, INTPTR_MAX - 100, MPI_INFO_NULL, &base);
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Alloc_mem, 10, w, &base);
        BAD(MPI_ERR_INFO, "info is ", MPI_Abi_set_fortran_info, w);
    }
    BAD(MPI_ERR_INFO, "info is ", MPI_Abi_set_fortran_info, MPI_INFO_NULL);
    BAD(MPI_ERR_ARG, "abi_major is NULL", MPI_Abi_get_version, NULL, &n);
    BAD(MPI_ERR_ARG, "abi_minor is NULL", MPI_Abi_get_version, &n, NULL);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Abi_get_info, NULL);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Abi_get_fortran_info, NULL);
    BAD(MPI_ERR_ARG, "logical_size is 3,", MPI_Abi_set_fortran_booleans, 3, truth, falsehood);
    BAD(MPI_ERR_ARG, "logical_size is -1,", MPI_Abi_get_fortran_booleans, -1, truth, falsehood, &n);
    BAD(MPI_ERR_ARG, "NULL", MPI_Abi_set_fortran_booleans, 4, NULL, falsehood);
    BAD(MPI_ERR_ARG, "NULL", MPI_Abi_set_fortran_booleans, 4, truth, NULL);
    BAD(MPI_ERR_ARG, "is_set is NULL", MPI_Abi_get_fortran_booleans, 4, truth, falsehood, NULL);
    OK(MPI_Abi_set_fortran_booleans(4, truth, falsehood));
    BAD(MPI_ERR_ABI, "known already", MPI_Abi_set_fortran_booleans, 4, truth, falsehood);
    BAD(MPI_ERR_ARG, "NULL", MPI_Abi_get_fortran_booleans, 4, NULL, falsehood, &n);
    return bad_end();
}
