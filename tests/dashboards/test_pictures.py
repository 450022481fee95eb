# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What `make test-dashboards` makes of a page; a script stands in for the browser, but once."""

import json
import sys
import urllib.parse

import pytest

import browser
import grafana_check

PANEL = '<section data-testid="data-testid Panel header Lost &amp; found">'
DRAWN = PANEL + "</section>"
ERROR = PANEL + '<button data-testid="data-testid Panel status error"></button></section>'
WAITS = PANEL + '<div aria-label="Panel loading bar"></div></section>'
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
    ([DRAWN], None), ([BOOTS, WAITS, DRAWN], None), ([ERROR, DRAWN], None), ([BOOTS], "not drawn"),
    ([WAITS], "still loads"), ([ERROR], "an error in Lost & found"), ([], "the browser ended")])
def test_a_page_counts_when_its_panels_have_their_data(tmp_path, monkeypatch, pages, says):
    monkeypatch.setattr(grafana_check, "PAGE_SECONDS", 1 if says else 60)
    path = tmp_path / "page.png"
    fault = grafana_check.picture(stand_in(tmp_path, pages), "http://127.0.0.1:9/", path,
                                  ["Lost & found"])
    assert fault is None if says is None else says in fault
    assert not pages or path.read_bytes() == b"hello"


def test_what_is_no_browser_is_told(tmp_path):
    fault = grafana_check.picture("/bin/true", "http://127.0.0.1:9/", tmp_path / "page.png", [])
    assert "the browser ended" in fault


@pytest.mark.skipif(not browser.program(), reason="no chromium (Debian package chromium)")
def test_a_real_browser_waits_for_what_a_page_draws_late(tmp_path):
    page = f"""<script>const html = document.documentElement;
    setTimeout(() => html.innerHTML = {json.dumps(WAITS)}, 500);
    setTimeout(() => html.innerHTML = {json.dumps(DRAWN)}, 1500)</script>"""
    path = tmp_path / "page.png"
    assert grafana_check.picture(browser.program(), "data:text/html," + urllib.parse.quote(page),
                                 path, ["Lost & found"]) is None
    size = path.read_bytes()[16:24]
    assert int.from_bytes(size[:4], "big") == grafana_check.WIDTH
    assert int.from_bytes(size[4:], "big") == grafana_check.HEIGHT
