#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often `onnxdbg explain` says what a mutated node really computes.

    tests/explain/plan.py [--each N] [--every N] [--kinds NAME,…] [--bisect N] [--out FILE] MODEL…
    tests/explain/plan.py --table FILE…

Each kind of mutations/ (or --every Nth) is drawn --each times over the models (folders of ONNX's
backend tests), and onnxdbg is asked about the mutated node; --bisect N asks every Nth time by a whole
search. What it
says is judged by what the mutation is, not by the catalogue's own word: truth.tsv names the variants
that say the same of a kind; any other must hold on fresh inputs too. Prints a table by kind, and fails
where an explanation is wrong.
"""
import argparse
import collections
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import mutations  # noqa: E402
import subjects  # noqa: E402

ANSWERS = ("exact", "class", "partly", "none", "wrong", "unseen")
FRESH = (7, 1009)  # seeds of the inputs that an unexpected explanation must hold on


def program():
    return os.environ.get("ONNXDBG", os.path.join(HERE, "../../onnxdbg"))


def truths():
    """Regular expressions for the variants that say what a kind does."""
    found = {}
    with open(os.path.join(HERE, "truth.tsv")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                kind, pattern = line.rstrip("\n").split("\t")[:2]
                found.setdefault(kind, []).append(re.compile(pattern + r"\Z"))
    return found


class Asked:
    """One case as files, with onnxdbg's words about it."""

    def __init__(self, case, folder):
        self.case = case
        self.told = os.path.join(folder, "case.json")
        weight = None
        if case.other_weight is not None:
            weight = os.path.join(folder, "other.npy")
            numpy.save(weight, case.other_weight)
        with open(self.told, "w") as f:
            json.dump({"value": case.node.output[0], "kind": case.kind, "seed": case.seed,
                       "other": case.other, "other_weight": weight}, f)

    def words(self, verb, seed=None, rows=()):
        spec = "python:%s/mutant.py,plan=%s" % (HERE, self.told)
        words = [program(), verb, self.case.subject.path]
        words += ["#%d" % self.case.at] if verb == "explain" else []
        words += ["--target", spec] + (["--json"] if verb == "explain" else ["--json", "-"])
        if rows:
            path = os.path.join(os.path.dirname(self.told), "rows.txt")
            with open(path, "w") as f:
                f.write("\n".join(rows))
            words += ["--variants", path]
        return words + (self.case.subject.input_options() if seed is None
                        else ["--seed", str(seed)] + self.case.subject.shape_options())

    def ask(self, verb, seed=None, rows=()):
        """What it says as JSON, or a text that says why there is none; and the seconds. rows: more
        variants."""
        env = dict(os.environ, ONNXDBG_PYTHON="/usr/bin/python3")
        begin = time.time()
        try:
            done = subprocess.run(self.words(verb, seed, rows), capture_output=True, text=True, env=env,
                                  timeout=600)
        except subprocess.TimeoutExpired:
            return "it took more than 600 s", time.time() - begin
        try:
            return json.loads(done.stdout), time.time() - begin
        except ValueError:
            return done.stderr.strip()[-300:] or "exit status %d" % done.returncode, 0.0


def explanations_of(said, case):
    """Of the mutated node. None: nothing was tried, it is right, or another node is accused."""
    if "explanations" in said:
        return None if said.get("right") else said["explanations"]
    for culprit in said.get("culprits", []):
        if culprit.get("node", {}).get("index", culprit.get("index")) == case.at:
            return culprit.get("explanations")
    return None


def expected(kind, names, known):
    return any(p.match(n) for n in names for p in known.get(kind, []))


def claims_of(found):
    """(variant, text) of all that are said to hold; of members of a class there is no text."""
    held = [e for e in found or [] if e["fit"] != "partly"]
    return [(e["variant"], e["text"]) for e in held] + [
        (name, "") for e in held for name in e.get("members") or []]


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def numbers_of(text):
    return [float(n) for n in NUMBER.findall(text)]


def same_claim(a, b):
    """Whether two claims are one: of fitted ones the numbers agree within a hundredth. What is cut
    off at one end only may be so at the other where inputs reach it."""
    if a[0] != b[0] or not a[0].startswith("output/") or not a[1] or not b[1]:
        return a[0] == b[0]
    one, other = numbers_of(a[1]), numbers_of(b[1])
    if a[0] == "output/clamped":
        return all(numpy.isclose(n, other, rtol=0.01, atol=1e-3).any() for n in one)
    return (NUMBER.sub("#", a[1]) == NUMBER.sub("#", b[1])
            and numpy.allclose(one, other, rtol=0.01, atol=1e-3))


def row_of_claim(claim):
    """The same as a variant with these very numbers; None: it is no clamp. Fresh inputs may show one
    end of a clamp alone, and what is then fitted has no other."""
    low, high = re.search(r"below (\S+)", claim[1]), re.search(r"above (\S+)", claim[1])
    if claim[0] != "output/clamped" or not (low or high):
        return None
    return "output clamped %s %s" % (low.group(1) if low else "-inf", high.group(1) if high else "inf")


