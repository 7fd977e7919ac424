# SPDX-License-Identifier: MIT
"""The child of onnxdbg that runs models with a Python class; onnxdbg-serve starts it.

    onnxdbg_serve.py [--fd=N] [--scratch=DIR] --file=FILE [--class=CLASS] [-- KEY[=VALUE] ...]

It answers the requests of proto/executor.proto on the socket N, or on standard input and output,
with the calls of CLASS in FILE; onnxdbg-python(7) says which. Python's standard output is standard
error, so that nothing else gets onto the connection. Where FILE is a socket, the process that
listens there answers in our place (onnxdbg_host.py).
"""
import faulthandler
import fcntl
import importlib.util
import inspect
import json
import os
import platform
import re
import shutil
import socket
import stat
import sys
import tempfile
import traceback

import onnxdbg_wire as wire
from onnxdbg_wire import Message

E_NOMEM, E_IO, E_USAGE, E_INPUT, E_EXECUTOR, UNSUPPORTED = -1, -2, -5, -6, -8, 3
FICLONE = 0x40049409
CODES = (("NotImplementedError", UNSUPPORTED), ("Unsupported", UNSUPPORTED),
         ("MemoryError", E_NOMEM))


class Refusal(Exception):
    """An answer that is an error, with everything there is to say."""

    def __init__(self, code, what, where="", remedy=""):
        super().__init__(what)
        self.error = Message(code=code, what=" ".join(what.split()), where=where, remedy=remedy)


class Options:
    """What the command line says."""

    def __init__(self, argv):
        self.named = {"fd": "", "scratch": "", "file": "", "class": "", "version": ""}
        self.given = {}
        for at, word in enumerate(argv):
            key, _, value = word[2:].partition("=")
            if word == "--":
                pairs = [w.partition("=") for w in argv[at + 1:]]
                self.given = {k: v if sep else True for k, sep, v in pairs}
                break
            if not word.startswith("--") or key not in self.named:
                sys.exit("onnxdbg_serve.py: there is no option '%s'" % word)
            self.named[key] = value


def open_channel(fd):
    """The connection, out of everybody's reach; standard output becomes standard error."""
    if fd:
        channel = wire.SocketChannel(int(fd))
    else:
        channel = wire.PipeChannel(os.dup(0), os.dup(1))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    os.dup2(2, 1)
    return channel


# --- the user's class ---------------------------------------------------------------------------

def user_place(error, path):
    """FILE:LINE of the innermost frame in the user's file, "" when there is none."""
    line = 0
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno or 0
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == path:
            line = number
    return "%s:%d" % (os.path.basename(path), line) if line else ""


