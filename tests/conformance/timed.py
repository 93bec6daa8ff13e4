"""Runs a command and measures it: `timed.py FILE COMMAND…`.

`FILE` gets the exit status and the seconds of CPU time of the command, as JSON. When it is ended, the command is ended.
"""

import json
import os
import resource
import signal
import sys

if __name__ == "__main__":
    file, *command = sys.argv[1:]
    pid = os.posix_spawnp(command[0], command, os.environ)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGKILL))
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(file, "w") as out:
        json.dump({"status": status, "cpu": used.ru_utime + used.ru_stime}, out)
    sys.exit(status & 255)
