# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a topology, as Prometheus would scrape them."""

import pathlib
import re
import urllib.request

from processes import wait_until

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

    def buckets(self, name="millrace_latency_seconds"):
        """Upper bound -> how many are not above it, all streams together."""
        return {float(bound): count for bound, count in self.by("le", name + "_bucket").items()}


def quantile(share, buckets, before=None):
    """Upper bound of the bucket in which the quantile lies, of what came after `before`."""
    counts = {bound: count - (before or {}).get(bound, 0) for bound, count in buckets.items()}
    least = share * counts[float("inf")]
    return min(bound for bound, count in counts.items() if count >= least)


def file_of(run_dir):
    return pathlib.Path(run_dir) / "telemetry.address"


def address_in(run_dir):
    """HOST:PORT at which telemetry listens; FileNotFoundError while nobody does."""
    return file_of(run_dir).read_text(encoding="ascii").strip()


def address_of(run_dir):
    """The same, waited for: telemetry starts with the others, and `up` does not wait for it."""
    wait_until(file_of(run_dir).exists, 30, "an address of telemetry")
    return address_in(run_dir)


def scrape(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as reply:
        return Metrics(reply.read().decode())
