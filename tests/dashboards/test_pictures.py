# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What `make test-dashboards` makes of a page; a script stands in for the browser, but once."""

import json
import sys
import urllib.parse

import pytest

import browser
import grafana_check
import page
import panels
import servers
from test_monitor import stand_in_home


def panel(title, *inside, head=""):
    """As Grafana 10 to 12 have it: a section with a heading, and what the panel draws."""
    return (f'<section data-testid="data-testid Panel header {title}"><div><h2>{title}</h2>{head}'
            f'<button aria-label="Menu"></button></div>'
            f'<div data-testid="data-testid panel content">'
            f'{"".join(inside)}</div></section>')


TITLE = "Lost &amp; found"
DRAWN = panel(TITLE, "<canvas></canvas>")
HEADER = panel(TITLE)
ERROR = panel(TITLE, head='<button data-testid="data-testid Panel status error"></button>')
BROKEN = panel(TITLE, "<div>An unexpected error happened</div>")
WAITS = panel(TITLE, "<canvas></canvas>", head='<div aria-label="Panel loading bar"></div>')
BOOTS = "<body>Loading Grafana</body>"
# One page an answer, the last one for good; without any it ends.
STAND_IN = """
import json, os
pages, text = {pages!r}, b""
while True:
    while b"\\0" not in text:
        read = os.read(3, 65536)
        if not read:
            raise SystemExit
        text += read
    one, _, text = text.partition(b"\\0")
    one, result = json.loads(one), {{"targetId": "t", "sessionId": "s", "data": "aGVsbG8="}}
    if one["method"] == "Runtime.evaluate":
        if not pages:
            raise SystemExit
        result = {{"result": {{"value": pages[0]}}}}
        pages = pages[1:] or pages
    os.write(4, json.dumps({{"method": "Page.event"}}).encode() + b"\\0")
    os.write(4, json.dumps({{"id": one["id"], "result": result}}).encode() + b"\\0")
"""


def stand_in(folder, pages):
    (folder / "browser.py").write_text(STAND_IN.format(pages=pages))
    program = folder / "chromium"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} {folder}/browser.py\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("pages, says", [
    ([DRAWN], None), ([BOOTS, HEADER, WAITS, DRAWN], None), ([ERROR, DRAWN], None),
    ([BOOTS], "are not there: Lost & found"), ([HEADER], "Lost & found is empty"),
    ([WAITS], "Lost & found still loads"), ([ERROR], "an error in Lost & found"),
    ([BROKEN], "an error in Lost & found: An unexpected"), ([], "the browser ended")])
def test_a_page_counts_when_its_panels_have_their_data(tmp_path, monkeypatch, pages, says):
    monkeypatch.setattr(grafana_check, "PAGE_SECONDS", 0 if says else 60)
    path = tmp_path / "page.png"
    faults = grafana_check.picture(stand_in(tmp_path, pages), "http://127.0.0.1:9/", path,
                                   ["Lost & found"])
    assert not faults if says is None else says in faults[0]
    assert not pages or path.read_bytes() == b"hello"


@pytest.mark.parametrize("inside", [
    "<canvas/>", '<div role="table"></div>', "<div><span>0</span></div>", "<p>no drops</p>",
    "<div><img><br>5 p/s</div>"])
def test_a_panel_is_drawn_with_a_canvas_a_table_or_text(inside):
    assert not page.faults_of(panel("Drops", inside), ["Drops"])


@pytest.mark.parametrize("inside", ["", "<div></div>", "<style>.a { color: red }</style>",
                                    "<script>let drawn = 1</script>"])
def test_a_panel_of_which_only_the_header_is_there_is_not_drawn(inside):
    text = panel("Drops", inside) + "<footer>all is well</footer><canvas></canvas>"
    assert page.faults_of(text, ["Drops"]) == ["Drops is empty"]


