#!/usr/bin/env python3
"""Adds up the single test cases of a CTest run, and prints one line, after lit's
own summary.

    count-tests.py RESULTS.xml       written by ctest --output-junit

CTest counts executables; lit and Catch2 count test cases inside them. A test
with neither counts as one.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def lit_summary(output):
    found = re.search(r"^Total Discovered Tests:.*", output, re.M | re.S)
    return found[0].rstrip() if found else None


def cases_inside(output):
    """Returns what the test itself counted, (passed, failed, skipped)."""
    summary = lit_summary(output)
    if summary:
        lit = dict(re.findall(r"^  (\w[\w ]*?) *: *(\d+)", summary, re.M))

        def total(*kinds):
            return sum(int(lit.get(kind, 0)) for kind in kinds)

        return (
            total("Passed", "Expectedly Failed", "Passed With Retry"),
            total("Failed", "Unresolved", "Timed Out", "Unexpectedly Passed"),
            total("Unsupported", "Skipped", "Excluded"),
        )

    catch = re.search(r"^All tests passed \(.* in (\d+) test cases?\)", output, re.M)
    if catch:
        return int(catch[1]), 0, 0
    catch = re.search(r"^test cases: +(\d+)(.*)$", output, re.M)
    if catch:
        found = re.search(r"(\d+) failed", catch[2])
        failed = int(found[1]) if found else 0
        return int(catch[1]) - failed, failed, 0
    return 0, 0, 0


def count(case):
    status = case.get("status")
    if status in ("notrun", "disabled"):
        return 0, 0, 1
    passed, failed, skipped = cases_inside(case.findtext("system-out") or "")
    if status == "fail" and failed == 0:
        failed = 1  # A crash, a time-out, or no test case at all.
    elif passed + failed + skipped == 0:
        passed = 1
    return passed, failed, skipped


def main():
    cases = ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    for case in cases:
        summary = lit_summary(case.findtext("system-out") or "")
        if summary:
            print("lit: " + summary)
    totals = [sum(column) for column in zip(*map(count, cases))] or [0, 0, 0]
    print("{} passed, {} failed, {} skipped".format(*totals))


main()
