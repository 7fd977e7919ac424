#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random formulas of plans, and what NumPy makes of them.

    formulas.py SEED N

prints lines of five fields with tabs between: "let" NAME TYPE DIMS BYTES for each tensor that the
formulas read; then N lines "is" FORMULA TYPE DIMS BYTES, or "fails" FORMULA - - - for one that has
no value. TYPE is NumPy's, DIMS is "2,3" or "-", BYTES is hexadecimal or "-".
"""
import ast
import random
import sys

import numpy as np

MOST = 10000  # elements; formulas of more are left out
COUNTS = {'t': 3, 'n': 2, 'past': 5, 'total': 7}


class TooLarge(BaseException):
    pass


class Value:
    """An array with the arithmetic of formulas: int64, or float64 where one side has floats."""

    def __init__(self, array):
        self.array = np.asarray(array)
        if self.array.size > MOST:
            raise TooLarge

    def whole(self):
        if self.array.size != 1 or self.array.dtype.kind not in 'iu':
            raise ValueError('no whole number')
        return int(self.array.reshape(()))

    __index__ = whole

    def numbers(self, floats=False):
        real = floats or self.array.dtype.kind == 'f'
        return self.array.astype(np.float64 if real else np.int64)

    def __getitem__(self, entries):
        entries = entries if isinstance(entries, tuple) else (entries,)

        def plain(entry):
            if isinstance(entry, slice):
                return slice(*(None if v is None else v.whole()
                               for v in (entry.start, entry.stop, entry.step)))
            return entry if entry is Ellipsis else entry.whole()
        return Value(self.array[tuple(plain(e) for e in entries)])

    def __neg__(self):
        return Value(-self.numbers())


def operation(function):
    def run(a, b):
        floats = 'f' in (a.array.dtype.kind, b.array.dtype.kind)
        a, b = a.numbers(floats), b.numbers(floats)
        if np.prod(np.broadcast_shapes(a.shape, b.shape)) > MOST:
            raise TooLarge
        return Value(function(a, b))
    return run


for name, function in {'add': np.add, 'sub': np.subtract, 'mul': np.multiply,
                       'floordiv': np.floor_divide, 'mod': np.remainder, 'lt': np.less,
                       'le': np.less_equal, 'gt': np.greater, 'ge': np.greater_equal,
                       'eq': np.equal, 'ne': np.not_equal}.items():
    setattr(Value, f'__{name}__', operation(function))


def alike(values):
    if len({v.array.dtype for v in values}) == 1:
        return [v.array for v in values]
    floats = any(v.array.dtype.kind == 'f' for v in values)
    return [v.numbers(floats) for v in values]


def dims(values):
    sizes = [v.whole() for v in values]
    if np.prod(sizes, dtype=float) > MOST:
        raise TooLarge
    return sizes


def concat(*values):
    return Value(np.concatenate(alike(values[:-1]), axis=values[-1].whole()))


def full(number, *sizes):
    if number.array.size != 1:
        raise ValueError('no number')
    return Value(np.full(dims(sizes), number.numbers().reshape(())))


def arange(*limits):
    limits = [v.whole() for v in limits]
    if limits[-1] - (limits[0] if len(limits) == 2 else 0) > MOST:
        raise TooLarge
    return Value(np.arange(*limits, dtype=np.int64))


def along(function, usual):
    """Of a function of NumPy's that takes an axis."""
    def run(x, *rest):
        if not x.array.ndim:  # NumPy takes it for an axis of one place
            raise ValueError('no axis')
        axis = rest[-1].whole() if len(rest) == run.others + 1 else usual
        return Value(function(x, *rest[:run.others], axis=axis))
    run.others = function.__code__.co_argcount - 2
    return run


def where(condition, x, y):
    if condition.array.size == 1:
        return (x if condition.array.reshape(()) else y)()
    return Value(np.where(condition.array, *alike([x(), y()])))


def put(x, place, y, axis):
    axis, place = axis.whole(), place.whole()
    x, y = np.moveaxis(x.array, axis, 0).copy(), np.moveaxis(y.array, axis, 0)
    place += len(x) if place < 0 else 0
    if place < 0 or place + len(y) > len(x) or x.shape[1:] != y.shape[1:]:
        raise ValueError('does not fit')
    x[place:place + len(y)] = y
    return Value(np.moveaxis(x, 0, axis))


