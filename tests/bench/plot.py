# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Line charts as SVG, for the pages that benchmarks write. Readable on light and dark pages, and as
text: each curve's points carry their values as tooltips."""

import dataclasses
import html
import math

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 48, 116
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


@dataclasses.dataclass
class Axis:
    """`label` with its unit; `log`: logarithmic, for values above 0."""

    label: str
    log: bool = False

    def place(self, value, low, high):
        """Where `value` lies between `low` (0) and `high` (1)."""
        if self.log:
            value, low, high = (math.log10(each) for each in (value, low, high))
        return (value - low) / (high - low) if high > low else 0.5

    def range_of(self, values):
        low, high = min(values), max(values)
        if self.log:
            return low, high
        return min(low, 0), high * 1.05 if high > 0 else 1

    def ticks(self, low, high):
        if self.log:
            first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
            all_ticks = [digit * 10.0**power for power in range(first, last + 1)
                         for digit in (1, 2, 5)]
            return [tick for tick in all_ticks if low * 0.999 <= tick <= high * 1.001]
        step = 10.0 ** math.floor(math.log10((high - low) / 5))
        step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
        return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _text(x, y, words, anchor="middle", more=""):
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f"<text {place} {more}>{html.escape(words)}</text>"


def _frame(x_axis, y_axis, x_range, y_range, at):
    lines = []
    for tick in y_axis.ticks(*y_range):
        y = at(x_range[0], tick)[1]
        lines.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        lines.append(_text(LEFT - 8, y + 4, f"{tick:g}", "end"))
    for tick in x_axis.ticks(*x_range):
        x = at(tick, y_range[0])[0]
        lines.append(f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        lines.append(_text(x, HEIGHT - BOTTOM + 18, f"{tick:g}"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 38, x_axis.label))
    lines.append(_text(16, middle, y_axis.label, more=f'transform="rotate(-90 16 {middle})"'))
    return lines


def _curve(name, points, number, at):
    colour = COLOURS[number % len(COLOURS)]
    placed = [(at(x, y), x, y) for x, y in points]
    path = "L".join(f"{x:.1f} {y:.1f}" for (x, y), _, _ in placed)
    dashes = "" if number < len(COLOURS) else ' stroke-dasharray="5 3"'
    lines = [f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>']
    for (x, y), value_x, value_y in placed:
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"><title>'
                     f"{html.escape(name)}: {value_x:g}, {value_y:.4g}</title></circle>")
    row, column = divmod(number, 3)
    x, y = LEFT + column * 215, HEIGHT - 60 + row * 18
    lines.append(f'<path d="M{x} {y - 4}h18" stroke="{colour}" stroke-width="3"{dashes}/>')
    lines.append(_text(x + 24, y, name, "start"))
    return lines


def line_chart(title, x_axis, y_axis, curves):
    """SVG of `curves`: name -> points (x, y), in their order. Nine names fit the legend."""
    points = [point for curve in curves.values() for point in curve]
    x_range = x_axis.range_of([x for x, _ in points])
    y_range = y_axis.range_of([y for _, y in points])

    def at(x, y):
        return (LEFT + x_axis.place(x, *x_range) * (WIDTH - LEFT - RIGHT),
                HEIGHT - BOTTOM - y_axis.place(y, *y_range) * (HEIGHT - TOP - BOTTOM))

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             "<style>text{fill:#222}.grid{stroke:#8884;fill:none}"
             "@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>",
             _text(WIDTH / 2, 24, title, more='font-size="15" font-weight="bold"')]
    lines += _frame(x_axis, y_axis, x_range, y_range, at)
    for number, (name, curve) in enumerate(curves.items()):
        lines += _curve(name, curve, number, at)
    return "\n".join(lines + ["</svg>", ""])
