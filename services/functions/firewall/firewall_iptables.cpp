// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "services/functions/acl/acl_conditions.hpp"
#include "services/functions/acl/acl_match.hpp"
#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_chains.hpp"
#include "services/functions/firewall/firewall_elsewhere.hpp"
#include "services/functions/firewall/firewall_iptables_limits.hpp"
#include "services/functions/firewall/firewall_negation.hpp"
#include "services/functions/firewall/firewall_notrack.hpp"
#include "services/functions/firewall/firewall_reject.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/error.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

using Verdict = FirewallLine::Verdict;
using Words = std::vector<std::string>;

/// Words of a line; what is in quotes is one, a backslash takes the byte behind it as it is.
Words words_of(std::string_view line) {
  Words words;
  std::string word;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char byte = line[i];
    if (byte == '"') {
      quoted = !quoted;
      inside = true;
    } else if (byte == '\\' && i + 1 < line.size()) {
      word += line[++i];
    } else if (!quoted && (byte == ' ' || byte == '\t')) {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += byte;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

std::vector<std::string> list_of(const std::string& words) {
  std::vector<std::string> out;
  for (std::size_t at = 0;;) {
    const std::size_t comma = std::min(words.find(',', at), words.size());
    out.push_back(words.substr(at, comma - at));
    if (comma == words.size()) return out;
    at = comma + 1;
  }
}

/// "22" or "80:90"; either end may be left out.
AclPortRange ports_of(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return acl_port_range(word, word);
  const std::string low = word.substr(0, colon), high = word.substr(colon + 1);
  return acl_port_range(low.empty() ? "0" : low, high.empty() ? "65535" : high);
}

void set_protocol(const std::string& word, AclRule& rule) {
  const std::string_view name =
      word == "icmpv6" || word == "ipv6-icmp" ? std::string_view("icmp6") : word;
  if (name == "all") return;
  rule.protocol = acl_protocol_of(name);
  if (rule.protocol == 0) {
    rule.protocol = static_cast<std::uint8_t>(acl_number(word, UINT8_MAX, "protocol"));
  }
  rule.protocol_mask = 0xff;
}

std::string letters_of(const std::string& names) {
  if (names == "NONE") return "0";
  if (names == "ALL") return "FSRPAU";
  std::string out;
  for (const std::string& name : list_of(names)) out += name.empty() ? '?' : name[0];
  return out;
}

/// Options that say nothing of packets.
bool is_no_matter(const std::string& option) {
  constexpr std::array<std::string_view, 8> kNone = {"-j",
                                                     "-m",
                                                     "--log-prefix",
                                                     "--log-level",
                                                     "--nflog-prefix",
                                                     "--nflog-group",
                                                     "--nflog-size",
                                                     "--nflog-threshold"};
  return std::ranges::find(kNone, option) != kNone.end();
}

/// Matches of which all that they compare stands in their options. Others, as `eui64`, compare
/// without an option.
bool is_known_match(const std::string& name) {
  constexpr std::array<std::string_view, 11> kKnown = {"tcp",       "udp",   "udplite", "sctp",
                                                       "dccp",      "icmp",  "icmp6",   "multiport",
                                                       "conntrack", "state", "comment"};
  return std::ranges::find(kKnown, name) != kKnown.end();
}

/// Reads the options of one line `-A CHAIN ...`.
class IptablesLine {
 public:
  IptablesLine(FirewallLine line, std::uint8_t family, std::span<const FirewallPort> ports)
      : line_(std::move(line)), family_(family), ports_(ports), limits_(family) {}

  FirewallLine read(const Words& words) {
    note_target(words);
    try {
      for (std::size_t i = 2; i < words.size();) i = read_option(words, i);
      firewall_limit(limits_.read_all(), words[1], line_);
    } catch (const AclRefusal& refusal) {
      line_.refusal = refusal.reason;
    }
    return line_;
  }

 private:
  /// First of all: what may be left out depends on it.
  void note_target(const Words& words) {
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] == "-g") line_.verdict = Verdict::kJump;
      if (words[i] != "-j") continue;
      const std::string& target = words[i + 1];
      if (target == "ACCEPT") {
        line_.verdict = Verdict::kPass;
      } else if (target == "DROP") {
        line_.verdict = Verdict::kDrop;
      } else if (target == "REJECT") {
        line_.verdict = Verdict::kReject;
        line_.told.reject = reject_by_default();
      } else if (target == "SYNPROXY") {
        line_.verdict = Verdict::kSynproxy;
      } else if (target == "RETURN") {
        line_.verdict = Verdict::kReturn;
      } else if (target == "LOG" || target == "NFLOG") {
        line_.log = true;
      } else {
        line_.verdict = Verdict::kJump;
        line_.target = target;
      }
    }
  }

  /// Returns where the next one is.
  std::size_t read_option(const Words& words, std::size_t at) {
    negated_ = words[at] == "!" && at + 1 < words.size();
    if (negated_) ++at;
    const std::size_t next = read_plain(words, at);
    if (negated_) throw AclRefusal{"! " + quoted_word(words[at])};
    return next;
  }

  std::size_t read_plain(const Words& words, std::size_t at) {
    const std::string& option = words[at];
    if (option == "-f") {
      AclRule later = firewall_any();
      acl_set_fragment("later", later);
      firewall_narrow(line_.matches, {later});
    }
    if (option == "-f" || limits_.is_flag(option) || read_proxy_flag(option)) return at + 1;
    if (option == "-o") throw AclRefusal{"-o: route, behind this, chooses the way out"};
    const std::size_t values = option == "--tcp-flags" ? 2 : 1;
    if (at + values >= words.size()) throw AclRefusal{quoted_word(option)};
    const std::string& value = words[at + 1];
    if (option == "-m" && !limits_.note_match(value) && !is_known_match(value)) {
      throw AclRefusal{"-m " + quoted_word(value)};
    }
    if (option == "--tcp-flags") {
      const std::string flags = letters_of(words[at + 2]) + "/" + letters_of(value);
      narrow(FirewallField::kFlags, [&](AclRule& rule) {
        set_protocol("tcp", rule);
        acl_set_flags(flags, rule);
      });
    } else if (option == "--comment") {
      line_.name = value;
    } else if (option == "--reject-with") {
      line_.told.reject = reject_of_iptables(family_ == kAclIpv4 ? 4 : 6, value);
    } else if (option == "--mss" && is_synproxy()) {
      firewall_set_proxy_mss(value, line_.told);
    } else if (option == "--wscale" && is_synproxy()) {
      firewall_set_proxy_scale(value, line_.told);
    } else if (!is_no_matter(option) && !limits_.read(option, value) &&
               !read_match(option, value)) {
      throw AclRefusal{quoted_word(option)};
    }
    return at + 1 + values;
  }

  bool is_synproxy() const { return line_.verdict == Verdict::kSynproxy; }

  bool read_proxy_flag(const std::string& option) {
    if (!is_synproxy()) return false;
    if (option == "--sack-perm") line_.told.proxy |= kRuleProxySack;
    if (option == "--timestamp") line_.told.proxy |= kRuleProxyTimestamp;
    return option == "--sack-perm" || option == "--timestamp";
  }

  bool read_match(const std::string& option, const std::string& value) {
    if (option == "-s" || option == "-d") {
      const AclPrefix found = acl_prefix(value, false), any;
      const bool source = option == "-s";
      narrow(source ? FirewallField::kSource : FirewallField::kDestination, [&](AclRule& rule) {
        acl_set_addresses(source ? found : any, source ? any : found, family_, rule);
      });
    } else if (option == "-i") {
      narrow(FirewallField::kInput,
             [&](AclRule& rule) { firewall_set_inputs(value, ports_, rule); });
    } else if (option == "-p") {
      narrow(FirewallField::kProtocol, [&](AclRule& rule) { set_protocol(value, rule); });
    } else if (option == "--ctstate" || option == "--state") {
      narrow(FirewallField::kState,
             [&](AclRule& rule) { firewall_set_states(in_lower_case(value), rule); });
    } else if (option == "--icmp-type" || option == "--icmpv6-type") {
      narrow(FirewallField::kIcmp, [&](AclRule& rule) {
        set_protocol(option == "--icmp-type" ? "icmp" : "icmp6", rule);
        if (value != "any") acl_set_icmp(value, rule);
      });
    } else {
      return read_ports(option, value);
    }
    return true;
  }

  bool read_ports(const std::string& option, const std::string& value) {
    const bool source = option == "--sport" || option == "--sports";
    if (!source && option != "--dport" && option != "--dports") return false;
    std::vector<AclRule> any_of;
    for (const std::string& word : list_of(value)) {
      AclRule& rule = any_of.emplace_back(firewall_any());
      const AclPortRange range = ports_of(word), any;
      acl_set_ports(source ? range : any, source ? any : range, rule);
    }
    narrow_to(source ? FirewallField::kSourcePort : FirewallField::kDestinationPort, any_of);
    return true;
  }

  template <typename Set>
  void narrow(FirewallField field, Set&& set) {
    std::vector<AclRule> one = {firewall_any()};
    set(one[0]);
    narrow_to(field, one);
  }

  /// Or to all but these.
  void narrow_to(FirewallField field, const std::vector<AclRule>& any_of) {
    const bool negated = std::exchange(negated_, false);
    firewall_narrow(line_.matches, negated ? firewall_all_but(field, any_of) : any_of);
  }

  FirewallLine line_;
  std::uint8_t family_;
  std::span<const FirewallPort> ports_;
  IptablesLimits limits_;
  bool negated_ = false;  ///< of the option that is read
};

