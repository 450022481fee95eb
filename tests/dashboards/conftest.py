# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""Where the modules lie that these tests share."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in (ROOT / "tests/harness", ROOT / "dashboards", ROOT / "tests/dashboards"):
    sys.path.insert(0, str(folder))
