import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[5] / "client" / "python"))
import locksmith  # noqa: E402

with locksmith.acquire(sys.argv[1], timeout=600) as lock:
    print("working")