/// The tables of a file that may drop packets: filter, and raw and mangle, of which nothing is
/// taken but `notrack`.
struct SavedTables {
  FirewallChains filter;
  std::map<std::string, FirewallChains> others;
  std::set<std::string> closed;  ///< chains of these with a policy of drop, as "raw PREROUTING"
  FirewallNotrack notrack;       ///< of PREROUTING of raw
  std::string table;             ///< that the lines are of; empty: another
  bool complete = false;         ///< the end of filter has been there
  bool passes = false;           ///< policy of FORWARD
};

/// One line of PREROUTING of raw.
void read_raw(Words words, const std::string& where, std::uint8_t family,
              std::span<const FirewallPort> ports, FirewallNotrack& notrack) {
  // What it does is taken off; the rest is what it matches.
  constexpr std::array<std::string_view, 3> kNotrack = {"-j", "CT", "--notrack"};
  const auto target = std::search(words.begin(), words.end(), kNotrack.begin(), kNotrack.end());
  const bool is_notrack = target != words.end();
  if (is_notrack) words.erase(target, target + kNotrack.size());
  FirewallLine line{.where = where, .name = {}, .matches = {firewall_any()}};
  notrack.add(IptablesLine(std::move(line), family, ports).read(words), is_notrack);
}

/// A line of a chain.
void add_line(const Words& words, const std::string& where, std::uint8_t family,
              std::span<const FirewallPort> ports, SavedTables& saved) {
  if (saved.table == "raw" && words[1] == "PREROUTING") {
    read_raw(words, where, family, ports, saved.notrack);
  }
  FirewallChains& chains = saved.table == "filter" ? saved.filter : saved.others[saved.table];
  FirewallLine line{.where = where, .name = {}, .matches = {firewall_any()}};
  chains[words[1]].lines.push_back(IptablesLine(std::move(line), family, ports).read(words));
}

