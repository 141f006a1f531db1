"""Checks the links between the documents.

    check_links.py FILE.md...

Every link to a file of the repository must lead to one, and every link to a
heading (`#heading`, `page.md#heading`) to a heading, by the rule that makes
anchors of headings: lower case, punctuation dropped, blanks to hyphens, and a
number behind those that repeat. Links to the web are not looked at.
"""

import os
import re
import sys

from check_docs import FENCE, closes

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
CODE_SPAN = re.compile(r"`[^`]*`")


def prose(path):
    """The lines of a document, numbered, with blocks of code left out."""
    opening = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            fence = FENCE.match(line)
            if opening is not None:
                if closes(fence, opening):
                    opening = None
            elif fence:
                opening = fence.group(2)
            elif not line.startswith("    "):
                yield number, line


def anchors(path):
    """The anchors of a document's headings."""
    found = set()
    for _, line in prose(path):
        heading = HEADING.match(line)
        if not heading:
            continue
        text = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
        anchor = base = text.replace(" ", "-")
        count = 0
        while anchor in found:
            count += 1
            anchor = f"{base}-{count}"
        found.add(anchor)
    return found


def check(path):
    problems = []
    for number, line in prose(path):
        for target in LINK.findall(CODE_SPAN.sub("", line)):
            if re.match(r"\w+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = os.path.join(os.path.dirname(path), name) if name else path
            if not os.path.exists(file):
                problems.append(f"{path}:{number}: there is no file '{name}'")
            elif anchor and anchor not in anchors(file):
                problems.append(f"{path}:{number}: there is no heading '#{anchor}'")
    return problems


def main():
    files = sys.argv[1:]
    if not files:
        sys.exit("usage: check_links.py FILE.md...")
    problems = [problem for path in files for problem in check(path)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(files)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
