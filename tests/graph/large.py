# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a large picture: large.py FILE.svg NODES."""
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
path, nodes = sys.argv[1], int(sys.argv[2])
boxes, tops, ends = {}, {}, []
for group in tree.parse(path).iter(SVG + "g"):
    title = group.find(SVG + "title")
    if group.get("class") not in ("node", "edge"):
        continue
    shape = next(e for e in group.iter() if e.tag in (SVG + "path", SVG + "polygon", SVG + "ellipse"))
    if group.get("class") == "edge":
        ends.append(title.text.split("->"))
    elif shape.tag == SVG + "ellipse":
        x, y, rx, ry = (float(shape.get(k)) for k in ("cx", "cy", "rx", "ry"))
        boxes[title.text] = (x - rx, y - ry, x + rx, y + ry)
    else:
        numbers = [float(v) for v in re.findall(r"-?[0-9.]+", shape.get("d") or shape.get("points"))]
        boxes[title.text] = (min(numbers[::2]), min(numbers[1::2]), max(numbers[::2]), max(numbers[1::2]))
missing = {f"n{i}" for i in range(nodes)} - set(boxes)
if missing:
    print("no box:", sorted(missing)[:9])
rows = {}
for name, box in boxes.items():
    rows.setdefault(round((box[1] + box[3]) / 2), []).append((box[0], box[2], name))
for row in rows.values():
    row.sort()
    for (_, right, a), (left, _, b) in zip(row, row[1:]):
        if right > left:
            print("overlap:", a, b, right, left)
for a, b in ends:
    if boxes[a][3] > boxes[b][1]:
        print("upwards:", a, b)
if len(ends) < nodes - 1:
    print("lines:", len(ends))