void add_policy(const Words& words, SavedTables& saved) {
  const std::string chain = words[0].substr(1);
  const bool accepts = words.size() > 1 && words[1] == "ACCEPT";
  if (saved.table == "filter") {
    saved.filter[chain];
    if (chain == "FORWARD") saved.passes = accepts;
    return;
  }
  saved.others[saved.table][chain];
  if (words.size() > 1 && words[1] == "DROP") saved.closed.insert(saved.table + " " + chain);
}

void read_line(const Words& words, const std::string& where, std::uint8_t family,
               std::span<const FirewallPort> ports, SavedTables& saved) {
  if (words.empty() || words[0].starts_with('#')) return;
  const std::string& first = words[0];
  if (first.starts_with('*')) {
    const std::string table = first.substr(1);
    const bool known = table == "filter" || table == "raw" || table == "mangle";
    saved.table = known ? table : "";
    if (table == "filter" && saved.complete) throw Error(where + ": a second table filter");
    return;
  }
  if (saved.table.empty()) return;
  if (first == "COMMIT") {
    saved.complete = saved.complete || saved.table == "filter";
    saved.table.clear();
  } else if (first.starts_with(':')) {
    add_policy(words, saved);
  } else if (first == "-A" && words.size() > 1) {
    add_line(words, where, family, ports, saved);
  } else {
    throw Error(where + ": no line of iptables-save");
  }
}

/// The chains that a forwarded packet passes beside FORWARD of filter.
void refuse_drops_of(const SavedTables& saved, const std::string& file) {
  for (const auto& [table, chains] : saved.others) {
    for (const char* const chain : {"PREROUTING", "FORWARD", "POSTROUTING"}) {
      refuse_drops_elsewhere(chains,
                             {.name = chain,
                              .hook = "chain " + std::string(chain) + " of table " + table,
                              .passes = !saved.closed.contains(table + " " + chain)},
                             file);
    }
  }
}

}  // namespace

FirewallRules read_iptables(const std::string& text, const std::string& file, std::uint8_t family,
                            std::span<const FirewallPort> ports) {
  SavedTables saved;
  std::size_t number = 0;
  for (std::string_view left = text; !left.empty();) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string where = file + ":" + std::to_string(++number);
    read_line(words_of(left.substr(0, end)), where, family, ports, saved);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (!saved.complete) throw Error(file + ": no whole table filter, as iptables-save writes it");
  refuse_drops_of(saved, file);
  FirewallRules out{.rules = {}, .refusals = saved.notrack.left_out()};
  saved.notrack.apply_to(saved.filter);
  flatten_chain(saved.filter, "FORWARD", family, saved.passes, out);
  return out;
}

}  // namespace millrace
