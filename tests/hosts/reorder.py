"""Joins two network interfaces and delays each frame that passes by a random time, so that frames also overtake each
other. For the tests over several hosts. Usage: reorder.py SEED MILLISECONDS INTERFACE INTERFACE; says "joined" when it is.
The interfaces must not leave checksums or segmentation to hardware: nothing completes them on this way."""

import heapq
import random
import select
import socket
import sys
import time

ETH_P_ALL = 3
LARGEST = 65536


def joined(name):
    link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
    link.bind((name, 0))
    link.setblocking(False)
    return link


def main():
    seed, longest = int(sys.argv[1]), float(sys.argv[2]) / 1000
    chance = random.Random(seed)
    links = [joined(name) for name in sys.argv[3:5]]
    other = {links[0]: links[1], links[1]: links[0]}
    waiting, number = [], 0
    print("joined", flush=True)
    while True:
        patience = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for link in select.select(links, [], [], patience)[0]:
            for _ in range(256):
                try:
                    frame, origin = link.recvfrom(LARGEST)
                except BlockingIOError:
                    break
                if origin[2] == socket.PACKET_OUTGOING:
                    continue  # what this program has sent itself
                number += 1
                due = time.monotonic() + chance.random() * longest
                heapq.heappush(waiting, (due, number, other[link], frame))
        now = time.monotonic()
        while waiting and waiting[0][0] <= now:
            _, _, link, frame = heapq.heappop(waiting)
            try:
                link.send(frame)
            except OSError:
                pass  # no room, or the interface is down: lost, as frames may be


main()
