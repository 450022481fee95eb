// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Settings of `streams`. README.md has what they mean.
struct StreamsSettings {
  std::string folder;
  std::uint64_t streams = 32'768;  ///< at once, of all lanes together
  std::uint64_t depth = 0;         ///< bytes of a direction; 0: all
  bool trusts_checksums = false;
  bool picks_up = true;
  // Of the process that writes.
  std::uint64_t size_max = std::uint64_t{1024} << 20;  ///< bytes in all files together
  std::uint64_t files_max = 10'000;
};

std::span<const KnownSetting> known_streams_settings();
/// Throws Error that names the key.
StreamsSettings streams_settings(const Settings& settings);

}  // namespace millrace
