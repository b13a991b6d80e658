import sys
import locksmith

with locksmith.acquire(sys.argv[1], timeout=600) as lock:
    print("working")
