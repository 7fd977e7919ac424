# SPDX-License-Identifier: MIT
"""What a search has found, as objects; all numbers and sentences are the command's."""
from __future__ import annotations

import html
import shlex
import textwrap
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Dict, List, Mapping, NoReturn, Optional, Sequence, Tuple, Union

from ._call import Folder
from ._errors import Error, NotJudgedWarning, ReportWarning, error_of
from ._program import module

NOT_JUDGED = ("untested", "untestable", "unsupported")
SHOWN = 3  # culprits that a message tells of


def number(value: Union[None, str, float]) -> Optional[float]:
    """A number of the command's JSON, in which what is not finite is a text.

    >>> number("inf"), number(None), number(0.5)
    (inf, None, 0.5)
    """
    return None if value is None else float(value)


@dataclass(frozen=True)
class Explanation:
    """What a culprit computed instead of its operator. fit is "exact", "class" or "partly";
    residual is how far the target is from it, noise how far honest computations are apart."""

    text: str
    variant: str
    fit: str
    residual: float
    noise: float
    confirmed: int
    refuted: int
    members: Tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Culprit:
    """A node with an error of its own. Errors are relative to the root mean square of the value;
    None is not known. json: all that onnxdbg-report(7) says of it."""

    index: int
    node: str
    operator: str
    domain: str
    kind: str
    value: Optional[str]
    error: Optional[float]
    noise: Optional[float]
    local_error: Optional[float]
    verified: bool
    confidence: Optional[str]
    explanations: Tuple[Explanation, ...]
    text: str
    json: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def explanation(self) -> Optional[Explanation]:
        """The best explanation, None where there is none."""
        return self.explanations[0] if self.explanations else None

    def __str__(self) -> str:
        return f"#{self.index} {self.node} ({self.operator})".replace("  ", " ")

    @staticmethod
    def of(json: Mapping[str, Any]) -> Culprit:
        """From the command's JSON."""
        explanations = tuple(Explanation(
            e["text"], e["variant"], e["fit"], float(e["residual"]), float(e["noise"]),
            e["confirmed"], e["refuted"], tuple(e["members"])) for e in json["explanations"] or ())
        return Culprit(json["index"], json["name"], json["op_type"], json["domain"], json["kind"],
                       json["value"], number(json["error"]), number(json["noise"]),
                       number(json["local_error"]), json["verified"], json["confidence"],
                       explanations, json["text"], json)


class Arrays:
    """Where the arrays of a search come from: its session has what the model was fed with, and what
    the target gave. words are the search's."""

    FORWARD = ("--reference=", "--kernels=", "--map=", "--layout=", "--types=", "--follow-links")

    def __init__(self, folder: Folder, json: Mapping[str, Any], words: Sequence[str], target: Any,
                 session: str) -> None:
        self.folder, self.model, self.session = folder, words[1], session
        self.target = json["target"] if target is None else target
        self.words = [word for word in words[2:] if word.startswith(self.FORWARD)]
        self.several = [what for what in ("samples", "sequence", "against") if what in json]

    def get(self, name: str, target: Any) -> Any:
        """A value of a target, or of the reference (None)."""
        if self.several:
            raise Error(f"a search with {self.several[0]} has several arrays of a value; "
                        "`onnxdbg print` shows the one that it is asked for")
        file = self.folder.path / "value.pb"
        words = ["print", "--save=" + str(file), "--session=" + self.session, *self.words]
        done = self.folder.run(words, target, [self.model, name])
        if done.status:
            raise error_of(done.status, done.why) from self.folder.cause()
        data = memoryview(file.read_bytes())
        file.unlink()
        model, wire = module("onnxdbg_model"), module("onnxdbg_wire")
        if any(number == 3 for number, _ in wire.read_fields(data)):
            raise Error(f"{name} is a sequence or an optional, which no array can hold; "
                        "`onnxdbg print` shows it")
        return model.tensor_value(wire.decode(model.TENSOR_PROTO, data), "")


class Value:
    """A value of the model: name, node (None: an input), verdict, error and noise; and its arrays,
    which are computed when they are asked for."""

    def __init__(self, arrays: Arrays, json: Mapping[str, Any]) -> None:
        self._arrays, self.json = arrays, json
        self.name: str = json["name"]
        self.node: Optional[int] = json["node"]
        self.verdict: str = json["verdict"]
        self.error = number(json["error"])
        self.noise = number(json["noise"])

    def __repr__(self) -> str:
        return f"<onnxdbg.Value {self.name}: {self.verdict}>"

    @cached_property
    def reference(self) -> Any:
        """The reference's array. Types that NumPy lacks are as in onnxdbg-python(7)."""
        return self._arrays.get(self.name, None)

    @cached_property
    def target(self) -> Any:
        """The target's array, of a run in which this value is read."""
        return self._arrays.get(self.name, self._arrays.target)


