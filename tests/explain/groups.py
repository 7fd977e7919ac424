#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a search says of faults planted inside groups between quantisers, where no value can be read.

groups.py [-n FAULTS] [-v] PROGRAM RUNTIME BROKEN MODEL…

The faults are those of tests/quantised, which ONNX Runtime computes as a kernel of its own. Prints a
line for each that was accused as a group, and sums; the status is 1 where a variant that agrees is
not what was planted.
"""
import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'quantised'))
import spoil  # noqa: E402
import sweep  # noqa: E402

# What says what was planted. Without a row of its own a fault may be said in other numbers, which
# are fitted and hold on other inputs; nothing else is right.
TRUTH = {
    'scale': r'quantised/scale fitted|quantised/scale of #\d+',
    'zero-point': r'input/[xy]_zero_point=(missing|0)|quantised/zero point of',
    'shift': r'input/[xy]_zero_point=[+-]1|quantised/zero point of|output/offset',
    'per-tensor': r'quantised/per channel=mean|quantised/per channel=largest|input/.*x_scale',
    'saturate-weights': None,
    'saturate': r'output/clamped|quantised/range=',
    'truncate': r'number/rounding=floor|number/rounding=truncated',
    'bias': r'input/(B|C)=(missing|0)|input/x_scale=0|input/x=0',
}


# Without dot products of bytes in the processor ONNX Runtime adds two products in 16 bits, where they
# saturate: whatever is planted, that is what such a kernel does as well.
MASKED = None if re.search(r'^flags.*vnni', open('/proc/cpuinfo').read(), re.M) else \
    'quantised/sums=pairs of int16'


def answer(kind, culprit):
    """exact, class, partly, none, masked or wrong; and the variants."""
    told = culprit.get('explanations') or []
    if not told:
        return 'none', ''
    best = told[0]
    names = [best['variant'], *(best.get('members') or [])]
    if MASKED and any(MASKED in name for name in names):
        return 'masked', ', '.join(names)
    text = ', '.join(names[:3])
    if best['fit'] == 'partly':
        return 'partly', text
    right = TRUTH[kind] and any(re.match(TRUTH[kind], n) for n in names)
    return (best['fit'] if right else 'wrong'), text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-n', type=int, default=8)
    parser.add_argument('-v', action='store_true')
    for name in ('program', 'runtime', 'broken'):
        parser.add_argument(name)
    parser.add_argument('models', nargs='+')
    args = parser.parse_args()
    sums = {}
    for path in args.models:
        data = os.path.join(os.path.dirname(path), 'test_data_set_0')
        options = ['--inputs-from', data] if os.path.isdir(data) else sweep.dims(path)
        groups, kinds = sweep.groups_of(path, 'pairs'), list(spoil.KINDS)
        done = 0
        for at in range(8 * args.n):
            kind, value = kinds[at % len(kinds)], groups[(at * 7919) % len(groups)] if groups else ''
            if done >= args.n or not groups or not sweep.changes(path, kind, 'pairs', value):
                continue
            done += 1
            _, report, seconds = sweep.search(args, path, options, f'{kind} pairs {value}')
            for culprit in (report or {}).get('culprits', [])[:1]:
                word, text = answer(kind, culprit)
                word = word if culprit.get('group') else 'alone ' + word
                sums[word] = sums.get(word, 0) + 1
                if args.v or word.endswith('wrong'):
                    print(f'{word}: {kind} at {value}: {text} ({seconds:.1f} s)', flush=True)
    print(', '.join(f'{n} {w}' for w, n in sorted(sums.items())))
    sys.exit(any(w.endswith('wrong') for w in sums))


if __name__ == '__main__':
    main()
