// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/signature_names.hpp"
#include "services/telemetry/status_metrics.hpp"

namespace millrace {

/// Hits of signatures by gid and sid. Counters of a function are numbered, and a reload may give a
/// number to another signature: the hits of the signature before are kept here. Between the switch
/// and the next scrape hits count for the number's old signature. One thread.
class SignatureCounts {
 public:
  /// Series of one function. A signature gets a series with its first hit; signatures after the
  /// first kSeriesMax count in a series without sid.
  static constexpr std::size_t kSeriesMax = 256;

  /// Adds the hits of functions that have names of signatures beside their images.
  void add(const StatusSource& source, Families& families);

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  ///< gid, sid
  struct Counted {
    std::string image;  ///< of which `names` are
    std::shared_ptr<const SignatureNames> names;
    std::vector<std::uint64_t> before;     ///< by number: what was counted before this image
    std::map<Key, std::uint64_t> earlier;  ///< hits while other images were in use
    std::vector<Key> shown;                ///< those that have a series
  };

  static void follow(const PlanFunction& function, const std::vector<std::uint64_t>& sums,
                     Counted& counted);
  static void add(const PlanFunction& function, const std::vector<std::uint64_t>& sums,
                  Counted& counted, Families& families);

  std::map<std::uint32_t, Counted> functions_;  ///< by number in the plan
};

}  // namespace millrace
