# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A build that loses one packet on purpose is found out: by the audit, or by counting the files."""

import frames
import topology
from topology import Topology

import pytest

COUNT = 20000


@pytest.fixture
def put_in_place(tmp_path, monkeypatch):
    """put_in_place("lossy-x", "millrace-x"): a folder of executables with one that loses."""
    def put(lossy, real):
        monkeypatch.setattr(topology, "BIN", topology.with_program(tmp_path / "bin", lossy, real))
    return put


def numbered(folder):
    (folder / "all.rules").write_text('alert "x" name "any x"\n')
    return f"""
ports:
  in:  {{ device: generate, numbered: true, count: {COUNT} }}
  out: {{ device: pcap, out: {folder}/out.pcap }}
functions:
  look: {{ type: match, rules: all.rules }}
paths:
  main: {{ from: in, to: out, run: [look] }}
"""


def test_a_packet_that_a_worker_forgets_is_unaccounted_for(tmp_path, put_in_place):
    put_in_place("lossy-classifier", "millrace-classifier")
    with Topology(tmp_path, numbered(tmp_path)) as running:
        running.endless = True
        running.wait_received(COUNT)
        topology.wait_until(lambda: running.audit()["quiet"], topology.PATIENCE, "quiet")
        audit = running.audit()
        assert not audit["exact"] and audit["unaccounted"] == 1
        assert audit["buffers"]["in_use"] == 1
        assert topology.millrace("audit", running.name, check=False).returncode != 0
        with pytest.raises(AssertionError):
            running.settle(seconds=1)
    assert len(frames.numbers_in(tmp_path / "out.pcap")) == COUNT - 1


def test_a_packet_that_a_port_forgets_is_missing_in_the_file(tmp_path, put_in_place):
    put_in_place("lossy-io-worker", "millrace-io-worker")
    with Topology(tmp_path, numbered(tmp_path)) as running:
        audit = running.settle(received=COUNT)
    assert audit["transmitted"] == COUNT
    assert set(range(COUNT)) - set(frames.numbers_in(tmp_path / "out.pcap")) == {999}
