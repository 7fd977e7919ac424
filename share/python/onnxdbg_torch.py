# SPDX-License-Identifier: MIT
"""PyTorch as a target of onnxdbg: the kind `torch`. ONNX nodes run one by one with torch operators.

Where there is a CUDA device it computes there, in the precision asked for: float32 with TF32
switched off, TF32, float16 or bfloat16. On a CPU the narrow precisions are emulated, because its
operators lack most half types: values are kept in the narrow type, each operator computes in
float32 and its results are rounded; for tf32 the operands of products are rounded to 10 bits.
"""
import torch
import numpy as np

from onnxdbg_model import read_model
from onnxdbg_torch_ops import OPERATORS, Call, from_array, torch_type
from onnxdbg_types import TENSOR, Refused, Unsupported, WrongOption, as_bits

HALF = {"f16": torch.float16, "bf16": torch.bfloat16}
WIDE = (torch.float32, torch.float64)
NARROW = (torch.float16, torch.bfloat16)
# Operators that torch has for narrow types on a CPU too: they compute nothing.
MOVES = frozenset((
    "Cast CastLike Identity Dropout Shape Size Reshape Flatten Squeeze Unsqueeze Transpose Concat "
    "Split Slice Gather GatherElements GatherND Expand Tile Where DepthToSpace SpaceToDepth If "
    "Loop").split())


def to_array(value):
    """A tensor as numpy has it."""
    if isinstance(value, list):
        return [to_array(item) for item in value]
    value = value.detach().cpu().contiguous()
    if value.dtype == torch.bfloat16:
        return as_bits(value.view(torch.int16).numpy().view(np.uint16), "bfloat16")
    return value.numpy()


class Torch:
    """One model on one device."""

    def init(self, precision="f32", device="", threads=""):
        """precision is f32, tf32, f16 or bf16; device is torch's name for one."""
        if precision not in ("f32", "tf32", *HALF):
            raise WrongOption("precision=%s is none" % precision,
                              "choose one of f32, tf32, f16, bf16")
        cuda = torch.cuda.is_available()
        try:
            self.device = torch.device(device or ("cuda" if cuda else "cpu"))
        except RuntimeError as error:
            raise WrongOption("device=%s: %s" % (device, str(error).split(":")[0])) from error
        if self.device.type == "cuda" and not cuda:
            raise Refused("this PyTorch sees no CUDA device", "device=cpu is always there")
        if threads:
            torch.set_num_threads(int(threads))
        self.precision = precision
        self.half = HALF.get(precision)
        on = precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = on
        torch.backends.cudnn.allow_tf32 = on
        self.emulated = self.device.type == "cpu"

    def load_model(self, path):
        """Reads the model and puts its weights where they are needed."""
        model = read_model(path)
        for node in model.graph.nodes:
            self.find(node, model)
        self.model = model
        self.constants = dict(model.graph.initializers)
        self.weights = {name: self.put(array) for name, array in self.constants.items()
                        if array.dtype != object}
        self.last = self.last_uses(model.graph)

    def find(self, node, model):
        """The function of a node; Unsupported: there is none."""
        function = OPERATORS.get((node.domain, node.op_type))
        if function is None:
            what = node.op_type if not node.domain else "%s::%s" % (node.domain, node.op_type)
            raise Unsupported("there is no %s here (%s)" % (what, node))
        for value in node.attributes.values():
            if hasattr(value, "nodes"):
                for inner in value.nodes:
                    self.find(inner, model)
        return function

    def last_uses(self, graph):
        """{index of a node: the values that nobody needs after it}."""
        last = {}

        def look(nodes, at):
            for i, node in enumerate(nodes):
                here = i if at is None else at
                last.update((name, here) for name in (*node.inputs, *node.outputs))
                for body in node.attributes.values():
                    if hasattr(body, "nodes"):
                        last.update((name, here) for name in body.outputs)
                        look(body.nodes, here)

        look(graph.nodes, None)
        out = {}
        for name, at in last.items():
            if name not in graph.outputs:
                out.setdefault(at, []).append(name)
        return out

    def put(self, array):
        """An array as a tensor on the device, in the precision."""
        if not isinstance(array, np.ndarray):
            raise Unsupported("only tensors are taken here, no sequences or maps")
        return self.work(from_array(array).to(self.device))

    def work(self, value):
        """Floats in the precision asked for; a tensor or a list of them."""
        if isinstance(value, list):
            return [self.work(item) for item in value]
        return value.to(self.half) if self.half and value.dtype in WIDE else value

    def operand(self, value):
        """An operand of a product, as TF32 reads it where no device does."""
        if self.precision != "tf32" or not self.emulated or value.dtype != torch.float32:
            return value
        bits = value.contiguous().view(torch.int32)
        rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF
        return torch.where(torch.isfinite(value), rounded.view(torch.float32), value)

    def execute(self, inputs, outputs):
        """One run."""
        values = dict(self.weights)
        values.update((name, self.put(array)) for name, array in inputs.items()
                      if array is not None)
        with torch.inference_mode():
            self.run(self.model.graph.nodes, values, self.last)
        return {name: self.declared(name, values) for name in outputs}

    def run(self, nodes, values, last=None):
        """Runs nodes over values; bodies of If and Loop come here too."""
        for i, node in enumerate(nodes):
            results = self.run_node(node, values)
            values.update((name, value) for name, value in zip(node.outputs, results)
                          if name and value is not None)
            for name in (last or {}).get(i, ()):
                values.pop(name, None)

    def run_node(self, node, values):
        """The outputs of one node."""
        function = self.find(node, self.model)
        try:
            call = Call(self, node, [values.get(name) if name else None for name in node.inputs],
                        values)
            narrow = self.widen(call)
            results = function(call)
            results = list(results) if isinstance(results, tuple) else [results]
        except Refused as error:
            raise type(error)("%s: %s" % (node, error), error.remedy) from error
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            kind = Unsupported if "not implemented for" in text else Refused
            raise kind("%s: %s" % (node, text)) from error
        if node.op_type == "Constant":
            self.constants[node.outputs[0]] = to_array(results[0])
        if narrow is not None:
            results = [r.to(narrow) if torch.is_tensor(r) and r.dtype == torch.float32 else r
                       for r in results]
        return [self.work(r) if r is not None else None for r in results]

    def widen(self, call):
        """On a CPU, makes operands of a half type float32; returns the type that they had."""
        narrow = None
        if call.node.op_type in MOVES:
            return None
        for i, value in enumerate(call.inputs):
            if self.emulated and torch.is_tensor(value) and value.dtype in NARROW:
                narrow = value.dtype
                call.inputs[i] = value.float()
        return narrow

    def declared(self, name, values):
        """An output in the type that the model declares for it."""
        if name not in values:
            raise Refused("the model has no value '%s'" % name)
        kind = self.model.graph.outputs.get(name)
        value = values[name]
        if kind and kind[0] == TENSOR and self.half and value.dtype == self.half:
            value = value.to(torch_type(kind[1]))
        return to_array(value)

    def describe(self):
        """Version, device, precision."""
        where = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "CPU"
        how = ", emulated" if self.emulated and self.precision != "f32" else ""
        return "PyTorch %s on %s, %s%s" % (torch.__version__, where, self.precision, how)

    def account(self):
        """Every node runs on the device."""
        places = [(n.name or n.outputs[0], n.op_type, str(self.device))
                  for n in self.model.graph.nodes]
        notes = ["%s is emulated on this CPU: operators compute in float32" % self.precision]
        return {"placements": places,
                "notes": notes if self.emulated and self.precision != "f32" else []}
