# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees that versions of ONNX Runtime walk, or add up, wrongly."""
import numpy as np
from onnx import TensorProto, helper

from networks import Net, network
from operators import end


def features(opset=17, rows=16, **domains):
    """The beginning: rows of three features."""
    net = Net(opset, **domains)
    value = net.dense(net.input("rows", [rows, 3]), 3, 3, act="Tanh")
    return net, value


def behind(net, value, width):
    """The end: dense layers on what the trees say."""
    return end(net, net.dense(value, width, 16), rank=2)


def forest(random, trees, classes):
    """Attributes of trees of four leaves, each of which weighs these classes."""
    attributes = {"nodes_" + name: [] for name in (
        "treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")}
    leaves = {"class_" + name: [] for name in ("ids", "nodeids", "treeids", "weights")}
    for tree in range(trees):
        for node in range(7):
            leaf = node >= 3
            split = float(np.float32(random.uniform(-0.5, 0.5)))
            row = (tree, node, 0, "LEAF", 0.0, 0, 0) if leaf else (
                tree, node, int(random.randint(3)), "BRANCH_LEQ", split, 2 * node + 1, 2 * node + 2)
            for column, item in zip(attributes.values(), row):
                column.append(item)
            share = float(random.uniform()) / trees
            for name in range(classes if leaf else 0):
                weight = share if name == classes - 1 else 1 / trees - share
                for column, item in zip(leaves.values(), (name, node, tree, weight)):
                    column.append(item)
    return {**attributes, **leaves}


def classify(net, value, **attributes):
    """Labels and scores of two classes, added."""
    label, score = net.op("TreeEnsembleClassifier", [value], 2, domain="ai.onnx.ml",
                          classlabels_int64s=[0, 1], **attributes)
    label = net.op("Unsqueeze", [net.op("Cast", [label], to=1), np.array([1], np.int64)])
    return net.op("Add", [score, label])


@network
def tree_shared_branch():
    """Two branches that compare for equality lead to one leaf, which two nodes share."""
    net, value = features(ai_onnx_ml=3)
    value = net.op("Round", [net.op("Mul", [value, np.array([2], np.float32)])])
    value = net.op("TreeEnsembleRegressor", [value], domain="ai.onnx.ml", n_targets=1,
                   nodes_treeids=[0] * 4, nodes_nodeids=[0, 1, 2, 3], nodes_featureids=[0] * 4,
                   nodes_modes=["BRANCH_EQ", "LEAF", "BRANCH_EQ", "LEAF"],
                   nodes_values=[1.0, 0.0, -1.0, 0.0], nodes_truenodeids=[1, 0, 1, 0],
                   nodes_falsenodeids=[2, 0, 3, 0], target_ids=[0, 0], target_nodeids=[1, 3],
                   target_treeids=[0, 0], target_weights=[4.0, -3.0])
    return behind(net, value, 1)


@network
def tree_leaf_logistic():
    """A tree that is one leaf, and LOGISTIC."""
    net, value = features(ai_onnx_ml=3)
    none = {"nodes_" + name: [0] for name in ("treeids", "nodeids", "featureids", "truenodeids",
                                              "falsenodeids")}
    value = classify(net, value, **none, nodes_modes=["LEAF"], nodes_values=[0.0], class_ids=[0],
                     class_nodeids=[0], class_treeids=[0], class_weights=[0.4],
                     post_transform="LOGISTIC")
    return behind(net, value, 2)


@network
def forest_one_class():
    """Two classes, of which the leaves weigh one: the other has what is left of 1."""
    net, value = features(ai_onnx_ml=3)
    value = classify(net, value, **forest(np.random.RandomState(3), 5, 1))
    return behind(net, value, 2)


@network
def forest_two_classes():
    """Two classes, of which the leaves weigh both: the label is that of the larger score."""
    net, value = features(ai_onnx_ml=3)
    value = classify(net, value, **forest(np.random.RandomState(3), 5, 2))
    return behind(net, value, 2)


@network
def tree_root_taken_for_leaf():
    """A root whose branch and whose leaf have the same number, each among its own."""
    net, value = features(opset=21, ai_onnx_ml=5)
    net.ir = 9

    def numbers(items, kind=TensorProto.FLOAT):
        return helper.make_tensor("numbers", kind, [len(items)], items)
    value = net.op("TreeEnsemble", [value], domain="ai.onnx.ml", n_targets=1,
                   aggregate_function=1, post_transform=0, tree_roots=[0],
                   nodes_modes=numbers([0, 0], TensorProto.UINT8), nodes_featureids=[0, 1],
                   nodes_splits=numbers([0.1, 0.0]), nodes_truenodeids=[1, 0],
                   nodes_trueleafs=[0, 1], nodes_falsenodeids=[1, 2], nodes_falseleafs=[1, 1],
                   leaf_targetids=[0, 0, 0], leaf_weights=numbers([1.0, -2.0, 3.0]))
    return behind(net, value, 1)
