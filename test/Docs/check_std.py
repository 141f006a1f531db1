"""Checks the page about the standard library.

    check_std.py --tilec PATH REPOSITORY PAGE.md

Every `kernel` and `fn` of std/ must stand in the page with its parameters as the
source has them, up to its body; every declaration in the page must be one of
std/; and every line of the page that begins with `tilec run std/` and asks for
--check must do what it says, run from the repository.
"""

import argparse
import glob
import os
import re
import shlex
import subprocess
import sys

DECLARATION = re.compile(r"^(?:kernel|fn) \w+", re.MULTILINE)


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def signatures(text):
    """The declarations of a source, without their bodies."""
    starts = [match.start() for match in DECLARATION.finditer(text)]
    for start in starts:
        end = text.index("{", start)
        yield one_line(text[start:end])


def documented(text):
    """The declarations in the blocks of a page that have no tag."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for tag, block in blocks:
        if tag:
            continue
        starts = [match.start() for match in DECLARATION.finditer(block)]
        for start, end in zip(starts, starts[1:] + [len(block)]):
            yield one_line(block[start:end])


def main():
    parser = argparse.ArgumentParser(description="Checks the page about std/.")
    parser.add_argument("--tilec", default="tilec", metavar="PATH")
    parser.add_argument("repository")
    parser.add_argument("page")
    options = parser.parse_args()

    with open(options.page, encoding="utf-8") as file:
        page = file.read()
    sources = []
    for path in sorted(glob.glob(os.path.join(options.repository, "std/*.tile"))):
        with open(path, encoding="utf-8") as file:
            sources += signatures(file.read())
    described = list(documented(page))
    problems = [f"not described: {text}" for text in sources if text not in described]
    problems += [f"not in std/: {text}" for text in described if text not in sources]

    commands = re.findall(r"^tilec run std/.*--check$", page, re.MULTILINE)
    for command in commands:
        words = shlex.split(command)
        words[0] = options.tilec
        result = subprocess.run(
            words,
            cwd=options.repository,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if result.returncode != 0 or result.stderr:
            problems.append(f"{command}\n{result.stdout}{result.stderr}".rstrip())
    if not sources or not commands:
        problems.append("found nothing to check")
    for problem in problems:
        print(f"{options.page}: {problem}", file=sys.stderr)
    print(f"{len(sources)} declarations, {len(commands)} commands, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