def rolled(x, by, axis):
    size, by = x.array.shape[axis], by.whole()
    return np.roll(x.array, by % size if size else 0, axis)


def taken(x, places, axis):
    if places.array.dtype.kind not in 'iu':
        raise ValueError('no places')
    if not np.all(abs(2 * places.array.astype(float) + 1) <= 2 * x.array.shape[axis]):
        raise ValueError('no such place')  # which NumPy lets pass where there is nothing to take
    return np.take(x.array, places.array.astype(np.int64), axis)


FUNCTIONS = {
    'concat': concat,
    'ones': lambda *sizes: Value(np.ones(dims(sizes), np.int64)),
    'zeros': lambda *sizes: Value(np.zeros(dims(sizes), np.int64)),
    'full': full,
    'arange': arange,
    'cumsum': along(lambda x, axis: np.cumsum(x.numbers(), axis), -1),
    'argmax': along(lambda x, axis: np.argmax(x.array, axis).astype(np.int64), -1),
    'where': where,
    'put': put,
    'roll': along(rolled, -1),
    'len': along(lambda x, axis: np.int64(x.array.shape[axis]), 0),
    'gather': along(taken, 0),
}


class Reader(ast.NodeTransformer):
    """Numbers become values; the last two terms of where() are computed when they are asked for."""

    def visit_Constant(self, node):
        if node.value is Ellipsis:
            return node
        return ast.Call(ast.Name('Value', ast.Load()), [node], [])

    def visit_Call(self, node):
        self.generic_visit(node)
        if node.func.id == 'where':
            none = ast.arguments([], [], None, [], [], None, [])
            node.args[1:] = [ast.Lambda(none, term) for term in node.args[1:]]
        return node


def value(text, names):
    tree = ast.fix_missing_locations(Reader().visit(ast.parse(text, mode='eval')))
    return eval(compile(tree, text, 'eval'), {'Value': Value, **FUNCTIONS, **names})


def tensors(draw):
    numbers = np.random.default_rng(draw.randrange(1 << 30))
    return {name: Value(array) for name, array in {
        'ids': numbers.integers(-5, 9, (1, 4)),
        'mask': numbers.integers(0, 2, (2, 5)).astype(np.int32),
        'x': numbers.normal(0, 3, (2, 3, 4)).astype(np.float32),
        'h.1': numbers.normal(0, 3, (2, 1, 3)).astype(np.float16),
        'flags': numbers.integers(0, 2, (2, 3)) > 0,
        'bytes': numbers.integers(0, 200, 3).astype(np.uint8),
        'empty': np.zeros((2, 0, 4), np.float32),
        's': np.int64(3),
        'big': np.array([-2**63, 2**63 - 1, -1, 0, 7]),
        'odd': np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, -2.5, 0.1]),
    }.items()}


