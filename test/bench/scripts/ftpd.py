"""An FTP server that counts commands: ftpd.py DIR. It says its port, and for each
line that it reads how many commands there were. It ends with its standard input."""

import logging
import os
import sys
import threading

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer


class Counting(FTPHandler):
    commands = 0

    def pre_process_command(self, *args):
        Counting.commands += 1
        super().pre_process_command(*args)


def tell():
    for _ in sys.stdin:
        print(Counting.commands, flush=True)
    os._exit(0)


logging.basicConfig(level=logging.ERROR)
Counting.authorizer = DummyAuthorizer()
Counting.authorizer.add_user("bench", "bench", sys.argv[1], perm="elradfmwMT")
server = FTPServer(("127.0.0.1", 0), Counting)
server.max_cons_per_ip = server.max_cons = 1000
print(server.address[1], flush=True)
threading.Thread(target=tell, daemon=True).start()
server.serve_forever()
