// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

struct InspectSettings {
  StreamRoom room;
  StreamLimits limits;  ///< `carry` is the table's
  bool trusts_checksums = false;
};

/// Beside these it has those of its rules: `rules`, `classes`, `events`.
std::span<const KnownSetting> known_inspect_settings();

/// Throws Error that names the key.
InspectSettings inspect_settings(const Settings& settings);

}  // namespace millrace
