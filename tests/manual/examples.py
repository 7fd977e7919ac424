# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the examples of manual pages and of README.md, and says whether they are true.

    ONNXDBG=PROGRAM DEMO=MODEL examples.py FOLDER      with man1 and man7 in it

An example is a line "$ COMMAND", or "onnxdbg ...", between .Bd -literal and .Ed, with the lines
that it goes on in. It has to end with 0 or 1 (something diverges), or as ENDS says. Lines below it
are what it prints, in that order; "..." stands for more lines. The examples of a page run one after
the other in a folder of their own, with the model of the demo as model.onnx; those of README.md in
one that looks like the top of the source.
"""
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.environ["ONNXDBG"]
TOP = os.getcwd()
FAULT = "fault:scale,node=/block/conv2/Conv@cpu"

# (words of a command, what is not here for it, the statuses it then ends with)
ENDS = [
    ("onnxdbg tour", "a terminal", [2]),
    ("onnxdbg today.fleet", "a terminal", [2]),
    ("ort -x bisect", "a terminal", [2]),
    ("onnxdbg model.onnx --target", "a terminal", [2]),
    ("ep=cuda", "a device of NVIDIA's", [4]),
    ("--target onnx-mlir", "onnx-mlir", [0, 1, 4]),
    ("--target torch", "PyTorch", [0, 1, 4]),
    ("libortextensions", "ONNX Runtime's extensions", [2]),
    ("plugin:./chain.so", "a model that it has all operators of", [4]),
    ("--target command:false", "a target that runs", [0, 4]),
    ("TOOLCHAIN=$BAD", "a toolchain without a fault", [1]),
    ("opencv_adapter.py", "OpenCV", [0, 1, 4]),
    ("web_adapter.mjs", "ONNX Runtime Web", [0, 1, 4]),
    ("retry.sh", "an OpenCV that runs all of it", [0, 1, 4]),
    ("--target web", "ONNX Runtime Web", [0, 1, 4]),
    ("via:podman", "that container", [4]),
    ("runtime=1.", "that library", [2]),
    ("runtime={1.", "those libraries", [2]),
    ("--inputs-from torch.npz", "PyTorch, which makes it", [3]),
    ("compare onnx_values", "PyTorch, which makes it", [3]),
]
# The machine at the other end is this one.
SSH = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    -o | -p) shift 2 ;;
    -*) shift ;;
    *) break ;;
    esac
done
shift
export HOME="${0%/*}"
exec sh -c "$*"
"""


def literal_blocks(page):
    """The text between .Bd -literal and .Ed, as man shows it."""
    text = open(page, encoding="utf-8").read()
    if page.endswith(".md"):
        for block in re.findall(r"(?:^    .*\n|^\n)+", text, re.M):
            block = re.sub("^    ", "", block, flags=re.M).strip("\n")
            if block.startswith("$ "):
                yield block
        return
    for block in re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.S | re.M):
        for escape, char in ((r"\-", "-"), (r"\&", ""), (r"\(dq", '"'), (r"\e", "\\")):
            block = block.replace(escape, char)
        yield block


def examples(page):
    """(command, lines that it prints) of a page, in order."""
    for block in literal_blocks(page):
        command, shown, goes_on = None, [], False
        for line in block.splitlines():
            if goes_on:
                command += "\n" + line
            elif line.startswith(("$ ", "onnxdbg ")):
                if command:
                    yield command, shown
                command, shown = line.removeprefix("$ "), []
            elif command:
                shown.append(line)
                continue
            else:
                continue
            goes_on = line.endswith(("\\", "|"))
        if command:
            yield command, shown


def run(command, folder, environ):
    return subprocess.run(["sh", "-c", command], cwd=folder, env=environ, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors="replace")


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(path, 0o755)


