// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_load.hpp"

#include <algorithm>
#include <unordered_map>

#include "services/functions/route/kernel_routes.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/text_file.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRefusalsShown = 100;
constexpr std::uint32_t kLineBits = 24;
constexpr std::size_t kFileCountMax = 256;
constexpr std::size_t kTableBytesMax = std::size_t{1} << 30;  ///< of a file
static_assert(kPrefixCountMax < 1u << kLineBits && kFileCountMax << kLineBits <= 1ull << 32);

struct TableText {
  std::string path;
  std::string text;
};

/// Puts next hops and port names of the files into numbers.
class Loader {
 public:
  Loader(const FunctionContext& context, bool answers, BuildReport& report,
         std::size_t prefix_count_max)
      : report_(report),
        rib_(prefix_count_max),
        any_port_(context.ports.empty()),
        answers_(answers) {
    if (context.ports.size() > kPortCountMax) throw Error("more ports than a topology can have");
    for (const PlanPort& port : context.ports) {
      if (port.name.size() >= kPortNameBytes) throw Error("port name too long: " + port.name);
      set_.ports.push_back(port.name);
    }
    const auto fixed = [&](Reason why) {
      RouteHop hop{};
      hop.reason = static_cast<std::uint8_t>(why);
      set_.hops.push_back(hop);
    };
    fixed(Reason::kNoRoute);     // kHopDefault, until 0.0.0.0/0 is found
    fixed(Reason::kOwnAddress);  // kHopOwn
    fixed(Reason::kNotUnicast);  // kHopBroadcast
    fixed(Reason::kNoRoute);     // kHopNowhere
    fixed(Reason::kNoRoute);     // kHopDefaultIpv6
  }

