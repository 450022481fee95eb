# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What `make test-dashboards` makes of a page; a script stands in for the browser."""

import pytest

import grafana_check

DRAWN = '<section data-testid="data-testid Panel header Lost &amp; found"></section>'
ERROR = DRAWN + '<button data-testid="data-testid Panel status error"></button>'
LOADING = "<body>Loading Grafana</body>"


def browser(folder, under_virtual_time, otherwise):
    program = folder / "chromium"
    program.write_text(f"""#!/bin/sh
for word; do case $word in
  --screenshot=*) head -c 20000 /dev/zero > "${{word#*=}}" ;;
  --virtual-time*) page='{under_virtual_time}' ;;
  --timeout*) page='{otherwise}' ;;
esac; done
printf %s "$page"
""")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("first, second, says", [
    (DRAWN, "", None), ("", DRAWN, None), (LOADING, DRAWN, None), (LOADING, LOADING, "not drawn"),
    (ERROR, ERROR, "shows an error"), ("", "", "shows nothing")])
def test_a_page_counts_when_its_panels_are_drawn(tmp_path, first, second, says):
    fault = grafana_check.picture(browser(tmp_path, first, second), "http://127.0.0.1:9/",
                                  tmp_path / "page.png", ["Lost & found"])
    assert fault is None if says is None else says in fault
