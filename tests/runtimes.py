# SPDX-License-Identifier: GPL-3.0-or-later
"""What the searches of tests/bench-runtimes came to: a table, and each accusation.

    runtimes.py KNOWN.tsv FOLDER...    FOLDER/RUNTIME/MODEL.end, .json and .txt
"""
import fnmatch
import glob
import json
import os
import sys

COLUMNS = ("searches", "pass", "true", "false", "new", "refused", "no verdict", "died")


def read_known(path):
    """Rows [true or false, runtime, model, operator, cause]; patterns of a shell."""
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]
    assert all(len(row) == 5 and row[0] in ("true", "false") for row in rows), path
    return rows


def find(known, runtime, model, culprit):
    """The row of an accusation, None: it is new."""
    for row in known:
        if all(map(fnmatch.fnmatchcase, (runtime, model, culprit["op_type"]), row[1:4])):
            return row
    return None


def read_search(end):
    """Exit status, seconds, and the report or None."""
    with open(end, encoding="utf-8") as file:
        status, seconds = file.read().split()
    try:
        with open(end[:-len("end")] + "json", encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError):
        report = None
    return int(status), float(seconds), report


def classify(status, report, found):
    """Which column a search counts in; found: the rows of its accusations, None for new ones."""
    if status == 0:
        return "pass"
    if status == 1 and report:
        kinds = {row[0] if row else "new" for row in found} or {"new"}
        return "false" if "false" in kinds else "new" if "new" in kinds else "true"
    if status == 4 and report and "the budget of" not in (report["failure"] or ""):
        return "refused"
    return "no verdict" if status in (3, 4) else "died"


def tell(runtime, model, seconds, culprit, row):
    """A line for an accusation."""
    return "%-5s  %s  %s  #%s %s %s  %s, confidence %s, verified %s, %.0f s%s" % (
        row[0] if row else "NEW", runtime, model, culprit["index"], culprit["op_type"],
        culprit["name"], culprit["kind"], culprit["confidence"], culprit["verified"], seconds,
        "  (%s)" % row[4] if row else "")


def main(known_path, *folders):
    """Prints both."""
    known, lines, table = read_known(known_path), [], {}
    for end in sorted(end for folder in folders for end in glob.glob(folder + "/*/*.end")):
        runtime, model = os.path.basename(os.path.dirname(end)), os.path.basename(end)[:-4]
        status, seconds, report = read_search(end)
        culprits = report["culprits"] if report and status == 1 else []
        found = [find(known, runtime, model, culprit) for culprit in culprits]
        counts = table.setdefault(runtime, dict.fromkeys(COLUMNS, 0) | {"s": 0})
        counts["searches"] += 1
        counts["s"] += seconds
        counts[classify(status, report, found)] += 1
        lines += [tell(runtime, model, seconds, *pair) for pair in zip(culprits, found)]
        if status == 1 and not culprits:
            lines.append("NEW    %s  %s  diverges, and nobody is accused" % (runtime, model))
    print("\n".join(lines) + "\n")
    print("%-18s" % "runtime" + "".join("%11s" % name for name in COLUMNS) + "    seconds")
    for runtime, counts in table.items():
        print("%-18s" % runtime + "".join("%11d" % counts[name] for name in COLUMNS) +
              "%11.0f" % counts["s"])


if __name__ == "__main__":
    main(*sys.argv[1:])
