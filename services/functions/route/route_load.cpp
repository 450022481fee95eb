// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_load.hpp"

#include <algorithm>

#include "services/functions/route/hop_numbers.hpp"
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
  Loader(const FunctionContext& context, const RouteSettings& settings, BuildReport& report,
         std::size_t prefix_count_max)
      : report_(report),
        rib_(prefix_count_max),
        hops_(context.ports, settings.answers),
        topology_paths_(context.paths),
        follows_kernel_(settings.follows_kernel) {}

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
      const std::string reason = add(route, 0, fresh, first, RouteLayer::kKernel);
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
      const std::uint32_t hop = hops_.number_of(wanted);
      if (hop == HopNumbers::kNone) {
        throw Error("the tables have " + std::to_string(kHopCountMax) +
                    " different next hops, the most; none is left for the networks of port " +
                    ports[port].name);
      }
      std::uint32_t first = 0;
      for (const OwnAddress& address : own.ipv4) {
        const std::uint32_t network = address.address & ipv4_mask(address.length);
        rib_.insert({network, address.length, hop}, 0, first);
        note_fixed(RibRoute{network, address.length, hop}, RouteLayer::kConnected);
      }
      for (const OwnIpv6Address& address : own.ipv6) {
        const Ipv6Address network = address.address & ipv6_mask(address.length);
        ipv6_rib_.insert({network, address.length, hop}, 0, first);
        note_fixed(Ipv6Route{network, address.length, hop}, RouteLayer::kConnected);
      }
    }
  }

  RouteSet finish(const OwnAddresses& own) {
    finish_ipv4(own.ipv4);
    if (!ipv6_rib_.empty()) finish_ipv6(own.ipv6);
    set_.hops.assign(hops_.hops().begin(), hops_.hops().end());
    set_.members.assign(hops_.members().begin(), hops_.members().end());
    set_.ports.assign(hops_.ports().begin(), hops_.ports().end());
    return std::move(set_);
  }

 private:
  void refuse(const std::string& why) {
    ++report_.refused;
    if (report_.refusals.size() < kRefusalsShown) report_.refusals.push_back(why);
  }

  void replace(const RibRoute& route) {
    rib_.replace(route);
    note_fixed(route, RouteLayer::kOwn);
  }
  void replace(const Ipv6Route& route) {
    ipv6_rib_.replace(route);
    note_fixed(route, RouteLayer::kOwn);
  }

  void note_fixed(const RibRoute& route, RouteLayer layer) {
    if (!follows_kernel_) return;
    set_.fixed.push_back({.prefix = {std::uint64_t{route.prefix} << 32, 0},
                          .hop = route.hop,
                          .length = route.length,
                          .is_ipv6 = 0,
                          .layer = layer,
                          .padding = 0});
  }
  void note_fixed(const Ipv6Route& route, RouteLayer layer) {
    if (!follows_kernel_) return;
    set_.fixed.push_back({.prefix = route.prefix,
                          .hop = route.hop,
                          .length = route.length,
                          .is_ipv6 = 1,
                          .layer = layer,
                          .padding = 0});
  }

  /// A function of a path gives it to packets, which are then forwarded from it.
  bool is_given(std::uint32_t address) const {
    return std::ranges::any_of(topology_paths_, [&](const PlanPath& path) {
      return std::ranges::any_of(path.translation.pool, [&](const PlanTranslation::Range& range) {
        return range.first <= address && address <= range.last;
      });
    });
  }

  void finish_ipv4(std::span<const OwnAddress> own) {
    for (const OwnAddress& address : own) {
      const std::uint32_t hosts = address.length >= 31 ? 0 : ~std::uint32_t{0} >> address.length;
      if (hosts == 0) continue;
      replace(RibRoute{address.address | hosts, 32, kHopBroadcast});
      // Nor does a packet come from there (RFC 1812 4.2.2.11 (d), 5.3.7).
      if (!is_given(address.address | hosts)) set_.own.push_back(address.address | hosts);
    }
    for (const OwnAddress& address : own) {
      replace(RibRoute{address.address, 32, kHopOwn});
      if (!is_given(address.address)) set_.own.push_back(address.address);
    }
    set_.routes = rib_.by_length();
    if (!set_.routes.empty() && set_.routes.front().length == 0) {
      set_.default_hop = set_.routes.front().hop;
      set_.routes.erase(set_.routes.begin());
    }
  }

  void finish_ipv6(std::span<const OwnIpv6Address> own) {
    for (const OwnIpv6Address& address : own) {
      // The Subnet-Router anycast address is ours too (RFC 4291 2.6.1), but of a link between two
      // routers (RFC 6164 5.1).
      const Ipv6Address network = address.address & ipv6_mask(address.length);
      if (address.length < 127) replace(Ipv6Route{network, 128, kHopOwn});
    }
    for (const OwnIpv6Address& address : own) {
      replace(Ipv6Route{address.address, 128, kHopOwn});
      set_.ipv6_own.push_back(address.address);
    }
    set_.has_ipv6 = true;
    set_.ipv6_routes = ipv6_rib_.in_order();
    if (set_.ipv6_routes.front().length == 0) {
      set_.ipv6_default_hop = set_.ipv6_routes.front().hop;
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
    reason = add(route, tag(), fresh, first, RouteLayer::kFile);
    if (!reason.empty()) return reason;
    if (!fresh) return prefix_text(route) + " stands already in " + place(first);
    ++report_.accepted;
    return {};
  }

  /// Empty, or why it cannot be added. `fresh`: no route of its prefix was there; else `first` is
  /// the tag of that, which stays.
  std::string add(const RouteLine& route, std::uint32_t tag, bool& fresh, std::uint32_t& first,
                  RouteLayer layer) {
    std::uint32_t hop = kHopNowhere;
    std::string reason = hops_.find(route, hop);
    if (!reason.empty()) return reason;
    const Ipv6Route ipv6{route.ipv6_prefix, route.length, hop};
    const RibRoute ipv4{route.prefix, route.length, hop};
    fresh = route.is_ipv6 ? ipv6_rib_.insert(ipv6, tag, first) : rib_.insert(ipv4, tag, first);
    if (!fresh || layer == RouteLayer::kKernel) return {};
    if (route.is_ipv6) note_fixed(ipv6, layer);
    if (!route.is_ipv6) note_fixed(ipv4, layer);
    return {};
  }

  /// Where we are, in a word: number of the file, number of the line.
  std::uint32_t tag() const {
    return static_cast<std::uint32_t>(paths_.size() - 1) << kLineBits | line_;
  }
  std::string place(std::uint32_t tag) const {
    return paths_[tag >> kLineBits] + ":" + std::to_string(tag & ((1u << kLineBits) - 1));
  }

  BuildReport& report_;
  RouteSet set_;
  RouteRib rib_;
  Ipv6Rib ipv6_rib_;
  HopNumbers hops_;
  std::span<const PlanPath> topology_paths_;
  bool follows_kernel_;
  std::vector<std::string> paths_;
  std::uint32_t line_ = 0;  ///< in the last of paths_, from 1
  RouteLine route_;         ///< of that line
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
    kernel = read_kernel_routes(host_interfaces(context.ports, std::string(context.run_dir)));
  }
  if (lines + kernel.lines.size() > kPrefixCountMax) {
    throw Error(std::to_string(lines) + " lines and " + std::to_string(kernel.lines.size()) +
                " routes of the kernel; at most " + std::to_string(kPrefixCountMax));
  }
  Loader loader(context, settings, report, lines + kernel.lines.size() + 3 * own.ipv4.size());
  std::vector<TableFile> files;
  for (const TableText& table : tables) {
    const BuildReport before{.accepted = report.accepted, .refused = report.refused};
    loader.load(table);
    const std::uint64_t accepted = report.accepted - before.accepted;
    files.push_back({table.path, accepted, accepted == 0 && report.refused == before.refused});
  }
  report_files(files, report);
  loader.load(kernel);
  if (settings.answers) loader.connect(context.ports);
  return loader.finish(own);
}

}  // namespace millrace
