import subprocess
import sys

locker = subprocess.Popen(["locksmith", "hold", "--stdin", "watch", "--timeout", "10m", sys.argv[1]],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
line = locker.stdout.readline()
if not line.startswith("OK"):
    sys.exit("no lock: " + line)

print("working")

locker.stdin.close()
if locker.wait() != 0:  # then it is released
    sys.exit("lost the lock")
