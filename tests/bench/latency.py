# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of the latency histogram between two scrapes."""


def buckets(metrics, name="millrace_latency_seconds"):
    """Upper bound -> how many are not above it, all streams together."""
    return {float(bound): count for bound, count in metrics.by("le", name + "_bucket").items()}


def quantile(share, counted, before=None):
    """Upper bound of the bucket in which the quantile lies, of what came after `before`."""
    counts = {bound: count - (before or {}).get(bound, 0) for bound, count in counted.items()}
    least = share * counts[float("inf")]
    return min(bound for bound, count in counts.items() if count >= least)
