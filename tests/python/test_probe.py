# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe for PyTorch without any export: what is kept, given back and refused."""
import os
import tempfile
import unittest
from collections import namedtuple

import numpy as np
import torch
from torch import nn

from onnxdbg_probe import Recorder, probe

Pair = namedtuple("Pair", "a b")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x, more=None):
        return {"y": probe(self.fc(x), "fc"), "x": x}


class Probes(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.dir.name, "r.npz")
        self.net = Net().eval()
        self.x = torch.arange(6.0).reshape(2, 3)

    def tearDown(self):
        self.dir.cleanup()

    def record(self, *args, **options):
        with torch.no_grad(), Recorder(self.path, self.net, **options):
            result = self.net(*args)
        return result, dict(np.load(self.path))

    def refused(self, kind, text, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        with torch.no_grad(), Recorder(self.path):  # nothing is left open
            pass

    def test_gives_back(self):
        self.assertIs(probe(self.x, "x"), self.x)
        self.assertIsNone(probe(None, "x"))
        pair = probe(Pair(self.x, [self.x]), "p")
        self.assertIsInstance(pair, Pair)
        self.assertIs(pair.b[0], self.x)

    def test_model(self):
        result, kept = self.record(self.x, input_names=["image"], output_names=["y", "same"])
        np.testing.assert_array_equal(kept["fc"], result["y"].numpy())
        np.testing.assert_array_equal(kept["y"], kept["fc"])
        np.testing.assert_array_equal(kept["image"], self.x.numpy())
        np.testing.assert_array_equal(kept["parameters/fc.weight"], self.net.fc.weight.detach())
        self.assertEqual(len(kept), 6)
        self.assertNotIn("forward", vars(self.net))

    def test_dict_arguments(self):
        more = {"mask": self.x > 1, "deep": [self.x, {"z": self.x}]}
        _, kept = self.record(self.x, more, parameters=False)
        self.assertEqual(set(kept), {"x", "more.mask", "more.deep.0", "more.deep.1.z", "fc"})
        self.assertEqual(kept["more.mask"].dtype, np.bool_)
        names = ["a", "b", "c", "d"]
        _, kept = self.record(self.x, more, parameters=False, input_names=names)
        self.assertEqual(set(kept), set(names + ["fc"]))

    def test_containers(self):
        with Recorder(self.path):
            probe({"k": self.x, "l": (self.x + 1, self.x + 2)}, "p")
        kept = dict(np.load(self.path))
        self.assertEqual(set(kept), {"p.k", "p.l.0", "p.l.1"})
        self.assertEqual(kept["p.l.1"][0, 0], 2)

    def test_kinds_of_tensors(self):
        with Recorder(self.path):
            probe(self.x.bfloat16(), "bf16")
            probe(self.x.half(), "f16")
            probe(self.x.to_sparse(), "sparse")
            probe(self.x.t(), "strided")
            probe(self.x.requires_grad_(), "grad")
            probe(torch.complex(self.x, self.x).conj(), "complex")
            probe(torch.quantize_per_tensor(self.x.detach(), 0.5, 0, torch.quint8), "quantized")
            probe(self.x, "/a name/with:anything")
        kept = dict(np.load(self.path))
        self.assertEqual(kept["bf16"].dtype, np.float32)
        self.assertEqual(kept["f16"].dtype, np.float16)
        np.testing.assert_array_equal(kept["sparse"], self.x.detach().numpy())
        np.testing.assert_array_equal(kept["strided"], self.x.detach().numpy().T)
        self.assertEqual(kept["complex"][1, 1], 4 - 4j)
        self.assertEqual(kept["quantized"][0, 2], 2)
        self.assertIn("/a name/with:anything", kept)

    def test_what_was_recorded_stays(self):
        x = self.x.clone()
        with Recorder(self.path):
            probe(x, "before")
            x += 1
        self.assertEqual(np.load(self.path)["before"][0, 0], 0)

    def test_refusals(self):
        parallel = nn.DataParallel(self.net)
        self.refused(TypeError, "record and export model.module",
                     lambda: Recorder(self.path, parallel))
        self.refused(TypeError, "model.module",
                     lambda: Recorder(self.path, nn.Sequential(parallel)))
        self.refused(TypeError, "torch.nn.Module", lambda: Recorder(self.path, len))
        self.refused(TypeError, "a probe needs a name", lambda: probe(self.x, ""))

        def twice():
            with Recorder(self.path):
                probe(self.x, "a")
                probe(self.x, "a")
        self.refused(ValueError, "'a' is recorded twice", twice)
        self.refused(ValueError, "input_names has 2 names, and there are 1 tensors",
                     lambda: self.record(self.x, input_names=["a", "b"]))

        def never():
            with Recorder(self.path, self.net):
                pass
        self.refused(RuntimeError, "was not called", never)

        def again():
            with Recorder(self.path, self.net):
                self.net(self.x)
                self.net(self.x)
        self.refused(RuntimeError, "a second time", again)

        def nested():
            with Recorder(self.path):
                with Recorder(self.path):
                    pass
        self.refused(RuntimeError, "another Recorder", nested)

    def test_nothing_is_written_where_it_fails(self):
        with self.assertRaises(ZeroDivisionError):
            with Recorder(self.path, self.net):
                self.net(self.x)
                1 / 0
        self.assertFalse(os.path.exists(self.path))


unittest.main()
