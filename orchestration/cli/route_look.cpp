// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/route_look.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"
#include "shared/base/mac.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

/// One next hop in words.
struct HopWords {
  std::string kind;     ///< "gateway", "on_link", "static", "group", "own", "broadcast", "drop"
  std::string port;     ///< by which packets leave; empty: they do not
  std::string gateway;  ///< address of the neighbour that they go to; empty: none is named
  std::string mac;      ///< empty: not known
  std::string state;    ///< of the neighbour; empty: it is not in the table, or none is meant
  std::string reason;   ///< why packets are dropped; empty: they are not
  std::vector<HopWords> members;  ///< of a group
  std::uint32_t number = 0;       ///< of the next hop
  std::uint32_t percent = 100;    ///< of a member: its share of the group's flows
};

/// A destination of either family.
struct Destination {
  bool is_ipv6 = false;
  std::uint32_t ipv4 = 0;
  Ipv6Address ipv6;
};

Destination destination_of_text(const std::string& text) {
  Destination to;
  if (parse_ipv4(text, to.ipv4)) return to;
  to.is_ipv6 = true;
  if (parse_ipv6(text, to.ipv6)) return to;
  throw Error("'" + text + "' is no IPv4 or IPv6 address");
}

NeighbourKey key_of_bytes(NeighbourFamily family, const std::uint8_t* bytes) {
  NeighbourKey key{.family = family};
  std::copy_n(bytes, family == NeighbourFamily::kIpv4 ? 4 : 16, key.address.begin());
  return key;
}

/// Which neighbour packets of the next hop go to; nothing for one by MAC address, and for hosts of
/// a network without a destination.
std::optional<NeighbourKey> neighbour_of_hop(const RouteHop& hop, const Destination* to) {
  switch (static_cast<RouteHopKind>(hop.kind)) {
    case RouteHopKind::kGateway4:
      return key_of_bytes(NeighbourFamily::kIpv4, hop.gateway);
    case RouteHopKind::kGateway6:
      return key_of_bytes(NeighbourFamily::kIpv6, hop.gateway);
    case RouteHopKind::kOnLink:
      if (to == nullptr) return std::nullopt;
      return key_of_address(to->is_ipv6 ? ipv6_text(to->ipv6) : ipv4_text(to->ipv4), 0);
    default:
      return std::nullopt;
  }
}

void add_neighbour(const RouteLook& look, const RouteHop& hop, const Destination* to,
                   HopWords& words) {
  std::optional<NeighbourKey> key = neighbour_of_hop(hop, to);
  if (!key) return;
  words.gateway = address_text(*key);
  const auto port = std::ranges::find(look.plan.ports, words.port, &PlanPort::name);
  key->port = static_cast<std::uint16_t>(port - look.plan.ports.begin());
  const auto& entries = look.neighbours.entries;
  const auto at = std::ranges::find(entries, *key, &NeighbourSnapshot::key);
  if (at == entries.end()) return;
  words.state = neighbour_state_name(*at, look.neighbours.now_ms);
  if (has_mac(*at)) words.mac = mac_text(at->mac);
}

HopWords words_of(const RouteLook& look, std::uint32_t number, const Destination* to = nullptr);

/// Next hops of a group, with their shares.
std::vector<HopWords> members_of(const RouteLook& look, const RouteHop& group,
                                 const Destination* to) {
  std::vector<HopWords> members;
  std::uint64_t before = 0;
  for (const RouteMember& member :
       look.table.members.subspan(group.first_member, group.member_count)) {
    const std::uint64_t end = member.last + std::uint64_t{1};
    members.push_back(words_of(look, member.hop, to));
    members.back().percent =
        static_cast<std::uint32_t>(((end - before) * 100 + (std::uint64_t{1} << 31)) >> 32);
    before = end;
  }
  return members;
}

std::string_view name_of(RouteReason reason) {
  return kRouteReasons.at(static_cast<std::size_t>(reason)).name;
}

/// `to`: where a packet is to go; null: the next hop by itself.
HopWords words_of(const RouteLook& look, std::uint32_t number, const Destination* to) {
  const RouteHop& hop = look.table.hops[hops_now(look.table).real(number)];
  HopWords words{.number = number};
  if (hop.reason != static_cast<std::uint8_t>(RouteReason::kNone)) {
    words.reason = name_of(static_cast<RouteReason>(hop.reason));
    words.kind = number == kHopOwn ? "own" : number == kHopBroadcast ? "broadcast" : "drop";
    return words;
  }
  const auto kind = static_cast<RouteHopKind>(hop.kind);
  if (kind == RouteHopKind::kGroup) {
    words.kind = "group";
    words.members = members_of(look, hop, to);
    return words;
  }
  words.port = look.table.ports[hop.port].data();
  if (kind == RouteHopKind::kStatic) {
    words.kind = "static";
    words.mac = mac_text(std::to_array(hop.mac));
    return words;
  }
  words.kind = kind == RouteHopKind::kOnLink ? "on_link" : "gateway";
  add_neighbour(look, hop, to, words);
  return words;
}

