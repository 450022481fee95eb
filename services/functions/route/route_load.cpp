// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/route_load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kRefusalsShown = 100;
constexpr std::uint32_t kLineBits = 24;
constexpr std::size_t kFileCountMax = 256;
static_assert(kPrefixCountMax < 1u << kLineBits && kFileCountMax << kLineBits <= 1ull << 32);

struct TableText {
  std::string path;
  std::string text;
};

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || !text) throw system_error("read route table " + path, errno);
  return text.str();
}

/// Puts next hops and port names of the files into numbers.
class Loader {
 public:
  Loader(const FunctionContext& context, BuildReport& report, std::size_t prefix_count_max)
      : report_(report), rib_(prefix_count_max), any_port_(context.ports.empty()) {
    if (context.ports.size() > kPortCountMax) throw Error("more ports than a topology can have");
    for (const PlanPort& port : context.ports) {
      if (port.name.size() >= kPortNameBytes) throw Error("port name too long: " + port.name);
      set_.ports.push_back(port.name);
    }
    const auto fixed = [&](Reason why) {
      set_.hops.push_back({.mac = {}, .port = 0, .reason = static_cast<std::uint8_t>(why)});
    };
    fixed(Reason::kNoRoute);     // kHopDefault, until 0.0.0.0/0 is found
    fixed(Reason::kOwnAddress);  // kHopOwn
    fixed(Reason::kNotUnicast);  // kHopBroadcast
    fixed(Reason::kNoRoute);     // kHopNowhere
  }

  void load(const TableText& table) {
    paths_.push_back(table.path);
    std::string_view rest = table.text;
    for (line_ = 1; !rest.empty(); ++line_) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string reason = load_line(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (reason.empty()) continue;
      ++report_.refused;
      if (report_.refusals.size() < kRefusalsShown) {
        report_.refusals.push_back(place(tag()) + ": " + reason);
      }
    }
  }

  RouteSet finish(std::span<const OwnAddress> own) {
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
    return std::move(set_);
  }

 private:
  /// Empty when the line is good.
  std::string load_line(std::string_view line) {
    RouteLine route;
    std::string reason;
    switch (parse_route_line(line, route, reason)) {
      case RouteLineKind::kEmpty:
        return {};
      case RouteLineKind::kRefused:
        return reason;
      case RouteLineKind::kRoute:
        break;
    }
    std::uint32_t hop = kHopNowhere;
    if (!route.drop) reason = find_hop(route, hop);
    if (!reason.empty()) return reason;
    std::uint32_t first = 0;
    if (!rib_.insert({route.prefix, route.length, hop}, tag(), first)) {
      return ipv4_text(route.prefix) + "/" + std::to_string(route.length) + " stands already in " +
             place(first);
    }
    ++report_.accepted;
    return {};
  }

  /// Where we are, in a word: number of the file, number of the line.
  std::uint32_t tag() const {
    return static_cast<std::uint32_t>(paths_.size() - 1) << kLineBits | line_;
  }
  std::string place(std::uint32_t tag) const {
    return paths_[tag >> kLineBits] + ":" + std::to_string(tag & ((1u << kLineBits) - 1));
  }

  std::string find_hop(const RouteLine& route, std::uint32_t& hop) {
    std::size_t port = 0;
    while (port < set_.ports.size() && set_.ports[port] != route.port) ++port;
    if (port == set_.ports.size()) {
      if (!any_port_) return "no port '" + std::string(route.port) + "' in the topology";
      if (port == kPortCountMax || route.port.size() >= kPortNameBytes) {
        return "port '" + std::string(route.port) + "' is one too many, or its name too long";
      }
      set_.ports.emplace_back(route.port);
    }
    RouteHop wanted{.mac = {}, .port = static_cast<std::uint8_t>(port), .reason = 0};
    std::ranges::copy(route.mac, wanted.mac);
    std::uint64_t key = 0;
    std::memcpy(&key, &wanted, sizeof key);
    const auto [known, fresh] = numbers_.try_emplace(key, set_.hops.size());
    if (fresh && numbers_.size() > kHopCountMax) {
      numbers_.erase(known);
      return "more than " + std::to_string(kHopCountMax) + " different next hops";
    }
    if (fresh) set_.hops.push_back(wanted);
    hop = known->second;
    return {};
  }

  BuildReport& report_;
  RouteSet set_;
  RouteRib rib_;
  bool any_port_;
  std::vector<std::string> paths_;
  std::uint32_t line_ = 0;                                    ///< in the last of paths_, from 1
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  ///< bytes of a RouteHop -> its number
};

}  // namespace

std::vector<OwnAddress> own_addresses(std::span<const PlanPort> ports) {
  std::vector<OwnAddress> own;
  for (const PlanPort& port : ports) {
    for (const std::string& text : port.addresses) {
      if (text.find(':') != std::string::npos) continue;
      const std::size_t slash = std::min(text.find('/'), text.size());
      const std::string bits = slash < text.size() ? text.substr(slash + 1) : "32";
      OwnAddress address;
      const bool number = !bits.empty() && bits.size() <= 2 &&
                          bits.find_first_not_of("0123456789") == std::string::npos;
      if (!parse_ipv4(std::string_view(text).substr(0, slash), address.address) || !number ||
          std::stoi(bits) > 32) {
        throw Error("port " + port.name + ": '" + text + "' is no address like 10.1.0.1/24");
      }
      address.length = static_cast<std::uint8_t>(std::stoi(bits));
      own.push_back(address);
    }
  }
  if (own.size() > kOwnAddressMax) {
    throw Error("the ports have " + std::to_string(own.size()) + " addresses; at most " +
                std::to_string(kOwnAddressMax));
  }
  return own;
}

RouteSet load_routes(const FunctionContext& context, BuildReport& report) {
  std::vector<TableText> tables;
  std::size_t lines = 0;
  for (const auto& [key, value] : context.function.settings) {
    if (key != "table") continue;
    tables.push_back({value, read_text(value)});
    lines += 1 + static_cast<std::size_t>(std::ranges::count(tables.back().text, '\n'));
  }
  if (tables.size() > kFileCountMax) throw Error("more than 256 table files");
  if (lines > kPrefixCountMax) {
    throw Error(std::to_string(lines) + " lines; at most " + std::to_string(kPrefixCountMax));
  }
  const std::vector<OwnAddress> own = own_addresses(context.ports);
  Loader loader(context, report, lines + 2 * own.size());
  for (const TableText& table : tables) loader.load(table);
  return loader.finish(own);
}

}  // namespace millrace
