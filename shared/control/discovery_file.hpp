// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// The file by which Prometheus finds a topology (file_sd_configs). It lies beside the run
/// directory, not in it: a pattern there may have its one star in the last part of the path only.
///
///     /run/millrace/demo.telemetry.json
///     [{"targets": ["127.0.0.1:43210"], "labels": {"topology": "demo"}}]
///
/// While a topology does not run and its bypass has the packets, no process of it is there to be
/// asked. Then the file itself says so, by a label of a target that never answers (port 0 cannot be
/// listened on): what Prometheus knows of each target, `up`, has it.
///
///     [{"targets": ["127.0.0.1:0"], "labels": {"topology": "demo", "bypass": "on"}}]

namespace millrace {

inline constexpr std::string_view kDiscoveryEnding = ".telemetry.json";

/// Of the file with what is known of a bypass (orchestration/supervisor/bypass.hpp), beside it.
inline constexpr std::string_view kBypassEnding = ".bypass";

inline std::string discovery_path(const std::string& run_dir) {
  return run_dir + std::string(kDiscoveryEnding);
}

/// Writes it. Readable by all users: Prometheus may be another user. `address`: where telemetry
/// listens, "address:port". Throws Error.
void write_discovery(const std::string& run_dir, const std::string& topology,
                     const std::string& address);
/// The same of a topology that does not run and whose bypass is on. Throws Error.
void write_bypass_discovery(const std::string& run_dir, const std::string& topology);

}  // namespace millrace
