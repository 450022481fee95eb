// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/address_prefix.hpp"

/// Alerts as they stand in lines of events (services/events).

namespace millrace {

/// The line's JSON; nothing: it is no alert.
std::optional<nlohmann::ordered_json> alert_of_line(const std::string& line);

/// The alert for people, without the line's end:
///
///     2026-11-25T12:00:00.123456+0000 blocked [1:2019401:7] "ET TROJAN a beacon" severity 1
///         (A Network Trojan was detected)  TCP 10.1.0.5:40000 > 192.0.2.9:80 http  by ids
///
/// (one line.)
std::string alert_text(const nlohmann::ordered_json& alert);

/// Which alerts are wanted.
class AlertFilter {
 public:
  /// `sids`: any of them; none: all. `source`: address or prefix that a packet comes from; empty:
  /// any. Throws Error that says what it may be.
  AlertFilter(std::vector<std::uint32_t> sids, const std::string& source);
  bool takes(const nlohmann::ordered_json& alert) const;

 private:
  std::vector<std::uint32_t> sids_;
  std::optional<AddressPrefix> source_;
};

enum class AlertOrder : std::uint8_t { kSignature, kSource, kDestination };

/// Alerts that have something in common.
struct AlertGroup {
  std::string key;   ///< "1:2019401", or an address
  std::string name;  ///< of a signature
  std::uint64_t severity = 0;
  std::uint64_t alerts = 0, blocked = 0;
  std::string last;  ///< its timestamp
};

/// Counts alerts as they are seen, in the order of time.
class AlertCount {
 public:
  explicit AlertCount(AlertOrder by) : by_(by) {}
  void add(const nlohmann::ordered_json& alert);
  std::uint64_t alerts() const { return alerts_; }
  std::uint64_t blocked() const { return blocked_; }
  /// Those with the most alerts, at most so many.
  std::vector<AlertGroup> top(std::size_t count) const;

 private:
  AlertOrder by_;
  std::uint64_t alerts_ = 0, blocked_ = 0;
  std::map<std::string, AlertGroup> groups_;
};

/// A table for people.
std::string alert_groups_text(const std::vector<AlertGroup>& groups, AlertOrder by);
nlohmann::ordered_json alert_group_json(const AlertGroup& group, AlertOrder by);

}  // namespace millrace
