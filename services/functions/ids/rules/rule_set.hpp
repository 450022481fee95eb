// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/rules/signature.hpp"

/// Rule files as people have them, read.

namespace millrace {

/// What stands beside rules in Suricata's and Snort's configuration.
struct RuleSetup {
  /// Without `$`: HOME_NET, HTTP_PORTS, ... ; values as in Suricata's YAML, which may name others.
  std::map<std::string, std::string, std::less<>> variables;
  /// classification.config: name -> priority, description.
  std::map<std::string, std::pair<std::uint8_t, std::string>, std::less<>> classes;
  std::string folder;  ///< of `dataset` files that have no absolute path
};
/// Suricata's defaults: HOME_NET [192.168.0.0/16,10.0.0.0/8,172.16.0.0/12], EXTERNAL_NET !$HOME_NET,
/// HTTP_PORTS 80, ... and its classes.
RuleSetup default_rule_setup();
/// Reads lines "config classification: name,description,priority" into setup.classes. Throws Error
/// with file:line.
void read_classification(const std::string& path, RuleSetup& setup);

struct RuleRefusal {
  std::string place;    ///< "file:line"
  std::uint32_t sid;    ///< 0: not known
  std::string keyword;  ///< what is not understood; empty: the rule's head or form
  std::string reason;
  std::string line() const;  ///< "file:line: sid 7: keyword: reason"
};

struct RuleSet {
  std::vector<Signature> signatures;  ///< in the order in which they count, see sort()
  std::vector<RuleRefusal> refusals;
  std::vector<std::string> flowbits;  ///< names, by number
  std::size_t disabled = 0;           ///< rules that are commented out
};

/// Reads all of them. Lines that end in a backslash go on. A rule with the gid and sid of one before
/// replaces it if its revision is higher, and is refused otherwise. Throws Error when a file cannot
/// be read.
RuleSet read_rule_files(const std::vector<std::string>& paths, const RuleSetup& setup);
/// The same of a text; `name` stands for its path.
void read_rules(std::string_view text, const std::string& name, const RuleSetup& setup,
                RuleSet& into);
/// Puts signatures in the order in which they count: by action (pass, drop, reject, alert), rules
/// that set flowbits in front of those that ask for them, by priority, by sid.
void sort_signatures(RuleSet& rules);

/// Reads lines "suppress gen_id 1, sig_id 2, track by_src, ip 10.0.0.0/8", "threshold ..." and
/// "rate_filter ..." (Suricata's threshold.config). Throws Error with file:line.
struct RuleSuppression {
  std::uint32_t gid, sid;  ///< sid 0: all of the gid
  enum class Track : std::uint8_t { kAny, kSource, kDestination, kEither } track;
  AddressSet addresses;
};
struct ThresholdFile {
  std::vector<RuleSuppression> suppressions;
};
ThresholdFile read_threshold_file(const std::string& path, RuleSet& rules);

}  // namespace millrace
