# ranks: 1 3 4
"""Collectives and communicators through mpi4py, on objects and on buffers."""
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()

for root in range(size):
    thing = world.bcast({"root": root, "data": list(range(root, 1000))} if rank == root else None, root=root)
    assert thing["root"] == root and thing["data"][0] == root
    gathered = world.gather((rank, "x" * rank), root=root)
    assert gathered == ([(r, "x" * r) for r in range(size)] if rank == root else None)
assert world.allgather(rank * 2) == [r * 2 for r in range(size)]
assert world.allreduce(rank + 1, op=MPI.SUM) == size * (size + 1) // 2
assert world.allreduce([rank], op=MPI.SUM) == list(range(size))

values = array("d", [rank + i for i in range(5000)])
sums = array("d", bytes(8 * 5000))
world.Allreduce([values, MPI.DOUBLE], [sums, MPI.DOUBLE], op=MPI.SUM)
assert all(sums[i] == size * i + size * (size - 1) / 2 for i in range(5000))
world.Reduce(MPI.IN_PLACE if rank == 0 else [values, MPI.DOUBLE], [values, MPI.DOUBLE] if rank == 0 else None, op=MPI.MAX)
if rank == 0:
    assert values[0] == size - 1

half = world.Split(color=rank % 2, key=-rank)
assert half.allreduce(rank) == sum(r for r in range(size) if r % 2 == rank % 2)
assert half.Get_rank() == len([r for r in range(size) if r % 2 == rank % 2 and r > rank])
half.Free()
copy = world.Dup()
assert MPI.Comm.Compare(world, copy) == MPI.CONGRUENT
copy.Free()
world.Barrier()
if rank == 0:
    print("collectives: ok")