class Report:
    """What a search has found. It is neither true nor false: look at verdict, passed or diverges.
    Its files go with it, or with close()."""

    def __init__(self, folder: Folder, json: Dict[str, Any], text: str, words: Sequence[str],
                 target: Any, session: str) -> None:
        self._folder, self._words, self._target = folder, words, target
        self.json = json
        self.text = text
        self.verdict: str = json["verdict"]
        self.culprits: List[Culprit] = [Culprit.of(c) for c in json["culprits"]]
        arrays = Arrays(folder, json, words, target, session)
        self.values: Mapping[str, Value] = MappingProxyType(
            {v["name"]: Value(arrays, v) for v in json["values"]})
        self.warnings: List[str] = json["warnings"]
        self.notes: List[str] = json["notes"]
        self.exceptions = list(folder.exceptions)

    # --- the verdict ------------------------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        raise TypeError("a Report is neither true nor false; ask for .passed or .diverges")

    @property
    def passed(self) -> bool:
        """Nothing diverges."""
        return self.verdict == "pass"

    @property
    def diverges(self) -> bool:
        """Something does."""
        return self.verdict == "diverges"

    @property
    def not_judged(self) -> List[Value]:
        """Values made by nodes of which nothing can be said."""
        return [v for v in self.values.values() if v.node is not None and v.verdict in NOT_JUDGED]

    def _warn(self, level: int) -> None:
        """Says as warnings what lets the verdict be doubted."""
        for text in self.warnings:
            warnings.warn(text, ReportWarning, level + 1)
        if not self.passed:
            return
        if self.json["little_shown"]:
            warnings.warn("the reference's outputs hold one number throughout, or nothing, so that "
                          "passing says little", NotJudgedWarning, level + 1)
        counts = Counter(value.verdict for value in self.not_judged)
        if counts:
            what = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
            warnings.warn(f"of {len(self.values)} values, {what}: {self.not_judged[0].name!r} for "
                          "one; see Report.not_judged", NotJudgedWarning, level + 1)

    # --- words ------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return self.text.rstrip()

    def __repr__(self) -> str:
        named = ", ".join(map(str, self.culprits[:SHOWN]))
        return f"<onnxdbg.Report {self.verdict}{': ' + named if named else ''}>"

    @property
    def command(self) -> Optional[str]:
        """The command that repeats the search in a shell; None where that cannot be: its files go
        with this object, or its target is one of this process."""
        if not isinstance(self._target, (str, type(None))):
            return None
        if not self._folder.kept and any(str(self._folder.path) in word for word in self._words):
            return None
        target = ["--target=" + self._target] if self._target else []
        return shlex.join(["onnxdbg", *self._words, *target])

    def diagnosis(self) -> str:
        """What a failing test prints: the verdict in the first line, the culprits with what they
        computed instead, and how to repeat it."""
        lines = [f"{self.verdict}: {self.text.partition(chr(10))[0]}"]
        for culprit in self.culprits[:SHOWN]:
            numbers = [f", {what} {n:.3g}" for what, n in (("error", culprit.error),
                                                           ("noise", culprit.noise))
                       if n is not None]
            lines += ["", f"{culprit}: {culprit.kind}{''.join(numbers)}"]
            if culprit.explanation:
                lines.append(f"    explanation: {culprit.explanation}")
            lines += textwrap.wrap(culprit.text, 96, initial_indent="    ",
                                   subsequent_indent="    ", break_on_hyphens=False)
        if len(self.culprits) > SHOWN:
            lines += ["", f"and {len(self.culprits) - SHOWN} culprits more"]
        lines += [""] + [f"warning: {text}" for text in self.warnings]
        if self.command:
            lines.append(f"repeat: {self.command}")
        elif isinstance(self._target, (str, type(None))):
            lines.append("repeat: with keep=FOLDER, which leaves the files to do that with")
        else:
            lines.append("repeat: in Python, as the target is an object of this process")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        def cells(row: Sequence[Any], tag: str = "td") -> str:
            left = f"<{tag} style=\"text-align:left\">"
            return f"<tr>{''.join(f'{left}{html.escape(str(cell))}</{tag}>' for cell in row)}</tr>"

        def short(value: Optional[float]) -> str:
            return "" if value is None else f"{value:.3g}"

        rows = [cells((c, c.kind, short(c.error), short(c.noise), c.confidence or "",
                       c.explanation or "")) for c in self.culprits]
        heads = cells(("culprit", "kind", "error", "noise", "confidence", "explanation"), "th")
        table = f"<table>{heads}{''.join(rows)}</table>" if rows else ""
        first = html.escape(f"{self.verdict}: {self.text.partition(chr(10))[0]}")
        return (f"<div><p><b>{first}</b></p>{table}<details><summary>diagnosis</summary>"
                f"<pre>{html.escape(str(self))}</pre></details></div>")

    def render(self, form: str) -> str:
        """The report as "markdown", "html", "json", "csv" or "junit"."""
        done = self._folder.run(["report", str(self._folder.path / "report.json"),
                                 "--format=" + form])
        if done.status:
            raise error_of(done.status, done.why)
        return done.out

    def to_junit(self) -> str:
        """XML for a server of continuous integration: a test case for each value, and one for the
        model, which is an error where there is no verdict."""
        return self.render("junit")

    def to_html(self) -> str:
        """A page that needs no network, with histograms and a table of all values."""
        return self.render("html")

    def to_markdown(self) -> str:
        """The diagnosis, for an issue."""
        return self.render("markdown")

    def close(self) -> None:
        """Removes the files that belong to this report; its arrays can no longer be asked for."""
        if not self._folder.kept:
            self._folder.close()

    def __enter__(self) -> Report:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
