# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches for published bugs of real backends on the very backends that have them, and prints who
is named.

    bench.py [--fetched|--quick] [--tap] [CASE…]

--fetched: only cases whose runtime `make setup` fetches; --quick: of these, ONNX Runtime's, and machines.py's. --tap: a
line of TAP for each case; otherwise a table, whose columns README.md explains. CASE: these alone, by
the beginnings of their names.
The environment names PROGRAM, B (the build folder), SHARED (data that is not in the repository)
and SCRATCH (a folder that may be written to)."""
import functools
import json
import os
import re
import subprocess
import sys
import time

import networks

PROGRAM, BUILD, SHARED, SCRATCH = (os.environ[k] for k in ("PROGRAM", "B", "SHARED", "SCRATCH"))
HERE = os.path.dirname(os.path.abspath(__file__))
RUNTIMES = os.path.join("vendor", "runtimes")
SECONDS = 120  # for one command
LIKE_A_PEER = "allclose:1e-5,1e-5"


class Case:
    """A row of cases.tsv."""

    def __init__(self, row):
        (self.name, self.model, self.runtime, self.cpu, nodes, self.kind, optimisers,
         self.source) = row
        self.choices = [parse_groups(part) for part in nodes.split("|")] if nodes != "-" else []
        self.optimisers = set(optimisers.split(",")) - {"-"}

    def expected(self):
        """The indices of all nodes that may be accused."""
        return {i for groups in self.choices for group in groups for i in group}

    def folder(self):
        """Where the model is: among the shared data, or made here."""
        if self.model.startswith("shared"):
            place = self.model.partition(":")[2] or "realbugs"
            return os.path.join(SHARED, "data", place, self.name)
        return networks.make(self.model, os.path.join(BUILD, "realbugs"))


def parse_groups(text):
    """Sets of indices: "0-1+5" is {0, 1} and {5}."""
    groups = []
    for part in text.split("+"):
        first, _, last = part.partition("-")
        groups.append(set(range(int(first), int(last or first) + 1)))
    return groups


def read_cases():
    """The rows of cases.tsv."""
    with open(os.path.join(HERE, "cases.tsv"), encoding="utf-8") as table:
        return [Case(line.rstrip("\n").split("\t")) for line in table if not line.startswith("#")]


# --- the runtime of a case -----------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def fetched_version():
    """The version of ONNX Runtime that the program finds by itself, or None."""
    listed = subprocess.run([PROGRAM, "executors"], capture_output=True, text=True, check=False)
    found = re.search(r"^ort +available: ONNX Runtime ([0-9.]+),", listed.stdout, re.M)
    return found and found.group(1)


class Target:
    """How a case's runtime is started."""

    def __init__(self, case):
        kind, _, options = case.runtime.partition(",")
        self.env, self.lacks, self.fetched = dict(os.environ), None, False
        if kind.startswith("ort-"):
            self.find_library(kind[4:])
            kind = "ort"
        elif kind in ("web", "onnxjs"):
            modules = os.path.join(RUNTIMES, "web", "node_modules")
            options = ",".join(filter(None, [options, "modules=" + modules]))
            self.lacks = None if os.path.isdir(modules) else modules
        elif kind.startswith("machine:"):
            kind = "python:" + os.path.join(HERE, "machines.py") + kind[len("machine"):]
            self.env["ONNXDBG_PYTHON"], self.fetched = sys.executable, True
        else:
            self.fetched = True
        self.spec = kind + ("," + options if options else "")
        self.optimises = kind == "ort" and not options
        if case.cpu != "any":
            self.pretend(case.cpu)

    def find_library(self, version):
        library = os.path.join(RUNTIMES, "ort-" + version, "libonnxruntime.so")
        if version == fetched_version():
            self.fetched = True
        elif os.path.exists(library):
            self.env["ONNXDBG_ORT"] = library
        else:
            self.lacks = library

    def pretend(self, cpu):
        """Makes the processor look like an older one."""
        older = os.path.join(BUILD, "older-cpu.so")
        if not os.path.exists(older):
            self.lacks, self.fetched = older, False
        self.env.update(LD_PRELOAD=os.path.abspath(older), ONNXDBG_OLDER_CPU=cpu)


