// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "services/functions/acl/acl_words.hpp"
#include "services/functions/firewall/firewall_chains.hpp"
#include "services/functions/firewall/firewall_elsewhere.hpp"
#include "services/functions/firewall/firewall_nft_limits.hpp"
#include "services/functions/firewall/firewall_nft_match.hpp"
#include "services/functions/firewall/firewall_notrack.hpp"
#include "services/functions/firewall/firewall_reject.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;
using Verdict = FirewallLine::Verdict;

/// A table's chains are named by family and table too.
std::string chain_name(const Json& of, const char* key) {
  return of.at("family").get<std::string>() + " " + of.at("table").get<std::string>() + " " +
         of.at(key).get<std::string>();
}

/// What senders are told; a name of an object is not understood.
void read_synproxy(const Json& said, AclRule& told) {
  if (said.is_null()) return;
  if (!said.is_object()) throw AclRefusal{"a synproxy with a name"};
  told.proxy = 0;
  for (const auto& [key, value] : said.items()) {
    if (key == "mss") {
      firewall_set_proxy_mss(std::to_string(value.get<std::uint32_t>()), told);
    } else if (key == "wscale") {
      firewall_set_proxy_scale(std::to_string(value.get<std::uint32_t>()), told);
    } else if (key == "flags") {
      for (const Json& flag : value.is_array() ? value : Json::array({value})) {
        if (flag != "timestamp" && flag != "sack-perm") throw AclRefusal{nft_word(flag)};
        told.proxy |= flag == "timestamp" ? kRuleProxyTimestamp : kRuleProxySack;
      }
    } else {
      throw AclRefusal{"a synproxy with " + key};
    }
  }
}

std::uint8_t read_reject(const Json& said) {
  if (!said.is_object() || said.empty()) return reject_by_default();
  return reject_of_nft(said.value("type", "icmpx"), said.value("expr", "port-unreachable"));
}

/// False: it is no verdict. `table`: in front of the names of its chains.
bool set_verdict(const Json& expression, const std::string& table, FirewallLine& line) {
  if (expression.contains("accept")) {
    line.verdict = Verdict::kPass;
  } else if (expression.contains("drop")) {
    line.verdict = Verdict::kDrop;
  } else if (expression.contains("reject")) {
    line.verdict = Verdict::kReject;
    line.told.reject = read_reject(expression["reject"]);
  } else if (expression.contains("synproxy")) {
    line.verdict = Verdict::kSynproxy;
    read_synproxy(expression["synproxy"], line.told);
  } else if (expression.contains("return")) {
    line.verdict = Verdict::kReturn;
  } else if (expression.contains("goto")) {
    line.verdict = Verdict::kJump;
    throw AclRefusal{"goto"};
  } else if (expression.contains("jump")) {
    line.verdict = Verdict::kJump;
    line.target = table + expression["jump"].at("target").get<std::string>();
  } else {
    return false;
  }
  return true;
}

/// Statements that end no packet. Others, as `queue`, may; and what sets a field of the packet
/// changes what rules behind it compare.
bool ends_nothing(const Json& expression) {
  constexpr std::array<std::string_view, 17> kNone = {
      "match",   "counter",  "log",        "limit",     "continue",
      "quota",   "last",     "set",        "meter",     "flow",
      "dup",     "ct count", "ct timeout", "ct helper", "ct expectation",
      "notrack", "secmark"};
  if (!expression.is_object() || expression.empty()) return false;
  const std::string& name = expression.begin().key();
  if (name != "mangle") return std::ranges::find(kNone, name) != kNone.end();
  const Json& what = expression.begin().value();
  return what.contains("key") && !what["key"].contains("payload");
}

/// `tcp flags syn` of nft: that flag is set, whatever the others are.
Json with_mask(const std::string& how, const Json& left, const Json& flag) {
  const Json flags = {{"payload", {{"protocol", "tcp"}, {"field", "flags"}}}};
  if (how != "in" || left != flags || !flag.is_string()) return left;
  return {{"&", Json::array({left, flag})}};
}

