// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/ids/rules/signature.hpp"

/// Rule files as people have them, read.

namespace millrace {

/// Each action once; those in front count first.
using ActionOrder = std::array<RuleAction, 4>;
inline constexpr ActionOrder kActionOrder = {RuleAction::kPass, RuleAction::kDrop,
                                             RuleAction::kReject, RuleAction::kAlert};

/// Of hosts, and of pairs of them, bits can be kept where all of their packets meet in one lane.
enum class KeptBits : std::uint8_t { kNone, kOfPairs, kOfHosts };

/// What stands beside rules in Suricata's and Snort's configuration.
struct RuleSetup {
  /// Without `$`: HOME_NET, HTTP_PORTS, ... ; values as in Suricata's YAML, which may name others.
  std::map<std::string, std::string, std::less<>> variables;
  /// classification.config: name -> priority, description.
  std::map<std::string, std::pair<std::uint8_t, std::string>, std::less<>> classes;
  std::string folder;                       ///< of `dataset` files that have no absolute path
  KeptBits kept_bits = KeptBits::kOfHosts;  ///< rules with others (`xbits`) are refused
};
/// Suricata's defaults: HOME_NET [192.168.0.0/16,10.0.0.0/8,172.16.0.0/12], EXTERNAL_NET
/// !$HOME_NET, HTTP_PORTS 80, ... ; those that rules of Snort name besides; names and priorities of
/// the classes that public rules have, without descriptions.
RuleSetup default_rule_setup();
/// Reads lines "config classification: name,description,priority" into setup.classes. Throws Error
/// with file:line. Returns how many there were.
std::size_t load_classification(const std::string& path, RuleSetup& setup);

using RuleFiles = std::map<std::string, std::string, std::less<>>;

struct RuleRefusal {
  std::string place;    ///< "file:line"
  std::uint32_t sid;    ///< 0: not known
  std::string keyword;  ///< what is not understood; empty: the rule's head or form
  std::string reason;
  std::string line() const;  ///< "file:line: sid 7: keyword: reason"
};

struct RuleSet {
  std::vector<Signature> signatures;  ///< in the order in which they count, by sort_signatures()
  std::vector<RuleRefusal> refusals;
  std::vector<std::string> flowbits;  ///< names, by number
  /// Texts of the files that `dataset` names, by the name in the rule. What stands here when rules
  /// are read is not read from disk: an image brings its files along.
  RuleFiles files;
  std::size_t disabled = 0;  ///< rules that are commented out
};

/// Reads all of them. Lines that end in a backslash go on. A rule with the gid and sid of one
/// before replaces it if its revision is higher, and is refused otherwise. Throws Error when a file
/// cannot be read, or has a zero byte or a CR inside a line.
RuleSet load_rule_files(const std::vector<std::string>& paths, const RuleSetup& setup);
/// The same of a text; `name` stands for its path. Does not sort.
void read_rules(std::string_view text, const std::string& name, const RuleSetup& setup,
                RuleSet& into);
/// Puts signatures in the order in which they count: by action, as `actions` has them; then
/// rules that write flowbits without asking for any, those that do both (each behind all that write
/// what it asks for, unless they wait for each other), those that ask alone, those without; by
/// priority, by sid.
void sort_signatures(RuleSet& rules, const ActionOrder& actions = kActionOrder);

/// No alerts of these rules for these addresses.
struct RuleSuppression {
  std::uint32_t gid, sid;  ///< gid 0: all rules; sid 0: all of the gid
  enum class Track : std::uint8_t { kAny, kSource, kDestination, kEither } track;
  AddressSet addresses;
};
struct ThresholdFile {
  std::size_t line_count = 0;
  std::vector<RuleSuppression> suppressions;
};
/// Reads lines "suppress gen_id 1, sig_id 2, track by_src, ip 10.0.0.0/8" and "threshold gen_id 1,
/// sig_id 2, type limit, track by_src, count 1, seconds 60" (Suricata's threshold.config); those of
/// thresholds are put into the rules: in place of a rule's own if the line names its sid; of those
/// without if sig_id is 0. Lines that name a rule that is not there have no effect. Throws Error
/// with file:line, of rate_filter too: a rule's action does not change with its rate.
ThresholdFile load_threshold_file(const std::string& path, const RuleSetup& setup, RuleSet& rules);

}  // namespace millrace