def run(target, *words):
    """The report of a command as JSON (None: it has none), its exit status, and seconds."""
    report = os.path.join(SCRATCH, "report.json")
    if os.path.exists(report):
        os.remove(report)
    begin = time.monotonic()
    try:
        done = subprocess.run([PROGRAM, *words], env=target.env, capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        status, text = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        status, text = 124, ""
    seconds = time.monotonic() - begin
    try:
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                return json.load(file), status, seconds
        return json.loads(text), status, seconds
    except ValueError:
        return None, status, seconds


def place(case):
    """The words that name a case's model and its inputs."""
    folder = case.folder()
    model = os.path.join(folder, "model.onnx")
    inputs = os.path.join(folder, "test_data_set_0")
    return [model] + (["--inputs-from", inputs] if os.path.isdir(inputs) else [])


# --- who is named ---------------------------------------------------------------------------------


def accused(report):
    """The sets of indices that a report accuses, the first one first: of a group its nodes, of a
    region all that lies between its ends."""
    sets = []
    for culprit in report["culprits"]:
        first, last = culprit.get("segment") or (culprit["index"], culprit["index"])
        sets.append(set(culprit.get("group") or range(first, last + 1)))
    return sets


def is_healthy(case, report):
    """Whether the target's outputs are the reference's but for a float's rounding, so that there is
    nothing to find: some faults are of one kind of processor."""
    listed, _, _ = run(Target(case), "info", place(case)[0], "--json")
    outputs = {o["name"] for o in listed["outputs"]}
    return all(v["verdict"] == "pass" and v["error"] < 1e-6 for v in report["values"]
               if v["name"] in outputs)


def held_by(report):
    """The indices between the first and the last node that are left where nobody is accused."""
    left = report.get("suspects_left")
    return set(range(left["first"], left["last"] + 1)) if left else set()


def judge(case, report):
    """What a search comes to (right, part, region, wrong, missed, none; no fault: this processor does
    not have it) and the group's size."""
    if report is None:
        return "none", 0
    sets = accused(report)
    if case.kind == "rejected":
        named = re.search(r"#(\d+) ", report.get("failure") or "")
        return ("right", 1) if named and int(named[1]) in case.expected() else ("none", 0)
    if report["verdict"] == "none" or report["verdict"] == "diverges" and not sets:
        left = held_by(report)
        return ("region", len(left)) if case.expected() & left else ("none", 0)
    if not case.choices:
        return ("wrong", len(sets[0])) if sets else ("right", 0)
    if not sets:
        return ("no fault" if is_healthy(case, report) else "missed"), 0
    size = len(sets[0])
    innocent = sum(not s & case.expected() for s in sets)
    if not sets[0] & case.expected():
        return "wrong", size
    if not sets[0] <= case.expected():
        return "region", size
    if innocent:
        return "right+%d" % innocent, size
    whole = any(all(any(s & g for s in sets) for g in groups) for groups in case.choices)
    return ("right" if whole else "part"), size


def optimisers(case, target):
    """What --over names, marked with = where that is what was expected."""
    if not target.optimises or not case.choices:
        return "-"
    report, _, _ = run(target, "bisect", *place(case), "--over", "ort,{optimizers}", "--over-only",
                       "--json", os.path.join(SCRATCH, "report.json"))
    found = (report or {}).get("over_found") or {}
    text = found.get("text") or "none"
    names = re.findall(r"\b(?:Fuse)?[A-Z]\w*(?:Fusion|ReluClip|Transformer|Elimination|Folding|Optimizer|Propagation"
                       r"|Selector|Removal|Rewrite|Cast|Handling|Merging|Inserter|QDQ\w*)\b", text)
    if not names:
        return "no option" if found else "none"
    equal = case.optimisers and set(names) == case.optimisers
    return ("=" if equal else "") + ",".join(dict.fromkeys(names))


def first_off(case, target):
    """The name of the first value that is off where all are read at once; "": none. None: no run.

    A target that needs fixed dimensions gets them from a search's probed run alone."""
    report, _, _ = run(target, "verify", *place(case), "--target", target.spec, "--tol",
                       LIKE_A_PEER, "--format", "json")
    if report is not None:
        pairs = report["pairs"]
    else:
        report, _, _ = run(target, "bisect", *place(case), "--target", target.spec, "--tol",
                           LIKE_A_PEER, "--strategy", "probed", "--no-checks", "--json",
                           os.path.join(SCRATCH, "report.json"))
        pairs = (report or {}).get("values", [])
        if not any(p["verdict"] == "pass" for p in pairs):
            return None
    return next((p["name"] for p in pairs if p["verdict"] not in ("pass", "untested")), "")


def first_over_tolerance(case, target):
    """Whom the rule "the first value over 1e-5" names, with = where rightly."""
    name = first_off(case, target)
    if not name:
        return "no run" if name is None else "nobody"
    listed, _, _ = run(target, "nodes", place(case)[0], "--json")
    index = next((n["index"] for n in listed["nodes"] if name in n["outputs"]), None)
    if index is None:
        return name
    return ("=" if index in case.expected() else "") + "#%d" % index


def row(case, target):
    """The cells of a case's line, and whether it is as expected."""
    report, status, seconds = run(target, "bisect", *place(case), "--target", target.spec, "--json",
                                  os.path.join(SCRATCH, "report.json"))
    found, size = judge(case, report)
    if status == 124:
        found = "late"
    report = report or {}
    culprit = (report.get("culprits") or [{}])[0]
    return found, [size or "-", culprit.get("kind", "-"), culprit.get("confidence") or "-",
                   report.get("target_loads", "-"), "%.1f" % seconds]


# --- what is printed ------------------------------------------------------------------------------

HEAD = ("case", "runtime", "found", "size", "kind", "confidence", "loads", "seconds", "peer",
        "optimisers")
FORM = "%-34s %-11s %-8s %4s %-13s %-10s %5s %7s %-7s %s"


def print_table(cases):
    """A row for each case, and what they come to."""
    print(FORM % HEAD)
    counts = {}
    for case in cases:
        target = Target(case)
        if target.lacks:
            print("%-34s %-11s skipped: no %s" % (case.name, case.runtime, target.lacks))
            continue
        found, cells = row(case, target)
        counts[found] = counts.get(found, 0) + 1
        runtime = case.runtime.partition(",")[0] + ("" if case.cpu == "any" else "/" + case.cpu)
        print(FORM % (case.name, runtime, found, *cells, first_over_tolerance(case, target),
                      optimisers(case, target)), flush=True)
    print("%d cases: " % sum(counts.values()) +
          ", ".join("%d %s" % (n, word) for word, n in sorted(counts.items(), key=lambda c: -c[1])))


def print_tap(cases):
    """A line for each case: only what is right passes."""
    for case in cases:
        found, cells = row(case, Target(case))
        skip = " # SKIP" if found == "no fault" else ""
        print("%s %s on %s: %s%s" % ("ok" if found == "right" or skip else "not ok", case.name,
                                     case.runtime,
                                     found if found == "right" else "%s %s" % (found, cells), skip),
              flush=True)


def main(words):
    """Reads the command line."""
    names = [w for w in words if not w.startswith("--")]
    cases = [c for c in read_cases() if not names or any(c.name.startswith(n) for n in names)]
    if not os.path.isdir(os.path.join(SHARED, "data", "realbugs")):
        cases = [c for c in cases if not c.model.startswith("shared")]
    if "--quick" in words:
        cases = [c for c in cases if c.runtime.startswith(("ort-", "machine:"))]
    if "--fetched" in words or "--quick" in words:
        cases = [c for c in cases if Target(c).fetched]
    if "--tap" in words:
        print_tap(cases)
    else:
        print_table(cases)


if __name__ == "__main__":
    main(sys.argv[1:])
