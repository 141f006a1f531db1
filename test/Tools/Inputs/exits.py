"""Runs a command and checks its exit status exactly: exits.py STATUS COMMAND...

`not` of LLVM accepts any failure, and tilec's statuses mean different things.
"""

import subprocess
import sys

expected = int(sys.argv[1])
status = subprocess.run(sys.argv[2:]).returncode
if status != expected:
    print(f"exit status: expected {expected}, found {status}", file=sys.stderr)
    sys.exit(1)