std::string neighbour_words(const HopWords& words) {
  if (!words.mac.empty()) return ", " + words.mac + (words.state.empty() ? "" : " " + words.state);
  if (words.gateway.empty()) return "";
  return ", " + (words.state.empty() ? "not asked for yet" : words.state);
}

/// "via 192.0.2.1 at wan, 02:00:00:00:00:01 reachable".
std::string hop_text(const HopWords& words) {
  if (words.kind == "own") return "";
  if (!words.reason.empty()) return "dropped as " + words.reason;
  if (words.kind == "group") {
    std::string text = "by flow";
    for (const HopWords& member : words.members) {
      text += &member == &words.members.front() ? ": " : "; ";
      text += std::to_string(member.percent) + " % " + hop_text(member);
    }
    return text;
  }
  const std::string at = "at " + words.port;
  if (words.kind == "gateway") return "via " + words.gateway + " " + at + neighbour_words(words);
  if (words.kind == "static") return at + neighbour_words(words);
  return words.gateway.empty() ? "hosts " + at : "on its network " + at + neighbour_words(words);
}

std::string hop_title(std::uint32_t number) {
  switch (number) {
    case kHopDefault:
      return "IPv4 without a longer prefix: ";
    case kHopOwn:
      return "addresses of this router";  // answered, left to the host behind, or dropped
    case kHopBroadcast:
      return "broadcast addresses: ";
    case kHopNowhere:
      return "prefixes with `drop`: ";
    case kHopDefaultIpv6:
      return "IPv6 without a longer prefix: ";
    default:
      return "";
  }
}

void put_words(Json& json, const HopWords& words) {
  json["kind"] = words.kind;
  if (!words.reason.empty()) json["reason"] = words.reason;
  if (!words.gateway.empty()) json["gateway"] = words.gateway;
  if (!words.port.empty()) json["port"] = words.port;
  if (!words.mac.empty()) json["mac"] = words.mac;
  if (!words.state.empty()) json["state"] = words.state;
  if (words.kind != "group") return;
  json["members"] = Json::array();
  for (const HopWords& member : words.members) {
    Json one = {{"hop", member.number}, {"percent", member.percent}};
    put_words(one, member);
    json["members"].push_back(std::move(one));
  }
}

std::uint64_t hits_of(const RouteLook& look, std::uint32_t number) {
  return number < look.hits.size() ? look.hits[number] : 0;
}

bool is_shown(const RouteLook& look, std::uint32_t number) {
  return number != kHopDefaultIpv6 || look.table.ipv6.present();
}

std::string bytes_text(std::uint64_t bytes) {
  const bool large = bytes >= 1'000'000;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", static_cast<double>(bytes) / (large ? 1e6 : 1e3),
                large ? "MB" : "kB");
  return text;
}

/// What the fast pass says of a destination before it looks into the table; kNone: it looks.
RouteReason refused_before(const RouteLook& look, const Destination& to) {
  if (to.is_ipv6 && !look.table.ipv6.present()) return RouteReason::kNotIpv4;
  const bool never = to.is_ipv6 ? never_routed(to.ipv6) : never_routed(to.ipv4);
  return never ? RouteReason::kNotUnicast : RouteReason::kNone;
}

std::uint32_t hop_to(const RouteLook& look, const Destination& to) {
  return to.is_ipv6 ? look.table.ipv6.look_up(to.ipv6) : look.table.look_up(to.ipv4);
}

std::string_view why_refused(RouteReason reason) {
  return reason == RouteReason::kNotIpv4 ? "the table has no IPv6 route"
                                         : "such an address is never routed";
}

/// How a table follows the kernel.
std::string following_text(const RouteLook& look) {
  if (!look.live) return "built anew for each change";
  const RouteLive& live = *look.table.live;
  return "changed in place: " + std::to_string(live.route_count) + " prefixes now, " +
         std::to_string(live.change_count) + " changes; read whole " +
         std::to_string(live.dump_count) + " times, " + std::to_string(live.lost_count) +
         " of them as notifications were lost";
}

