# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""A class has one source: one that needs two has more than one job, or no state for each of them.

Methods that a header defines are not looked at: templates and short ones stand there.
"""

import collections
import re

from functions import functions_of
from source import Finding

METHOD = re.compile(r"^([A-Z]\w*(?:::[A-Z]\w*)*)::")


def classes_of(file):
    """(name, number of methods) of classes whose methods a source defines; nested ones apart."""
    names = (METHOD.match(function.name) for function in functions_of(file))
    return collections.Counter(match.group(1) for match in names if match).items()


def one_source(tree):
    """Classes of the product with methods in several sources of a folder. The finding stands at the
    source with the most of them."""
    sources = collections.defaultdict(list)
    for file in tree.with_suffix(".cpp", ".cu"):
        if file.in_product:
            folder = file.path.rsplit("/", 1)[0]
            for name, count in classes_of(file):
                sources[folder, name].append((-count, file.path))
    for (_, name), found in sources.items():
        if len(found) > 1:
            (_, first), *others = sorted(found)
            beside = ", ".join(sorted(path.rsplit("/", 1)[1] for _, path in others))
            yield Finding("class-sources", first, 0,
                          f"{name} is also in {beside}: a class has one source; split it by state")


TREE_RULES = (one_source,)