/// The rules of one rule of nft: one, or one for each verdict of a map.
class NftRule {
 public:
  /// `table`: in front of the names of its chains; `chain`: with that.
  NftRule(FirewallLine line, std::string table, std::string chain,
          std::span<const FirewallPort> ports)
      : line_(std::move(line)), table_(std::move(table)), chain_(std::move(chain)), ports_(ports) {}

  std::vector<FirewallLine> read(const Json& expressions) {
    try {
      note_verdict(expressions);
      for (const Json& expression : expressions) read_one(expression);
      firewall_limit(limits_, chain_, line_);
    } catch (const AclRefusal& refusal) {
      line_.refusal = refusal.reason;
    } catch (const Json::exception& error) {
      line_.refusal = error.what();
    }
    if (!line_.refusal.empty()) return {line_};
    if (lines_.empty()) lines_.push_back(line_);
    return lines_;
  }

 private:
  /// First of all: what may be left out depends on it. A map may drop packets, whatever is behind
  /// it; a part of iptables' that nft does not show, or a statement that is not known, may do
  /// anything.
  void note_verdict(const Json& expressions) {
    bool has_map = false, hidden = false, found = false;
    for (const Json& expression : expressions) {
      has_map = has_map || expression.contains("vmap");
      hidden = hidden || !ends_nothing(expression);
    }
    for (const Json& expression : expressions) {
      found = found || set_verdict(expression, table_, line_);
    }
    if (has_map || (hidden && !found)) line_.verdict = Verdict::kDrop;
  }

  void read_one(const Json& expression) {
    if (!lines_.empty()) {
      // Of packets that are not in the map, which no line says.
      throw AclRefusal{nft_word(expression) + " behind a map"};
    }
    if (expression.contains("match")) {
      const Json& match = expression["match"];
      const std::string how = match.at("op").get<std::string>();
      const bool negated = how == "!=";
      if (!negated && how != "==" && how != "in") throw AclRefusal{"compares by '" + how + "'"};
      const Json &right = match.at("right"), left = with_mask(how, match.at("left"), right);
      firewall_narrow(line_.matches, negated ? nft_all_but(left, right, ports_)
                                             : nft_matches(left, right, ports_));
    } else if (expression.contains("vmap")) {
      read_map(expression["vmap"]);
    } else if (expression.contains("log")) {
      line_.log = true;
    } else if (nft_is_limit(expression)) {
      nft_read_limit(expression, table_, limits_);
    } else if (!expression.contains("counter") && !expression.contains("notrack") &&
               !set_verdict(expression, table_, line_)) {
      throw AclRefusal{nft_word(expression)};
    }
  }

  void read_map(const Json& map) {
    if (firewall_has_limits(limits_)) throw AclRefusal{"a limit in front of a map"};
    for (const Json& pair : map.at("data").at("set")) {
      FirewallLine one = line_;
      firewall_narrow(one.matches, nft_matches(map.at("key"), pair.at(0), ports_));
      if (!set_verdict(pair.at(1), table_, one))
        throw AclRefusal{"a map to " + nft_word(pair.at(1))};
      lines_.push_back(std::move(one));
    }
  }

  FirewallLine line_;
  std::string table_, chain_;
  std::span<const FirewallPort> ports_;
  std::vector<FirewallLine> lines_;
  AclRule limits_ = firewall_any();
};

struct BaseChain {
  std::string name;
  std::uint8_t families;
  bool passes;
};

/// Chains that filter what is forwarded, and those of other hooks that it passes.
struct BaseChains {
  std::vector<BaseChain> forward;
  std::vector<ChainElsewhere> elsewhere;
};

std::uint8_t families_of(const std::string& family) {
  if (family == "ip") return kAclIpv4;
  if (family == "ip6") return kAclIpv6;
  return family == "inet" ? kAclIpv4 | kAclIpv6 : 0;
}

std::string place_of(const Json& rule) {
  return rule.at("chain").get<std::string>() + " handle " +
         std::to_string(rule.at("handle").get<std::uint64_t>());
}

