# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what tests have run, from gcovr's JSON: lines and branches per folder, files below 80 %,
and functions that nobody called.

    python3 tests/coverage/report.py FILE.json
"""
import json
import os
import sys
from collections import defaultdict

LEAST = 80.0


def percent(some, of):
    return 100.0 * some / of if of else 100.0


def counts(file):
    """Lines run, lines, branches taken, branches."""
    lines = [line for line in file["lines"] if not line.get("gcovr/noncode")]
    branches = [branch for line in lines for branch in line["branches"]]
    return [
        sum(line["count"] > 0 for line in lines),
        len(lines),
        sum(branch["count"] > 0 for branch in branches),
        len(branches),
    ]


def row(name, n):
    print(f"{name:<34}{n[1]:>8}{percent(n[0], n[1]):>8.1f} %{n[3]:>9}{percent(n[2], n[3]):>8.1f} %")


def main():
    with open(sys.argv[1], encoding="utf-8") as source:
        files = json.load(source)["files"]
    folders = defaultdict(lambda: [0, 0, 0, 0])
    low, never = [], defaultdict(list)
    for file in files:
        n = counts(file)
        for folder in (os.path.dirname(file["file"]), "all"):
            folders[folder] = [a + b for a, b in zip(folders[folder], n)]
        if percent(n[0], n[1]) < LEAST:
            low.append((file["file"], n))
        never[file["file"]] += [
            function["name"] for function in file["functions"] if not function["execution_count"]
        ]
    print(f'{"folder":<34}{"lines":>8}{"run":>10}{"branches":>9}{"taken":>10}')
    for folder in sorted(folders, key=lambda name: (name == "all", name)):
        row(folder, folders[folder])
    print(f"\nfiles of which less than {LEAST:.0f} % of the lines were run: {len(low)}")
    for name, n in sorted(low, key=lambda entry: percent(entry[1][0], entry[1][1])):
        row(name, n)
    print(f"\nfunctions that were never called: {sum(map(len, never.values()))}")
    for name in sorted(name for name in never if never[name]):
        print(f'{name}: {", ".join(never[name])}')


if __name__ == "__main__":
    main()
