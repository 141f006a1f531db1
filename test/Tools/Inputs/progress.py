"""Runs a command of `tilec run` long enough to show its progress: with standard
error on a terminal, the same with --quiet, and on a pipe."""

import os
import pty
import re
import signal
import subprocess
import sys

signal.alarm(300)  # Only if no progress ever comes.
command = sys.argv[1:]
environment = {**os.environ, "TERM": "xterm"}


def on_terminal(repeat, *options):
    """Starts the command; gives the process and its terminal."""
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [*command, "--repeat", repeat, *options],
        stdout=subprocess.DEVNULL,
        stderr=side,
        env=environment,
    )
    os.close(side)
    return process, terminal


# Until the line appears; then there is no reason to wait for the end.
process, terminal = on_terminal("1000000000")
text = b""
while b"running" not in text:
    text += os.read(terminal, 1000)
while not text.rstrip().endswith(b"s)"):
    text += os.read(terminal, 1000)
process.kill()
process.wait()
line = re.search(r"running '\w+' \(", text.decode())
print("shown on a terminal:", line.group() if line else repr(text))

process, terminal = on_terminal("400000", "--quiet")
process.wait()
try:
    text = os.read(terminal, 1000)
except OSError:  # The other side is closed, and nothing was written.
    text = b""
print("quiet on a terminal:", text.decode() or "nothing")

result = subprocess.run(
    [*command, "--repeat", "400000"], capture_output=True, env=environment
)
print("shown in a pipe:", result.stderr.decode() or "nothing")
