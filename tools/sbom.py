#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the list of the parts of both programs (SPDX 2.3), and puts the licences of these parts beside it.

  tools/sbom.py ROOT BUILD STAGE VERSION SECONDS

What was linked in is read from the maps that the linker has left in BUILD, what was compiled in from the
debugging information of the programs there; what these files are of, from ROOT/origins.tsv (tools/cross.sh)
and, for the compiler's own, from dpkg. Only the licences are a table of ours: a part that is not in it is an
error.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import uuid

PROGRAMS = "onnxdbg", "onnxdbg-serve"
# By Debian's source package. What of each is linked in, not what its source has beside that.
LICENCES = {
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "jansson": "MIT",
    "libmd": "BSD-3-Clause AND Beerware",
    "libxlsxwriter": "BSD-2-Clause AND BSD-3-Clause AND Zlib",
    "libzip": "BSD-3-Clause",
    "ncurses": "X11-distribute-modifications-variant",
    "pcre2": "BSD-3-Clause AND BSD-2-Clause",
    "protobuf-c": "BSD-2-Clause",
    "readline": "GPL-3.0-or-later",
    "sqlite3": "blessing",
    "zlib": "Zlib",
}


def linked(path):
    """The archives of which the linker has taken a member, and the objects that it was given."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    taken = re.findall(r"^(/\S+\.a)\(", text.split("\n\n\n")[0].split("Discarded")[0], re.M)
    return sorted(set(taken) | set(re.findall(r"^LOAD (/\S+\.o)$", text, re.M)))


def origins(root):
    """From a file's name to what it is of."""
    with open(f"{root}/origins.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    keys = "name", "version", "source", "file", "sha256"
    return {row[0]: dict(zip(keys, row[1:]), of="debian", documents=f"{root}/usr/share/doc") for row in rows}


def dpkg(path):
    """The same of a file of this machine: the compiler's."""
    owner = subprocess.run(["dpkg", "-S", path], check=True, capture_output=True, text=True).stdout
    form = "${Package}\t${Version}\t${source:Package}"
    name, version, source = subprocess.run(
        ["dpkg-query", "-W", "-f", form, owner.split(": ")[0]], check=True, capture_output=True,
        text=True).stdout.split("\t")
    with open("/etc/os-release", encoding="utf-8") as file:
        system = re.search(r'^ID="?(\w+)', file.read(), re.M).group(1)
    return {"name": name, "version": version, "source": re.sub(r"-[0-9]+$", "", source), "of": system,
            "documents": "/usr/share/doc"}


def digest(path, kind):
    """As SPDX has it."""
    with open(path, "rb") as file:
        value = hashlib.new(kind.lower(), file.read()).hexdigest()
    return {"algorithm": kind, "checksumValue": value}


def identifier(name):
    """Of an element."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(part):
    """A part, as SPDX has it."""
    element = {
        "SPDXID": identifier(part["name"]), "name": part["name"], "versionInfo": part["version"],
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION", "licenseDeclared": LICENCES[part["source"]],
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "LIBRARY",
    }
    if "file" in part:
        element["packageFileName"] = part["file"]
        element["checksums"] = [{"algorithm": "SHA256", "checksumValue": part["sha256"]}]
    if part.get("file", ".deb").endswith(".deb"):
        element["supplier"] = f"Organization: {part['of'].capitalize()}"
        version = part["version"].replace(":", "%3A").replace("+", "%2B")
        element["externalRefs"] = [{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
            "referenceLocator": f"pkg:deb/{part['of']}/{part['name']}@{version}"}]
    return element


def main():
    """Writes it."""
    root, build, stage, version, seconds = sys.argv[1:]
    documents = f"{stage}/share/doc/onnxdbg"
    known = origins(root)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"onnxdbg-{version}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(seconds))),
                         "creators": ["Tool: onnxdbg-sbom"]},
        "packages": [{
            "SPDXID": "SPDXRef-onnxdbg", "name": "onnxdbg", "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "GPL-3.0-or-later AND MIT", "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION"}],
        "files": [],
        "relationships": [],
    }
    relate = lambda a, kind, b: document["relationships"].append(
        {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b})
    relate("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-onnxdbg")
    parts = {}
    for program in PROGRAMS:
        path, own = f"{stage}/bin/{program}", identifier(f"bin-{program}")
        document["files"].append({
            "SPDXID": own, "fileName": f"./bin/{program}", "fileTypes": ["BINARY"],
            "checksums": [digest(path, "SHA1"), digest(path, "SHA256")],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
        relate("SPDXRef-onnxdbg", "CONTAINS", own)
        names = {}
        for file in linked(f"{build}/{program}.map"):
            part = known.get(os.path.basename(file)) or dpkg(os.path.realpath(file))
            if part["source"] not in LICENCES:
                sys.exit(f"sbom: {file} is linked in, of {part['source']}, whose licence tools/sbom.py "
                         "does not know")
            names[part["name"]] = parts[part["name"]] = part
        for name in sorted(names):
            relate(own, "STATIC_LINK", identifier(name))
    for name in sorted(parts):
        document["packages"].append(package(parts[name]))
        shutil.copyfile(f"{parts[name]['documents']}/{name}/copyright",
                        f"{documents}/licenses/{name}.copyright")
        os.chmod(f"{documents}/licenses/{name}.copyright", 0o644)
    # The same parts make the same name, and others another.
    content = json.dumps(document, sort_keys=True)
    document["documentNamespace"] = uuid.uuid5(uuid.NAMESPACE_OID, content).urn
    with open(f"{documents}/onnxdbg.spdx.json", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    os.chmod(f"{documents}/onnxdbg.spdx.json", 0o644)


main()