def prepare(page, folder, environ):
    """The files that the reader of a page has."""
    if page.endswith("README.md"):
        os.symlink(PROGRAM, os.path.join(folder, "onnxdbg"))
        os.symlink(os.path.join(TOP, "tests"), os.path.join(folder, "tests"))
        return
    shutil.copy(os.environ["DEMO"], os.path.join(folder, "model.onnx"))

    def make(command):
        done = run(command, folder, environ)
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stdout}")

    def write(file, begins):
        """What the page shows of it."""
        block = next(block for block in literal_blocks(page) if block.startswith(begins))
        block = block.replace("#!/usr/bin/python3", "#!" + sys.executable)
        write_program(os.path.join(folder, file), block.split("\n$ ")[0])

    name = os.path.basename(page)
    if name == "onnxdbg-against.7":
        make("cp model.onnx fast.onnx")
    elif name == "onnxdbg-fleet.1":
        make("mkdir models && cp model.onnx models/demo.onnx")
    elif name in ("onnxdbg-compare.1", "onnxdbg-compare.7"):
        make("mkdir -p ort_dump golden")
        make(f"onnxdbg run model.onnx --target '{FAULT}' --save ort_dump/outputs")
        make("onnxdbg run model.onnx --save golden/outputs")
        make("cp -r golden/outputs a && cp -r golden/outputs b")
    elif name == "onnxdbg-report.1":
        run(f"onnxdbg bisect model.onnx --target '{FAULT}' --session session.odb", folder, environ)
    elif name == "onnxdbg-check.1":
        make("mkdir -p onnx/backend/test/data/node/test_demo/test_data_set_0 && "
             "cp model.onnx onnx/backend/test/data/node/test_demo")
    elif name == "onnxdbg-command.7":
        make("onnxdbg extract model.onnx --outputs /stem/conv/Conv_output_0 -o stem.onnx && "
             "mv stem.onnx model.onnx")
        write("run.py", "#!/usr/bin/python3")
        write("retry.sh", "#!/bin/sh")
        write("compile.py", "#!/usr/bin/python3\nimport json\nimport shutil")
    elif name == "onnxdbg-dump.7":
        nodes = json.loads(run("onnxdbg nodes model.onnx --json", folder, environ).stdout)["nodes"]
        values = ",".join(node["outputs"][0] for node in nodes[2::5])
        make(f"onnxdbg extract model.onnx --inputs image --outputs {values} -o fifth.onnx")
        for side, target in (("npu_dump", FAULT), ("fp32_dump", "cpu:f64")):
            make(f"mkdir {side} && onnxdbg run fifth.onnx --target {target} --save {side} && "
                 f"onnxdbg print model.onnx image --save {side}/image.npy")
        make(f"{sys.executable} -c 'import numpy, glob; numpy.savez(\"torch.npz\", **{{"
             "f[10:-4]: numpy.load(f) for f in glob.glob(\"fp32_dump/*.npy\")})'")
    elif name == "onnxdbg-explain.7":
        for value, file in (("/attn/score/Mul_output_0", "s"), ("/attn/Softmax_output_0", "p"),
                            ("/block/act1/Relu_output_0", "x"), ("block.conv2.weight", "w"),
                            ("/block/conv2/Conv_output_0", "y")):
            make(f"onnxdbg print model.onnx {value} --save {file}.npy")
    elif name == "onnxdbg-inputs.7":
        make("(printf 'P6\\n48 40\\n255\\n'; head -c 5760 model.onnx) >cat.jpg")
    elif name == "onnxdbg-dump-tools.7":
        make(f"{environ['GEN']} chain 12 fp32.onnx && cp fp32.onnx fp16.onnx")
        make(f"cp {TOP}/examples/tiny_executor/* . && make -s && mv tiny_executor.so libnpu.so")
    elif name == "onnxdbg-executor.7":
        make(f"{environ['GEN']} chain 12 model.onnx")
        make(f"cp {TOP}/examples/tiny_executor/* . && make -s")
        write("chain.c", "#include")
    elif name == "onnxdbg-kernel.7":
        write("clamp.c", "#include")
    elif name == "onnxdbg-server.7":
        make(f"{environ['GEN']} chain 12 model.onnx")
        write("server.py", "import json")
    elif name == "onnxdbg-python.7":
        make("onnxdbg extract model.onnx --inputs /attn/flat/Transpose_output_0 "
             "--outputs /attn/score/Mul_output_0 -o attention.onnx && mv attention.onnx model.onnx")
        write("numpy_target.py", "import numpy")
    elif name == "onnxdbg-adapter.7":
        make("onnxdbg extract model.onnx --outputs /block/conv2/Conv_output_0 -o small.onnx && "
             "mv small.onnx model.onnx && echo model.onnx >list && "
             "mkdir -p cases/one/test_data_set_0 && cp model.onnx cases/one && "
             f"cp {TOP}/examples/adapter/* .")
    elif name == "onnxdbg-tutorial-backend.7":
        write("npu.py", "#!/usr/bin/python3")
        write("server.py", "import json\nimport sys\n\nimport npu")
    elif name == "onnxdbg-tutorial-ci.7":
        environ["PYTHONPATH"] = TOP + "/python"
        write("test_model.py", "import os")
    elif name == "onnxdbg-python-package.7":
        make(f"{environ['GEN']} chain 12 model.onnx")
        environ["PYTHONPATH"] = TOP + "/python"
        write("hunt.py", "import numpy")
        write("test_model.py", "import onnxdbg\n\ndef test_")