def test_each_panel_of_a_row_that_repeats_has_to_be_drawn():
    text = panel("Busy", "<canvas></canvas>") + panel("Busy")
    assert page.faults_of(text, ["Busy"]) == ["Busy is empty"]


def test_an_error_of_the_page_itself_is_one():
    text = panel("Busy", "<canvas></canvas>") + "<div>An unexpected error happened</div>"
    assert page.faults_of(text, ["Busy"]) == ["the page says: an unexpected error happened"]


def test_of_a_page_with_an_empty_and_a_failing_panel_both_are_told(tmp_path, monkeypatch):
    """Our own small page that plays Grafana, through the whole check of the pictures."""
    titles = [one["title"] for one in panels.panels(panels.dashboards()["millrace-gpu"])]
    drawn = [panel(title, "<canvas></canvas>") for title in titles[2:]]
    text = "".join([panel(titles[0]), panel(titles[1], "An unexpected error happened"), *drawn])
    monkeypatch.setattr(grafana_check, "PAGE_SECONDS", 0)
    monkeypatch.setattr(grafana_check, "PICTURES", tmp_path / "pictures")
    monkeypatch.setattr(grafana_check.browser, "program", lambda: stand_in(tmp_path, [text]))
    one = {"millrace-gpu": panels.dashboards()["millrace-gpu"]}
    monkeypatch.setattr(panels, "dashboards", lambda: one)
    faults, skipped = grafana_check.pictures(servers.Server(tmp_path, 9), "edge")
    assert skipped == 0 and len(faults) == 2
    assert f"{titles[0]} is empty" in faults[0] and f"an error in {titles[1]}" in faults[1]
    assert all("millrace-gpu" in fault and "var-topology=edge" in fault for fault in faults)


def test_what_is_no_browser_is_told(tmp_path):
    faults = grafana_check.picture("/bin/true", "http://127.0.0.1:9/", tmp_path / "page.png", [])
    assert "the browser ended" in faults[0]


@pytest.mark.skipif(not browser.program(), reason="no chromium (Debian package chromium)")
def test_a_real_browser_waits_for_what_a_page_draws_late(tmp_path):
    text = f"""<script>const html = document.documentElement;
    setTimeout(() => html.innerHTML = {json.dumps(HEADER)}, 200);
    setTimeout(() => html.innerHTML = {json.dumps(WAITS)}, 500);
    setTimeout(() => html.innerHTML = {json.dumps(DRAWN)}, 1500)</script>"""
    path = tmp_path / "page.png"
    assert grafana_check.picture(browser.program(), "data:text/html," + urllib.parse.quote(text),
                                 path, ["Lost & found"]) == []
    size = path.read_bytes()[16:24]
    assert int.from_bytes(size[:4], "big") == grafana_check.WIDTH
    assert int.from_bytes(size[4:], "big") == grafana_check.HEIGHT


@pytest.mark.skipif(not browser.program(), reason="no chromium (Debian package chromium)")
def test_a_real_browser_sees_the_empty_and_the_failing_panel(tmp_path, monkeypatch):
    monkeypatch.setattr(grafana_check, "PAGE_SECONDS", 2)
    monkeypatch.setattr(grafana_check, "PICTURES", tmp_path / "pictures")
    monkeypatch.setenv("STAND_IN_EMPTY", "Backend")
    monkeypatch.setenv("STAND_IN_FAILING", "Hand-over")
    one = {"millrace-gpu": panels.dashboards()["millrace-gpu"]}
    monkeypatch.setattr(panels, "dashboards", lambda: one)
    with servers.Grafana(tmp_path / "grafana", "http://127.0.0.1:9",
                         home=str(stand_in_home(tmp_path / "home"))) as grafana:
        faults, _ = grafana_check.pictures(grafana, "edge")
    assert len(faults) == 2
    assert "Backend is empty" in faults[0] and "an error in Hand-over" in faults[1]
    assert (tmp_path / "pictures/millrace-gpu.png").stat().st_size > 1000
