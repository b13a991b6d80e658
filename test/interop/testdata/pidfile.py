"""A pid file as in cookbooks: made with O_EXCL, it holds the pid. With STALE set,
the file of a process that is not there is removed, as cookbooks do, too; that has
a race of its own."""

import os
import sys

from verbs import main

path = sys.argv[2]


def take():
    if "STALE" in os.environ and dead():
        os.unlink(path)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    os.write(fd, b"%d\n" % os.getpid())
    os.close(fd)
    return True


def dead():
    try:
        with open(path) as f:
            os.kill(int(f.readline()), 0)
    except (FileNotFoundError, ValueError):
        return False
    except ProcessLookupError:
        return True
    return False


main(take, lambda: os.unlink(path), lambda: os.utime(path))
