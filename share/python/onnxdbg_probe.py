# SPDX-License-Identifier: MIT
"""Checkpoints in a PyTorch model, to find where an exported ONNX model leaves it.

    from onnxdbg_probe import Recorder, probe

    class Net(torch.nn.Module):
        def forward(self, x):
            x = probe(self.conv(x), "conv")      # gives x back
            return self.head(x)

    with Recorder("torch.npz", net, input_names=["image"], output_names=["scores"]):
        net(image)
    torch.onnx.export(net, image, "net.onnx", input_names=["image"], output_names=["scores"])

    $ onnxdbg bisect net.onnx --reference dump:torch.npz --target cpu

A probe does nothing but: within a Recorder it keeps the tensor under its name, and in an export it
becomes a node my::Debug with the attribute name, which onnxdbg takes for an Identity. A Recorder
keeps the inputs, outputs and parameters of the model as well. See onnxdbg-pytorch(7).

Works with torch 1.8 and later; the exporter of torch.export (dynamo=True) needs 2.8.
"""
import inspect
import os
import tempfile
import threading
import zipfile

import numpy as np
import torch

__all__ = ["Recorder", "probe"]

PARAMETERS = "parameters/"  # before their names, as onnxdbg looks for them

_recording = None  # the Recorder that is open


class _Debug(torch.autograd.Function):
    """What the exporter of TorchScript sees: a node of its own."""

    @staticmethod
    def forward(ctx, x, name):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None

    @staticmethod
    def symbolic(g, x, name):
        return g.op("my::Debug", x, name_s=name).setType(x.type())


def _exported(x, name):
    """x behind a node my::Debug, where an export is under way; else None."""
    if torch._C._get_tracing_state() is not None:
        return _Debug.apply(x, name) if torch.onnx.is_in_onnx_export() else None
    exporting = getattr(getattr(torch, "compiler", None), "is_exporting", None)
    if exporting is None or not exporting():
        return None
    operators = getattr(torch.onnx, "ops", None)
    if operators is None:
        raise RuntimeError("this torch cannot export a probe with dynamo=True; "
                           "use dynamo=False, or torch 2.8")
    return operators.symbolic("my::Debug", (x,), {"name": name}, dtype=x.dtype, shape=x.shape,
                              version=1)


