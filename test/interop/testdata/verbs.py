"""What Python's tools do here, out of three functions of their own: take tries
once and says whether it was lucky, give releases, and refresh gives a sign of
life."""

import subprocess
import sys
import time


def main(take, give, refresh):
    verb = sys.argv[1]
    if verb == "try":
        if not take():
            sys.exit(75)
        give()
    elif verb == "hold":
        wait(take)
        print("held", flush=True)
        for _ in sys.stdin:
            refresh()
            print("refreshed", flush=True)
        give()
    elif verb == "loop":
        for _ in range(int(sys.argv[3])):
            wait(take)
            subprocess.run(sys.argv[4:], check=True)
            give()


def wait(take):
    while not take():
        time.sleep(0.05)