def holds(asked, claims):
    """Whether one of these claims is made, or holds, wherever fresh inputs show the fault."""
    rows = {c: row_of_claim(c) for c in claims}
    names = {c: "claim-%d" % i for i, c in enumerate(claims) if rows[c]}
    for seed in FRESH:
        said, _ = asked.ask("explain", seed, ["%s * %s" % (names[c], rows[c]) for c in names])
        found = None if isinstance(said, str) else explanations_of(said, asked.case)
        if found is not None:
            now = claims_of(found)
            held = {name for name, _ in now}
            claims = [c for c in claims if "own/%s" % names.get(c) in held
                      or any(same_claim(c, n) for n in now)]
    return bool(claims)


def judged(asked, found, known):
    """The answer, and whether fresh inputs had to be asked."""
    kind = asked.case.kind
    family = mutations.KINDS[kind].family
    if found is None:
        return "unseen", False
    full = [e for e in found if e["fit"] in ("exact", "class")]
    if not full:
        partly = any(e["fit"] == "partly" for e in found)
        return ("partly" if partly else "none"), False
    if family == "none":
        return "wrong", False
    fit = "exact" if full[0]["fit"] == "exact" else "class"
    claims = claims_of(full[:1])
    if expected(kind, [name for name, _ in claims], known):
        return fit, False
    return (fit if holds(asked, claims) else "wrong"), True


def row_of(case, verb, known):
    with tempfile.TemporaryDirectory(prefix="explain-") as folder:
        asked = Asked(case, folder)
        said, seconds = asked.ask(verb)
        found = said if isinstance(said, str) else explanations_of(said, case)
        answer, fresh = ("unseen", False) if isinstance(said, str) else judged(asked, found, known)
    row = {"kind": case.kind, "model": case.subject.name, "node": case.at,
           "op": case.node.op_type, "verb": verb, "seed": case.seed, "answer": answer,
           "fresh": fresh, "wall": round(seconds, 2)}
    if isinstance(said, str):
        row["error"] = said
    else:
        row["said"] = [[e["fit"], e["variant"], len(e.get("members") or [])] for e in found or []]
        row["seconds"] = said.get("seconds") if verb == "explain" else None
    return row


def table(rows):
    """By kind; "in" is the share of those that were seen that are exact or a class."""
    print("%-9s %-26s" % ("family", "kind") + "".join("%8s" % a for a in ANSWERS) + "   in reach")
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        counts[row["kind"]][row["answer"]] += 1
    for kind in sorted(counts, key=lambda k: (mutations.FAMILIES.index(mutations.KINDS[k].family), k)):
        print("%-9s %-26s" % (mutations.KINDS[kind].family, kind)
              + "".join("%8s" % (counts[kind][a] or ".") for a in ANSWERS)
              + "%9s" % ("-" if mutations.KINDS[kind].family == "none" else share(counts[kind])))
    summary(counts, rows)


def share(count):
    seen = sum(count.values()) - count["unseen"]
    return "-" if not seen else "%.0f %%" % (100 * (count["exact"] + count["class"]) / seen)


def summary(counts, rows):
    reach = {k: c for k, c in counts.items() if mutations.KINDS[k].family not in ("none", "pair")
             and sum(c.values()) > c["unseen"]}
    good = [k for k, c in reach.items()
            if (c["exact"] + c["class"]) * 2 > sum(c.values()) - c["unseen"]]
    total = sum(reach.values(), collections.Counter())
    print("\n%d of %d kinds in reach are exact or a class in most cases; of all cases %s; wrong: %d"
          % (len(good), len(reach), share(total), sum(c["wrong"] for c in counts.values())))
    seconds = [r["seconds"] for r in rows if r.get("seconds") is not None]
    if seconds:
        print("seconds per explanation: median %.2f, worst %.2f"
              % (statistics.median(seconds), max(seconds)))


def subjects_of(paths):
    found = []
    for path in paths:
        try:
            found.append(subjects.Subject(os.path.join(path, "model.onnx")))
        except Exception as error:  # what ONNX Runtime or ONNX's library says of a model
            print("%s: %s" % (path, str(error)[:200]), file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--bisect", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="then stop")
    parser.add_argument("--out")
    parser.add_argument("--table", nargs="+")
    args = parser.parse_args()
    rows = [json.loads(line) for f in args.table or [] for line in open(f)]
    known, found = truths(), subjects_of(args.models)
    kinds = args.kinds.split(",") if args.kinds else list(mutations.KINDS)[::args.every]
    begin, asked = time.time(), 0
    for kind in kinds if found else []:
        for case in subjects.drawn(found, kind, args.each, args.seed):
            if args.seconds and time.time() - begin > args.seconds:
                break
            asked += 1
            verb = "bisect" if args.bisect and asked % args.bisect == 0 else "explain"
            rows.append(row_of(case, verb, known))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(json.dumps(rows[-1]) + "\n")
    table(rows)
    sys.exit(any(r["answer"] == "wrong" for r in rows))


if __name__ == "__main__":
    main()
