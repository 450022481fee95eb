# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A Prometheus and a Grafana of our own: found or not, started or not, and asked."""

import http.server
import shutil
import sys
import threading

import pytest

import monitor
import servers


def test_without_grafana_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setenv("GRAFANA_HOME", "/nowhere")
    assert servers.grafana_program("/nowhere") is None
    with pytest.raises(servers.Refused, match="/nowhere"):
        servers.Grafana("/tmp", "http://127.0.0.1:9", home="/nowhere")
    for home, said in (("/nowhere", "none in /nowhere (GRAFANA_HOME)"), ("", "none is installed")):
        monkeypatch.setenv("GRAFANA_HOME", home)
        monitor.describe([servers.Server("/tmp", 1)])
        told = capsys.readouterr().out
        assert said in told and "GRAFANA_HOME=DIR" in told and "compose" in told


def test_without_prometheus_it_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(servers.Refused, match="make deps"):
        servers.Prometheus.program()


def test_what_does_not_start_is_told_with_its_log(tmp_path):
    class Broken(servers.Server):
        name = "broken"

        def command(self):
            return [sys.executable, "-c", "raise SystemExit('out of order')"]

    Broken.start_seconds = float("inf")  # it has ended: nothing is waited for
    with pytest.raises(servers.Refused, match="out of order"):
        Broken(tmp_path, servers.free_port()).start()


def test_a_port_that_is_taken_is_left_to_its_owner():
    with servers.socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        taken = owner.getsockname()[1]
        assert servers.free_port(taken) not in (0, taken)
    assert servers.free_port(taken) == taken


def test_a_proxy_of_the_environment_is_not_asked_about_loopback(monkeypatch):
    """Of one that is none: with it nothing would ever seem to have started."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    thread = threading.Thread(target=server.handle_request, daemon=True)
    thread.start()
    assert servers.fetch(f"http://127.0.0.1:{server.server_port}/")
    thread.join()
    server.server_close()


@pytest.mark.skipif(not shutil.which("prometheus"), reason="no prometheus: make deps")
def test_prometheus_answers_and_says_what_is_wrong_with_a_query(tmp_path):
    with servers.Prometheus(tmp_path, patterns=["/nowhere/*.json"]) as prometheus:
        assert prometheus.query("vector(7)") == [({}, 7.0)]
        assert prometheus.query_range("vector(7)", 3)[0][1][0] == 7.0
        assert prometheus.firing() == set()
        with pytest.raises(servers.Refused, match="parse error"):
            prometheus.query("rate(")
        assert (tmp_path / "prometheus.yml").read_text().count("/nowhere/*.json") == 1
