# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A Prometheus and a Grafana of our own, each with its files in one folder and on loopback only.
What is installed as a service of the host is left alone."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ANSWER_SECONDS = 120  # a host that stands still is no server that is broken
START_SECONDS = 120
FIRST_START_SECONDS = 180  # of a Grafana, which makes its data base then
STOP_SECONDS = 20
# What is asked lies on loopback: a proxy that the environment names has nothing to do with it.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """Something is missing on this host, or did not start; the text says what to do."""


def discovery_patterns():
    """Where topologies leave the files by which Prometheus finds them."""
    folders = ["/run/millrace"]
    if os.environ.get("XDG_RUNTIME_DIR"):
        folders.append(os.environ["XDG_RUNTIME_DIR"] + "/millrace")
    return [folder + "/*.telemetry.json" for folder in folders]


def free_port(wished=0):
    """`wished` when it is free, else any."""
    for port in (wished, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise Refused("no port is free on 127.0.0.1")


def fetch(url, data=None, timeout=ANSWER_SECONDS):
    """The body; `data` is posted as JSON."""
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    with OPENER.open(request, timeout=timeout) as reply:
        return reply.read()


def await_end(pid, start_time):
    """Waits until a process that is no child of ours has gone; kills it when it takes too long."""
    began, end = start_time(pid), time.monotonic() + STOP_SECONDS
    while began is not None and start_time(pid) == began:
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


class Server:
    """One process. `with` ends it; start() alone leaves it to its pid's finder."""

    name, ready_path = "", "/"
    start_seconds = START_SECONDS

    def __init__(self, folder, port):
        self.folder, self.port = pathlib.Path(folder), port
        self.url = f"http://127.0.0.1:{port}"
        self.process = None

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / f"{self.name}.log", "wb") as log:
            self.process = subprocess.Popen(
                list(map(str, self.command())), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=os.environ | self.environment(), start_new_session=True)
        try:
            self.await_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def await_ready(self):
        end = time.monotonic() + self.start_seconds
        while True:
            try:
                fetch(self.url + self.ready_path, timeout=5)
                return
            except (OSError, urllib.error.URLError):
                ended = self.process.poll() is not None
            if ended or time.monotonic() > end:
                log = (self.folder / f"{self.name}.log").read_text(errors="replace")
                raise Refused(f"{self.name} did not start:\n{log[-2000:]}")
            time.sleep(0.1)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        self.stop()


class Prometheus(Server):
    """By prometheus.yml, with the paths of this host in it."""

    name, ready_path = "prometheus", "/-/ready"

    def __init__(self, folder, port=0, patterns=None, rules=HERE / "prometheus/alerts.yml"):
        super().__init__(folder, port or free_port())
        self.patterns, self.rules = patterns or discovery_patterns(), rules

    @staticmethod
    def program():
        found = shutil.which("prometheus")
        if not found:
            raise Refused("there is no prometheus: `make deps` installs the Debian package")
        return found

    def configure(self):
        text = (HERE / "prometheus/prometheus.yml").read_text(encoding="utf-8")
        config = yaml.safe_load(text)
        config["rule_files"] = [str(self.rules)]
        config["scrape_configs"][0]["file_sd_configs"][0]["files"] = self.patterns
        path = self.folder / "prometheus.yml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        return path

    def command(self):
        return [self.program(), f"--config.file={self.configure()}", "--log.level=warn",
                f"--storage.tsdb.path={self.folder / 'data'}",
                "--storage.tsdb.retention.time=1d", "--storage.tsdb.retention.size=1GB",
                f"--web.listen-address=127.0.0.1:{self.port}"]

    def ask(self, path, **parameters):
        """The data of an answer of its API. Raises Refused with its error."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        try:
            answer = json.loads(fetch(f"{self.url}/api/v1/{path}?{query}"))
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            raise Refused(f"{parameters}: {text}") from error
        return answer["data"]

    def query(self, expression):
        """[(labels, value)] now."""
        return [(one["metric"], float(one["value"][1]))
                for one in self.ask("query", query=expression)["result"]]

    def query_range(self, expression, seconds, step=1):
        """[(labels, [value])] of the last seconds."""
        now = time.time()
        result = self.ask("query_range", query=expression, start=now - seconds, end=now, step=step)
        return [(one["metric"], [float(value) for _, value in one["values"]])
                for one in result["result"]]

    def firing(self):
        """Names of alerts that fire."""
        return {alert["labels"]["alertname"] for alert in self.ask("alerts")["alerts"]
                if alert["state"] == "firing"}


def grafana_program(home=None):
    """(command, home) of a Grafana, or None: in `home`, or the package's."""
    for folder in [home] if home else ["/usr/share/grafana", os.environ.get("GRAFANA_HOME")]:
        if not folder:
            continue
        for words in (["bin/grafana", "server"], ["bin/grafana-server"]):
            if os.access(os.path.join(folder, words[0]), os.X_OK):
                return [os.path.join(os.path.abspath(folder), words[0]), *words[1:]], folder
    found = None if home else shutil.which("grafana-server")
    return ([found], "/usr/share/grafana") if found else None


class Grafana(Server):
    """Without log-in, provisioned from this folder."""

    name, ready_path = "grafana", "/api/health"
    start_seconds = FIRST_START_SECONDS

    def __init__(self, folder, prometheus_url, home=None, port=0, role="Viewer"):
        super().__init__(folder, port or free_port())
        self.prometheus_url, self.role = prometheus_url, role
        program = grafana_program(home)
        if program is None:
            raise Refused(f"no grafana in {home or 'any of the usual places'}")
        self.words, self.home = program

    def command(self):
        return [*self.words, "--homepath", self.home]

    def environment(self):
        return {
            "MILLRACE_PROMETHEUS_URL": self.prometheus_url,
            "MILLRACE_DASHBOARDS": str(HERE / "grafana"),
            "GF_PATHS_PROVISIONING": str(HERE / "provisioning"),
            "GF_PATHS_DATA": str(self.folder / "grafana"),
            "GF_PATHS_LOGS": str(self.folder / "grafana/log"),
            "GF_PATHS_PLUGINS": str(self.folder / "grafana/plugins"),
            "GF_SERVER_HTTP_ADDR": "127.0.0.1",
            "GF_SERVER_HTTP_PORT": str(self.port),
            "GF_AUTH_ANONYMOUS_ENABLED": "true",
            "GF_AUTH_ANONYMOUS_ORG_ROLE": self.role,
            "GF_AUTH_DISABLE_LOGIN_FORM": "true",
            "GF_DASHBOARDS_MIN_REFRESH_INTERVAL": "1s",
            "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": str(HERE / "grafana/overview.json"),
            "GF_ANALYTICS_REPORTING_ENABLED": "false",
            "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
            "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
            "GF_NEWS_NEWS_FEED_ENABLED": "false",
            # Nothing is looked up on the net: no keys of plugins, no catalogue, no installation.
            "GF_PLUGINS_PUBLIC_KEY_RETRIEVAL_DISABLED": "true",
            "GF_PLUGINS_PLUGIN_ADMIN_ENABLED": "false",
            "GF_PLUGINS_PREINSTALL_DISABLED": "true",
        }
