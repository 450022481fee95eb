# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a topology, as Prometheus would scrape them."""

import pathlib
import re
import urllib.request

from processes import PATIENCE, wait_until

LINE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="([^"]*)"')


class Metrics:
    """One scrape."""

    def __init__(self, text):
        self.samples = []
        for line in text.splitlines():
            found = LINE.match(line)
            if found:
                labels = dict(LABEL.findall(found[2] or ""))
                self.samples.append((found[1], labels, float(found[3])))

    def values(self, name, **labels):
        return [value for found, have, value in self.samples
                if found == name and labels.items() <= have.items()]

    def total(self, name, **labels):
        return int(sum(self.values(name, **labels)))

    def by(self, label, name, **labels):
        """label's value -> sum of the samples that have it."""
        sums = {}
        for found, have, value in self.samples:
            if found == name and label in have and labels.items() <= have.items():
                sums[have[label]] = sums.get(have[label], 0) + value
        return sums


def file_of(run_dir):
    return pathlib.Path(run_dir) / "telemetry.address"


def address_in(run_dir):
    """HOST:PORT at which telemetry listens; FileNotFoundError while it does not."""
    return file_of(run_dir).read_text(encoding="ascii").strip()


def address_of(run_dir):
    """The same, waited for: its file is gone while telemetry restarts."""
    wait_until(file_of(run_dir).exists, PATIENCE, "an address of telemetry")
    return address_in(run_dir)


def scrape(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE) as reply:
        return Metrics(reply.read().decode())
