# SPDX-License-Identifier: GPL-3.0-or-later
"""Records a small residual network and exports it: VARIANT.npz and VARIANT.onnx.

    probed_net.py same|weight|operator|renamed

The last three plant a difference between the two: another bias, a ReLU that is exported as a
LeakyRelu, a probe of another name.
"""
import sys

import torch
from torch import nn

from onnxdbg_probe import Recorder, probe


class LeakyWhenExported(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.relu(x)

    @staticmethod
    def symbolic(g, x):
        return g.op("LeakyRelu", x, alpha_f=0.01).setType(x.type())


class Block(nn.Module):
    def __init__(self, channels, index):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.BatchNorm2d(channels)
        self.norm.running_mean.normal_(0, 0.2)
        self.norm.running_var.uniform_(0.5, 1.5)
        self.index = index
        self.activation = torch.relu

    def forward(self, x):
        y = self.activation(self.norm(self.conv(x)))
        return probe(x + y, "block%d" % self.index)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(*[Block(8, i) for i in range(4)])
        self.head = nn.Linear(8, 10)
        self.last = "logits"

    def forward(self, image, settings):
        x = probe(torch.relu(self.stem(image) * settings["scale"]), "stem")
        x = probe(self.blocks(x).mean((2, 3)), "pool")
        return probe(self.head(x), self.last).softmax(-1)


def main(variant):
    torch.manual_seed(1)
    net = Net().eval()
    image = torch.rand(1, 3, 32, 32)
    settings = {"scale": torch.tensor([0.75])}
    names = {"input_names": ["image", "scale"], "output_names": ["scores"]}
    if variant == "renamed":
        net.last = "scores_before_softmax"
    with torch.no_grad(), Recorder(variant + ".npz", net, **names):
        net(image, settings)
    if variant == "weight":
        net.head.bias.data[3] += 0.01
    elif variant == "operator":
        net.blocks[2].activation = LeakyWhenExported.apply
    elif variant == "renamed":
        net.last = "logits"
    # The exporter takes a dict at the end for keyword arguments, unless another one follows.
    torch.onnx.export(net, (image, settings, {}), variant + ".onnx", **names)


main(sys.argv[1])
