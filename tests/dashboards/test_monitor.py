# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`make monitor`: what it starts, says, and ends; a small program stands in for Grafana."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import urllib.request

import pytest
import yaml

import monitor
import servers
from panels import ROOT
from processes import PATIENCE, is_running, wait_until

needs_prometheus = pytest.mark.skipif(not shutil.which("prometheus"),
                                      reason="no prometheus: make deps")


def stand_in_home(folder):
    """A folder like that of an unpacked Grafana."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin/grafana"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {ROOT}/tests/dashboards/stand_in.py\n")
    program.chmod(0o755)
    return folder


@pytest.fixture(name="home")
def grafana_home(tmp_path, monkeypatch):
    home = stand_in_home(tmp_path / "home")
    monkeypatch.setenv("GRAFANA_HOME", str(home))
    return home


@needs_prometheus
def test_it_starts_both_and_ends_both(tmp_path, home, capsys):
    folder = tmp_path / "monitor"
    running = monitor.start(folder)
    monitor.describe(running)
    said = capsys.readouterr().out
    try:
        assert [server.name for server in running] == ["prometheus", "grafana"]
        given = json.loads(servers.fetch(running[1].url))
        assert given["MILLRACE_PROMETHEUS_URL"] == running[0].url
        assert given["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
        assert os.path.isdir(given["GF_PATHS_PROVISIONING"])
        assert all(server.url in said for server in running)
        config = running[0].ask("status/config")["yaml"]
        assert "/run/millrace/*.telemetry.json" in config
        assert len(monitor.still_running(folder)) == 2
        with pytest.raises(OSError):
            urllib.request.urlopen(f"http://127.0.0.2:{running[0].port}", timeout=2)
    finally:
        for server in running:  # as its children, so that their ends are seen
            server.process.send_signal(signal.SIGTERM)
            server.process.wait(PATIENCE)
    monitor.stop(folder)
    assert not folder.exists() and home


def grafana_settings(folder, home):
    ours = servers.Grafana(folder, "http://127.0.0.1:9", home=str(home)).environment()
    compose = yaml.safe_load((ROOT / "orchestration/deploy/compose/compose.yaml").read_text())
    return ours, compose["services"]["grafana"]["environment"]


def test_grafana_finds_the_folders_that_it_asks_for_and_looks_up_nothing(tmp_path, home):
    """Of 10 to 12: each logs an error for a folder that is not there."""
    ours, compose = grafana_settings(tmp_path, home)
    folder = pathlib.Path(ours["GF_PATHS_PROVISIONING"])
    for name in ("dashboards", "datasources", "plugins", "notifiers", "alerting"):
        texts = list((folder / name).glob("*.yaml"))
        assert texts, f"git keeps no empty folder: {name}"
        assert all(yaml.safe_load(text.read_text())["apiVersion"] == 1 for text in texts)
    off = {"GF_PLUGINS_PUBLIC_KEY_RETRIEVAL_DISABLED": "true",
           "GF_PLUGINS_PLUGIN_ADMIN_ENABLED": "false", "GF_PLUGINS_PREINSTALL_DISABLED": "true",
           "GF_ANALYTICS_CHECK_FOR_UPDATES": "false", "GF_NEWS_NEWS_FEED_ENABLED": "false",
           "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
           "GF_ANALYTICS_REPORTING_ENABLED": "false"}
    for settings in (ours, compose):
        assert off.items() <= settings.items()
        assert "GF_USERS_VIEWERS_CAN_EDIT" not in settings, "deprecated in 12"


@needs_prometheus
def test_what_it_left_ends_by_stop_and_nothing_else_does(tmp_path):
    folder = tmp_path / "monitor"
    code = (f"import pathlib, sys; sys.path.insert(0, {str(ROOT / 'dashboards')!r})\n"
            f"import monitor; monitor.start(pathlib.Path({str(folder)!r}))")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE,
                   env=os.environ | {"GRAFANA_HOME": "/nowhere"})
    (pid, began), = json.loads((folder / "pids.json").read_text())
    assert is_running(pid)
    (folder / "pids.json").write_text(json.dumps([[pid, began], [os.getpid(), 1]]))
    monitor.stop(folder)
    wait_until(lambda: not is_running(pid), PATIENCE, "prometheus ended")


@needs_prometheus
def test_ctrl_c_ends_what_it_started(home):
    if monitor.still_running(monitor.FOLDER):
        pytest.skip("another process uses build/monitor")
    before = monitor.FOLDER.exists()
    # As from a terminal: what a shell starts in the background ignores Ctrl-C.
    child = subprocess.Popen(["env", "--default-signal=INT", sys.executable,
                              ROOT / "dashboards/monitor.py"], text=True, stdout=subprocess.PIPE)
    lines = []
    while not lines or "Ctrl-C" not in lines[-1]:
        lines.append(child.stdout.readline())
        assert lines[-1], lines
    pids = monitor.still_running(monitor.FOLDER)
    assert len(pids) == 2 and home
    child.send_signal(signal.SIGINT)
    assert child.wait(PATIENCE) == 0
    assert not any(map(is_running, pids))
    if not before:
        monitor.stop(monitor.FOLDER)


def test_the_compose_file_mounts_what_is_there():
    folder = ROOT / "orchestration/deploy/compose"
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    assert set(services) == {"prometheus", "grafana", "demo"}
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert not source.startswith(".") or (folder / source).resolve().is_dir(), source
    given = services["grafana"]["environment"]
    mounted = [volume.split(":")[1] for volume in services["grafana"]["volumes"]]
    assert given["MILLRACE_DASHBOARDS"] in mounted and given["GF_PATHS_PROVISIONING"] in mounted


def test_a_prometheus_that_is_not_root_may_list_the_folder_of_the_files_it_looks_for():
    """Those of Debian's package and of the container are not; what they cannot list, they lack."""
    unit = (ROOT / "orchestration/deploy/debian/millrace@.service").read_text()
    mode = next(line for line in unit.splitlines() if line.startswith("RuntimeDirectoryMode="))
    assert int(mode.partition("=")[2], 8) & 0o005 == 0o005
