#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the variants that causes.tsv names are in the catalogue: its tables are read as text. Prints
the names that are not, and at the end how many causes are covered."""
import glob
import re
import sys

BOUND = r'["|,=% ]'


def text_of(pattern):
    return "\n".join(open(path, encoding="utf-8").read() for path in sorted(glob.glob(pattern, recursive=True)))


CATALOGUE = text_of("src/explain/catalogue/*.c")
KERNELS = text_of("kernels/**/*.c")
PREFIXES = set(re.findall(r'"((?:attribute|input|number|elsewhere|output)/[^"]*)"', CATALOGUE))


def is_word(word):
    """Whether a part of a name stands in a table."""
    return bool(re.search(r'["|,=]' + re.escape(word) + BOUND, CATALOGUE))


def is_attribute(name, value):
    """Whether the row of the attribute, in a list of values or of ways to misread it, has this one."""
    if value == "default":
        return f'"{name}"' in KERNELS or is_attribute(name, "axes exchanged")
    rows = re.findall(r'"' + re.escape(name) + r'",([^}]*)}', CATALOGUE)
    return any(re.search(r'["|]' + re.escape(value) + r'["|]', row) for row in rows)


def is_rest(family, rest):
    """Whether a row of the family makes a name with this behind its prefix."""
    if not rest or is_word(rest):
        return True
    head, _, tail = rest.partition("=")
    if family == "attribute":
        return is_attribute(head, re.sub(", centred$", "", tail))
    if family == "input":  # the operator's name of an input, and what becomes of it
        rest = tail
    words = [word for word in re.split(r"[=,]", rest) if word and word != "axis" and not word.isdigit()]
    return all(is_word(word) for word in words) and bool(words or tail or not rest)


def exists(name):
    family = name.split("/")[0]
    begun = any(prefix.startswith(name) for prefix in PREFIXES)
    return begun or any(is_rest(family, name[len(prefix):]) for prefix in PREFIXES if name.startswith(prefix))


def main():
    rows = [line.rstrip("\n").split("\t") for line in open("tests/explain/causes.tsv", encoding="utf-8")
            if not line.startswith("#")]
    good = True
    for row in rows:
        if len(row) != 4 or "" in row or row[2] == row[3] == "-":
            print(f"{row[0]}: four columns, and a variant or a reason")
            good = False
            continue
        for name in row[2].split("; ") if row[2] != "-" else []:
            if not exists(name):
                print(f"{row[0]}: no row makes {name}")
                good = False
    whole = sum(row[3] == "-" for row in rows)
    none = sum(row[2] == "-" for row in rows)
    print(f"{len(rows)} causes: {whole} covered, {len(rows) - whole - none} in part, {none} out of reach")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
