# ranks: 2 4
"""Python objects and buffers through mpi4py: point to point, nonblocking, probe, statuses, errors."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size

# Objects, short and long.
for thing in [None, 7, "text", {"key": [1, 2.5, (3, "x")]}, list(range(100_000)), b"x" * 1_000_000]:
    request = world.isend((rank, thing), dest=right, tag=5)
    got = world.recv(source=left, tag=5)
    request.wait()
    assert got == (left, thing), got

# Buffers: the length and the source are seen by a probe.
out = array("d", [rank + i / 2 for i in range(1000)])
request = world.Isend([out, MPI.DOUBLE], dest=right, tag=9)
status = MPI.Status()
world.Probe(MPI.ANY_SOURCE, 9, status)
assert status.Get_source() == left and status.Get_count(MPI.DOUBLE) == 1000
into = array("d", bytes(8 * 1000))
world.Recv([into, MPI.DOUBLE], source=left, tag=9)
request.Wait()
assert into == array("d", [left + i / 2 for i in range(1000)])

# An error is a Python exception with the right class, and the library goes on.
try:
    world.Send([out, MPI.DOUBLE], dest=size + 3, tag=1)
except MPI.Exception as error:
    assert error.Get_error_class() == MPI.ERR_RANK, error
else:
    raise AssertionError("a message to a rank that does not exist was accepted")

# Derived types.
column = MPI.DOUBLE.Create_vector(10, 1, 10).Commit()
matrix = array("d", [rank * 100.0 + i for i in range(100)])
result = array("d", bytes(800))
world.Sendrecv([matrix, 1, column], right, 3, [result, 1, column], left, 3)
assert all(result[i] == (left * 100.0 + i if i % 10 == 0 else 0.0) for i in range(100))
column.Free()
world.Barrier()
if rank == 0:
    print("basics: ok")