def same(shown, printed):
    """Whether a line is what the page shows; numbers with a fraction differ from one processor to
    the next in their last digits, and noise in its first."""
    a, b = (re.sub(r"[][(),]", " ", line).split() for line in (shown, printed))
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        try:
            if x != y and not ("." in x and abs(float(x) / float(y) - 1) < 0.1):
                return False
        except (ValueError, ZeroDivisionError):
            return False
    return True


def judge(shown, done, statuses):
    """None, or what is wrong."""
    if done.returncode not in statuses:
        return f"ends with {done.returncode}"
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    at, anywhere = 0, False
    for line in (line.rstrip() for line in shown):
        if line.strip() in ("...", "…"):
            anywhere = True
            continue
        there = range(at, len(printed) if anywhere else min(at + 1, len(printed)))
        found = next((i for i in there if same(line, printed[i])), None)
        if found is None:
            return f"does not print: {line}"
        at, anywhere = found + 1, False
    return None


def judge_page(page, folder, environ):
    environ = dict(environ)
    prepare(page, folder, environ)
    for command, shown in examples(page):
        if command.startswith("export "):
            name, value = shlex.split(command)[1].split("=", 1)
            environ[name] = value
            continue
        done = run(command, folder, environ)
        statuses = [0, 1] if command.startswith(("onnxdbg", "./onnxdbg")) else [0]
        for words, _, others in ENDS:
            if words in command:
                statuses = others
        what = f"{os.path.basename(page)}: {command.splitlines()[0]}"
        if "ONNX Runtime is not installed here" in done.stdout:
            print(f"skip {what}: no ONNX Runtime here")
            continue
        wrong = judge(shown, done, statuses)
        print(f"not ok {what} ({wrong})" if wrong else f"ok {what}")
        if wrong:
            print("\n".join(done.stdout.splitlines()[:20]))


def lacks_for_readme(environ):
    """What is not here of that which has the bug there, or None."""
    if importlib.util.find_spec("onnx") is None:
        return "Python with onnx (Debian: python3-onnx)"
    ort = "ONNX Runtime 1.22.0"
    found = run("onnxdbg executors", TOP, environ).stdout
    return None if re.search(rf"^ort +available: {ort},", found, re.M) else ort


def main():
    pages = sys.argv[1]
    with tempfile.TemporaryDirectory() as tools:
        write_program(os.path.join(tools, "ssh"), SSH)
        write_program(os.path.join(tools, "pkg-config"), f"#!/bin/sh\necho -I{TOP}/include\n")
        write_program(os.path.join(tools, "python3"),
                      f'#!/bin/sh\nexec {sys.executable} -B "$@"\n')
        for program in (PROGRAM, os.environ["ONNXDBG_SERVE"]):
            os.symlink(program, os.path.join(tools, os.path.basename(program)))
        environ = dict(os.environ, PATH=tools + ":" + os.environ["PATH"])
        for section in ("man1", "man7"):
            for page in sorted(os.listdir(os.path.join(pages, section))):
                with tempfile.TemporaryDirectory() as folder:
                    judge_page(os.path.join(pages, section, page), folder, environ)
        lacks = lacks_for_readme(environ)
        if lacks:
            print(f"skip README.md: no {lacks} here")
            return
        with tempfile.TemporaryDirectory() as folder:
            judge_page(os.path.join(TOP, "README.md"), folder, environ)


main()
