# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What is deliberately absent."""

import pytest

from boundaries import fences, layers, no_packets_in_control, no_pointers_in_layout, pragma_once
from source import File


def rules(rule, path, text):
    return [finding.rule for finding in rule(File(path, text))]


@pytest.mark.parametrize("path, include, rule", [
    ("shared/base/a.hpp", '"services/functions/function.hpp"', "shared-boundary"),
    ("shared/base/a.hpp", '"tests/unit/a.hpp"', "shared-boundary"),
    ("services/a.cpp", "<cuda_runtime.h>", "cuda-boundary"),
    ("gpu-worker/main.cpp", "<cuda_runtime_api.h>", "cuda-boundary"),
    ("services/hub/a.cpp", "<zmq.hpp>", "control-boundary"),
    ("services/hub/a.cpp", "<capnp/message.h>", "control-boundary"),
    ("services/hub/a.cpp", '"shared/control/control.capnp.h"', "control-boundary"),
    ("io-worker/main.cpp", "<yaml-cpp/yaml.h>", "yaml-boundary"),
    ("gpu-worker/cuda/a.cu", "<rte_ring.h>", "dpdk-boundary"),
    ("services/a.cpp", '"../a.hpp"', "include-root")])
def test_an_include_over_a_boundary_is_found(path, include, rule):
    assert rules(fences, path, f"#include {include}\n") == [rule]


@pytest.mark.parametrize("path, include", [
    ("shared/base/a.hpp", '"shared/layout/slot.hpp"'), ("gpu-worker/a.cu", "<cuda_runtime.h>"),
    ("gpu-worker/cuda/stream.hpp", "<cuda_runtime_api.h>"),
    ("shared/control/bus.cpp", "<zmq.hpp>"), ("tests/unit/shared/control/a.cpp", "<zmq.hpp>"),
    ("orchestration/planner/a.cpp", "<yaml-cpp/yaml.h>"), ("services/a.cpp", "<rte_ring.h>")])
def test_an_include_on_its_side_is_allowed(path, include):
    assert rules(fences, path, f"#include {include}\n") == []


@pytest.mark.parametrize("path, include", [
    ("services/functions/a.cpp", "io-worker/ports/port.hpp"),
    ("io-worker/main.cpp", "services/classifier/classifier_actor.hpp"),
    ("services/hub/a.cpp", "gpu-worker/a.hpp"),
    ("gpu-worker/a.cpp", "services/hub/a.hpp"),
    ("services/hub/a.cpp", "orchestration/cli/a.hpp"),
    ("services/hub/a.cpp", "orchestration/planner/loader.hpp"),
    ("shared/base/a.hpp", "shared/layout/slot.hpp"),
    ("shared/ring/a.hpp", "shared/config/plan.hpp"),
    ("shared/links/a.hpp", "shared/recovery/recovery.hpp")])
def test_an_arrow_that_runs_back_up_is_found(path, include):
    assert rules(layers, path, f'#include "{include}"\n') == ["layers"]


@pytest.mark.parametrize("path, include", [
    ("services/functions/a.cpp", "shared/config/plan.hpp"),
    ("shared/recovery/a.hpp", "shared/links/inbox.hpp"),
    ("shared/layout/a.hpp", "shared/layout/slot.hpp"),
    ("io-worker/main.cpp", "services/functions/table.hpp"),
    ("services/hub/a.cpp", "io-worker/ports/tap.hpp"),
    ("services/fused/main.cpp", "services/classifier/classifier_actor.hpp"),
    ("gpu-worker/a.cpp", "services/functions/function.hpp"),
    ("orchestration/cli/a.cpp", "orchestration/planner/loader.hpp"),
    ("tests/unit/a.cpp", "orchestration/cli/a.hpp")])
def test_an_arrow_that_runs_down_is_allowed(path, include):
    assert rules(layers, path, f'#include "{include}"\n') == []


def test_a_pointer_in_a_shared_struct_is_found_and_in_a_view_allowed():
    shared = "struct alignas(64) A {\n  int x;\n  char* p;\n};\nstatic_assert(sizeof(A) == 64);\n"
    found = list(no_pointers_in_layout(File("shared/layout/a.hpp", shared)))
    assert [(finding.rule, finding.line) for finding in found] == [("layout-pointer", 3)]
    view = "struct View {\n  char* p;\n};\n"
    assert rules(no_pointers_in_layout, "shared/layout/a.hpp", view) == []


def test_packet_bytes_in_a_control_message_are_found():
    path = "shared/control/control.capnp"
    assert rules(no_packets_in_control, path, "  packetBytes @3 :Data;\n") == ["control-packets"]
    assert rules(no_packets_in_control, path, "  packetCount @3 :UInt64;\n") == []


def test_a_header_is_included_once():
    assert rules(pragma_once, "shared/a.hpp", "int a;\n") == ["pragma-once"]
    assert rules(pragma_once, "shared/a.hpp", "#pragma once\n") == []