Json live_json(const RouteLook& look) {
  if (!look.live) return nullptr;
  const RouteLive& live = *look.table.live;
  return {{"prefixes", live.route_count},
          {"changes", live.change_count},
          {"dumps", live.dump_count},
          {"lost", live.lost_count}};
}

std::string_view why_dropped(std::uint32_t number) {
  if (number == kHopOwn) return "an address of this router";
  if (number == kHopBroadcast) return "the broadcast address of a network of this router";
  return number == kHopNowhere ? "a prefix with `drop`" : "no prefix takes it";
}

}  // namespace

std::uint32_t route_function(const Plan& plan, const std::string& name) {
  std::vector<std::string_view> names;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < plan.functions.size(); ++i) {
    const PlanFunction& function = plan.functions[i];
    if (function.gone || function.type != "route") continue;
    if (function.name == name) return i;
    names.emplace_back(function.name);
    last = i;
  }
  if (names.empty()) throw Error("topology '" + plan.name + "' has no function of type route");
  if (!name.empty()) throw Error("--function: " + no_such("function of type route", name, names));
  if (names.size() == 1) return last;
  throw Error("several functions route: " + comma_list(names) + "; say which: --function " +
              std::string(names.front()));
}

std::string routes_text(const RouteLook& look) {
  std::string text = "function " + look.function + ": table of " + std::to_string(look.accepted) +
                     " prefixes, " + std::to_string(look.refused) + " refused; build " +
                     std::to_string(look.generation) + ", of " + look.built + "\n";
  for (const std::string& file : look.files) text += "  from   " + file + "\n";
  if (look.of_kernel) text += "  from   the routes of the kernel, " + following_text(look) + "\n";
  text += "  image  " + look.image + ", " + bytes_text(look.image_bytes) + ", of which " +
          bytes_text(look.stored_bytes) + " are set\n\n";
  char line[64];
  std::snprintf(line, sizeof line, "%8s %16s  %s\n", "next hop", "packets", "to");
  text += line;
  for (std::uint32_t number = 0; number < hops_now(look.table).used; ++number) {
    if (!is_shown(look, number)) continue;
    std::snprintf(line, sizeof line, "%8u %16lu  ", number, hits_of(look, number));
    text += line + hop_title(number) + hop_text(words_of(look, number)) + "\n";
  }
  return text;
}

Json routes_json(const RouteLook& look) {
  Json hops = Json::array();
  for (std::uint32_t number = 0; number < hops_now(look.table).used; ++number) {
    if (!is_shown(look, number)) continue;
    Json hop = {{"hop", number}};
    put_words(hop, words_of(look, number));
    hop["packets"] = hits_of(look, number);
    hops.push_back(std::move(hop));
  }
  return {{"ok", true},
          {"topology", look.plan.name},
          {"function", look.function},
          {"prefixes", look.accepted},
          {"refused", look.refused},
          {"generation", look.generation},
          {"built", look.built},
          {"files", look.files},
          {"kernel", look.of_kernel},
          {"live", live_json(look)},
          {"image", look.image},
          {"bytes", look.image_bytes},
          {"bytes_set", look.stored_bytes},
          {"ipv6", look.table.ipv6.present()},
          {"hops", hops}};
}

std::string route_to_text(const RouteLook& look, const std::string& address) {
  const Destination to = destination_of_text(address);
  if (const RouteReason reason = refused_before(look, to); reason != RouteReason::kNone) {
    return address + " is dropped as " + std::string(name_of(reason)) + ": " +
           std::string(why_refused(reason)) + "\n";
  }
  const std::uint32_t number = hop_to(look, to);
  const HopWords words = words_of(look, number, &to);
  std::string text = address + " ";
  if (words.kind == "own") {
    text += "is an address of this router";
  } else if (!words.reason.empty()) {
    text += "is " + hop_text(words) + ": " + std::string(why_dropped(number));
  } else {
    text += hop_text(words);
  }
  return text + "\n    next hop " + std::to_string(number) + " of function " + look.function +
         ", packets so far: " + std::to_string(hits_of(look, number)) + "\n";
}

Json route_to_json(const RouteLook& look, const std::string& address) {
  const Destination to = destination_of_text(address);
  Json json = {{"ok", true},
               {"topology", look.plan.name},
               {"function", look.function},
               {"address", address}};
  if (const RouteReason reason = refused_before(look, to); reason != RouteReason::kNone) {
    json["kind"] = "drop";
    json["reason"] = name_of(reason);
    return json;
  }
  const std::uint32_t number = hop_to(look, to);
  json["hop"] = number;
  put_words(json, words_of(look, number, &to));
  json["packets"] = hits_of(look, number);
  return json;
}

}  // namespace millrace
