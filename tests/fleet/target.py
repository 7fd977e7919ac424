# SPDX-License-Identifier: GPL-3.0-or-later
"""A target with five bugs of a compiler, by operator and attribute, and two operators that it lacks:
it rewrites what it is given and has the debugger's own CPU run that.

    --target python:target.py,bugs=NAMES    ONNXDBG: the program; NAMES: letters of BUGS"""
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

LACKS = {'r': ('ArgMax',), 'g': ('GRU',)}


def ends(node, name, value):
    """Sets an attribute, or takes it away."""
    kept = [a for a in node.attribute if a.name != name]
    del node.attribute[:]
    node.attribute.extend(kept)
    if value is not None:
        node.attribute.append(onnx.helper.make_attribute(name, value))


def attribute(node, name, default):
    for a in node.attribute:
        if a.name == name:
            return onnx.helper.get_attribute_value(a)
    return default


def slope(node):
    """The slope of a LeakyRelu is its default, whatever the model says."""
    if node.op_type == 'LeakyRelu':
        ends(node, 'alpha', None)


def ceiling(node):
    """Clip has no upper bound."""
    if node.op_type == 'Clip' and len(node.input) > 2:
        node.input[2] = ''
    elif node.op_type == 'Clip':
        ends(node, 'max', None)


def axis(node):
    """Softmax goes over the last axis."""
    if node.op_type == 'Softmax' and attribute(node, 'axis', -1) not in (-1,):
        ends(node, 'axis', -1)


def pool(node):
    """MaxPool drops the window that is not full."""
    if node.op_type == 'MaxPool':
        ends(node, 'ceil_mode', None)


BUGS = {'s': slope, 'c': ceiling, 'a': axis, 'p': pool}


def edges(model):
    """Conv is padded with the elements at the edge."""
    for node in list(model.graph.node):
        pads = attribute(node, 'pads', ()) if node.op_type == 'Conv' else ()
        if not any(pads):
            continue
        half, name = len(pads) // 2, node.output[0] + '_padded'
        full = [0, 0, *pads[:half], 0, 0, *pads[half:]]
        model.graph.initializer.append(numpy_helper.from_array(np.int64(full), name + '_by'))
        pad = onnx.helper.make_node('Pad', [node.input[0], name + '_by'], [name], mode='edge')
        model.graph.node.insert(list(model.graph.node).index(node), pad)
        node.input[0] = name
        ends(node, 'pads', None)


class Target:
    def init(self, bugs='scarg'):
        self.bugs, self.program = bugs, os.environ['ONNXDBG']

    def load_model(self, path):
        model = onnx.load(path)
        for node in model.graph.node:
            for letter in self.bugs:
                if node.op_type in LACKS.get(letter, ()):
                    raise RuntimeError('no kernel for %s' % node.op_type)
                BUGS.get(letter, lambda node: None)(node)
        if 'e' in self.bugs:
            edges(model)
        self.outputs = [output.name for output in model.graph.output]
        for number, output in enumerate(model.graph.output):
            model.graph.node.append(onnx.helper.make_node('Identity', [output.name],
                                                          ['given%d' % number]))
            output.name = 'given%d' % number
        self.path = path + '.edited.onnx'
        onnx.save(model, self.path)

    def execute(self, inputs, outputs):
        with tempfile.TemporaryDirectory() as folder:
            command = [self.program, 'run', self.path, '--save', folder + '/out', '--inputs',
                       'plain', '--target', 'cpu']
            for number, (name, array) in enumerate(inputs.items()):
                file = '%s/%d.npy' % (folder, number)
                np.save(file, array)
                command += ['-i', '%s=%s' % (name, file)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            return {name: np.load('%s/out/given%d.npy' % (folder, self.outputs.index(name)))
                    for name in outputs}
