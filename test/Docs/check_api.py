"""Checks that the reference of the interfaces leaves nothing out.

    check_api.py REPOSITORY

Every function and every kind of error that include/tilec/c.h declares must occur
in docs/api.md as a word of some `code`. Of a kind the word is what follows
TILEC_ERROR_.
"""

import os
import re
import sys

PATTERNS = [
    ("function", r"^TILEC_API [^;]*?\b(tilec_\w+)\("),
    ("kind of error", r"^  TILEC_ERROR_(\w+) ="),
]


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "include/tilec/c.h"), encoding="utf-8") as file:
        header = file.read()
    with open(os.path.join(root, "docs/api.md"), encoding="utf-8") as file:
        spans = re.findall(r"^```.*?^```|`[^`\n]+`", file.read(), re.M | re.S)
    words = set(re.findall(r"\w+", "\n".join(spans)))
    problems = []
    for kind, pattern in PATTERNS:
        names = re.findall(pattern, header, re.M)
        if not names:
            problems.append(f"no {kind} found")
        problems += [
            f"the {kind} '{name}' is not described" for name in names if name not in words
        ]
    for problem in problems:
        print(f"docs/api.md: {problem}", file=sys.stderr)
    print(f"{len(words)} words, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
