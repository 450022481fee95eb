// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

/// The file by which Prometheus finds a topology (file_sd_configs). It lies beside the run
/// directory, not in it: a pattern there may have its one star in the last part of the path only.
///
///     /run/millrace/demo.telemetry.json

namespace millrace {

inline constexpr std::string_view kDiscoveryEnding = ".telemetry.json";

inline std::string discovery_path(const std::string& run_dir) {
  return run_dir + std::string(kDiscoveryEnding);
}

}  // namespace millrace
