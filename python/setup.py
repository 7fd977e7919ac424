# SPDX-License-Identifier: MIT
"""A wheel for every Python of a platform, which `make wheel` names: it has programs inside. Made of
this folder alone, without them, it is one for all platforms."""
import os
import shutil

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel

PLATFORM = os.environ.get("ONNXDBG_PLATFORM")


class Wheel(bdist_wheel):
    """With a tag of our own."""

    def get_tag(self):
        return "py3", "none", PLATFORM or "any"

    def egg2dist(self, egginfo_path, distinfo_path):
        """With the list of the programs' parts, where PEP 770 has it."""
        super().egg2dist(egginfo_path, distinfo_path)
        if os.path.isdir("sboms"):
            shutil.copytree("sboms", os.path.join(distinfo_path, "sboms"))


class Package(Distribution):
    """With programs, or without."""

    def has_ext_modules(self):
        return PLATFORM is not None


setup(cmdclass={"bdist_wheel": Wheel}, distclass=Package)