  void load(const TableText& table) {
    paths_.push_back(table.path);
    std::string_view rest = table.text;
    for (line_ = 1; !rest.empty(); ++line_) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string reason = load_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (reason.empty()) continue;
      refuse(place(tag()) + ": " + reason);
    }
  }

  /// Behind the files: their lines take the place of the kernel's with the same prefix.
  void load(const KernelRoutes& kernel) {
    for (const std::string& refusal : kernel.refusals) refuse(refusal);
    for (const RouteLine& route : kernel.lines) {
      std::uint32_t first = 0;
      bool fresh = false;
      const std::string reason = add(route, 0, fresh, first);
      if (!reason.empty()) refuse("kernel: " + prefix_text(route) + ": " + reason);
      if (reason.empty() && fresh) ++report_.accepted;
    }
  }

  /// The networks of each port's own addresses are on its link.
  void connect(std::span<const PlanPort> ports) {
    for (std::size_t port = 0; port < ports.size(); ++port) {
      const OwnAddresses own = own_addresses({&ports[port], 1});
      RouteHop wanted{};
      wanted.port = static_cast<std::uint8_t>(port);
      wanted.kind = static_cast<std::uint8_t>(RouteHopKind::kOnLink);
      if (own.ipv4.empty() && own.ipv6.empty()) continue;
      const std::uint32_t hop = number_of(wanted);
      if (hop == kNoHop) {
        throw Error("the tables have " + std::to_string(kHopCountMax) +
                    " different next hops, the most; none is left for the networks of port " +
                    ports[port].name);
      }
      std::uint32_t first = 0;
      for (const OwnAddress& address : own.ipv4) {
        const std::uint32_t network = address.address & ipv4_mask(address.length);
        rib_.insert({network, address.length, hop}, 0, first);
      }
      for (const OwnIpv6Address& address : own.ipv6) {
        const Ipv6Address network = address.address & ipv6_mask(address.length);
        ipv6_rib_.insert({network, address.length, hop}, 0, first);
      }
    }
  }

  RouteSet finish(const OwnAddresses& own) {
    finish_ipv4(own.ipv4);
    if (!ipv6_rib_.empty()) finish_ipv6(own.ipv6);
    return std::move(set_);
  }

 private:
  void refuse(const std::string& why) {
    ++report_.refused;
    if (report_.refusals.size() < kRefusalsShown) report_.refusals.push_back(why);
  }

  void finish_ipv4(std::span<const OwnAddress> own) {
    for (const OwnAddress& address : own) {
      const std::uint32_t hosts = address.length >= 31 ? 0 : ~std::uint32_t{0} >> address.length;
      if (hosts != 0) rib_.replace({address.address | hosts, 32, kHopBroadcast});
    }
    for (const OwnAddress& address : own) {
      rib_.replace({address.address, 32, kHopOwn});
      set_.own.push_back(address.address);
    }
    set_.routes = rib_.by_length();
    if (!set_.routes.empty() && set_.routes.front().length == 0) {
      set_.hops[kHopDefault] = set_.hops[set_.routes.front().hop];
      set_.routes.erase(set_.routes.begin());
    }
  }

  void finish_ipv6(std::span<const OwnIpv6Address> own) {
    for (const OwnIpv6Address& address : own) {
      // The Subnet-Router anycast address is ours too (RFC 4291 2.6.1), but of a link between two
      // routers (RFC 6164 5.1).
      const Ipv6Address network = address.address & ipv6_mask(address.length);
      if (address.length < 127) ipv6_rib_.replace({network, 128, kHopOwn});
    }
    for (const OwnIpv6Address& address : own) {
      ipv6_rib_.replace({address.address, 128, kHopOwn});
      set_.ipv6_own.push_back(address.address);
    }
    set_.has_ipv6 = true;
    set_.ipv6_routes = ipv6_rib_.in_order();
    if (set_.ipv6_routes.front().length == 0) {
      set_.hops[kHopDefaultIpv6] = set_.hops[set_.ipv6_routes.front().hop];
      set_.ipv6_routes.erase(set_.ipv6_routes.begin());
    }
  }

  /// Empty when the line is good.
  std::string load_line(std::string_view line) {
    RouteLine& route = route_;
    std::string reason;
    switch (parse_route_line(line, route, reason)) {
      case RouteLineKind::kEmpty:
        return {};
      case RouteLineKind::kRefused:
        return reason;
      case RouteLineKind::kRoute:
        break;
    }
    std::uint32_t first = 0;
    bool fresh = false;
    reason = add(route, tag(), fresh, first);
    if (!reason.empty()) return reason;
    if (!fresh) return prefix_text(route) + " stands already in " + place(first);
    ++report_.accepted;
    return {};
  }

  /// Empty, or why it cannot be added. `fresh`: no route of its prefix was there; else `first` is
  /// the tag of that, which stays.
  std::string add(const RouteLine& route, std::uint32_t tag, bool& fresh, std::uint32_t& first) {
    std::uint32_t hop = kHopNowhere;
    const bool is_drop = route.hops.empty() && !route.unreachable;
    std::string reason = is_drop ? std::string() : find_hop(route, hop);
    if (!reason.empty()) return reason;
    fresh = route.is_ipv6 ? ipv6_rib_.insert({route.ipv6_prefix, route.length, hop}, tag, first)
                          : rib_.insert({route.prefix, route.length, hop}, tag, first);
    return {};
  }

  /// Where we are, in a word: number of the file, number of the line.
  std::uint32_t tag() const {
    return static_cast<std::uint32_t>(paths_.size() - 1) << kLineBits | line_;
  }
  std::string place(std::uint32_t tag) const {
    return paths_[tag >> kLineBits] + ":" + std::to_string(tag & ((1u << kLineBits) - 1));
  }

  /// Of one next hop, or of the group of several. None of a refused line is kept.
  std::string find_hop(const RouteLine& route, std::uint32_t& hop) {
    if (route.unreachable) {
      RouteHop none{};
      none.reason = static_cast<std::uint8_t>(Reason::kNoRoute);
      return found(number_of(none), hop);
    }
    wanted_.clear();
    for (const RouteLineHop& given : route.hops) {
      std::string reason = add_wanted(given);
      if (!reason.empty()) return reason;
    }
    return found(wanted_.size() == 1 ? number_of(wanted_.front()) : group_of(route.hops), hop);
  }

  static std::string found(std::uint32_t number, std::uint32_t& hop) {
    hop = number;
    if (hop != kNoHop) return {};
    return "more than " + std::to_string(kHopCountMax) + " different next hops";
  }

  std::string add_wanted(const RouteLineHop& given) {
    std::size_t port = 0;
    while (port < set_.ports.size() && set_.ports[port] != given.port) ++port;
    if (port == set_.ports.size()) {
      if (!any_port_) return "no port '" + std::string(given.port) + "' in the topology";
      if (port == kPortCountMax || given.port.size() >= kPortNameBytes) {
        return "port '" + std::string(given.port) + "' is one too many, or its name too long";
      }
      set_.ports.emplace_back(given.port);
    }
    if (given.kind != RouteHopKind::kStatic && !answers_) {
      return "its next hop has to be asked for, which a route with 'answers: false' does not do; "
             "expected its MAC address";
    }
    RouteHop wanted{};
    wanted.port = static_cast<std::uint8_t>(port);
    wanted.kind = static_cast<std::uint8_t>(given.kind);
    std::ranges::copy(given.mac, wanted.mac);
    std::ranges::copy(given.gateway, wanted.gateway);
    wanted_.push_back(wanted);
    return {};
  }

  std::uint32_t number_of(const RouteHop& wanted) {
    return number_of(wanted, {reinterpret_cast<const char*>(&wanted), sizeof wanted});
  }

  /// `key`: what tells it from the others.
  std::uint32_t number_of(const RouteHop& wanted, const std::string& key) {
    const auto known = numbers_.find(key);
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() == kHopCountMax) return kNoHop;
    numbers_.emplace(key, static_cast<std::uint32_t>(set_.hops.size()));
    set_.hops.push_back(wanted);
    return static_cast<std::uint32_t>(set_.hops.size() - 1);
  }

  /// Of the wanted next hops: each gets its part of all hashes by its weight.
  std::uint32_t group_of(std::span<const RouteLineHop> weights) {
    std::vector<RouteMember> members;
    std::uint64_t sum = 0, so_far = 0;
    for (const RouteLineHop& given : weights) sum += given.weight;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      so_far += weights[i].weight;
      const auto last = static_cast<std::uint32_t>(((so_far << 32) + sum - 1) / sum - 1);
      members.push_back({last, number_of(wanted_[i])});
      if (members.back().hop == kNoHop) return kNoHop;
    }
    RouteHop group{};
    group.kind = static_cast<std::uint8_t>(RouteHopKind::kGroup);
    group.member_count = static_cast<std::uint8_t>(members.size());
    group.first_member = static_cast<std::uint32_t>(set_.members.size());
    std::string key = "group";  // longer or shorter than that of a single next hop
    key.append(reinterpret_cast<const char*>(members.data()), members.size() * sizeof(RouteMember));
    const std::size_t before = set_.hops.size();
    const std::uint32_t number = number_of(group, key);
    if (set_.hops.size() != before) {
      set_.members.insert(set_.members.end(), members.begin(), members.end());
    }
    return number;
  }

  static constexpr std::uint32_t kNoHop = UINT32_MAX;

  BuildReport& report_;
  RouteSet set_;
  RouteRib rib_;
  Ipv6Rib ipv6_rib_;
  bool any_port_;
  bool answers_;
  std::vector<std::string> paths_;
  std::uint32_t line_ = 0;                                  ///< in the last of paths_, from 1
  RouteLine route_;                                         ///< of that line
  std::vector<RouteHop> wanted_;                            ///< its next hops
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< what tells a next hop -> its number
};

}  // namespace

