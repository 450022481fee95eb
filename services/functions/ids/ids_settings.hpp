// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/overlap_policies.hpp"
#include "services/functions/ids/protocols/app_session.hpp"
#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/stream/stream_lane.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// `log`: what is told of beside alerts.
struct IdsLogChoice {
  bool http = false, dns = false, tls = false, ssh = false, smtp = false;
  bool drop = false, anomaly = false;

  bool has_apps() const noexcept { return http || dns || tls || ssh || smtp; }
  bool has_any() const noexcept { return has_apps() || drop || anomaly; }
};

/// What is done with fragments of IP.
enum class FragmentUse : std::uint8_t {
  kAssemble,  ///< they are put together, and the whole is looked at
  kDrop,
  kPass,  ///< each is looked at by itself
};

struct IdsSettings {
  StreamRoom room{.streams = 32'768, .memory_mb = 256};
  StreamLimits limits{.history = 16u << 10};  ///< `carry` is the rules'
  AppLimits app;
  ActionOrder actions = kActionOrder;
  std::uint32_t alerts_max = 0;   ///< of a packet; 0: all
  std::uint64_t parser_mb = 256;  ///< MB of parsers and waiting rules, of a worker
  bool trusts_checksums = false;
  FragmentUse fragments = FragmentUse::kAssemble;
  OverlapPolicies overlaps;   ///< of `mode: ids` alone
  bool only_watches = false;  ///< `mode: ids`: it drops nothing and changes no packet
  bool learns = false;        ///< rules that drop or reject are told of, and do nothing
  /// What no parser can read ends its connection, if a rule that drops asks for it.
  bool drops_unreadable = true;
  bool tells = false;  ///< `events`
  IdsLogChoice log;
  bool alert_app = false;  ///< alerts have what is known of their transaction
  std::uint32_t alert_payload = 0, alert_packet = 0;  ///< bytes that an alert has of either
  /// Variables of rules, in the order of the file: name without `$`, value.
  std::vector<std::pair<std::string, std::string>> variables;
  std::string classification, thresholds;  ///< files; empty: none

  /// A rule may drop.
  bool drops() const noexcept { return !only_watches && !learns; }
  bool drops_unread() const noexcept { return drops() && drops_unreadable; }
};

std::span<const KnownSetting> known_ids_settings();

/// Throws Error that names the key.
IdsSettings ids_settings(const Settings& settings);

}  // namespace millrace
