"""An SFTP server with one account, configured by the JSON in its argument."""
import asyncio
import json
import os
import sys

import asyncssh

config = json.loads(sys.argv[1])


async def serve():
    host_key = asyncssh.read_private_key(config["host_key"])
    # From here on only the account's rights.
    os.setgroups([])
    os.setgid(config["gid"])
    os.setuid(config["uid"])
    os.umask(0o022)
    os.environ["HOME"] = config["home"]
    os.chdir(config["home"])
    await asyncssh.listen(
        "127.0.0.1",
        config["port"],
        server_host_keys=[host_key],
        authorized_client_keys=config["keys"],
        sftp_factory=True,
        reuse_address=True,
    )
    await asyncio.Event().wait()


asyncio.run(serve())
