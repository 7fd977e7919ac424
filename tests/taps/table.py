#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What searches come to on targets that give few outputs: a row a search, then a table.

    tests/taps/table.py [--each N] [--seed N] [--limit S] [--compile S] [--run S] [--held HOW]
        [--clean] [--out FILE] MODEL.onnx...
    tests/taps/table.py --table FILE...

For every model, N nodes drawn at random are spoiled in a way drawn at random, as often as it takes
for the fault to show. Each fault is searched for with any number of outputs, 16, 4 and the model's
own, on targets that take any part of the model, its prefixes, and no part. A search is

    named    the planted node, and no other
    region   one that holds it, and no other
    none     no verdict
    extra    the planted node, and another that holds no fault
    wrong    another node only
    pass     no divergence, though an output is wrong

With --held values are not those of the model: blocked, quantised to 30 bits, to int8, or both, as a
program holds them that says so in groups.json (tests/groups/compiler.py, which needs NumPy).

With --clean nothing is spoiled: whoever is accused is wrong.

The clock is simulated: --compile seconds for each distinct model, --run for each run.
"""
import argparse
import collections
import json
import os
import random
import statistics
import subprocess
import sys

KINDS = ["scale,amount=0.05", "scale,amount=-0.5", "offset,amount=0.1", "noise,amount=0.1", "swap",
         "saturate,amount=0.5", "zero-channel", "nan"]
CAPS = {"any": "", "16": ",max_outputs=16", "4": ",max_outputs=4", "final": ",taps=final"}
CUTS = {"cut": "", "prefix": ",cut=prefix", "whole": ",cut=no"}
OUTCOMES = ["named", "region", "none", "extra", "wrong", "pass", "failed"]


def program():
    return os.environ.get("ONNXDBG", "./onnxdbg")


def name_of(model):
    folder, name = os.path.split(os.path.abspath(model))
    return os.path.basename(folder) if name == "model.onnx" else os.path.splitext(name)[0]


def nodes_of(model):
    lines = subprocess.run([program(), "nodes", model], capture_output=True, text=True).stdout
    return [int(l.split()[0][1:]) for l in lines.splitlines() if l.strip().startswith("#")]


def around(args):
    """What runs the model, as a spec."""
    if args.held == "plain":
        return "cpu"
    stand_in = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../groups/compiler.py")
    python = os.environ.get("ONNXDBG_PYTHON", "python3")
    return f"server:{python} {stand_in} {args.held} {os.path.abspath(program())} cpu"


def search(model, target, args):
    words = ["timeout", str(args.limit), program(), "bisect", model, "--target", target, "--json",
             "-"]
    folder = os.path.join(os.path.dirname(model), "test_data_set_0")
    if os.path.isdir(folder):
        words += ["--inputs-from", folder]
    try:
        return json.loads(subprocess.run(words, capture_output=True, text=True).stdout)
    except ValueError:
        return None


def outcome(found, node):
    if not found:
        return "failed"
    culprits = found["culprits"]
    if found["verdict"] in ("none", "pass") and not culprits:
        return found["verdict"]
    if node is None:  # the whole model is off: so it is, and nothing is said of a node
        last = found["model"]["nodes"] - 1
        return "region" if all(c["segment"] == [0, last] for c in culprits) else "wrong"
    hold = [c["segment"][0] <= node <= c["segment"][1] for c in culprits]
    if not any(hold):
        return "wrong"
    if not all(hold):
        return "extra"
    alone = all(c["index"] == node and c["segment"] == [node, node] for c in culprits)
    return "named" if alone else "region"


def row_of(model, planted, node, taps, cut, found, args):
    row = {"model": name_of(model), "held": args.held, "fault": planted, "taps": taps, "cut": cut,
           "came": outcome(found, node)}
    if found:
        row.update(models=found["target_models"], loads=found["target_loads"],
                   runs=found["target_runs"], nodes=len(nodes_of(model)),
                   forecast=(found["forecast"] or {}).get("loads"),
                   size=max((c["segment"][1] - c["segment"][0] + 1 for c in found["culprits"]),
                            default=0),
                   hours=(found["target_models"] * args.compile + found["target_runs"] * args.run)
                   / 3600)
    return row


def plant(model, args):
    rng = random.Random(f"{args.seed} {name_of(model)}")
    nodes = nodes_of(model)
    done = tries = 0
    while nodes and done < args.each and tries < 8 * args.each:
        tries += 1
        node = rng.choice(nodes)
        kind, _, rest = rng.choice(KINDS).partition(",")
        planted = f"fault:{kind},node=#{node}{',' + rest if rest else ''}"
        free = search(model, f"{planted}@{around(args)}", args)
        if not free or not free["outputs_diverge"]:
            continue
        done += 1
        for cut, no in CUTS.items():
            for taps, few in CAPS.items():
                target = f"{planted}{few}{no}@{around(args)}"
                found = free if not few + no else search(model, target, args)
                yield row_of(model, planted, node, taps, cut, found, args)


def clean(model, args):
    for cut, no in CUTS.items():
        for taps, few in CAPS.items():
            target = f"fault:scale,amount=0,node=#{nodes_of(model)[0]}{few}{no}@{around(args)}"
            found = search(model, target, args)
            yield row_of(model, "none", None, taps, cut, found, args)


def table(rows):
    print(f"{'held':10}{'taps':6}{'cut':7}{'n':>5}", *(f"{o:>7}" for o in OUTCOMES),
          "  models median  max   hours median", "  forecast within 1.5", sep="")
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row.get("held", "plain"), row["cut"], row["taps"]].append(row)
    for (held, cut, taps), group in groups.items():
        count = collections.Counter(r["came"] for r in group)
        models = [r["models"] for r in group if "models" in r] or [0]
        hours = [r["hours"] for r in group if "hours" in r] or [0]
        said = [r["forecast"] / r["loads"] for r in group if r.get("forecast")]
        near = sum(1 / 1.5 <= s <= 1.5 for s in said)
        print(f"{held:10}{taps:6}{cut:7}{len(group):5}", *(f"{count[o]:7}" for o in OUTCOMES),
              f"{statistics.median(models):15g}{max(models):5}{statistics.median(hours):15.2f}",
              f"{near:11} of {len(said)}", sep="")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one search")
    parser.add_argument("--compile", type=float, default=600, help="seconds, simulated")
    parser.add_argument("--run", type=float, default=0.1, help="seconds, simulated")
    parser.add_argument("--held", default="plain",
                        choices=["plain", "blocked", "quantised", "int8", "both", "both8"])
    parser.add_argument("--clean", action="store_true", help="spoil nothing")
    parser.add_argument("--out")
    parser.add_argument("--table", action="store_true", help="of rows that were kept")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    if args.table:
        table([json.loads(line) for path in args.files for line in open(path, encoding="utf-8")])
        return
    os.environ.setdefault("ONNXDBG_ORT", "/dev/null")  # no third opinion
    rows = []
    out = open(args.out, "a", encoding="utf-8") if args.out else None
    for model in args.files:
        for row in (clean if args.clean else plant)(model, args):
            rows.append(row)
            print(json.dumps(row), file=out or sys.stderr, flush=True)
    table(rows)


if __name__ == "__main__":
    main()
