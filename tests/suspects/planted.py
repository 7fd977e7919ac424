#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often `onnxdbg suspects` finds planted faults: one row a fault, then a table.

    tests/suspects/planted.py [--on SPEC] [--each N] [--samples N] [--budget S] [--seed N]
        [--out FILE] MODEL.onnx...

For every model, N nodes drawn at random are spoiled in a way drawn at random, and honest targets of
lower precision stand beside them. With --out the rows are kept as JSON lines, which
`planted.py --table FILE...` reads to make the numbers of src/suspects/odds.c.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys

KINDS = ["scale,amount=0.01", "scale,amount=-0.5", "offset,amount=0.02", "offset,amount=0.5",
         "noise,amount=0.02", "noise,amount=0.3", "swap", "swap,count=2", "saturate,amount=0.5",
         "saturate,amount=0.9", "zero-channel", "round-bf16", "two"]
HONEST = ["cpu:f16", "cpu:bf16"]


def program():
    return os.environ.get("ONNXDBG", "./onnxdbg")


def name_of(model):
    folder, name = os.path.split(os.path.abspath(model))
    return os.path.basename(folder) if name == "model.onnx" else os.path.splitext(name)[0]


def nodes_of(model):
    text = subprocess.run([program(), "nodes", model, "-j"], capture_output=True).stdout
    try:
        return [n["index"] for n in json.loads(text)["nodes"]]
    except (ValueError, KeyError):
        lines = subprocess.run([program(), "nodes", model], capture_output=True, text=True).stdout
        return [int(l.split()[0][1:]) for l in lines.splitlines() if l.strip().startswith("#")]


def ask(model, target, args):
    words = [program(), "suspects", model, "--target", target, "--samples", str(args.samples),
             "--json", "-"]
    if args.budget:
        words += ["--budget", str(args.budget)]
    done = subprocess.run(words, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def row_of(model, kind, culprits, found):
    list_ = found["suspects"]
    likely = [s["index"] for s in list_[:found["likely"]]]
    five = [s["index"] for s in list_[:max(5, found["likely"])]]
    best = list_[0] if list_ else {}
    return {"model": name_of(model), "kind": kind,
            "file": model, "culprits": culprits, "verdict": found["verdict"],
            "family": best.get("deviation"), "missed": 1 - best.get("explained", 0),
            "next": 1 - found["explained_next"], "rounding": found["rounding"],
            "group": len(likely), "top": bool(likely) and likely[0] in culprits,
            "in_group": any(c in likely for c in culprits),
            "in_five": any(c in five for c in culprits), "explains": found["explains"],
            "single": found["single"], "probability": found["probability"],
            "complete": found["complete"], "seconds": found["seconds"], "nodes":
            found["model"]["nodes"]}


def plant(model, rng, args):
    nodes = nodes_of(model)
    done = tries = 0
    while done < args.each and tries < 6 * args.each and nodes:
        tries += 1
        kind, node, other = rng.choice(KINDS), rng.choice(nodes), rng.choice(nodes)
        if kind == "two":
            culprits = [node, other]
            target = f"fault:scale,node=#{node},amount=0.1@fault:scale,node=#{other},amount=0.1@" \
                + args.on
        else:
            word, _, rest = kind.partition(",")
            culprits = [node]
            target = f"fault:{word},node=#{node}{',' + rest if rest else ''}@{args.on}"
        found = ask(model, target, args)
        if found and found["outputs_diverge"]:
            done += 1
            yield row_of(model, kind, culprits, found)
    for target in HONEST if args.honest else []:
        found = ask(model, target, args)
        if found and found["outputs_diverge"]:
            yield row_of(model, target, [], found)


def wrong(row):
    return (row["probability"] or 0) >= 0.9 and not row["in_group"]


def put(name, rows):
    real = [r for r in rows if r["culprits"]]
    n = len(real)
    print(f"{name:34} {n:4} {sum(r['top'] for r in real):4} {sum(r['in_group'] for r in real):6} "
          f"{sum(r['in_five'] for r in real):5} {sum(r['single'] and r['in_group'] for r in real):7}"
          f" {sum(r['explains'] for r in real):9} {sum(map(wrong, rows)):6} "
          f"{max((r['seconds'] for r in rows), default=0):8.1f}")


def features(row):
    missed = max(row["missed"], min(max(16 * row["rounding"], 1e-6), 0.1))
    return missed, max(row["next"], 0) / missed


def odds(rows):
    """Rows of odds.c: most missed, least that the next misses over that, planted, held. The program
    says nothing where more than a fifth is missed."""
    print("\nrows of src/suspects/odds.c, and how many nodes stand in a group")
    bounds = (1e-5, 1e-3, 1e-2, 0.05, 0.2, 0.5, 1e9)
    ratios = (100, 10, 3, 0)
    for low, high in zip((-1,) + bounds, bounds):
        for least, most in zip(ratios, (math.inf,) + ratios):
            cell = [r for r in rows
                    if low < features(r)[0] <= high and least <= features(r)[1] < most]
            if cell:
                print(f"    {{{high:g}, {least:g}, {len(cell)}, {sum(r['in_group'] for r in cell)}}},"
                      f"  {sum(r['group'] for r in cell) / len(cell):.1f}")


def table(rows):
    print(f"{'':34}    n  top  group  five  single  explains  wrong  seconds")
    for key in ("model", "kind"):
        for name in dict.fromkeys(r[key] for r in rows):
            put(name, [r for r in rows if r[key] == name])
        print()
    put("all", rows)
    odds(rows)
    for r in filter(wrong, rows):
        print("WRONG", json.dumps(r))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="*")
    parser.add_argument("--on", default="ort")
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--budget", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--honest", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--table", nargs="+")
    args = parser.parse_args()
    if args.table:
        table([json.loads(l) for f in args.table for l in open(f)])
        return
    rows = []
    for model in args.models:
        rng = random.Random(f"{args.seed} {name_of(model)}")
        for row in plant(model, rng, args):
            rows.append(row)
            if args.out:
                with open(args.out, "a") as f:
                    f.write(json.dumps(row) + "\n")
            print(row["model"], row["kind"], row["culprits"], "missed %.2g next %.2g" %
                  (row["missed"], row["next"]), "group", row["group"], row["in_group"],
                  "%.1f s" % row["seconds"], file=sys.stderr)
    table(rows)


if __name__ == "__main__":
    main()
