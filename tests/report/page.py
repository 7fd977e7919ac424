# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a report in Chromium, as a user works with it: prints what is not as it must be.

    page.py CHROMIUM FOLDER     FOLDER has report.html, evil.html, bare.html and many.html
"""
import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
from browser import Browser  # noqa: E402

program, folder = sys.argv[1:]
VIEW = "document.getElementById('picture').getAttribute('viewBox').split(' ').map(Number)"
SELECTED = "(document.querySelector('#picture .selected') || {dataset: {}}).dataset.node"
BOXES = """[...document.querySelectorAll('#picture a')].map(a => { const r = a.querySelector('rect');
    return ['x', 'y', 'width', 'height'].map(k => Number(r.getAttribute(k))).concat(Number(a.dataset.node)); })"""
# The least contrast of text against what is behind it (WCAG), of elements that match.
CONTRAST = """(selector => { const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number).map(v => { v /= 255;
        return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return Math.min(...[...document.querySelectorAll(selector)].map(e => { const box = e.closest('a[data-node]');
        const back = box ? getComputedStyle(box.querySelector('rect')).fill : getComputedStyle(document.body).backgroundColor;
        return ratio(light(getComputedStyle(e)[box ? 'fill' : 'color']), light(back)); })); })"""


def must(what, holds, *seen):
    if not holds:
        print(what, *seen)


def address(name, node=None):
    return f"file://{folder}/{name}.html" + ("" if node is None else f"#node-{node}")


def inside(view, boxes):
    return all(view[0] <= x and x + w <= view[0] + view[2] and view[1] <= y and y + h <= view[1] + view[3]
               for x, y, w, h, _ in boxes)


def overlaps(boxes):
    return any(a[1] == b[1] and abs(a[0] - b[0]) < a[2] for a in boxes for b in boxes if a[4] < b[4])


def moves(page):
    """Keys, the wheel, dragging and clicks."""
    before = page.evaluate(VIEW)
    room = page.evaluate("(r => [r.left + 9, r.top + 9, r.width, r.height])(document.getElementById('picture').getBoundingClientRect())")
    page.mouse("mouseWheel", room[0], room[1], deltaX=0, deltaY=-100)
    page.settle()
    must("the wheel zooms though nobody has clicked", page.evaluate(VIEW) == before)
    page.evaluate("document.getElementById('graph').scrollIntoView()")
    page.settle()
    room = page.evaluate("(r => [r.left + 9, r.top + 9])(document.getElementById('picture').getBoundingClientRect())")
    page.click(*room)
    page.mouse("mouseWheel", room[0], room[1], deltaX=0, deltaY=-100)
    page.settle()
    zoomed = page.evaluate(VIEW)
    must("the wheel does not zoom", zoomed[2] < before[2], before, zoomed)
    must("the wheel does not zoom about the pointer", abs(zoomed[0] - before[0]) < 10 and abs(zoomed[1] - before[1]) < 10, before, zoomed)
    page.key("-")
    must("- does not zoom out", page.evaluate(VIEW)[2] > zoomed[2])
    before = page.evaluate(VIEW)
    page.key("ArrowRight")
    must("an arrow does not move", page.evaluate(VIEW)[0] > before[0])
    page.key("0")
    must("0 does not show all of it", inside(page.evaluate(VIEW), page.evaluate(BOXES)))
    x, y, hash_before = *page.evaluate("""(r => [r.left + r.width / 2, r.top + r.height / 2])(
        document.querySelector('#picture a[data-node="9"] rect').getBoundingClientRect())"""), page.evaluate("location.hash")
    before = page.evaluate(VIEW)
    page.mouse("mousePressed", x, y, button="left", clickCount=1)
    for step in range(1, 6):
        page.mouse("mouseMoved", x + 20 * step, y, button="left", buttons=1)
    page.mouse("mouseReleased", x + 100, y, button="left", clickCount=1)
    page.settle()
    must("dragging does not move", page.evaluate(VIEW)[0] < before[0] - 10)
    must("dragging is taken for a click", page.evaluate("location.hash") == hash_before)
    page.key("0")
    page.click(x, y)
    must("a click does not choose a node", (page.evaluate("location.hash"), page.evaluate(SELECTED)) == ("#node-9", "9"),
         page.evaluate("location.hash"))


def ordinary():
    with Browser(program) as page:
        page.open(address("report", 12))
        nodes = page.evaluate("report.nodes.length")
        boxes = page.evaluate(BOXES)
        must("the node of the address is not chosen", page.evaluate(SELECTED) == "12")
        must("or not told", "#12 " in page.evaluate("document.getElementById('about').textContent"))
        page.evaluate("location.hash = '#node-7'")
        page.settle()
        told = page.evaluate("document.getElementById('about').innerText")
        for line in ("W  block.conv2.weight, a weight", "kernels: (M, C / group, window…)", "dilations: ints = [1, 1]",
                     "distance of the kernel's taps, per spatial axis", "auto_pad: string = NOTSET  (default)"):
            must("the operator's words are not told", line in told, line, told)
        page.evaluate("location.hash = '#node-12'")
        page.settle()
        must("or not in sight", -5 <= page.evaluate("document.getElementById('graph').getBoundingClientRect().top") <= 60)
        must("not every node has a box", sorted(b[4] for b in boxes) == list(range(nodes)))
        must("boxes overlap", not overlaps(boxes))
        at = {b[4]: b for b in boxes}
        reads = page.evaluate("drawable().reads")
        must("a node stands above what it reads", all(at[m][1] < at[i][1] for i in range(nodes) for m in reads[i]))
        moves(page)
        page.evaluate("location.hash = '#node-0'")
        page.settle()
        page.evaluate("document.getElementById('picture').focus()")
        page.key("n")
        must("n does not go to the first node that is off", page.evaluate(SELECTED) == "7", page.evaluate(SELECTED))
        page.evaluate("location.hash = '#node-99999'")
        page.settle()
        must("a node that there is not is not told", "no node #99999" in page.evaluate("document.getElementById('about').textContent"))
        for name, node in (("/block/conv2/Conv", "7"), ("%2Fblock%2Fconv2%2FConv", "7"), ("/block/act1/Relu_output_0", "6")):
            page.open(address("report") + "#" + name)
            must("a name does not lead to its node", page.evaluate(SELECTED) == node, name, page.evaluate(SELECTED))
        page.evaluate("location.hash = '#no%such'")
        page.settle()
        must("a name that there is not is not told", "no node no%such" in page.evaluate("document.getElementById('about').textContent"))
        page.open(address("report") + "#graph")
        must("a heading is taken for a node", "no node" not in page.evaluate("document.getElementById('about').textContent"))
        page.open(address("report"))
        must("the first culprit is not shown", page.evaluate(SELECTED) == "7")
        must("though no node was asked for, the page begins elsewhere", page.evaluate("scrollY") == 0)
        page.open(address("bare"))
        must("without the model there is a graph", not page.evaluate("!!document.getElementById('picture')"))
        page.open(address("evil", 3))
        must("a hostile name took the page", page.evaluate("document.title") != "taken" and not page.evaluate("!!document.querySelector('main img')"))
        must("errors of the script", not page.errors, page.errors)


def looks():
    backgrounds = []
    for dark in (False, True):
        with Browser(program, 400, 800, dark=dark) as page:
            page.open(address("report", 7))
            backgrounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
            must("at 400 columns the page is wider than the screen", page.evaluate("document.documentElement.scrollWidth") <= 400)
            for what in ("#picture a text", "main p, main dd, main h2, main td", "#about a", ".caption, main dt"):
                worst = page.evaluate(f"{CONTRAST}({json.dumps(what)})")
                must(f"too little contrast, dark={dark}", worst >= 4.5, what, worst)
    must("dark is not dark", backgrounds[0] != backgrounds[1] and max(map(int, re.findall(r"\d+", backgrounds[1]))) < 60, backgrounds)


def no_scripts():
    with Browser(program, scripts=False) as page:
        page.open(address("report", 7))
        lines = page.evaluate("[...document.querySelectorAll('li')].filter(e => e.getClientRects().length).map(e => e.id + ' ' + e.textContent)")
        must("without scripts there is no list of nodes", len(lines) == 54, len(lines))
        must("or the culprit is not told", any(re.match(r"node-7 #7 .*\(Conv\): culprit, introduced; .*: fail, error", line) for line in lines), lines[:9])
        must("or its address does not lead to it", page.evaluate("document.querySelector(':target').id") == "node-7" and page.evaluate("scrollY") > 0)


def large():
    with Browser(program) as page:
        began = time.monotonic()
        page.open(address("many", 4000))
        took = time.monotonic() - began
        must("5,000 nodes are shown slowly", took < 20, took)
        boxes = page.evaluate(BOXES)
        must("boxes of a large graph overlap", not overlaps(boxes))
        must("not those around the node", len(boxes) == 200 and page.evaluate(SELECTED) == "4000", len(boxes))
        must("and that is not told", "200 of 5000 nodes, those nearest to #4000" in page.evaluate("document.querySelector('.tools').textContent"))
        page.evaluate("location.hash = '#node-10'")
        page.settle()
        must("another node is not shown", page.evaluate(SELECTED) == "10")


ordinary()
looks()
no_scripts()
if os.path.exists(f"{folder}/many.html"):
    large()
