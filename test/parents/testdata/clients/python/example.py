import sys
import locksmith

with locksmith.acquire(sys.argv[1], timeout=600) as lock:
    if not lock.lost:  # look before each write
        print("working", lock.token)
