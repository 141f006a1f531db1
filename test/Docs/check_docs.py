"""Checks the programs in the documentation.

    check_docs.py --tilec PATH FILE.md...

Every fenced block whose tag begins with `tile` is a complete program. The tag
says what must come of it:

    tile        tilec FILE exits with 0 and says nothing
    tile-run    so does tilec run FILE ARGS --check, for each line that begins
                with "// run: ARGS" (there is at least one); the output has the
                text of each line that begins with "// prints: "
    tile-error  tilec FILE, or the command of its "// run:" line, exits with 1,
                and its messages have the text of each line that begins with
                "// error: " (there is at least one)

Blocks with other tags, or none, are not looked at. A program is given to tilec
with as many empty lines in front as bring it to its place in the document, so
that the lines in tilec's messages are lines of the document.

Exits with 1 if a program fails, if a block is malformed, or if there is no
program; with --each, also if there is a file without one. --list prints the
programs instead of checking them.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shlex
import subprocess
import sys
import tempfile

TAGS = ("tile", "tile-run", "tile-error")
# A block may be the first thing in an item of a list.
FENCE = re.compile(r"^((?: |[-*+] |\d+[.)] )*)(`{3,}|~{3,}) *([^`]*)$")
TIMEOUT_SECONDS = 300


@dataclasses.dataclass
class Program:
    """A block: where it begins (the line after the fence), and what it is."""

    path: str
    line: int
    tag: str
    lines: list

    def place(self):
        return f"{self.path}:{self.line}"

    def text(self):
        return "\n" * (self.line - 1) + "\n".join(self.lines) + "\n"

    def marked(self, mark):
        """What follows `// MARK:` in the lines that begin so."""
        prefix = f"// {mark}:"
        return [
            line.strip()[len(prefix) :].strip()
            for line in self.lines
            if line.strip().startswith(prefix)
        ]


def closes(fence, opening):
    """Whether a match of FENCE ends the block that `opening` began."""
    return fence and fence.group(2).startswith(opening) and not fence.group(3)


def find_programs(path):
    """The programs of a document, and what is wrong with its blocks."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    programs, problems = [], []
    opening, indent, start, tag = None, 0, 0, ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                indent, opening = len(fence.group(1)), fence.group(2)
                start, tag = number + 1, fence.group(3).strip()
                if tag.startswith("tile") and tag not in TAGS:
                    problems.append(f"{path}:{number}: unknown tag '{tag}'")
            continue
        if not closes(fence, opening):
            continue
        if tag in TAGS:
            code = [text[indent:] for text in lines[start - 1 : number - 1]]
            programs.append(Program(path, start, tag, code))
        opening = None
    if opening is not None:
        problems.append(f"{path}:{start - 1}: this block is not closed")
    for program in programs:
        if program.tag == "tile-run" and not program.marked("run"):
            problems.append(f"{program.place()}: no '// run: ' line")
        if program.tag == "tile-error" and not program.marked("error"):
            problems.append(f"{program.place()}: no '// error: ' line")
    return programs, problems


def commands(program, tilec, file):
    """The command lines of a program."""
    runs = program.marked("run") if program.tag != "tile" else []
    if not runs:
        return [[tilec, file]]
    return [[tilec, "run", file, *shlex.split(run), "--check"] for run in runs]


def judge(program, result):
    """What is wrong with how a command ended, or nothing."""
    if program.tag == "tile-error":
        if result.returncode != 1:
            return f"expected exit status 1, found {result.returncode}"
        for text in program.marked("error"):
            if text not in result.stderr:
                return f"expected the message '{text}'"
        return None
    if result.returncode != 0:
        return f"expected exit status 0, found {result.returncode}"
    if program.tag == "tile":
        return "expected no output" if result.stdout + result.stderr else None
    for text in program.marked("prints"):
        if text not in result.stdout + result.stderr:
            return f"expected '{text}' in the output"
    return None


def check(program, tilec):
    """The report of a program that fails; nothing if it does not."""
    with tempfile.TemporaryDirectory(prefix="tilec-docs-") as folder:
        file = os.path.join(folder, os.path.basename(program.path))
        with open(file, "w", encoding="utf-8") as out:
            out.write(program.text())
        for command in commands(program, tilec, file):
            try:
                result = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT_SECONDS,
                )
            except subprocess.TimeoutExpired:
                return f"{program.place()}: no end after {TIMEOUT_SECONDS} s"
            problem = judge(program, result)
            if problem is None:
                continue
            shown = shlex.join(command) + "\n" + result.stdout + result.stderr
            shown = shown.replace(file, program.path)
            return f"{program.place()}: {problem}\n{shown}".rstrip()
    return None


def main():
    parser = argparse.ArgumentParser(description="Checks programs in documents.")
    parser.add_argument("--tilec", default="tilec", metavar="PATH")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="+", metavar="FILE.md")
    options = parser.parse_args()

    programs, problems = [], []
    for path in options.files:
        found, wrong = find_programs(path)
        programs += found
        problems += wrong
        if options.each and not found:
            problems.append(f"{path}: no program found")
    if not programs and not options.each:
        problems.append("no program found")
    if options.list:
        for program in programs:
            print(f"{program.place()}: {program.tag}, {len(program.lines)} lines")
    else:
        # tilec is another process, so threads are enough to keep all cores busy.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            reports = pool.map(lambda p: check(p, options.tilec), programs)
            problems += [report for report in reports if report]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(programs)} programs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
