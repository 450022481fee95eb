# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is deliberately absent: includes and names that stay on their side of a boundary."""

import re

from functions import matching_brace
from source import CPP, PRODUCT, Finding

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)

# (rule, pattern of the included name, why, where it is allowed)
FENCES = (
    ("cuda-boundary", r"^(?:cuda\w*\.h|cuda/|cooperative_groups|cub/|thrust/|nv/|device_)",
     "CUDA headers appear only in *.cu, *.cuh and gpu-worker/cuda/",
     lambda path: path.endswith((".cu", ".cuh")) or "gpu-worker/cuda/" in path),
    ("control-boundary", r"^(?:zmq\w*\.h|capnp/|kj/)|\.capnp\.h$",
     "ZeroMQ and Cap'n Proto appear only in shared/control/",
     lambda path: "shared/control/" in path or path.startswith("tests/fuzz/control")),
    ("yaml-boundary", r"^yaml-cpp/", "yaml-cpp appears only in orchestration/planner/",
     lambda path: "orchestration/planner/" in path),
    ("dpdk-boundary", r"^rte_", "DPDK headers stay out of device code",
     lambda path: not path.endswith((".cu", ".cuh"))),
)
# Parts of the product from the ground up: each includes only itself and those in front of it. Of
# those in one row neither includes the other.
LAYERS = (("shared/",), ("services/functions/",), ("io-worker/",), ("services/", "gpu-worker/"),
          ("orchestration/",))
# The same of the folders of shared/.
SHARED_LAYERS = tuple(tuple(f"shared/{folder}/" for folder in row) for row in (
    ("base",), ("config", "metrics", "packet", "ring"), ("layout",), ("watch",), ("actor",),
    ("control", "driver", "links"), ("recovery",)))
STRUCT = re.compile(r"\bstruct\s+(?:alignas\([^)]*\)\s*)?(\w+)[^;{(]*\{")
MEMBER_POINTER = re.compile(r"^[ \t]*(?:const\s+)?[\w:<>]+\s*\*\s*(?:const\s+)?\w+\s*(?:=[^;]*)?;",
                            re.MULTILINE)
PACKET_FIELD = re.compile(r"\b\w*(?:packet|payload|frame)\w*\s*@\d+\s*:\s*(?:List\()?Data\b",
                          re.IGNORECASE)


def includes(file):
    """(line, is quoted, name) of each include."""
    for match in INCLUDE.finditer(file.text):
        yield file.line_of(match.start(2)), match.group(1) == '"', match.group(2)


def fences(file):
    if not file.path.endswith(CPP):
        return
    for line, quoted, name in includes(file):
        for rule, pattern, why, allowed in FENCES:
            if re.search(pattern, name) and not allowed(file.path):
                yield Finding(rule, file.path, line, f"includes {name}: {why}")
        if quoted and name.startswith("."):
            yield Finding("include-root", file.path, line,
                          f"includes {name}: paths start at the root of the repository")
        others = tuple(folder for folder in PRODUCT + ("tests/",) if folder != "shared/")
        if file.path.startswith("shared/") and name.startswith(others):
            yield Finding("shared-boundary", file.path, line,
                          f"includes {name}: shared/ includes nothing of other folders")


def layer_of(rows, path):
    """Number of the row and the part in it that a path is in; None outside."""
    for number, parts in enumerate(rows):
        for part in parts:
            if path.startswith(part):
                return number, part
    return None


def layers(file):
    """No part of the product includes one that stands on it, or beside it."""
    if not file.path.endswith(CPP):
        return
    for rows in (LAYERS, SHARED_LAYERS):
        own = layer_of(rows, file.path)
        if own is None or own[1] == "shared/":  # what it includes of others breaks a fence
            continue
        for line, quoted, name in includes(file):
            other = layer_of(rows, name) if quoted else None
            if other and other[1] != own[1] and other[0] >= own[0]:
                yield Finding("layers", file.path, line,
                              f"includes {name}: {own[1]} does not stand on {other[1]}")


def no_pointers_in_layout(file):
    """No pointer is stored in shared memory: structs whose size is asserted hold indexes."""
    if not (file.path.startswith("shared/layout/") and file.path.endswith(".hpp")):
        return
    for struct in STRUCT.finditer(file.bare):
        if not re.search(rf"sizeof\(\s*{struct.group(1)}\s*\)\s*==", file.bare):
            continue
        end = matching_brace(file.bare, struct.end() - 1)
        for member in MEMBER_POINTER.finditer(file.bare, struct.end(), end):
            yield Finding("layout-pointer", file.path, file.line_of(member.end() - 1),
                          "a pointer in a layout: shared memory holds indexes")


def no_packets_in_control(file):
    if file.path.endswith(".capnp"):
        for match in PACKET_FIELD.finditer(file.text):
            yield Finding("control-packets", file.path, file.line_of(match.start()),
                          "no packet byte crosses the control plane")


def pragma_once(file):
    if file.path.endswith((".hpp", ".cuh")) and "#pragma once" not in file.text:
        yield Finding("pragma-once", file.path, 1, "a header without #pragma once")


FILE_RULES = (fences, layers, no_pointers_in_layout, no_packets_in_control, pragma_once)
