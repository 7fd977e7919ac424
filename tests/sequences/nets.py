#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models with a state: decoders that append to their cache, or write it in place, and recurrent
ones. Some contradict themselves.

    nets.py FOLDER      writes FOLDER/NAME.onnx of each, and prints the files
"""
import os
import sys

import numpy as np
from onnx import helper, save

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../realbugs'))
from networks import KINDS, Net  # noqa: E402

WORDS, HEADS, SIZE, LAYERS, ROOM = 50, 2, 8, 2, 16
WIDTH = HEADS * SIZE


def const(net, values):
    return net.constant(np.asarray(values, np.int64))


def heads(net, value, name=None):
    """[B,S,WIDTH] to [B,HEADS,S,SIZE]."""
    value = net.op('Reshape', [value, const(net, [0, 0, HEADS, SIZE])])
    return net.op('Transpose', [value], name=name, perm=[0, 2, 1, 3])


def norm(net, value):
    return net.op('LayerNormalization', [value, np.ones(WIDTH, np.float32),
                                         np.zeros(WIDTH, np.float32)], axis=-1)


def bias(net, rows, columns, ahead, name=None):
    """0 where a key may be seen: no further ahead of the query than that; else -10000."""
    limit = net.op('Add', [rows, const(net, [ahead])]) if ahead else rows
    seen = net.op('LessOrEqual', [columns, limit])
    return net.op('Where', [seen, np.float32([0]), np.float32([-10000])], name=name)


def layer(net, x, number, cache, mask):
    """Attention and a feed-forward part; cache(name, new) gives all keys, or values."""
    flat = norm(net, x)
    q, k, v = (heads(net, net.op('MatMul', [flat, net.draw(WIDTH, WIDTH, scale=WIDTH ** -0.5)],
                                 name='/layer%d/%s' % (number, part)),
                     '/layer%d/%s/heads' % (number, part)) for part in 'qkv')
    k, v = cache('key', number, k), cache('value', number, v)
    scores = net.op('MatMul', [q, net.op('Transpose', [k], perm=[0, 1, 3, 2])],
                    name='/layer%d/scores' % number)
    scores = net.op('Mul', [scores, np.float32([SIZE ** -0.5])])
    shares = net.op('Softmax', [net.op('Add', [scores, mask])], axis=-1,
                    name='/layer%d/shares' % number)
    mixed = net.op('MatMul', [shares, v], name='/layer%d/mixed' % number)
    mixed = net.op('Reshape', [net.op('Transpose', [mixed], perm=[0, 2, 1, 3]),
                               const(net, [0, 0, WIDTH])])
    x = net.op('Add', [x, net.op('MatMul', [mixed, net.draw(WIDTH, WIDTH, scale=0.3)])])
    inner = net.op('Relu', [net.op('MatMul', [norm(net, x), net.draw(WIDTH, 2 * WIDTH, scale=0.3)])])
    return net.op('Add', [x, net.op('MatMul', [inner, net.draw(2 * WIDTH, WIDTH, scale=0.3)],
                                    name='/layer%d/down' % number)])


def embed(net, ids, positions, room):
    words = net.op('Gather', [net.draw(WORDS, WIDTH), ids])
    return net.op('Add', [words, net.op('Gather', [net.draw(room, WIDTH), positions],
                                        name='/positions')])


def head(net, x, equal):
    weight = net.draw(WIDTH, WORDS)
    if equal:  # two tokens that nothing but rounding tells apart, and that win
        weight[:, 7] = weight[:, 3] = 4 * np.abs(weight[:, 3])
    logits = net.op('MatMul', [norm(net, x), weight], name='/head')
    net.nodes[-1].output[0] = 'logits'
    net.output('logits', shape=['batch', 'sequence', WORDS])


def declare(net, value, name, shape):
    net.nodes.append(helper.make_node('Identity', [value], [name], name='/%s' % name))
    net.outputs.append(helper.make_tensor_value_info(name, KINDS['float32'], shape))


def decoder_append(ahead=0, batch='batch', equal=False, room=64):
    net = Net(17)
    ids = net.input('input_ids', [batch, 'sequence'], 'int64')
    positions = net.input('position_ids', [batch, 'sequence'], 'int64')
    shape = [batch, HEADS, 'past', SIZE]

    def cache(part, number, new):
        past = net.input('past_key_values.%d.%s' % (number, part), shape)
        present = 'present.%d.%s' % (number, part)
        net.nodes.append(helper.make_node('Concat', [past, new], [present], axis=2,
                                          name='/layer%d/%s/concat' % (number, part)))
        net.outputs.append(helper.make_tensor_value_info(
            present, KINDS['float32'], [batch, HEADS, 'past + sequence', SIZE]))
        return present

    first = net.op('Gather', [net.op('Shape', ['past_key_values.0.key']), const(net, 2)], axis=0)
    total = net.op('Add', [first, net.op('Gather', [net.op('Shape', [ids]), const(net, 1)], axis=0)])
    columns = net.op('Range', [const(net, 0), total, const(net, 1)])
    rows = net.op('Unsqueeze', [positions, const(net, [1, 3])])
    mask = bias(net, rows, columns, ahead)
    x = embed(net, ids, positions, room)
    for number in range(LAYERS):
        x = layer(net, x, number, cache, mask)
    head(net, x, equal)
    return net


def decoder_padded(hosted=False, rows=3):
    """A batch whose rows are of other lengths: a mask says what is padding, and positions count what
    is not; hosted: the host does. Two heads of keys and values serve four of queries."""
    net, shared = Net(17), 2
    ids = net.input('input_ids', [rows, 'sequence'], 'int64')
    seen = net.input('attention_mask', [rows, 'total'], 'int64')
    count = net.op('CumSum', [seen, const(net, 1)])
    count = net.op('Sub', [count, const(net, 1)], name='/counted')
    count = net.op('Max', [count, const(net, 0)])
    new = net.op('Slice', [net.op('Shape', [ids]), const(net, [1]), const(net, [2])])
    positions = net.op('Slice', [count, net.op('Neg', [new]), const(net, [1 << 30]),
                                 const(net, [1])])
    if hosted:
        positions = net.input('position_ids', [rows, 'sequence'], 'int64')
    x = embed(net, ids, positions, 64)
    q = net.op('Reshape', [net.op('MatMul', [x, net.draw(WIDTH, 2 * WIDTH, scale=0.2)]),
                           const(net, [0, 0, 2 * HEADS, SIZE])])
    q = net.op('Transpose', [q], perm=[0, 2, 1, 3])
    both = []
    for part in ('key', 'value'):
        one = heads(net, net.op('MatMul', [x, net.draw(WIDTH, WIDTH, scale=0.3)]))
        past = net.input('past_key_values.0.' + part, [rows, shared, 'past', SIZE])
        one = net.op('Concat', [past, one], axis=2, name='/%s/concat' % part)
        declare(net, one, 'present.0.' + part, [rows, shared, 'total', SIZE])
        one = net.op('Unsqueeze', [one, const(net, [2])])
        one = net.op('Expand', [one, const(net, [1, 1, 2, 1, 1])], name='/%ss' % part)
        both.append(net.op('Reshape', [one, const(net, [0, 2 * HEADS, -1, SIZE])]))
    scores = net.op('MatMul', [q, net.op('Transpose', [both[0]], perm=[0, 1, 3, 2])], name='/scores')
    total = net.op('Slice', [net.op('Shape', [seen]), const(net, [1]), const(net, [2])])
    columns = net.op('Range', [const(net, 0), net.op('Squeeze', [total]), const(net, 1)])
    first = net.op('Sub', [total, new])
    steps = net.op('Range', [net.op('Squeeze', [first]), net.op('Squeeze', [total]), const(net, 1)])
    mask = bias(net, net.op('Unsqueeze', [steps, const(net, [0, 1, 3])]), columns, 0)
    wanted = net.op('Unsqueeze', [net.op('Cast', [seen], to=9), const(net, [1, 2])])
    padding = net.op('Where', [wanted, np.float32([0]), np.float32([-10000])], name='/padding')
    scores = net.op('Add', [net.op('Add', [scores, mask]), padding], name='/masked')
    mixed = net.op('MatMul', [net.op('Softmax', [scores], axis=-1), both[1]], name='/mixed')
    mixed = net.op('Reshape', [net.op('Transpose', [mixed], perm=[0, 2, 1, 3]),
                               const(net, [0, 0, 2 * WIDTH])])
    head(net, net.op('Add', [x, net.op('MatMul', [mixed, net.draw(2 * WIDTH, WIDTH, scale=0.3)])]),
         False)
    return net


def decoder_put():
    """Keys and values stand in ROOM slots; new ones go where position_ids says."""
    net = Net(17)
    ids = net.input('input_ids', [1, 'sequence'], 'int64')
    positions = net.input('position_ids', [1, 'sequence'], 'int64')
    shape = [1, HEADS, ROOM, SIZE]
    slots = net.constant(np.arange(ROOM, dtype=np.int64))
    here = net.op('Equal', [net.op('Unsqueeze', [positions, const(net, [2])]), slots])
    place = net.op('Cast', [net.op('Transpose', [here], perm=[0, 2, 1])], to=1)  # [1,ROOM,S]
    place = net.op('Unsqueeze', [place, const(net, [1])], name='/place')
    taken = net.op('ReduceMax', [place], axes=[3], keepdims=1)

    def cache(part, number, new):
        past = net.input('%s_cache.%d' % (part, number), shape)
        kept = net.op('Mul', [past, net.op('Sub', [np.float32([1]), taken])])
        now = net.op('Add', [kept, net.op('MatMul', [place, new])])
        declare(net, now, 'updated_%s_cache.%d' % (part, number), shape)
        return now

    mask = bias(net, net.op('Unsqueeze', [positions, const(net, [1, 3])]), slots, 0, '/mask')
    x = embed(net, ids, positions, ROOM)
    for number in range(LAYERS):
        x = layer(net, x, number, cache, mask)
    head(net, x, False)
    return net


def self_attention(net, x, keep=None, names=('past_key_values.0.decoder.%s',
                                             'present.0.decoder.%s')):
    """One layer of attention with a cache; keep: no more than so many rows of it are kept, and none
    further back is seen."""
    shape = [1, HEADS, 'past', SIZE]
    q, k, v = (heads(net, net.op('MatMul', [x, net.draw(WIDTH, WIDTH, scale=WIDTH ** -0.5)],
                                 name='/self/%s' % part)) for part in 'qkv')
    both = []
    for part, new in (('key', k), ('value', v)):
        past = net.input(names[0] % part, shape)
        both.append(net.op('Concat', [past, new], axis=2, name='/self/%s/concat' % part))
        kept = both[-1]
        if keep:
            kept = net.op('Slice', [kept, const(net, [-keep]), const(net, [1 << 30]),
                                    const(net, [2])])
        declare(net, kept, names[1] % part, [1, HEADS, 'kept', SIZE])
    sizes = [net.op('Gather', [net.op('Shape', [value]), const(net, 2)], axis=0)
             for value in (names[0] % 'key', both[0])]
    columns = net.op('Range', [const(net, 0), sizes[1], const(net, 1)])
    rows = net.op('Unsqueeze', [net.op('Range', [*sizes, const(net, 1)]), const(net, [1])],
                  name='/rows')
    mask = bias(net, rows, columns, 0)
    if keep:
        near = net.op('Add', [columns, const(net, [keep])], name='/near')
        mask = net.op('Add', [mask, bias(net, near, rows, -1, '/window')])
    scores = net.op('MatMul', [q, net.op('Transpose', [both[0]], perm=[0, 1, 3, 2])],
                    name='/self/scores')
    return mix(net, x, net.op('Softmax', [net.op('Add', [scores, mask])], axis=-1), both[1])


def mix(net, x, shares, v):
    mixed = net.op('Transpose', [net.op('MatMul', [shares, v])], perm=[0, 2, 1, 3])
    mixed = net.op('Reshape', [mixed, const(net, [0, 0, WIDTH])])
    return net.op('Add', [x, net.op('MatMul', [mixed, net.draw(WIDTH, WIDTH, scale=0.3)])])


def window():
    """A decoder that keeps the last four rows of its cache, and sees no more."""
    net = Net(17)
    ids = net.input('input_ids', [1, 'sequence'], 'int64')
    x = net.op('Gather', [net.draw(WORDS, WIDTH), ids])
    head(net, self_attention(net, x, 4, ('past_key_values.0.%s', 'present.0.%s')), False)
    return net


def branch(outputs, make):
    """The body of an If, of a Net that make fills."""
    net = Net(17, seed=len(outputs[0]), prefix=outputs[0])
    for value, name in zip(make(net), outputs):
        net.nodes.append(helper.make_node('Identity', [value], [name]))
        net.outputs.append(helper.make_tensor_value_info(name, KINDS['float32'], None))
    return net.graph(outputs[0])


def encoder_decoder(merged):
    """A decoder that sees an encoder's states: their keys and values come from outside; or, merged,
    the first step makes them, and all others give empty ones."""
    net = Net(17)
    ids = net.input('input_ids', [1, 'sequence'], 'int64')
    seen = net.input('encoder_hidden_states', [1, 'encoder_sequence', WIDTH])
    x = self_attention(net, net.op('Gather', [net.draw(WORDS, WIDTH), ids]))
    shape = [1, HEADS, 'encoder_sequence_out', SIZE]
    past = [net.input('past_key_values.0.encoder.%s' % part, shape) for part in ('key', 'value')]
    kv = past
    if merged:
        use = net.input('use_cache_branch', [1], 'bool')
        empty = np.zeros((0, HEADS, 1, SIZE), np.float32)
        weights = [net.constant(net.draw(WIDTH, WIDTH, scale=0.3)) for _ in range(2)]

        def first(body):
            made = [heads(body, body.op('MatMul', [seen, weight])) for weight in weights]
            return made + made

        def later(body):
            return past + [body.constant(empty), body.constant(empty)]

        kv = net.op('If', [use], 4, name='/cross/if',
                    then_branch=branch(['then%d' % k for k in range(4)], later),
                    else_branch=branch(['first%d' % k for k in range(4)], first))
        for part, value in zip(('key', 'value'), kv[2:]):
            declare(net, value, 'present.0.encoder.%s' % part, ['some', HEADS, 'any', SIZE])
    else:
        x = net.op('Add', [x, net.op('ReduceMean', [seen], axes=[1], keepdims=1)])
    q = heads(net, net.op('MatMul', [x, net.draw(WIDTH, WIDTH, scale=WIDTH ** -0.5)],
                          name='/cross/q'))
    scores = net.op('MatMul', [q, net.op('Transpose', [kv[0]], perm=[0, 1, 3, 2])],
                    name='/cross/scores')
    head(net, mix(net, x, net.op('Softmax', [scores], axis=-1), kv[1]), False)
    return net


def zipformer():
    """A part of a streaming encoder: caches that slide, one of a convolution, and a counter."""
    net, left, frames = Net(17), 8, 5
    x = net.input('x', ['N', frames, WIDTH])
    shown = net.op('Transpose', [x], perm=[1, 0, 2])

    def slide(name, new, shape, axis, size):
        cache = net.input(name, shape)
        both = net.op('Concat', [cache, new], axis=axis, name='/%s/join' % name)
        ends = const(net, [-size]), const(net, [1 << 30]), const(net, [axis])
        declare(net, net.op('Slice', [both, *ends]), 'new_' + name,
                ['Slicenew_%s_dim_%d' % (name, k) for k in range(len(shape))])
        return both

    k = slide('cached_key_0', net.op('MatMul', [shown, net.draw(WIDTH, SIZE, scale=0.3)]),
              [left, 'N', SIZE], 0, left)
    v = slide('cached_val1_0', net.op('MatMul', [shown, net.draw(WIDTH, SIZE, scale=0.3)]),
              [left, 'N', SIZE], 0, left)
    wide = slide('cached_conv1_0', net.op('Transpose', [x], perm=[0, 2, 1]), ['N', WIDTH, 2], 2, 2)
    lens = net.input('processed_lens', ['N'], 'int64')
    net.nodes.append(helper.make_node('Add', [lens, const(net, [frames])], ['new_processed_lens'],
                                      name='/count'))
    net.outputs.append(helper.make_tensor_value_info('new_processed_lens', KINDS['int64'], ['N']))
    q = net.op('MatMul', [shown, net.draw(WIDTH, SIZE, scale=0.3)])
    scores = net.op('MatMul', [net.op('Transpose', [q], perm=[1, 0, 2]),
                               net.op('Transpose', [k], perm=[1, 2, 0])], name='/scores')
    absent = net.op('Sub', [const(net, [left - 1]),
                            net.constant(np.arange(left + frames, dtype=np.int64))])
    some = net.op('LessOrEqual', [net.op('Unsqueeze', [lens, const(net, [1, 2])]), absent])
    scores = net.op('Where', [some, np.float32([-10000]), scores])
    mixed = net.op('MatMul', [net.op('Softmax', [scores], axis=-1),
                              net.op('Transpose', [v], perm=[1, 0, 2])])
    conv = net.op('Conv', [wide, net.draw(SIZE, WIDTH, 3, scale=0.2)], kernel_shape=[3],
                  name='/conv')
    out = net.op('Add', [mixed, net.op('Transpose', [conv], perm=[0, 2, 1])])
    declare(net, out, 'encoder_out', ['N', frames, SIZE])
    return net


def recurrent(keep):
    """A GRU over frames that remembers by so much: its update gate is near 1 for large ones."""
    net, width = Net(17), 12
    x = net.input('frame', [1, 1, 6])
    h = net.input('h', [1, 1, width])
    w, r = net.draw(1, 3 * width, 6, scale=0.3), net.draw(1, 3 * width, width, scale=0.2)
    b = np.zeros((1, 6 * width), np.float32)
    b[:, :width] = keep
    y, hn = net.op('GRU', [x, w, r, b, '', h], 2, name='/gru', hidden_size=width)
    declare(net, hn, 'hn', [1, 1, width])
    flat = net.op('Reshape', [y, const(net, [1, width])])
    out = net.op('MatMul', [flat, net.draw(width, 3, scale=0.4)], name='/out')
    declare(net, out, 'score', [1, 3])
    return net


def begins():
    """A GRU whose state has its first value in the file, as an input with an initializer."""
    net, width = Net(17), 12
    x = net.input('frame', [1, 1, 6])
    h = net.input('gru_h_in', [1, 1, width])
    net.constant(net.draw(1, 1, width, scale=0.5), h)
    w, r = net.draw(1, 3 * width, 6, scale=0.3), net.draw(1, 3 * width, width, scale=0.2)
    y, hn = net.op('GRU', [x, w, r, '', '', h], 2, name='/gru', hidden_size=width)
    declare(net, hn, 'gru_h_out', [1, 1, width])
    flat = net.op('Reshape', [y, const(net, [1, width])])
    declare(net, net.op('MatMul', [flat, net.draw(width, 3, scale=0.4)], name='/out'), 'score',
            [1, 3])
    return net


def stream():
    """A convolution over time that has the end of the last frame before it."""
    net = Net(17)
    x = net.input('x', [1, 4, 10])
    cache = net.input('conv_cache', [1, 4, 2])
    both = net.op('Concat', [cache, x], axis=2, name='/join')
    y = net.op('Conv', [both, net.draw(5, 4, 3, scale=0.4)], kernel_shape=[3], name='/conv')
    declare(net, net.op('Relu', [y]), 'y', [1, 5, 10])
    declare(net, net.op('Slice', [both, const(net, [-2]), const(net, [1 << 30]), const(net, [2])]),
            'conv_cache_out', [1, 4, 2])
    return net


def sums():
    """What is large is added up over all that came: in float16 it has an end."""
    net = Net(17)
    x = net.input('x', [1, 'n', 4])
    past = net.input('past', [1, 'past', 4])
    large = net.op('Add', [net.op('Mul', [x, np.float32([100])]), np.float32([6000])])
    both = net.op('Concat', [past, large], axis=1, name='/join')
    declare(net, both, 'present', [1, 'total', 4])
    total = net.op('ReduceSum', [both, const(net, [1])], keepdims=0, name='/sum')
    declare(net, net.op('Mul', [total, np.float32([1e-4])]), 'y', [1, 4])
    return net


def wide():
    """A state and an output of 256 KiB each, which memory need not have room for in all steps."""
    net = Net(17)
    x = net.input('x', [1, 1])
    had = net.input('h', [1, 65536])
    new = net.op('Tanh', [net.op('Add', [had, x])], name='/blend')
    declare(net, new, 'hn', [1, 65536])
    declare(net, net.op('Mul', [new, x]), 'y', [1, 65536])
    return net


def vanishes():
    """What is next to nothing in the first step, and nothing but rounding, and large from then on."""
    net = Net(17)
    x = net.input('x', [1, 4])
    h = net.input('h', [1, 4])
    sums = [net.op('Add', [h, x]), net.op('Add', [x, np.float32([1e-9])])]
    declare(net, net.op('Sub', sums, name='/sub'), 'y', [1, 4])
    declare(net, net.op('Add', [h, np.float32([0.1])], name='/step'), 'hn', [1, 4])
    return net


def predictor():
    """A transducer's predictor and joiner: token 0 is blank, and the state goes on with others."""
    net, width = Net(17), 12
    token = net.input('token', [1], 'int64')
    h = net.input('h', [1, 1, width])
    sound = net.input('sound', [1, 6])
    x = net.op('Unsqueeze', [net.op('Gather', [net.draw(5, 6), token]), const(net, [0])])
    w, r = net.draw(1, 3 * width, 6, scale=0.6), net.draw(1, 3 * width, width, scale=0.4)
    y, hn = net.op('GRU', [x, w, r, '', '', h], 2, name='/gru', hidden_size=width)
    declare(net, hn, 'hn', [1, 1, width])
    flat = net.op('Concat', [net.op('Reshape', [y, const(net, [1, width])]),
                             net.op('Mul', [sound, np.float32([4])])], axis=1)
    made = net.op('MatMul', [flat, net.draw(width + 6, 5)], name='/joiner')
    declare(net, net.op('Add', [made, np.float32([2, 0, 0, 0, 0])]), 'logits', [1, 5])
    return net


