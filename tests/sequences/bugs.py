# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets with the bugs of published issues, for the models of nets.py: each rewrites what it is
given as the backend in the issue computes it, and has the debugger's own CPU run that.

    --target python:bugs.py,bug=NAME      ONNXDBG: the program"""
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import helper, numpy_helper

BUGS = {}


def bug(edit):
    """Registers a function that changes an Editor; the bug has its name."""
    BUGS[edit.__name__] = edit
    return edit


class Editor:
    """A graph, and ways to compute something else in it. Nothing happens to what is not in this
    part of the model."""

    def __init__(self, graph):
        self.graph, self.made = graph, 0

    def node(self, name):
        return next((node for node in self.graph.node if node.name == name), None)

    def constant(self, values):
        self.made += 1
        name = 'bug%d' % self.made
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, before, kind, inputs, **attributes):
        """A node in front of another one; returns its value."""
        self.made += 1
        made = helper.make_node(kind, inputs, ['bug%d' % self.made], name='bug%d' % self.made,
                                **attributes)
        self.graph.node.insert(list(self.graph.node).index(before), made)
        return made.output[0]

    def size(self, before, value, axis):
        shape = self.op(before, 'Shape', [value])
        return self.op(before, 'Gather', [shape, self.constant(np.int64(axis))])

    def decodes(self, before, value, axis):
        """Whether there is one piece only."""
        return self.op(before, 'Equal', [self.size(before, value, axis),
                                         self.constant(np.int64(1))])

    def behind(self, name, make, output=0):
        """Puts make(value) in the place of what a node makes."""
        node = self.node(name)
        if node is None:
            return
        value, inner = node.output[output], 'inner of %s' % node.output[output]
        node.output[output] = inner
        at = list(self.graph.node).index(node) + 1
        self.graph.node.insert(at, helper.make_node('Identity', [inner], [value],
                                                    name='end of %s' % name))
        end = self.graph.node[at] # insert() copies
        end.input[0] = make(end, inner)


def no_mask(edit, node, value, always):
    """What masks, as 0: always, or when decoding."""
    nothing = edit.op(node, 'Mul', [value, edit.constant(np.float32(0))])
    if always:
        return nothing
    return edit.op(node, 'Where', [edit.decodes(node, value, -2), nothing, value])


@bug
def positions_count_padding(edit):  # optimum#2326, unsloth#3699
    def make(node, value):
        ones = edit.op(node, 'Add', [edit.op(node, 'Mul', [value, edit.constant(np.int64(0))]),
                                     edit.constant(np.int64(1))])
        count = edit.op(node, 'CumSum', [ones, edit.constant(np.int64(1))])
        return edit.op(node, 'Sub', [count, edit.constant(np.int64(1))])

    edit.behind('/counted', make)


@bug
def padding_masked_at_first_only(edit):  # OpenNMT-py#2532
    def make(node, value):
        return edit.op(node, 'Where', [edit.decodes(node, value, -2),
                                       edit.node('/masked').input[0], value])

    edit.behind('/masked', make)


@bug
def padding_never_masked(edit):  # mlx-lm#1906
    edit.behind('/padding', lambda node, value: no_mask(edit, node, value, True))


@bug
def mask_of_another_row(edit):  # onnxruntime-genai#1639
    edit.behind('/padding', lambda node, value: edit.op(
        node, 'Gather', [value, edit.constant(np.int64([0, 0, 1]))], axis=0))


def other_positions(edit, index):
    """The table of positions is read at index(node, positions)."""
    gather = edit.node('/positions')
    if gather is None:
        return
    table, positions = gather.input
    edit.behind('/positions', lambda node, value: edit.op(
        node, 'Gather', [table, index(node, positions)]))


@bug
def chunks_begin_at_zero(edit):  # transformers#43082
    def index(node, positions):
        least = edit.op(node, 'ReduceMin', [positions], keepdims=1)
        begun = edit.op(node, 'Sub', [positions, least])
        return edit.op(node, 'Where', [edit.decodes(node, positions, -1), positions, begun])

    other_positions(edit, index)


@bug
def short_table_kept_when_decoding(edit):  # onnxruntime-genai#1161
    def index(node, positions):
        later = edit.op(node, 'Greater', [positions, edit.constant(np.int64(7))])
        short = edit.op(node, 'Mod', [positions, edit.constant(np.int64(8))])
        kept = edit.op(node, 'And', [later, edit.decodes(node, positions, -1)])
        return edit.op(node, 'Where', [kept, short, positions])

    other_positions(edit, index)


@bug
def past_reads_as_zero(edit):  # onnxruntime-genai#1604
    for node in list(edit.graph.node):
        if node.op_type == 'Concat' and node.name.endswith('/concat'):
            node.input[0] = edit.op(node, 'Mul', [node.input[0], edit.constant(np.float32(0))])


@bug
def rows_for_heads(edit):  # TensorRT-LLM#6507
    edit.behind('/layer1/k/heads', lambda node, value: edit.op(node, 'Reshape', [
        edit.node('/layer1/k/heads').input[0], edit.constant(np.int64([0, 2, -1, 8]))]))


@bug
def heads_tiled(edit):  # onnx#7274
    edit.behind('/keys', lambda node, value: edit.op(
        node, 'Transpose', [value], perm=[0, 2, 1, 3, 4]))


@bug
def cache_rounded(edit):  # Model-Optimizer#20
    for part in ('key', 'value'):
        edit.behind('/layer0/%s/concat' % part, lambda node, value: edit.op(
            node, 'Mul', [edit.op(node, 'Round', [edit.op(node, 'Mul', [
                value, edit.constant(np.float32(2))])]), edit.constant(np.float32(0.5))]))


@bug
def window_one_more(edit):  # transformers#39408
    edit.behind('/near', lambda node, value: edit.op(
        node, 'Add', [value, edit.constant(np.int64(1))]))


@bug
def window_not_when_decoding(edit):  # mistral.rs#2094
    edit.behind('/window', lambda node, value: no_mask(edit, node, value, False))


@bug
def window_not_in_long_prefill(edit):  # nntrainer#3989
    def make(node, value):
        large = edit.op(node, 'Greater', [edit.size(node, value, -2), edit.constant(np.int64(4))])
        nothing = edit.op(node, 'Mul', [value, edit.constant(np.float32(0))])
        return edit.op(node, 'Where', [large, nothing, value])

    edit.behind('/window', make)


@bug
def window_other_when_decoding(edit):  # mistral-inference#60
    def make(node, value):
        wider = edit.op(node, 'Add', [edit.rows, edit.constant(np.int64(-1))])
        return edit.op(node, 'Where', [edit.decodes(node, edit.rows, -2), wider, value])

    node = edit.node('/rows')
    if node is not None:
        edit.rows = 'inner of %s' % node.output[0]
    edit.behind('/rows', make)


@bug
def prefix_masked_in_chunks(edit):  # candle#3743
    def make(node, value):
        total, new = edit.size(node, value, -1), edit.size(node, value, -2)
        columns = edit.op(node, 'Range', [edit.constant(np.int64(0)), total,
                                          edit.constant(np.int64(1))])
        prefix = edit.op(node, 'Less', [columns, edit.op(node, 'Sub', [total, new])])
        chunk = edit.op(node, 'Greater', [new, edit.constant(np.int64(1))])
        return edit.op(node, 'Where', [edit.op(node, 'And', [prefix, chunk]),
                                       edit.constant(np.float32(-10000)), value])

    edit.behind('/layer1/scores', make)


@bug
def capacity_as_length(edit):  # hip-ep#989
    edit.behind('/mask', lambda node, value: no_mask(edit, node, value, True))


@bug
def slot_never_written(edit):  # tt-metal#54413
    def make(node, value):
        five = edit.op(node, 'Equal', [edit.size(node, value, -1), edit.constant(np.int64(5))])
        less = edit.op(node, 'Mul', [value, edit.op(node, 'Slice', [
            edit.constant(np.float32([1] * 4 + [0] + [1] * 60)), edit.constant(np.int64([0])),
            edit.op(node, 'Unsqueeze', [edit.size(node, value, -1),
                                        edit.constant(np.int64([0]))])])])
        return edit.op(node, 'Where', [five, less, value])

    edit.behind('/place', make)


@bug
def key_of_a_tile_skipped(edit):  # onnxruntime#28520
    def make(node, value):
        columns = edit.op(node, 'Range', [edit.constant(np.int64(0)), edit.size(node, value, -1),
                                          edit.constant(np.int64(1))])
        skipped = edit.op(node, 'Equal', [columns, edit.constant(np.int64(16))])
        return edit.op(node, 'Where', [skipped, edit.constant(np.float32(-10000)), value])

    edit.behind('/layer1/scores', make)


@bug
def state_biased(edit):  # a comment in onnxruntime-genai's recurrent_state.cpp
    edit.behind('/gru', lambda node, value: edit.op(
        node, 'Add', [value, edit.constant(np.float32(1e-4))]), output=1)


@bug
def nan_of_what_is_large(edit):
    edit.behind('/sub', lambda node, value: edit.op(
        node, 'Where', [edit.op(node, 'And', [edit.op(node, 'Greater', [
            value, edit.constant(np.float32(0.05))]),
            edit.constant(np.array([True, False, False, False]))]),
            edit.constant(np.float32(np.nan)), value]))


@bug
def state_rounded(edit):  # icefall#2003
    edit.behind('/gru', lambda node, value: edit.op(
        node, 'Div', [edit.op(node, 'Round', [edit.op(node, 'Mul', [
            value, edit.constant(np.float32(127))])]), edit.constant(np.float32(127))]), output=1)


class Target:
    def init(self, bug):
        self.edit, self.program = BUGS[bug], os.environ['ONNXDBG']

    def load_model(self, path):
        model = onnx.load(path)
        self.edit(Editor(model.graph))
        self.outputs = [output.name for output in model.graph.output]
        for number, output in enumerate(model.graph.output):
            model.graph.node.append(helper.make_node('Identity', [output.name],
                                                     ['given%d' % number]))
            output.name = 'given%d' % number
        self.path = path + '.edited.onnx'
        onnx.save(model, self.path)

    def execute(self, inputs, outputs):
        with tempfile.TemporaryDirectory() as folder:
            command = [self.program, 'run', self.path, '--save', folder + '/out', '--inputs', 'plain']
            for number, (name, array) in enumerate(inputs.items()):
                file = '%s/%d.npy' % (folder, number)
                np.save(file, array)
                command += ['-i', '%s=%s' % (name, file)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr)
            return {name: np.load('%s/out/given%d.npy' % (folder, self.outputs.index(name)))
                    for name in outputs}
