# SPDX-FileCopyrightText: 2026 The Millrace authors
# SPDX-License-Identifier: Apache-2.0
"""What an audit has to come to."""


def problems_of(audit):
    """What is wrong with the audit of something that has come to rest; empty when it is exact."""
    total = {name: sum(audit[name].values()) for name in ("generated", "dropped", "consumed")}
    wrong = [] if audit["exact"] else ["not exact"]
    if audit["received"] + total["generated"] != (audit["transmitted"] + total["dropped"]
                                                  + total["consumed"]):
        wrong.append(f"received {audit['received']} and generated {total['generated']}, "
                     f"transmitted {audit['transmitted']}, dropped {total['dropped']} and "
                     f"consumed {total['consumed']}")
    wrong += [f"{name.replace('_', ' ')} {audit[name]}" for name in ("in_flight", "unaccounted")
              if audit[name] != 0]
    wrong += [f"{audit[name]['in_use']} {name} in use" for name in ("slots", "buffers")
              if audit[name]["in_use"] != 0]
    return wrong + audit["problems"]