class Writer:
    def __init__(self, draw, names):
        self.draw, self.names = draw, list(names)

    def one(self, *makers):
        return self.draw.choice(makers)()

    def number(self):
        return self.one(lambda: str(self.draw.randrange(0, 4)), lambda: str(self.draw.randrange(9)),
                        lambda: '-' + str(self.draw.randrange(1, 4)),
                        lambda: self.draw.choice(['0.1', '2.5', '.5', '1e3', '3.', '-0.25']))

    def axis(self):
        return self.draw.choice(['0', '1', '-1', '-1', '2', '-2', 't', 's'])

    def size(self):
        return self.draw.choice(['1', '2', '3', 'n', 't', '0', '4', 'len(x)', 'past-3'])

    def entry(self, depth):
        def index():
            return self.draw.choice(['', self.draw.choice(['0', '1', '-1', '2', '-2', 'n', 't-1']),
                                     '7', self.term(0)])
        return self.one(lambda: ':', lambda: ':', lambda: self.draw.choice(['0', '-1', '1', 'n-1']),
                        lambda: index() + ':' + index(),
                        lambda: index() + ':' + index() + ':' + self.draw.choice(['-1', '2', '-2']),
                        lambda: self.term(depth))

    def sliced(self, depth):
        entries = [self.entry(depth) for _ in range(self.draw.randrange(1, 4))]
        if self.draw.random() < 0.2:
            entries[self.draw.randrange(len(entries))] = '...'
        return self.term(depth, atom=True) + '[' + self.draw.choice([',', ', ']).join(entries) + ']'

    def call(self, depth):
        of, draw = lambda: self.term(depth), self.draw
        axis = [self.axis()] if draw.random() < 0.7 else []
        name = draw.choice([*FUNCTIONS, 'put', 'put', 'put', 'concat', 'gather'])
        sizes = [self.size() for _ in range(draw.randrange(1, 4))]
        piece, part = of(), draw.choice(['', ':,', ':,:,'])
        terms = {
            'concat': [piece, draw.choice([piece, of(), f'zeros({",".join(sizes)})']),
                       draw.choice(['0', '-1', self.axis()])],
            'ones': sizes, 'zeros': sizes, 'full': [of(), *sizes],
            'arange': [self.size() for _ in range(draw.randrange(1, 3))],
            'cumsum': [of(), *axis], 'argmax': [of(), *axis], 'len': [of(), *axis],
            'where': [draw.choice(['flags', 't>0', 'mask', of()]), of(), of()],
            'put': [piece, draw.choice(['0', '1', '-1', 'n', '-n', self.size()]),
                    draw.choice([f'({piece})[{part}:1]', f'({piece})[{part}:n]', f'-({piece})', of()]),
                    draw.choice([str(part.count(',')), self.axis()])],
            'roll': [of(), self.one(self.number, self.size), *axis],
            'gather': [of(), self.one(of, self.size, lambda: 'ids', lambda: 'ids[0]',
                                      lambda: 'arange(n)'), *axis],
        }[name]
        return f'{name}({",".join(terms)})'

    def operation(self, depth):
        signs = ['+', '-', '*', '//', '%', ' + ', '+', '-']
        text = self.term(depth) + self.draw.choice(signs) + self.term(depth)
        compares = ['<', '<=', '>', '>=', '==', '!=']
        if self.draw.random() < 0.2:
            text += self.draw.choice(compares) + self.term(depth)
        return text

    def term(self, depth, atom=False):
        if depth <= 0 or self.draw.random() < 0.15:
            return self.one(lambda: self.draw.choice(self.names),
                            lambda: self.draw.choice(self.names),
                            lambda: self.draw.choice(list(COUNTS)),
                            lambda: '(2)' if atom else self.number())
        makers = [lambda: self.sliced(depth - 1), lambda: self.call(depth - 1),
                  lambda: '(' + self.operation(depth - 1) + ')']
        if not atom:
            makers += [lambda: '-' + self.term(depth - 1, atom=True),
                       lambda: self.term(0) + self.draw.choice('+-*') + self.term(depth - 1)]
        return self.one(*makers)


def field(array):
    shape = ','.join(map(str, array.shape)) or '-'
    return f'{array.dtype}\t{shape}\t{array.tobytes().hex() or "-"}'


def main():
    draw, most = random.Random(int(sys.argv[1])), int(sys.argv[2])
    names = tensors(draw)
    for name, tensor in names.items():
        print(f'let\t{name}\t{field(tensor.array)}')
    names['h_1'] = names.pop('h.1')  # which Python would not take for a name
    writer = Writer(draw, names)
    names.update((name, Value(np.int64(count))) for name, count in COUNTS.items())
    seen, failed = set(), 0
    while len(seen) < most:
        text = writer.one(lambda: writer.term(3), lambda: writer.operation(2),
                          lambda: writer.call(2), lambda: writer.call(1))
        if text in seen or len(text) > 160:
            continue
        try:
            with np.errstate(all='ignore'):
                line = 'is\t%s\t' + field(value(text, names).array)
        except (ValueError, IndexError):  # np.AxisError is both
            line = 'fails\t%s\t-\t-\t-'
            failed += 1
            if failed * 5 > len(seen):
                failed -= 1
                continue
        except TooLarge:
            continue
        seen.add(text)
        print(line % text.replace('h_1', draw.choice(['h.1', "'h.1'", '"h.1"'])))


main()
