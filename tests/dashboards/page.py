# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What a page of Grafana shows, from its HTML: which panels are drawn, and which say an error.

A panel is drawn when, inside its container, there is a canvas, a table, or text behind its title.
Headers come first, loading bars and data later: a header alone says nothing."""

import html.parser

CONTAINER = "data-testid Panel header "
STATUS_ERROR = "Panel status error"
LOADING = "Panel loading bar"
ERRORS = ("an unexpected error happened", "panel plugin not found", "error loading",
          "plugin has no panel component", "failed to load", "datasource was not found",
          "data source was not found", "query error", "bad gateway", "internal server error")
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
        "track", "wbr"}
NO_TEXT = {"script", "style", "title", "template"}


class Panel:
    """One container. A row that repeats has several of a title."""

    def __init__(self, title):
        self.title, self.texts = title, []
        self.draws = self.loads = self.status_error = False

    def text(self):
        """What it says behind its title."""
        return " ".join(" ".join(self.texts).split()).removeprefix(
            " ".join(self.title.split())).strip()

    def fault(self):
        """What is wrong with it, or None."""
        said = self.text()
        if self.status_error or any(error in said.lower() for error in ERRORS):
            return f"an error in {self.title}" + (f": {said[:80]}" if said else "")
        if self.loads:
            return f"{self.title} still loads"
        return None if self.draws or said else f"{self.title} is empty"


class Reader(html.parser.HTMLParser):
    """Fills `panels`, and `outside` with the text that belongs to none."""

    def __init__(self):
        super().__init__()
        self.panels, self.outside = [], []
        self.open, self.inside = [], []  # tags; (depth, panel) of containers

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        marks = given.get("data-testid", "") + " " + given.get("aria-label", "")
        if tag not in VOID:
            self.open.append(tag)
        if given.get("data-testid", "").startswith(CONTAINER):
            self.panels.append(Panel(given["data-testid"].removeprefix(CONTAINER)))
            self.inside.append((len(self.open), self.panels[-1]))
        if not self.inside:
            return
        panel = self.inside[-1][1]
        panel.draws |= tag == "canvas" or given.get("role") == "table" or tag == "table"
        panel.loads |= LOADING in marks
        panel.status_error |= STATUS_ERROR in marks

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag not in self.open:
            return
        while self.open.pop() != tag:
            pass
        while self.inside and len(self.open) < self.inside[-1][0]:
            self.inside.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] not in NO_TEXT:
            (self.inside[-1][1].texts if self.inside else self.outside).append(data)


def faults_of(text, titles):
    """What is wrong with a page that should have panels of these titles."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    there = {panel.title for panel in reader.panels}
    missing = [title for title in titles if title not in there]
    faults = []
    if missing:
        faults.append(f"{len(missing)} of {len(titles)} panels are not there: {missing[0]}")
    faults += filter(None, (panel.fault() for panel in reader.panels))
    outside = " ".join(" ".join(reader.outside).split()).lower()
    return faults + [f"the page says: {error}" for error in ERRORS if error in outside]
