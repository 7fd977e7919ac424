# SPDX-License-Identifier: MIT
"""A target that is an object of this very process: for the package onnxdbg.

    with Host(target, path) as host:
        ...  # start onnxdbg with --target python:PATH
        host.serve(os.pidfd_open(pid))

onnxdbg starts a child for its target, as ever. That is onnxdbg_serve.py, which finds a socket where
a file with a class should be, and hands its connection over to us. So values come as they do to any
class in Python, and the user's code runs in the thread that calls serve().
"""
import inspect
import json
import platform
import selectors
import socket

import onnxdbg_serve
import onnxdbg_wire as wire

WORDS_MAX = 65536  # bytes of what comes with a connection
EXCEPTIONS_MAX = 16  # that are kept, as each holds the arrays of its frames


class Function:
    """function(path, inputs) as a class that runs models; it may give more than it is asked for."""

    def __init__(self, function):
        self.function, self.path = function, None

    def load_model(self, path):
        """Keeps the path for the runs that follow."""
        self.path = path

    def execute(self, inputs, _outputs):
        """One run."""
        return self.function(self.path, inputs)


class Guest(onnxdbg_serve.Server):
    """One connection, as in a process of its own, but for what belongs to this process."""

    def __init__(self, host, words, fd, handed):
        super().__init__(onnxdbg_serve.Options(words), wire.SocketChannel(fd))
        self.host, self.handed = host, handed

    def make(self):
        try:
            return self.host.make()
        except Exception as error:
            raise self.refusal(error) from error

    def describe(self):
        return "%s in this process, Python %s" % (self.host.name, platform.python_version())

    def refusal(self, error, code=None):
        trace = error.__traceback__  # without our own frames, down to the user's
        while trace and trace.tb_frame.f_code.co_filename in (__file__, onnxdbg_serve.__file__):
            trace = trace.tb_next
        error.__traceback__ = trace or error.__traceback__
        if len(self.host.exceptions) < EXCEPTIONS_MAX:
            self.host.exceptions.append(error)
        return onnxdbg_serve.refusal_of(error, self.host.file, code, aloud=False)

    def enter(self, directory):
        """This process stays where it is."""

    def end(self):
        if self.host.shared:
            self.executor = None  # its owner releases it
        self.channel.socket.close()
        self.handed.close()
        super().end()


class Host:
    """Listens at path for connections to target: a class, which is made anew for each of them; an
    object with a method execute, which all share; or function(path, inputs). exceptions are those
    that it has raised, the first 16."""

    def __init__(self, target, path):
        executes = callable(getattr(target, "execute", None))
        if not executes and (inspect.isclass(target) or not callable(target)):
            raise TypeError("a target is a spec, a function, or has a method execute; this is %r"
                            % (target,))
        self.shared = executes and not inspect.isclass(target)
        self.target = target if executes else lambda: Function(target)
        code = type(target) if self.shared else target
        self.name = getattr(code, "__name__", type(code).__name__)
        try:
            self.file = inspect.getsourcefile(code) or ""
        except TypeError:
            self.file = ""  # it is not written in Python
        self.exceptions = []
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.listener.bind(path)
        except OSError:
            self.close()
            raise
        self.listener.listen()
        self.selector.register(self.listener, selectors.EVENT_READ)

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.close()

    def make(self):
        """What answers a new connection."""
        if self.shared:
            return self.target
        made = self.target()
        if hasattr(made, "init"):
            made.init()
        return made

    def close(self):
        """Ends all connections."""
        for key in list(self.selector.get_map().values()):
            if isinstance(key.data, Guest):
                key.data.end()
        self.selector.close()
        self.listener.close()

    def accept(self):
        """A connection that is handed over."""
        handed, _ = self.listener.accept()
        words, fds, _, _ = socket.recv_fds(handed, WORDS_MAX, 1)
        if not fds:
            handed.close()
            return
        guest = Guest(self, json.loads(words), fds[0], handed)
        self.selector.register(guest.channel.socket, selectors.EVENT_READ, guest)

    def answer(self, guest):
        """A request of the debugger's, or the end of it."""
        try:
            if guest.answer():
                return
        except (EOFError, BrokenPipeError, ConnectionResetError):
            pass
        self.selector.unregister(guest.channel.socket)
        guest.end()

    def serve(self, ended):
        """Answers until the descriptor ended can be read."""
        self.selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = [key for key, _ in self.selector.select()]
            for key in ready:
                if key.data is not None:
                    self.answer(key.data)
                elif key.fileobj is self.listener:
                    self.accept()
            if any(key.fd == ended for key in ready):
                self.selector.unregister(ended)
                return