def probe(x, name):
    """Makes x a checkpoint, and gives it back. Of a dict, list or tuple every tensor is one, as
    NAME.KEY."""
    if isinstance(x, dict):
        return type(x)((key, probe(value, "%s.%s" % (name, key))) for key, value in x.items())
    if isinstance(x, (list, tuple)):
        parts = [probe(value, "%s.%d" % (name, i)) for i, value in enumerate(x)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if not isinstance(x, torch.Tensor):
        return x
    if not isinstance(name, str) or not name:
        raise TypeError("a probe needs a name: probe(x, \"name\")")
    exported = _exported(x, name)
    if exported is not None:
        return exported
    if _recording is not None:
        _recording._keep(name, x)
    return x


def _flat(value, name):
    """(name, tensor) of all tensors in a value; those of a dict by their keys."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(part, "%s.%s" % (name, key))
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from _flat(part, "%s.%d" % (name, i))


def _refuse_parallel(model):
    parallel = [torch.nn.DataParallel]
    distributed = getattr(torch.nn.parallel, "DistributedDataParallel", None)
    if distributed is not None:
        parallel.append(distributed)
    for module in model.modules():
        if isinstance(module, tuple(parallel)):
            raise TypeError("%s runs copies of the model, which cannot be recorded; "
                            "record and export model.module" % type(module).__name__)


def _array(x):
    x = x.detach()
    if x.layout != torch.strided:
        x = x.to_dense()
    if x.is_quantized:
        x = x.dequantize()
    if x.dtype == torch.bfloat16:  # which numpy does not know; float holds it exactly
        x = x.float()
    return x.cpu().contiguous().resolve_conj().numpy().copy() if x.is_complex() else \
        x.cpu().contiguous().numpy().copy()


class Recorder:
    """Records one forward pass into an .npz archive, written when the block ends well.

    model, if it is given, is called once within the block; its inputs and outputs are recorded
    under input_names and output_names, which are those of the export, in their order: of arguments
    that are dicts, lists or tuples every tensor has a name of its own. Without input_names they are
    called as forward() calls them, a dict's tensors NAME.KEY. Parameters and buffers are recorded
    too, unless parameters=False.
    """

    def __init__(self, path, model=None, input_names=None, output_names=None, parameters=True):
        if model is not None and not isinstance(model, torch.nn.Module):
            raise TypeError("the model is no torch.nn.Module")
        if model is not None:
            _refuse_parallel(model)
        self.path = os.fspath(path)
        self.model = model
        self.input_names = list(input_names) if input_names is not None else None
        self.output_names = list(output_names) if output_names is not None else None
        self.parameters = parameters
        self.arrays = {}

    def __enter__(self):
        global _recording
        if _recording is not None:
            raise RuntimeError("another Recorder is open")
        self.arrays = {}
        self._thread = threading.get_ident()
        self._calls = 0
        if self.model is not None:
            if self.parameters:
                for name, value in self.model.state_dict().items():
                    if isinstance(value, torch.Tensor):
                        self._keep(PARAMETERS + name, value)
            self._forward = self.model.forward
            self.model.forward = self._watched
        _recording = self
        return self

    def __exit__(self, kind, value, trace):
        global _recording
        _recording = None
        if self.model is not None:
            del self.model.forward  # what stands behind it is the class's own
        if kind is not None:
            return
        if self.model is not None and self._calls == 0:
            raise RuntimeError("the model was not called while it was recorded")
        self._save()

    def _watched(self, *args, **kwargs):
        self._calls += 1
        if self._calls > 1:
            raise RuntimeError("the model is called a second time while it is recorded; "
                               "give each call a Recorder of its own")
        self._keep_inputs(args, kwargs)
        result = self._forward(*args, **kwargs)
        if self.output_names is not None:
            tensors = [value for _, value in _flat(result, "")]
            self._keep_all("output_names", self.output_names, tensors)
        return result

    def _keep_inputs(self, args, kwargs):
        bound = inspect.signature(self._forward).bind(*args, **kwargs)
        named = []
        for name, value in bound.arguments.items():
            kind = bound.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_KEYWORD:
                for key, part in value.items():
                    named.extend(_flat(part, key))
            else:
                named.extend(_flat(value, name))
        if self.input_names is not None:
            self._keep_all("input_names", self.input_names, [value for _, value in named])
            return
        for name, value in named:
            self._keep(name, value)

    def _keep_all(self, what, names, tensors):
        if len(names) != len(tensors):
            raise ValueError("%s has %d names, and there are %d tensors"
                             % (what, len(names), len(tensors)))
        for name, value in zip(names, tensors):
            self._keep(name, value)

    def _keep(self, name, x):
        if threading.get_ident() != self._thread:
            raise RuntimeError("a probe in another thread: DataParallel? record model.module")
        if name in self.arrays:
            raise ValueError("'%s' is recorded twice; give every probe a name of its own, "
                             "in a loop probe(x, f\"block{i}\")" % name)
        self.arrays[name] = _array(x)

    def _save(self):
        """As numpy.savez() does, whatever the names are."""
        path = os.path.realpath(self.path)
        fd, beside = tempfile.mkstemp(".part", os.path.basename(path) + ".", os.path.dirname(path))
        try:
            with os.fdopen(fd, "wb") as file:
                self._put(file)
                file.flush()
                os.fsync(fd)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(beside, 0o666 & ~umask)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise

    def _put(self, file):
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            for name, value in self.arrays.items():
                with archive.open(name + ".npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, value, allow_pickle=False)