OwnAddresses own_addresses(std::span<const PlanPort> ports) {
  OwnAddresses own;
  for (const PlanPort& port : ports) {
    for (const std::string& text : port.addresses) {
      const std::string_view whole(text);
      const std::size_t slash = std::min(whole.find('/'), whole.size());
      const bool is_ipv6 = whole.find(':') != std::string_view::npos;
      OwnAddress ipv4;
      OwnIpv6Address ipv6;
      const bool good = is_ipv6 ? parse_ipv6(whole.substr(0, slash), ipv6.address)
                                : parse_ipv4(whole.substr(0, slash), ipv4.address);
      std::uint8_t& length = is_ipv6 ? ipv6.length : ipv4.length;
      if (!good ||
          (slash < whole.size() && !parse_length(whole.substr(slash + 1), length, length))) {
        throw Error("port " + port.name + ": '" + text +
                    "' is no address like 10.1.0.1/24 or 2001:db8::1/64");
      }
      if (is_ipv6) own.ipv6.push_back(ipv6);
      if (!is_ipv6) own.ipv4.push_back(ipv4);
    }
  }
  if (std::max(own.ipv4.size(), own.ipv6.size()) > kOwnAddressMax) {
    throw Error("the ports have " + std::to_string(own.ipv4.size()) + " addresses of IPv4 and " +
                std::to_string(own.ipv6.size()) + " of IPv6; at most " +
                std::to_string(kOwnAddressMax) + " of each");
  }
  return own;
}

RouteSet load_routes(const FunctionContext& context, const RouteSettings& settings,
                     BuildReport& report) {
  std::vector<TableText> tables;
  std::size_t lines = 0;
  for (const auto& [key, value] : context.function.settings) {
    if (key != "table") continue;
    tables.push_back({value, read_text_file(value, kTableBytesMax)});
    lines += 1 + static_cast<std::size_t>(std::ranges::count(tables.back().text, '\n'));
  }
  if (tables.size() > kFileCountMax) throw Error("more than 256 table files");
  const OwnAddresses own = own_addresses(context.ports);
  KernelRoutes kernel;
  if (settings.follows_kernel) {
    check_host_interfaces(context.ports);
    kernel = read_kernel_routes(host_interfaces(context.ports));
  }
  if (lines + kernel.lines.size() > kPrefixCountMax) {
    throw Error(std::to_string(lines) + " lines and " + std::to_string(kernel.lines.size()) +
                " routes of the kernel; at most " + std::to_string(kPrefixCountMax));
  }
  Loader loader(context, settings.answers, report,
                lines + kernel.lines.size() + 3 * own.ipv4.size());
  std::vector<std::string> empty_files;
  for (const TableText& table : tables) {
    const std::uint64_t before = report.accepted + report.refused;
    loader.load(table);
    if (report.accepted + report.refused == before) empty_files.push_back(table.path);
  }
  report_empty_files(empty_files, report);
  loader.load(kernel);
  if (settings.answers) loader.connect(context.ports);
  return loader.finish(own);
}

}  // namespace millrace
