# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""`make monitor`: Prometheus and, where it is installed, Grafana for the topologies of this host.

    monitor.py            in the foreground; Ctrl-C ends both
    monitor.py --detach   leaves them running
    monitor.py stop       ends what --detach left; data and logs go too

Everything lies in build/monitor (at most a day and 1 GB of data), all addresses on 127.0.0.1.
"""

import json
import os
import pathlib
import shutil
import signal
import sys

import servers

FOLDER = servers.HERE.parent / "build/monitor"
GRAFANA_PORT, PROMETHEUS_PORT = 3000, 9090
NO_GRAFANA = """\
grafana     none {where}. Any of 10 or later will do:
              the package, or a release unpacked anywhere: GRAFANA_HOME=DIR make monitor
              as a container: orchestration/deploy/compose/README.md
            Until then: the graphs and alerts of Prometheus itself"""


def start_time(pid):
    """The start time of a pid: the 22nd field of its stat, or None."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text[text.rfind(")") + 2:].split()
    return None if fields[0] in "ZX" else int(fields[19])


def still_running(folder):
    """Pids that an earlier start left and that are still the same processes."""
    try:
        left = json.loads((folder / "pids.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [pid for pid, began in left if start_time(pid) == began]


def stop(folder):
    pids = still_running(folder)
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    for pid in pids:
        servers.await_end(pid, start_time)
    if folder.exists():
        shutil.rmtree(folder)
        print(f"monitor: ended {len(pids)} processes, removed their data")


def start(folder):
    """[Server] that run now. Whatever fails ends those before it."""
    running = []
    try:
        running.append(servers.Prometheus(
            folder, port=servers.free_port(PROMETHEUS_PORT)).start())
        if servers.grafana_program(os.environ.get("GRAFANA_HOME")):
            running.append(servers.Grafana(
                folder, running[0].url, home=os.environ.get("GRAFANA_HOME"),
                port=servers.free_port(GRAFANA_PORT)).start())
    except BaseException:
        for server in running:
            server.stop()
        raise
    (folder / "pids.json").write_text(json.dumps(
        [[server.process.pid, start_time(server.process.pid)] for server in running]))
    return running


def describe(running):
    for server in running:
        print(f"{server.name:<11} {server.url}")
    if len(running) == 1:
        home = os.environ.get("GRAFANA_HOME")
        print(NO_GRAFANA.format(where=f"in {home} (GRAFANA_HOME)" if home else "is installed"))
    names = [pathlib.Path(path).name.removesuffix(".telemetry.json")
             for pattern in servers.discovery_patterns()
             for path in sorted(pathlib.Path(pattern).parent.glob(pathlib.Path(pattern).name))]
    print("topologies  " + (", ".join(names) or "none yet; each is found when it starts"))


def watch(detached):
    """Until Ctrl-C, or only the start of it."""
    running = start(FOLDER)
    try:
        describe(running)
        print("It stays; `make undo` ends it." if detached else "Ctrl-C ends it.", flush=True)
        if not detached:
            signal.pause()
    except BaseException:
        for server in reversed(running):
            server.stop()
        (FOLDER / "pids.json").unlink()
        raise


def main(arguments):
    if arguments == ["stop"]:
        return stop(FOLDER)
    if arguments not in ([], ["--detach"]):
        sys.exit(__doc__)
    if still_running(FOLDER):
        sys.exit("monitor: it runs already; `dashboards/monitor.py stop` or `make undo` ends it")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        watch(detached=bool(arguments))
    except servers.Refused as refused:
        sys.exit(f"monitor: {refused}")
    except KeyboardInterrupt:
        print("monitor: ended; data of the last day stays in build/monitor for the next start")
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
