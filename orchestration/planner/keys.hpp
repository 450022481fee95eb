// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

/// The keys of a topology file, section by section, sorted. The reader refuses all others; the
/// published schema (orchestration/schema/topology.schema.json) is tested against these.

namespace millrace {

inline constexpr std::string_view kTopologyKeys[] = {
    "batch",     "bypass",          "control", "crash_limit", "egress", "events",
    "functions", "heartbeat_limit", "include", "millrace",    "name",   "neighbour_limit",
    "paths",     "placement",       "ports",   "telemetry",   "vars",   "workers"};
/// Sections that several files of a topology may have: merged by name (include.hpp).
inline constexpr std::string_view kMergedKeys[] = {"functions", "paths", "ports", "vars",
                                                   "workers"};
inline constexpr std::string_view kPortKeys[] = {"addresses",      "cores", "device",
                                                 "host_interface", "mac",   "mtu"};
inline constexpr std::string_view kGroupKeys[] = {"autoscale", "cores", "count",
                                                  "dispatch",  "kind",  "max"};
inline constexpr std::string_view kAutoscaleKeys[] = {"down", "max", "min", "up"};
inline constexpr std::string_view kGpuKeys[] = {"device", "devices", "offload",
                                                "spill"};  ///< beside kGroupKeys
inline constexpr std::string_view kFunctionKeys[] = {"classes", "on",          "overload", "share",
                                                     "type",    "unavailable", "when"};
inline constexpr std::string_view kPathKeys[] = {"buffers", "from", "lanes", "match",
                                                 "order",   "run",  "slots", "to"};
inline constexpr std::string_view kBatchKeys[] = {"capacity"};
inline constexpr std::string_view kBypassKeys[] = {"bridge", "command"};
inline constexpr std::string_view kControlKeys[] = {"clients", "key", "listen"};
inline constexpr std::string_view kEgressKeys[] = {"cores", "count"};
inline constexpr std::string_view kEventsKeys[] = {"file",   "ipfix",  "keep",
                                                   "rotate", "socket", "stats"};
inline constexpr std::string_view kIpfixKeys[] = {"collector", "domain"};
inline constexpr std::string_view kTelemetryKeys[] = {"listen"};

}  // namespace millrace