def rereads():
    """A state that is read again after its successor was made: right unless that is in place."""
    net = Net(17)
    x = net.input('x', [1, 4])
    cache = net.input('cache', [1, 4])
    declare(net, net.op('Add', [cache, x], name='/update'), 'updated_cache', [1, 4])
    declare(net, net.op('Mul', [cache, 'updated_cache'], name='/read'), 'y', [1, 4])
    return net


NETS = {
    'append': decoder_append,
    'batch': lambda: decoder_append(batch=3),
    'leaks': lambda: decoder_append(ahead=1),
    'tie': lambda: decoder_append(equal=True),
    'padded': decoder_padded,
    'hosted': lambda: decoder_padded(True),
    'alone': lambda: decoder_padded(True, 1),
    'put': decoder_put,
    'window': window,
    'merged': lambda: encoder_decoder(True),
    'seq2seq': lambda: encoder_decoder(False),
    'zipformer': zipformer,
    'remembers': lambda: recurrent(5.0),
    'forgets': lambda: recurrent(-2.0),
    'begins': begins,
    'stream': stream,
    'rereads': rereads,
    'sums': sums,
    'wide': wide,
    'vanishes': vanishes,
    'predictor': predictor,
}

if __name__ == '__main__':
    for name, make in NETS.items():
        path = os.path.join(sys.argv[1], name + '.onnx')
        save(make().model(name), path)
        print(path)
