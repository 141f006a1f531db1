"""Makes tilec crash while it reads its program, and prints its exit status.

The program is a pipe: when it can be opened for writing, tilec has begun to
read, and waits until the signal arrives.
"""

import os
import signal
import subprocess
import sys

os.mkfifo("p.tile")
process = subprocess.Popen([sys.argv[1], "p.tile", "--emit=tile", "-o", "out.mlir"])
with open("p.tile", "w"):
    process.send_signal(signal.SIGSEGV)
    status = process.wait()
os.remove("p.tile")
print(f"exit status {status}", file=sys.stderr)
