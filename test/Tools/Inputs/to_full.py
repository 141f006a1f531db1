"""Runs a command with a full disk for its standard output; then prints its
exit status to standard error, after what the command printed there."""

import subprocess
import sys

with open("/dev/full", "w") as full:
    status = subprocess.run(sys.argv[1:], stdout=full).returncode
print(f"exit status {status}", file=sys.stderr)
