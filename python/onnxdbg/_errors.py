# SPDX-License-Identifier: MIT
"""What the end of the command means, as exceptions: one class for each exit status."""
from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._report import Report


class Error(Exception):
    """The command did not come to a result. status: its exit status, or None where it did not even
    start; report: what a search found until then, or None."""

    def __init__(self, message: str, status: Optional[int] = None,
                 report: Optional[Report] = None) -> None:
        super().__init__(message)
        self.status = status
        self.report = report


class NotFound(Error):
    """The command is not found, or a part of it, or it cannot be started here."""


class UsageError(Error, ValueError):
    """Exit status 2: an option, a spec or a verb is wrong."""


class ModelError(Error):
    """Exit status 3: the model or an input cannot be used, or the reference computes no output."""


class ExecutorError(Error):
    """Exit status 4: no verdict, because an executor failed. Where the target is an object of this
    process, __cause__ is the first exception that it raised."""


class Interrupted(Error):
    """Exit status 130 or 143: somebody else stopped the command."""


class Mismatch(AssertionError):
    """A model diverges on a target; the text is the diagnosis. report: all of it."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


class ReportWarning(UserWarning):
    """What lets a verdict be doubted."""


class NotJudgedWarning(ReportWarning):
    """The verdict is "pass", and some values were not judged."""


def error_of(status: int, message: str, report: Optional[Report] = None) -> Error:
    """The exception for an exit status; below 0, a signal has ended the command.

    >>> error_of(2, "there is no executor 'gpu'")
    UsageError("there is no executor 'gpu'")
    >>> error_of(-11, "").args
    ('onnxdbg was ended by signal 11, which is a fault of its own',)
    """
    kinds = {2: UsageError, 3: ModelError, 4: ExecutorError, 130: Interrupted, 143: Interrupted,
             127: NotFound}  # that is the loader's, for want of a library
    if status < 0:
        message = f"onnxdbg was ended by signal {-status}, which is a fault of its own"
    return kinds.get(status, Error)(message or f"exit status {status}", status, report)


for _kind in (Error, NotFound, UsageError, ModelError, ExecutorError, Interrupted, Mismatch,
              ReportWarning, NotJudgedWarning):
    _kind.__module__ = "onnxdbg"  # which is where users find them