void add_rule(const Json& rule, std::span<const FirewallPort> ports, const std::string& file,
              FirewallChains& chains) {
  const std::string chain = rule.at("chain").get<std::string>();
  const std::string place = place_of(rule);
  FirewallLine line{.where = file + ": " + place,
                    .name = rule.value("comment", place),
                    .matches = {firewall_any()}};
  const std::string table =
      rule.at("family").get<std::string>() + " " + rule.at("table").get<std::string>() + " ";
  std::vector<FirewallLine>& to = chains[table + chain].lines;
  NftRule reading(std::move(line), table, table + chain, ports);
  for (FirewallLine& one : reading.read(rule.at("expr"))) to.push_back(std::move(one));
}

/// A rule of a chain on prerouting.
void add_early_rule(const Json& rule, std::span<const FirewallPort> ports, const std::string& file,
                    FirewallNotrack& notrack) {
  Json matches = Json::array();
  bool is_notrack = false;
  for (const Json& expression : rule.at("expr")) {
    const bool here = expression.contains("notrack");
    is_notrack = is_notrack || here;
    if (!here) matches.push_back(expression);
  }
  FirewallLine line{.where = file + ": " + place_of(rule), .name = {}, .matches = {firewall_any()}};
  line.matches[0].families = families_of(rule.at("family").get<std::string>());
  for (const FirewallLine& one : NftRule(std::move(line), "", "", ports).read(matches)) {
    notrack.add(one, is_notrack && one.verdict == Verdict::kGoesOn);
  }
}

/// It is on prerouting, in front of routing and of what is forwarded.
bool is_early(const Json& chain) {
  return chain.value("hook", "") == "prerouting" && chain.value("type", "") == "filter";
}

void add_chain(const Json& chain, FirewallChains& chains, BaseChains& bases) {
  const std::string name = chain_name(chain, "name");
  chains[name];
  if (chain.value("type", "") != "filter") return;
  const std::string hook = chain.value("hook", "");
  const std::string family = chain.at("family").get<std::string>();
  const std::uint8_t families = families_of(family);
  const bool passes = chain.value("policy", "accept") == "accept";
  if (hook == "prerouting" || hook == "postrouting" || hook == "ingress") {
    if (families != 0 || family == "netdev")
      bases.elsewhere.push_back({name, "hook " + hook, passes});
  }
  if (hook != "forward" || families == 0) return;
  for (const BaseChain& other : bases.forward) {
    if ((other.families & families) == 0) continue;
    throw Error("two chains filter what is forwarded of one family: '" + other.name + "' and '" +
                name + "'");
  }
  bases.forward.push_back({name, families, passes});
}

}  // namespace

FirewallRules read_nft_ruleset(const std::string& json, const std::string& file,
                               std::span<const FirewallPort> ports) {
  FirewallChains chains;
  BaseChains bases;
  std::set<std::string> early;  // chains on prerouting
  FirewallNotrack notrack;
  try {
    const Json all = Json::parse(json);
    for (const Json& one : all.at("nftables")) {
      if (one.contains("chain")) add_chain(one["chain"], chains, bases);
      if (one.contains("chain") && is_early(one["chain"])) {
        early.insert(chain_name(one["chain"], "name"));
      }
      if (!one.contains("rule")) continue;
      if (early.contains(chain_name(one["rule"], "chain"))) {
        add_early_rule(one["rule"], ports, file, notrack);
      }
      add_rule(one["rule"], ports, file, chains);
    }
  } catch (const Json::exception& error) {
    throw Error(file + ": no output of 'nft -j list ruleset': " + error.what());
  }
  if (bases.forward.empty()) throw Error(file + ": no chain of type filter on hook forward");
  for (const ChainElsewhere& base : bases.elsewhere) refuse_drops_elsewhere(chains, base, file);
  notrack.apply_to(chains);
  FirewallRules out{.rules = {}, .refusals = notrack.left_out()};
  for (const BaseChain& base : bases.forward) {
    flatten_chain(chains, base.name, base.families, base.passes, out);
  }
  return out;
}

}  // namespace millrace
