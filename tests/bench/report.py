# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""How figures are shown."""

import html
import math
import pathlib


def print_header(cpu, cores, kernel, command):
    print(f"machine: {cpu}, {cores} cores, Linux {kernel}")
    print(f"command: {' '.join(command)}")
    if cores < 6:
        print(
            "fewer cores than actors: this says how it shares cores, not how fast the path is"
        )
    print(
        f"\n{'case':<18} {'offered':>8} {'Mpps':>8} {'fill':>6} {'p50 us':>8} {'p99 us':>8} "
        f"{'p99.9 us':>9} {'unacc.':>6}"
    )


def print_case(case, figures):
    if "error" in figures:
        print(f"{case.name:<18} not measured: {figures['error']}")
        return
    streams = figures["streams"]
    worst = max(streams, key=lambda s: s["p99_us"])
    rate = sum(s["mpps"] for s in streams)
    fill = sum(s["fill"] for s in streams) / len(streams)
    offered = f"{case.rate_mpps:g}" if case.rate_mpps else "all"
    print(
        f"{case.name:<18} {offered:>8} {rate:8.2f} {fill:6.1f} {worst['p50_us']:8.2f} "
        f"{worst['p99_us']:8.2f} {worst['p999_us']:9.2f} "
        f"{sum(s['unaccounted'] for s in streams):6d}"
    )
    for actor in figures["actors"]:
        print(
            f"    {actor['actor']:<22} core {actor['core']:>3}  busy {actor['busy_share']:6.1%}  "
            f"{actor['busy_ns_per_packet']:7.2f} ns/packet  sleeps {actor['sleeps']}"
        )


def write_svg(path, results):
    """p50 and p99 over the offered load, logarithmic both ways, one line a kind of case."""
    width, height, margin = 640, 400, 60
    lines = {}
    for result in results:
        rate = result["case"]["rate_mpps"]
        if "error" in result["figures"] or not rate:
            continue
        kind = result["case"]["name"].rsplit("-", 1)[0]
        stream = result["figures"]["streams"][0]
        for quantile in ("p50_us", "p99_us"):
            lines.setdefault(f"{kind} {quantile[:3]}", []).append(
                (rate, max(stream[quantile], 0.1))
            )

    def x_of(rate):
        return margin + (width - 2 * margin) * math.log10(rate) / 2

    def y_of(micros):
        return height - margin - (height - 2 * margin) * (math.log10(micros) + 1) / 4

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<text x="{margin}" y="20">latency (us) over offered load (Mpps)</text>',
    ]
    for decade in (0.1, 1, 10, 100, 1000):
        parts.append(
            f'<text x="8" y="{y_of(decade):.0f}">{decade:g}</text>'
            f'<path d="M{margin} {y_of(decade):.0f}H{width - margin}" stroke="#ddd"/>'
        )
    for rate in (1, 10, 100):
        parts.append(f'<text x="{x_of(rate):.0f}" y="{height - 30}">{rate}</text>')
    colours = [
        "#1b6ca8",
        "#7fb2d9",
        "#c0392b",
        "#e6a09a",
        "#2e8b57",
        "#9ed2b2",
        "#8e44ad",
        "#cbaadb",
    ]
    for number, (name, points) in enumerate(sorted(lines.items())):
        colour = colours[number % len(colours)]
        path_data = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(points))
        parts.append(
            f'<polyline points="{path_data}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{width - margin - 110}" y="{40 + 16 * number}" fill="{colour}">'
            f"{html.escape(name)}</text>"
        )
    pathlib.Path(path).write_text("\n".join(parts + ["</svg>\n"]))
