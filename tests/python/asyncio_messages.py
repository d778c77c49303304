# ranks: 2 4
"""asyncio and mpi4py: messages are awaited like everything else of the event loop, through the descriptor of posthaste.h."""
import asyncio
import ctypes
from array import array

from mpi4py import MPI

library = ctypes.CDLL("libmpi_abi.so.1")  # which mpi4py has loaded


def check(code):
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


class Messages:
    """Requests as futures of a running event loop."""

    def __init__(self):
        fd = ctypes.c_int(-1)
        check(library.Posthaste_Get_fd(ctypes.byref(fd)))  # mpi4py asks for MPI_THREAD_MULTIPLE
        self.fd, self.watched = fd.value, []
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(self.fd, self.look)

    def look(self):
        check(library.Posthaste_Drain_fd())
        going_on = []
        for request, future, status in self.watched:
            if future.cancelled() or request.Test(status):
                if not future.cancelled():
                    future.set_result(status)
            else:
                going_on.append((request, future, status))
        self.watched = going_on

    def end(self, request):
        future = self.loop.create_future()
        self.watched.append((request, future, MPI.Status()))
        handle = ctypes.c_void_p.from_address(MPI._addressof(request))
        check(library.Posthaste_Request_watch(handle))
        return future

    def close(self):
        self.loop.remove_reader(self.fd)


async def main():
    world = MPI.COMM_WORLD
    rank, size = world.Get_rank(), world.Get_size()
    right, left = (rank + 1) % size, (rank - 1) % size
    messages, ticks = Messages(), 0

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    clock = asyncio.create_task(tick())
    for length in [1, 1000, 300_000]:
        out, into = array("d", [rank] * length), array("d", bytes(8 * length))
        receive = messages.end(world.Irecv([into, MPI.DOUBLE], source=left, tag=3))
        await asyncio.sleep(0.02)  # others of the loop go on
        send = messages.end(world.Isend([out, MPI.DOUBLE], dest=right, tag=3))
        status, _ = await asyncio.gather(receive, send)
        assert status.Get_source() == left and into == array("d", [left] * length)
    await messages.end(world.Ibarrier())
    assert ticks > 1, ticks
    clock.cancel()
    messages.close()


asyncio.run(main())