def refusal_of(error, path, code=None, aloud=True):
    """The answer to what the user's code raised; aloud: its traceback goes to standard error."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    for kind, known in CODES:
        if kind in kinds:
            code = known
    remedy = getattr(error, "remedy", "")
    if "Refused" in kinds:
        return Refusal(code or E_EXECUTOR, str(error), remedy=remedy)
    if aloud:
        traceback.print_exception(type(error), error, error.__traceback__)
    text = str(error).strip()
    name = type(error).__name__
    return Refusal(code or E_EXECUTOR, "%s: %s" % (name, text) if text else name,
                   user_place(error, path), remedy)


def load_file(path):
    """The module in the user's file, which also finds what lies beside it."""
    if not os.path.isfile(path):
        raise Refusal(E_USAGE, "there is no such file", path)
    sys.path.append(os.path.dirname(path))
    name = "onnxdbg_executor_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(
        name, path, loader=importlib.machinery.SourceFileLoader(name, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:  # nothing is wrong with the spec
        raise Refusal(E_EXECUTOR, "%s has no %s" % (sys.executable, error.name),
                      user_place(error, path),
                      "install it, or name a python3 that has it in ONNXDBG_PYTHON") from error
    except Exception as error:
        raise refusal_of(error, path, E_USAGE) from error
    return module


def find_class(module, name, path):
    """The class of that name, or the only one that executes."""
    where = os.path.basename(path)
    found = [c for c in vars(module).values()
             if inspect.isclass(c) and c.__module__ == module.__name__
             and not c.__name__.startswith("_") and not inspect.isabstract(c)
             and callable(getattr(c, "execute", None))]
    names = ", ".join(c.__name__ for c in found)
    if name:
        got = getattr(module, name, None)
        if inspect.isclass(got):
            return got
        raise Refusal(E_USAGE, "it has no class '%s'" % name, where,
                      "it has %s" % names if names else "")
    if len(found) == 1:
        return found[0]
    if found:
        raise Refusal(E_USAGE, "it has more than one class that executes: %s" % names, where,
                      "name one: python:FILE.py:CLASS")
    raise Refusal(E_USAGE, "no class in it has a method execute", where,
                  "write one, with load_model(self, path) and execute(self, inputs, outputs), "
                  "which returns a dict of arrays: onnxdbg-python(7)")


def check_options(init, given, where):
    """Refuses options that init does not take, and the lack of those that it must have."""
    if init is None:
        if given:
            raise Refusal(E_USAGE, "it takes no options: it has no init()", where)
        return
    try:
        inspect.signature(init).bind(**given)
    except TypeError as error:
        known = ", ".join(inspect.signature(init).parameters)
        raise Refusal(E_USAGE, "its init(): %s" % error, where,
                      "it takes %s" % known if known else "it takes no options") from error


# --- tensors ------------------------------------------------------------------------------------

class Tensors:
    """Values between the wire and the user's class; made once numpy is there."""

    def __init__(self):
        import numpy
        import onnxdbg_types
        self.np, self.types = numpy, onnxdbg_types

    def get(self, items, at, attachment):
        """The value that begins at items[at], and where the next one does."""
        head, types = items[at], self.types
        at += 1
        if head.kind == types.TENSOR:
            return self.get_dense(head, attachment), at
        parts = []
        for _ in range(head.n_items):
            part, at = self.get(items, at, attachment)
            parts.append(part)
        if head.kind == types.SEQUENCE:
            return parts, at
        if head.kind == types.OPTIONAL:
            return (parts[0] if parts else None), at
        if head.kind == types.MAP:
            return dict(zip(parts[0].tolist(), list(parts[1]))), at
        raise NotImplementedError("sparse tensors are not passed to Python")

    def get_dense(self, head, attachment):
        """An array that cannot be written to, over the attachment where it stands there."""
        data, attached = wire.blob_bytes(head.data, attachment)
        if head.dtype == self.types.STRING:
            array = self.types.strings_from_bytes(head.dims, data)
        elif head.dtype not in self.types.TYPES:
            raise wire.WireError("a tensor of type %d" % head.dtype)
        else:
            array = self.types.from_bytes(head.dtype, head.dims, data)
            array = array if attached else array.copy()
        array.flags.writeable = False
        return array

    def put(self, items, parcel, value, declared):
        """Appends a value to items; declared is what the model says of it, or None."""
        types = self.types
        kind = declared[0] if declared else None
        inner = declared[1] if declared and isinstance(declared[1], tuple) else None
        if kind == types.OPTIONAL or value is None:
            head = Message(kind=types.OPTIONAL, dtype=0, n_items=int(value is not None))
            items.append(head)
            if value is not None:
                head.dtype = self.put(items, parcel, value, inner).dtype
        elif kind == types.SEQUENCE or isinstance(value, list):
            head = Message(kind=types.SEQUENCE, dtype=inner[1] if inner else 0, n_items=len(value))
            items.append(head)
            for part in value:
                head.dtype = self.put(items, parcel, part, inner).dtype
        elif kind == types.MAP or isinstance(value, dict):
            head = Message(kind=types.MAP, n_items=2)
            items.append(head)
            self.put(items, parcel, self.np.array(list(value.keys())), None)
            head.dtype = self.put(items, parcel, self.np.array(list(value.values())), inner).dtype
        else:
            head = self.put_dense(parcel, value, declared[1] if kind == types.TENSOR else 0)
            items.append(head)
        return head

    def put_dense(self, parcel, value, declared):
        """The message of one array."""
        array = value if isinstance(value, self.np.ndarray) else self.np.asarray(value)
        dtype = self.types.dtype_of(array, declared)
        data = (self.types.strings_to_bytes(array) if dtype == self.types.STRING
                else self.types.to_bytes(array, dtype))
        return Message(kind=self.types.TENSOR, dtype=dtype, dims=array.shape, data=parcel.add(data))


# --- the model's place on disk ------------------------------------------------------------------

def stamp(path):
    """What changes when a file does."""
    of = os.stat(path)
    return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns


def copy_file(source, target):
    """A copy that shares its blocks with the file where the file system can do that."""
    with open(source, "rb") as before, open(target, "wb") as after:
        try:
            fcntl.ioctl(after, FICLONE, before.fileno())
            return
        except OSError:
            pass
    shutil.copyfile(source, target)


def place(source, target, copies):
    """A copy of the file, made again only where one of the two has changed. No link: a class that
    writes into it would write into the user's file, and newer ONNX libraries refuse weights that
    have a second name."""
    if os.path.exists(target) and copies.get(target) == (stamp(source), stamp(target)):
        return
    if os.path.lexists(target):
        os.remove(target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    copy_file(source, target)
    copies[target] = stamp(source), stamp(target)


def write_model(root, data, directory, copies):
    """model.onnx below root, with the files that hold its weights where it looks for them; copies
    remembers which are there."""
    import onnxdbg_model
    files = [f for f in onnxdbg_model.external_files(data) if not os.path.isabs(f)]
    above = max([os.path.normpath(f).split(os.sep).count(os.pardir) for f in files], default=0)
    home = os.path.join(root, *["model"] * (above + 1))
    os.makedirs(home, exist_ok=True)
    for name in files:
        place(os.path.realpath(os.path.join(directory, name)),
              os.path.normpath(os.path.join(home, name)), copies)
    own = "model.onnx"  # unless that is the file of which the model is a part
    while own in map(os.path.normpath, files):
        own = "_" + own
    path = os.path.join(home, own)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)
    return path


# --- the conversation ---------------------------------------------------------------------------

def options_text(said):
    """What capabilities() gave, {"cut": "no", "taps": ["a", "b"]}, as options of a spec."""
    def text(value):
        if isinstance(value, (list, tuple)):
            return ";".join(map(text, value))
        return re.sub(r"([\\,=@])", r"\\\1", str(value))
    return ",".join("%s=%s" % (key, text(value)) for key, value in (said or {}).items())


class Server:
    """One connection, one class, one model at a time."""

    def __init__(self, options, channel):
        self.options, self.channel = options, channel
        self.path = os.path.abspath(options.named["file"])
        self.root = tempfile.mkdtemp(prefix="python-", dir=options.named["scratch"] or None)
        self.copies = {}   # of files with weights, below root
        self.executor = self.tensors = None
        self.inputs = {}   # of the run before, which the debugger may refer to
        self.ports = {}, {}, set()  # outline() of the loaded model
        self.node_index = []        # of its nodes, in the debugged model

    def call(self, name, *args):
        """A method of the user's, None where there is none of that name."""
        method = getattr(self.executor, name, None)
        if method is None:
            return None
        try:
            return method(*args)
        except Exception as error:
            raise self.refusal(error) from error

    def refusal(self, error, code=None):
        """What the user's code has raised, as an answer."""
        return refusal_of(error, self.path, code)

    def make(self):
        """The user's executor."""
        cls = find_class(load_file(self.path), self.options.named["class"], self.path)
        given = self.options.given
        try:
            executor = cls()
            init = getattr(executor, "init", None)
            check_options(init, given, cls.__name__)
            if init is not None:
                init(**given)
        except (TypeError, ValueError) as error:
            raise self.refusal(error, E_USAGE) from error
        except Refusal:
            raise
        except Exception as error:
            raise self.refusal(error) from error
        return executor

    def hello(self, _request, _attachment):
        """Makes the executor; what is wrong with the spec is said here."""
        if self.executor is None:
            self.need_numpy()
            self.executor = self.make()
        text = self.call("describe") or self.describe()
        version = self.options.named["version"]
        return Message(ready=Message(version=version, description=str(text),
                                     capabilities=options_text(self.call("capabilities"))))

    def describe(self):
        """What there is to say of a class that does not describe itself."""
        return "%s in %s, Python %s" % (type(self.executor).__name__,
                                        os.path.basename(self.path), platform.python_version())

    def need_numpy(self):
        """Fails with the way to numpy."""
        try:
            self.tensors = Tensors()
        except ImportError as error:
            raise Refusal(
                E_EXECUTOR, "%s has no numpy: %s" % (sys.executable, error),
                remedy="install it (Debian: python3-numpy), or name another python3 in "
                       "ONNXDBG_PYTHON") from error

    def load(self, request, attachment):
        """Writes the model to a file and hands it over."""
        import onnxdbg_model
        data, _ = wire.blob_bytes(request.load.model, attachment)
        directory = request.load.dir
        try:
            self.enter(directory)
            self.ports = onnxdbg_model.outline(data)
            path = write_model(self.root, data, directory, self.copies)
            self.node_index = list(request.load.node_index)
        except OSError as error:
            raise Refusal(E_IO, error.strerror or str(error), str(error.filename or "")) from error
        except (wire.WireError, self.tensors.types.Refused) as error:
            raise Refusal(E_EXECUTOR, "the model cannot be read: %s" % error) from error
        self.call("load_model", path)
        return Message(done=Message())

    def enter(self, directory):
        """The model's files are looked for there."""
        os.chdir(directory)

    def take_inputs(self, items, attachment):
        """The inputs of a run, some of which may be those of the one before."""
        inputs, at = {}, 0
        while at < len(items):
            head = items[at]
            if head.same:
                if head.name not in self.inputs:
                    raise wire.WireError("there was no input '%s' before" % head.name)
                inputs[head.name] = self.inputs[head.name]
                at += 1
            else:
                inputs[head.name], at = self.tensors.get(items, at, attachment)
        self.inputs = inputs
        return dict(inputs)

    def check_names(self, inputs, wanted):
        """Refuses names that the model does not have, and the lack of inputs that it needs."""
        def no(what, name):
            raise Refusal(E_INPUT, "%s '%s'" % (what, name))
        taken, given, spare = self.ports
        for name in inputs:
            if name not in taken:
                no("the model has no input", name)
        for name, kind in taken.items():
            optional = kind is not None and kind[0] == self.tensors.types.OPTIONAL
            if name not in inputs and name not in spare and not optional:
                no("there is no value for the input", name)
        for name in wanted:
            if name not in given:
                no("the model has no output", name)

    def execute(self, request, attachment):
        """One run."""
        inputs = self.take_inputs(request.execute.inputs, attachment)
        wanted = list(request.execute.outputs)
        self.check_names(inputs, wanted)
        result = self.call("execute", inputs, list(wanted))
        if not isinstance(result, dict):
            raise Refusal(E_EXECUTOR, "execute() gave %s, not a dict of outputs"
                          % type(result).__name__)
        items, parcel = [], wire.Parcel()
        for name in wanted:
            declared = self.ports[1][name]
            optional = declared is not None and declared[0] == self.tensors.types.OPTIONAL
            if name not in result:
                raise Refusal(E_EXECUTOR, "execute() gave nothing for the output '%s'" % name)
            if result[name] is None and not optional:
                items.append(Message(absent=True))
                continue
            try:
                self.tensors.put(items, parcel, result[name], declared)
            except Exception as error:
                refusal = self.refusal(error)
                refusal.error.where = "output '%s'" % name
                raise refusal from error
        return Message(values=Message(outputs=items)), parcel

    def tell(self, _request, _attachment):
        """What there is to say of the loaded model."""
        told = self.call("account") or {}
        parcel = wire.Parcel()
        text = str(told.get("text", "")).encode("utf-8", "surrogateescape")
        places = [Message(node=str(n), op_type=str(o), where=str(w))
                  for n, o, w in told.get("placements", ())]
        notes = [" ".join(str(n).split()) for n in told.get("notes", ())]
        groups = self.groups()
        account = Message(text=parcel.add(text), places=places, notes=notes,
                          groups=parcel.add(groups))
        return Message(account=account), parcel

    def groups(self):
        """What groups() says of the kernels, with the indices of the debugged model."""
        told = self.call("groups")
        if told is None:
            return b""
        if isinstance(told, list):
            told = {"groups": told}
        try:
            for kernel in told.get("groups", ()):
                kernel["nodes"] = [self.node_name(str(n)) for n in kernel["nodes"]]
            return json.dumps({"schema": 1, **told}).encode()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise self.refusal(error) from error

    def node_name(self, name):
        """#K, of the file that was loaded, with the node's index in the debugged model."""
        if not name.startswith("#") or not self.node_index:
            return name
        at = name[1:]
        known = at.isdecimal() and int(at) < len(self.node_index)
        return "#%d" % self.node_index[int(at)] if known else name + " of the file"

    def answer(self):
        """Answers one request; False when there is to be no other."""
        request, attachment = wire.receive(self.channel)
        what = request.which
        if what == "shutdown":
            return False
        if what is None or (self.executor is None and what != "hello"):
            raise wire.WireError("what came is no request")
        parcel = None
        try:
            reply = getattr(self, what)(request, attachment)
            if isinstance(reply, tuple):
                reply, parcel = reply
        except Refusal as refusal:
            reply = Message(error=refusal.error)
        reply.id = request.id
        wire.send(self.channel, reply, parcel)
        return True

    def run(self):
        """The whole conversation."""
        try:
            while self.answer():
                pass
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass  # the debugger is gone
        finally:
            self.end()

    def end(self):
        """Puts everything away."""
        if hasattr(self.executor, "release"):
            self.executor.release()
        shutil.rmtree(self.root, ignore_errors=True)


def is_socket(path):
    """Whether a process listens behind that name, or has done so."""
    return os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode)


def hand_over(options):
    """Gives the connection to the process that listens, and waits until it is done with it."""
    if not options.named["fd"]:
        sys.exit("a process of another machine cannot be a target")
    path, scratch = options.named["file"], options.named["scratch"]
    words = ["--scratch=" + scratch, "--file=" + path, "--version=" + options.named["version"]]
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        try:
            other.connect(path)
        except OSError as error:
            sys.exit("the process that is the target is gone: %s" % error)
        socket.send_fds(other, [json.dumps(words).encode()], [int(options.named["fd"])])
        os.close(int(options.named["fd"]))
        other.recv(1)


def main():
    """The program."""
    options = Options(sys.argv[1:])
    if is_socket(options.named["file"]):
        hand_over(options)
        return
    channel = open_channel(options.named["fd"])
    faulthandler.enable()  # a signal's last words are where in the class it came
    if options.named["scratch"]:
        os.environ["TMPDIR"] = options.named["scratch"]
    try:
        Server(options, channel).run()
    except wire.WireError as error:
        sys.exit("onnxdbg_serve.py: %s" % error)


if __name__ == "__main__":
    main()
