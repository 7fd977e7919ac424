# SPDX-License-Identifier: GPL-3.0-or-later
"""Models whose names mean something to DOT, to labels, to XML or to a terminal, and what a drawing of
them must say.

    hostile.py make FOLDER            hostile.onnx, bodies.onnx, many.onnx
    hostile.py dot JSON NODES         labels that `dot -Tjson` has read, against `nodes -j`
    hostile.py svg FILE NODES         ids, tooltips and links of the SVG, against the same
"""
import json
import sys
import xml.etree.ElementTree as tree

NAMES = ['a "quoted" name', 'back\\slash', 'ends in \\', '\\N \\G \\n \\l', 'two\nlines', 'tab\tbell\a',
         '<b>bold</b>', '<', 'a & b', '&lt;&amp;&#38;', '</text></svg><script>alert(1)</script>', ']]>',
         '"]; evil [label="x', '// no /* comment */', 'red\x1b[31m', 'turned\u202eround', 'na\u00efve \u30ce\u30fc\u30c9',
         '%s%n', 'x' * 300, '', '#3', "it's", '{a|b}', 'BROKEN']


def make(folder):
    from onnx import TensorProto, helper, save
    nodes, value = [], "in <&\">\\"
    for i, name in enumerate(NAMES):
        out = f"{name}~{i}"
        nodes.append(helper.make_node("Relu", [value], [out], name=name, domain=""))
        value = out
    nodes.append(helper.make_node('Odd"\\<&', [value], ["last"], name="odd", domain="my & own",
                                  words='"\\<&\n'))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(nodes[0].input[0], TensorProto.FLOAT, ["N\"<", 3])],
                              [helper.make_tensor_value_info("last", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("my & own", 1)])
    model.ir_version = 8
    # no name may be broken UTF-8 in Python's eyes, so that it is broken afterwards
    with open(folder + "/hostile.onnx", "wb") as file:
        file.write(model.SerializeToString().replace(b"BROKEN", b"BRO\xff\xc3N"))

    body = helper.make_graph([helper.make_node("Add", ["x", "x"], ["twice"], name="in\"side"),
                              helper.make_node("Neg", ["twice"], ["y"], name="behind")], "then",
                             [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["z"], name="same")], "else", [],
                              [helper.make_tensor_value_info("z", TensorProto.FLOAT, [3])])
    graph = helper.make_graph([helper.make_node("If", ["c"], ["out"], name="choice", then_branch=body, else_branch=other)],
                              "g", [helper.make_tensor_value_info("c", TensorProto.BOOL, []),
                                    helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                              [helper.make_tensor_value_info("out", TensorProto.FLOAT, [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    save(model, folder + "/bodies.onnx")

    nodes = [helper.make_node("Add", [f"v{max(0, i - 40)}", f"v{max(0, i - i % 37 - 1)}"], [f"v{i}"]) for i in range(1, 5001)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [3])],
                              [helper.make_tensor_value_info("v5000", TensorProto.FLOAT, [3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    save(model, folder + "/many.onnx")


def cut(text, most=44):
    """A line of a box: beginning and end, where it is long."""
    data = text.encode()
    if len(data) <= most:
        return text
    return data[:most // 2].decode(errors="ignore") + "\u2026" + data[len(data) - most // 2:].decode(errors="ignore")


def shown(name):
    """As the program shows a name that may hold anything: JSON has broken bytes as \\xNN already."""
    acts = [chr(c) for c in (*range(32), 127, 0x202e)]
    return "".join("".join(f"\\x{b:02x}" for b in c.encode()) if c in acts else c for c in name)


def same(what, wanted, had):
    if wanted != had:
        print(f"{what}: {had!r}, not {wanted!r}")


def head(node):
    op = node["op_type"] if not node["domain"] else node["domain"] + "::" + node["op_type"]
    return op, f"#{node['index']} {node['name']}".rstrip()


def dot(read, nodes):
    nodes = json.load(open(nodes))["nodes"]
    objects = {o["name"]: o for o in json.load(open(read))["objects"]}
    for node in nodes:
        drawn = objects[f"n{node['index']}"]
        lines = [d["text"] for d in drawn["_ldraw_"] if d["op"] == "T"]
        op, label = head(node)
        same(f"operator of #{node['index']}", cut(shown(op)), lines[0])
        same(f"label of #{node['index']}", cut(shown(label)), lines[1])
        same(f"id of #{node['index']}", f"node-{node['index']}", drawn["id"])
        if node["name"] == "odd":
            same("attribute", True, any(line.startswith('words = "') for line in lines))
    same("nodes", len(nodes), len([o for o in objects if o.startswith("n")]))


def svg(file, nodes):
    nodes = json.load(open(nodes))["nodes"]
    root = tree.parse(file).getroot()
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    same("ids that stand twice", [], sorted({i for i in ids if ids.count(i) > 1}))
    link = "{http://www.w3.org/1999/xlink}"
    same("scripts", 0, len([e for e in root.iter() if e.tag.endswith("script")]))
    for node in nodes:
        group = [e for e in root.iter() if e.get("id") == f"node-{node['index']}"]
        same(f"groups of #{node['index']}", 1, len(group))
        a = group[0].find(".//{http://www.w3.org/2000/svg}a")
        texts = [t.text for t in a.iter("{http://www.w3.org/2000/svg}text")]
        op, label = head(node)
        same(f"link of #{node['index']}", f"#node-{node['index']}", a.get(link + "href"))
        same(f"text of #{node['index']}", cut(shown(label)), texts[1].replace("\u00a0", " "))
        first, *meanings = a.get(link + "title").replace("\u00a0", " ").split("\n")
        same(f"tooltip of #{node['index']}", f"{shown(label)} ({shown(op)})", first.split("; words")[0])
        same(f"words of #{node['index']}", node["op_type"] == "Relu", any(m.startswith("X: ") for m in meanings))


if __name__ == "__main__":
    {"make": make, "dot": dot, "svg": svg}[sys.argv[1]](*sys.argv[2:])
