# SPDX-License-Identifier: MIT
"""The command itself, as `onnxdbg` and `python -m onnxdbg`."""
import os
import sys
from typing import NoReturn

from ._errors import NotFound
from ._program import environment, program


def become(name: str) -> NoReturn:
    """Runs the program of that name in our place."""
    try:
        path = os.path.join(os.path.dirname(program()), name)
        os.execve(path, [path, *sys.argv[1:]], environment())
    except (NotFound, OSError) as error:
        sys.exit(f"onnxdbg: {error}")


def main() -> NoReturn:
    """onnxdbg"""
    become("onnxdbg")


def serve() -> NoReturn:
    """onnxdbg-serve, which ssh: starts on another machine."""
    become("onnxdbg-serve")


if __name__ == "__main__":
    main()
