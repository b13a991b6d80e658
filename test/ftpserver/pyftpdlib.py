"""An FTP server with one account, configured by the JSON in its argument."""
import json
import os
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

config = json.loads(sys.argv[1])
handler = FTPHandler
if config["both"]:
    from pyftpdlib.handlers import TLS_FTPHandler

    class ImplicitHandler(TLS_FTPHandler):
        """TLS begins before the greeting."""

        def handle(self):
            self.secure_connection(self.ssl_context)

        def handle_ssl_established(self):
            super().handle()

    handler = ImplicitHandler if config["implicit"] else TLS_FTPHandler
    handler.certfile = handler.keyfile = config["both"]
    handler.tls_control_required = handler.tls_data_required = True

if config["unconfined"]:
    from pyftpdlib.filesystems import UnixFilesystem

    handler.abstracted_fs = UnixFilesystem

users = DummyAuthorizer()
users.add_user(config["user"], config["password"], config["root"], perm=config["permissions"])
handler.authorizer = users
if config["idle"]:
    handler.timeout = config["idle"]

server = FTPServer(("127.0.0.1", config["port"]), handler)
server.max_cons_per_ip = config["max_conns"]
# It has read its certificate and listens: from here on only the account's rights.
os.setgroups([])
os.setgid(config["gid"])
os.setuid(config["uid"])
os.umask(0o022)
# Without a timeout it can sleep on while a session's idle time ends.
server.serve_forever(timeout=0.2)
