# SPDX-License-Identifier: MIT
"""The plugin for pytest: files of a search lie in the test's tmp_path, and JUnit's XML gets the
verdict and the culprits as properties of the test."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest

from . import _verbs
from ._report import Report


@pytest.fixture(autouse=True)
def _onnxdbg(request: pytest.FixtureRequest) -> Iterator[None]:
    """Listens to assert_matches() during one test."""
    calls = 0

    def keep() -> Path:
        nonlocal calls
        calls += 1
        folder: Path = request.getfixturevalue("tmp_path")
        return folder / f"onnxdbg-{calls}"

    def hear(report: Report) -> None:
        properties = request.node.user_properties
        properties.append(("onnxdbg.verdict", report.verdict))
        properties.extend(("onnxdbg.culprit", str(culprit)) for culprit in report.culprits)

    _verbs.keeps.append(keep)
    _verbs.hears.append(hear)
    yield
    _verbs.keeps.remove(keep)
    _verbs.hears.remove(hear)
