# SPDX-License-Identifier: GPL-3.0-or-later
"""ONNX Runtime for tests, by ctypes on libonnxruntime.so: a model as bytes, arrays in and out.

Functions are called by their slots in the table OrtApi, which never move. Optimisations are off and
there is one thread, so what is computed is what stands in the model.
"""
import ctypes
import os

import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
VENDORED = os.path.join(HERE, "../../vendor/runtimes/ort-1.22.0/libonnxruntime.so")
API_VERSION = 16
ERROR = 3  # of its log levels

# ONNX's number of each element type that NumPy has.
NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
           "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13}
TYPES = {number: numpy.dtype(name) for name, number in NUMBERS.items()}

SLOTS = {"GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "Run": 9,
         "CreateSessionOptions": 10, "SetSessionGraphOptimizationLevel": 23,
         "SetIntraOpNumThreads": 24, "SessionGetOutputCount": 31, "CreateTensorWithDataAsOrtValue": 49,
         "IsTensor": 50, "GetTensorMutableData": 51, "GetTensorElementType": 60,
         "GetDimensionsCount": 61, "GetDimensions": 62, "GetTensorTypeAndShape": 65,
         "CreateCpuMemoryInfo": 69, "ReleaseStatus": 93, "ReleaseSession": 95, "ReleaseValue": 96,
         "ReleaseTensorTypeAndShapeInfo": 99, "ReleaseSessionOptions": 100}
VALUE = {"GetErrorMessage": ctypes.c_char_p}  # what does not return a status
NOTHING = ("ReleaseStatus", "ReleaseSession", "ReleaseValue", "ReleaseTensorTypeAndShapeInfo",
           "ReleaseSessionOptions")


class OrtError(Exception):
    """In ONNX Runtime's words."""


class Api:
    """The table of functions. Each is an attribute that raises OrtError where it fails."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        base_of = library.OrtGetApiBase
        base_of.restype = ctypes.POINTER(ctypes.c_void_p)
        get_api = ctypes.CFUNCTYPE(ctypes.POINTER(ctypes.c_void_p), ctypes.c_uint32)(base_of()[0])
        version = ctypes.CFUNCTYPE(ctypes.c_char_p)(base_of()[1])
        self.version = version().decode()
        self.table = get_api(API_VERSION)
        self.env, self.memory = ctypes.c_void_p(), ctypes.c_void_p()
        self.CreateEnv(ERROR, b"tests", ctypes.byref(self.env))
        self.CreateCpuMemoryInfo(1, 0, ctypes.byref(self.memory))

    def __getattr__(self, name):
        kind = None if name in NOTHING else VALUE.get(name, ctypes.c_void_p)
        raw = ctypes.CFUNCTYPE(kind)(self.table[SLOTS[name]])

        def call(*words):
            status = raw(*[w if isinstance(w, (bytes, ctypes._SimpleCData)) or hasattr(w, "_obj")
                           or isinstance(w, ctypes.Array) else ctypes.c_int64(w) for w in words])
            if name in NOTHING or name in VALUE:
                return status
            if status:
                text = self.GetErrorMessage(ctypes.c_void_p(status)).decode(errors="replace")
                self.ReleaseStatus(ctypes.c_void_p(status))
                raise OrtError(text)
            return None

        setattr(self, name, call)
        return call


class Session:
    """One model. Freed with the object."""

    api = None

    def __init__(self, model):
        if Session.api is None:
            Session.api = Api(os.environ.get("ONNXDBG_ORT") or VENDORED)
        api, options = Session.api, ctypes.c_void_p()
        self.handle = ctypes.c_void_p()
        api.CreateSessionOptions(ctypes.byref(options))
        try:
            api.SetSessionGraphOptimizationLevel(options, 0)
            api.SetIntraOpNumThreads(options, 1)
            api.CreateSessionFromArray(api.env, model, len(model), options,
                                       ctypes.byref(self.handle))
        finally:
            api.ReleaseSessionOptions(options)

    def __del__(self):
        if self.handle:
            Session.api.ReleaseSession(self.handle)

    def run(self, inputs, outputs):
        """inputs: arrays by name; outputs: names. The arrays of the outputs, in their order."""
        api = Session.api
        arrays = [numpy.ascontiguousarray(a).reshape(numpy.shape(a)) for a in inputs.values()]
        given = [self.value_of(a) for a in arrays]
        got = (ctypes.c_void_p * max(1, len(outputs)))()
        try:
            api.Run(self.handle, ctypes.c_void_p(), texts(inputs), pointers(given), len(given),
                    texts(outputs), len(outputs), got)
            return [self.array_of(ctypes.c_void_p(v)) for v in got[:len(outputs)]]
        finally:
            for v in given + [ctypes.c_void_p(v) for v in got if v]:
                api.ReleaseValue(v)

    @staticmethod
    def value_of(array):
        """Over the array's own memory."""
        value, shape = ctypes.c_void_p(), (ctypes.c_int64 * max(1, array.ndim))(*array.shape)
        if array.dtype.name not in NUMBERS:
            raise OrtError("a tensor of %s is not covered" % array.dtype)
        Session.api.CreateTensorWithDataAsOrtValue(
            Session.api.memory, ctypes.c_void_p(array.ctypes.data), array.nbytes, shape, array.ndim,
            NUMBERS[array.dtype.name], ctypes.byref(value))
        return value

    @staticmethod
    def array_of(value):
        """A copy."""
        api, info, data = Session.api, ctypes.c_void_p(), ctypes.c_void_p()
        number, rank, tensor = ctypes.c_int(), ctypes.c_size_t(), ctypes.c_int()
        api.IsTensor(value, ctypes.byref(tensor))
        if not tensor.value:
            raise OrtError("a sequence or a map is not covered")
        api.GetTensorTypeAndShape(value, ctypes.byref(info))
        api.GetTensorElementType(info, ctypes.byref(number))
        api.GetDimensionsCount(info, ctypes.byref(rank))
        shape = (ctypes.c_int64 * max(1, rank.value))()
        api.GetDimensions(info, shape, rank.value)
        api.ReleaseTensorTypeAndShapeInfo(info)
        if number.value not in TYPES:
            raise OrtError("a tensor of ONNX's type %d is not covered" % number.value)
        array = numpy.empty(tuple(shape[:rank.value]), TYPES[number.value])
        api.GetTensorMutableData(value, ctypes.byref(data))
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, data, array.nbytes)
        return array


def texts(names):
    return (ctypes.c_char_p * max(1, len(names)))(*[n.encode() for n in names])


def pointers(values):
    return (ctypes.c_void_p * max(1, len(values)))(*[v.value for v in values])
