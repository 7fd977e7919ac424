# SPDX-License-Identifier: MIT
"""Where the command onnxdbg and its files are, and the environment that it runs in."""
from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Dict

from ._errors import NotFound

_INSIDE = Path(__file__).resolve().parent / "bin" / "onnxdbg"


def program() -> str:
    """The path of the command: what the variable ONNXDBG names, else the one in this package, else
    the one on PATH.

    >>> import os
    >>> os.path.basename(program())
    'onnxdbg'
    """
    named = os.environ.get("ONNXDBG")
    path = named or (str(_INSIDE) if _INSIDE.exists() else shutil.which("onnxdbg"))
    if not path:
        raise NotFound("there is no command onnxdbg, neither in this package nor on PATH; "
                       "name it in the variable ONNXDBG")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise NotFound(f"{path}: no program that can be started; "
                       "name another in the variable ONNXDBG")
    return os.path.realpath(path)


def environment() -> Dict[str, str]:
    """The command's: targets in Python run in this Python, and ONNX Runtime is looked for in its
    packages, as long as nothing else is said."""
    env = dict(os.environ)
    if sys.executable:
        env.setdefault("ONNXDBG_PYTHON", sys.executable)
    if sys.prefix != sys.base_prefix:
        env.setdefault("VIRTUAL_ENV", sys.prefix)
    return env


def share() -> Path:
    """The folder of the command's own modules in Python."""
    named = os.environ.get("ONNXDBG_SHARE")
    beside = Path(program()).parent
    places = [Path(named)] if named else [beside / "../share/onnxdbg", beside / "share"]
    for place in places:
        if (place / "python" / "onnxdbg_host.py").exists():
            return (place / "python").resolve()
    raise NotFound(f"python/onnxdbg_host.py is not found near {named or beside}; "
                   "name the folder share in the variable ONNXDBG_SHARE")


def module(name: str) -> Any:
    """One of these modules: they know ONNX's types and files, and how targets are talked to."""
    folder = str(share())
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)
