"""Two faces in one process: mpi4py's published wheel over libmpi.so.12, and the library of the standard ABI beside it, as an
extension would load it. They share one engine, so both see the same ranks. The argument is that library."""
import ctypes
import os
import sys

from mpi4py import MPI

# Of the standard ABI.
WORLD, INT, SUM = ctypes.c_void_p(0x101), ctypes.c_void_p(0x209), ctypes.c_void_p(0x21)

library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LOCAL | os.RTLD_NOW)
assert library.MPI_Init(None, None) == 0
rank, total = ctypes.c_int(-1), ctypes.c_int(-1)
assert library.MPI_Comm_rank(WORLD, ctypes.byref(rank)) == 0
assert rank.value == MPI.COMM_WORLD.rank
one = ctypes.c_int(1)
assert library.MPI_Allreduce(ctypes.byref(one), ctypes.byref(total), 1, INT, SUM, WORLD) == 0
assert total.value == MPI.COMM_WORLD.size == MPI.COMM_WORLD.allreduce(1)
assert library.MPI_Finalize() == 0
MPI.COMM_WORLD.barrier()
print("both agree")
