"""small_files.py BYTES COMMAND...: runs a command that can write no file longer
than BYTES, as on a disk that is nearly full; then prints its exit status to
standard error."""

import resource
import signal
import subprocess
import sys


def limit():
    # A write beyond the limit fails instead of ending the process.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


status = subprocess.run(
    sys.argv[2:], preexec_fn=limit, restore_signals=False
).returncode
print(f"exit status {status}", file=sys.stderr)
