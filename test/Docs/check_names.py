"""Checks that the language reference leaves nothing out.

    check_names.py REPOSITORY REFERENCE.md

Names that the sources define (keywords, element types, built-in functions, keys
of schedules, options, the standard library) must each occur in the reference as
a word of some `code`. A source from which no name can be read is an error too:
then this script looks in the wrong place.
"""

import glob
import os
import re
import sys

# What it is, the files, and the names in them.
SOURCES = [
    ("keyword", "lib/Frontend/Token.def", r'^TILEC_KEYWORD\(\w+, "(\w+)"\)'),
    ("element type", "lib/Support/DType.cpp", r'\{DType::\w+, "(\w+)"'),
    (
        "built-in function",
        "lib/Frontend/SemaBuiltins.cpp",
        r'^ +(?:math|minMax|reduction|scan)\("(\w+)"|^ +\{"(\w+)", Kind::',
    ),
    ("schedule key", "lib/Frontend/SemaSchedule.cpp", r'\{"(\w+)", ast::Sched'),
    ("option", "tools/tilec/Options.td", r'^def \w+ : [VF]<"([\w-]+)"'),
    ("kernel or function of std", "std/*.tile", r"^(?:kernel|fn) (\w+)"),
]
# Explained by --help and needing no word of the reference.
UNDOCUMENTED = {"help", "version"}


def documented(path):
    """The words of all code spans, and of indented or fenced code."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    spans = re.findall(r"^```.*?^```|`[^`\n]+`", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"[\w-]+", "\n".join(s.replace("--", " ") for s in spans)))


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: check_names.py REPOSITORY REFERENCE.md")
    repository, reference = sys.argv[1:]
    known = documented(reference) | UNDOCUMENTED
    problems, count = [], 0
    for what, pattern, expression in SOURCES:
        names = []
        for path in sorted(glob.glob(os.path.join(repository, pattern))):
            with open(path, encoding="utf-8") as file:
                for match in re.finditer(expression, file.read(), re.MULTILINE):
                    names.append(next(group for group in match.groups() if group))
        if not names:
            problems.append(f"no {what} found in {pattern}")
        count += len(names)
        for name in names:
            if name not in known:
                problems.append(f"{reference}: the {what} '{name}' is not described")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{count} names, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
