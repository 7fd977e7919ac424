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


def heads(net, value):
    """[B,S,WIDTH] to [B,HEADS,S,SIZE]."""
    value = net.op('Reshape', [value, const(net, [0, 0, HEADS, SIZE])])
    return net.op('Transpose', [value], perm=[0, 2, 1, 3])


def norm(net, value):
    return net.op('LayerNormalization', [value, np.ones(WIDTH, np.float32),
                                         np.zeros(WIDTH, np.float32)], axis=-1)


def bias(net, rows, columns, ahead):
    """0 where a key may be seen: no further ahead of the query than that; else -10000."""
    limit = net.op('Add', [rows, const(net, [ahead])]) if ahead else rows
    seen = net.op('LessOrEqual', [columns, limit])
    return net.op('Where', [seen, np.float32([0]), np.float32([-10000])])


def layer(net, x, number, cache, mask):
    """Attention and a feed-forward part; cache(name, new) gives all keys, or values."""
    flat = norm(net, x)
    q, k, v = (heads(net, net.op('MatMul', [flat, net.draw(WIDTH, WIDTH, scale=WIDTH ** -0.5)],
                                 name='/layer%d/%s' % (number, part))) for part in 'qkv')
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


def decoder_put():
    """Keys and values stand in ROOM slots; new ones go where position_ids says."""
    net = Net(17)
    ids = net.input('input_ids', [1, 'sequence'], 'int64')
    positions = net.input('position_ids', [1, 'sequence'], 'int64')
    shape = [1, HEADS, ROOM, SIZE]
    slots = net.constant(np.arange(ROOM, dtype=np.int64))
    here = net.op('Equal', [net.op('Unsqueeze', [positions, const(net, [2])]), slots])
    place = net.op('Cast', [net.op('Transpose', [here], perm=[0, 2, 1])], to=1)  # [1,ROOM,S]
    place = net.op('Unsqueeze', [place, const(net, [1])])
    taken = net.op('ReduceMax', [place], axes=[3], keepdims=1)

    def cache(part, number, new):
        past = net.input('%s_cache.%d' % (part, number), shape)
        kept = net.op('Mul', [past, net.op('Sub', [np.float32([1]), taken])])
        now = net.op('Add', [kept, net.op('MatMul', [place, new])])
        declare(net, now, 'updated_%s_cache.%d' % (part, number), shape)
        return now

    mask = bias(net, net.op('Unsqueeze', [positions, const(net, [1, 3])]), slots, 0)
    x = embed(net, ids, positions, ROOM)
    for number in range(LAYERS):
        x = layer(net, x, number, cache, mask)
    head(net, x, False)
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


NETS = {
    'append': decoder_append,
    'batch': lambda: decoder_append(batch=3),
    'leaks': lambda: decoder_append(ahead=1),
    'tie': lambda: decoder_append(equal=True),
    'put': decoder_put,
    'remembers': lambda: recurrent(5.0),
    'forgets': lambda: recurrent(-2.0),
    'begins': begins,
    'stream': stream,
}

if __name__ == '__main__':
    for name, make in NETS.items():
        path = os.path.join(sys.argv[1], name + '.onnx')
        save(make().model(name), path)
        print(path)
