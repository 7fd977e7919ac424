# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the cases of boxes.json into a folder: for each, and each way to say a box, a model that
hands on what it is fed, annotations, and a set of inputs for each image. Prints a line for each:
folder, metric, the figure expected, name.

The figures are those of COCO's own evaluation, which these cases were given to: cocoeval.py of
github.com/cocodataset/cocoapi at commit 8c9bcc3, its stats[0] in per cent. Nothing of it is here.
"""
import json
import os
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save


def hands_on(path):
    """A model of one Identity on (n, 6) float64."""
    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", 6])

    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "boxes",
                              [value("x")], [value("y")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def annotated(case):
    """As COCO writes it."""
    return {"images": [{"id": i} for i in case["images"]],
            "categories": [{"id": i} for i in case["categories"]],
            "annotations": [{"id": n + 1, "image_id": row[0], "category_id": row[1],
                             "iscrowd": row[2], "bbox": row[3:]}
                            for n, row in enumerate(case["annotations"])]}


def main(cases, folder):
    """Each case in a folder of its own."""
    for n, case in enumerate(json.load(open(cases))):
        at = os.path.join(folder, str(n))
        order = sorted(case["categories"])
        os.makedirs(at)
        hands_on(os.path.join(at, "model.onnx"))
        with open(os.path.join(at, "labels.json"), "w") as f:
            json.dump(annotated(case), f)
        for k, image in enumerate(case["images"]):
            rows = [row[3:] + [row[2], order.index(row[1])] for row in case["detections"]
                    if row[0] == image]
            os.mkdir(os.path.join(at, "test_data_set_%d" % k))
            with open(os.path.join(at, "test_data_set_%d" % k, "input_0.pb"), "wb") as f:
                x = np.array(rows, dtype=np.float64).reshape(-1, 6)
                f.write(numpy_helper.from_array(x, "x").SerializeToString())
        print(at, "%.6f" % case["map"], case["name"])


main(*sys.argv[1:])
