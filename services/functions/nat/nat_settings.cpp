// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "services/functions/lane_share.hpp"
#include "services/functions/nat/pool_settings.hpp"
#include "services/functions/route/route_text.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

[[noreturn]] void refuse(std::string_view key, std::string_view value, std::string_view expected) {
  throw Error(std::string(key) + ": '" + std::string(value) + "'; expected " +
              std::string(expected));
}

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Text in front of `mark` and behind it; nothing where the mark is not there.
std::optional<std::array<std::string_view, 2>> split(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return std::nullopt;
  return std::array{text.substr(0, at), text.substr(at + mark.size())};
}

struct Addresses {
  std::uint32_t first = 0, last = 0;
  std::uint64_t count() const { return std::uint64_t{last} - first + 1; }
};

/// "a.b.c.d", "a.b.c.d/length"; with `ranges` also "a.b.c.d-e.f.g.h".
std::optional<Addresses> addresses_in(std::string_view text, bool ranges) {
  Addresses all;
  if (const auto ends = split(text, "-"); ends && ranges) {
    if (!parse_ipv4((*ends)[0], all.first) || !parse_ipv4((*ends)[1], all.last)) {
      return std::nullopt;
    }
    return all.first <= all.last ? std::optional(all) : std::nullopt;
  }
  if (const auto parts = split(text, "/")) {
    const auto length = number_in<std::uint8_t>((*parts)[1]);
    if (!parse_ipv4((*parts)[0], all.first) || !length || *length > 32) return std::nullopt;
    const std::uint32_t rest = *length == 32 ? 0 : ~0u >> *length;
    all.last = all.first | rest;
    return (all.first & rest) == 0 ? std::optional(all) : std::nullopt;
  }
  if (!parse_ipv4(text, all.first)) return std::nullopt;
  all.last = all.first;
  return all;
}

constexpr std::string_view kPoolExpected =
    "an IPv4 address, a range 'a.b.c.d-e.f.g.h', or a prefix 'a.b.c.d/length' without bits behind "
    "its length";
constexpr std::string_view kStaticExpected =
    "'OUTSIDE <-> INSIDE', two IPv4 addresses or two prefixes of equal length";
constexpr std::string_view kPublishExpected =
    "'tcp OUTSIDE:PORT -> INSIDE:PORT' or 'udp ...', with IPv4 addresses and ports 1 to 65535";

void add_pool(const std::string& value, NatSettings& settings) {
  const auto all = addresses_in(value, true);
  if (!all) refuse("pool", value, kPoolExpected);
  if (settings.pool.size() + all->count() > kPoolAddressesMax) {
    refuse("pool", value, std::to_string(kPoolAddressesMax) + " addresses in all at most");
  }
  for (std::uint64_t at = 0; at < all->count(); ++at) {
    settings.pool.push_back(all->first + static_cast<std::uint32_t>(at));
  }
}

NatFixed static_of(const std::string& value) {
  const auto sides = split(value, " <-> ");
  if (!sides) refuse("static", value, kStaticExpected);
  const auto outside = addresses_in((*sides)[0], false), inside = addresses_in((*sides)[1], false);
  if (!outside || !inside || outside->count() != inside->count() || outside->count() > UINT32_MAX) {
    refuse("static", value, kStaticExpected);
  }
  return {.outside = outside->first,
          .inside = inside->first,
          .count = static_cast<std::uint32_t>(outside->count())};
}

NatFixed publish_of(const std::string& value) {
  NatFixed fixed;
  const auto words = split(value, " ");
  const auto sides = words ? split((*words)[1], " -> ") : std::nullopt;
  if (!sides || ((*words)[0] != "tcp" && (*words)[0] != "udp")) {
    refuse("publish", value, kPublishExpected);
  }
  fixed.protocol = (*words)[0] == "tcp" ? 6 : 17;
  const auto side = [&](std::string_view text, std::uint32_t& address, std::uint16_t& port) {
    const auto parts = split(text, ":");
    const auto number = parts ? number_in<std::uint16_t>((*parts)[1]) : std::nullopt;
    if (!number || *number == 0 || !parse_ipv4((*parts)[0], address)) {
      refuse("publish", value, kPublishExpected);
    }
    port = *number;
  };
  side((*sides)[0], fixed.outside, fixed.outside_port);
  side((*sides)[1], fixed.inside, fixed.inside_port);
  return fixed;
}

void set_ports(const std::string& value, NatSettings& settings) {
  const auto ends = split(value, "-");
  const auto first = ends ? number_in<std::uint16_t>((*ends)[0]) : std::nullopt;
  const auto last = ends ? number_in<std::uint16_t>((*ends)[1]) : std::nullopt;
  if (!first || !last || *first == 0 || *first > *last) {
    refuse("ports", value, "'FIRST-LAST', 1 to 65535, as '1024-65535'");
  }
  settings.first_port = *first;
  settings.last_port = *last;
}

void set_block(const std::string& value, NatSettings& settings) {
  const auto block = number_in<std::uint32_t>(value);
  if (!block || *block < 2 || *block > kPortBlockMax || *block % 2 != 0) {
    refuse("block", value, "an even number of ports, 2 to " + std::to_string(kPortBlockMax));
  }
  settings.block = *block;
}

NatFiltering filtering_of(const std::string& value) {
  if (value == "endpoint") return NatFiltering::kEndpoint;
  if (value == "address") return NatFiltering::kAddress;
  if (value == "address-port") return NatFiltering::kAddressPort;
  refuse("filtering", value, "endpoint, address, or address-port");
}

NatLog log_of(const std::string& value) {
  if (value == "none") return NatLog::kNone;
  if (value == "mappings") return NatLog::kMappings;
  if (value == "blocks") return NatLog::kBlocks;
  refuse("log", value, "none, mappings or blocks");
}

template <typename Number>
Number positive(std::string_view key, const std::string& value, Number least) {
  const auto number = number_in<Number>(value);
  if (!number || *number < least) {
    refuse(key, value, "a number of mappings from " + std::to_string(least) + " on");
  }
  return *number;
}

void set(const std::string& key, const std::string& value, NatSettings& settings,
         std::vector<NatFixed>& statics) {
  if (key == "inside") {
    settings.inside.push_back(value);
  } else if (key == "pool") {
    add_pool(value, settings);
  } else if (key == "ports") {
    set_ports(value, settings);
  } else if (key == "block") {
    set_block(value, settings);
  } else if (key == "filtering") {
    settings.filtering = filtering_of(value);
  } else if (key == "log") {
    settings.log = log_of(value);
  } else if (key == "host_limit") {
    settings.host_limit = positive<std::uint32_t>(key, value, 0);
  } else if (key == "max") {
    settings.max = positive<std::uint64_t>(key, value, 1);
  } else if (key == "publish") {
    settings.fixed.push_back(publish_of(value));
  } else if (key == "static") {
    statics.push_back(static_of(value));
  } else if (key == "hairpin") {
    settings.hairpin = value;
  } else if (key == "masquerade") {
    if (value.empty()) refuse(key, value, "the name of a port");
    settings.masquerade = value;
  } else {
    refuse_key("nat", key, known_nat_settings());
  }
}

/// No two entries say different things of one packet.
void check_fixed(const NatSettings& settings) {
  if (settings.fixed.size() > kNatFixedMax) {
    throw Error("publish, static: " + std::to_string(settings.fixed.size()) + " entries; at most " +
                std::to_string(kNatFixedMax));
  }
  const auto meet = [](std::uint32_t a, std::uint32_t a_count, std::uint32_t b,
                       std::uint32_t b_count) { return a - b < b_count || b - a < a_count; };
  for (std::size_t i = 0; i < settings.fixed.size(); ++i) {
    const NatFixed& one = settings.fixed[i];
    const std::string of = one.protocol == 0 ? "static: " : "publish: ";
    for (std::size_t k = 0; k < i; ++k) {
      const NatFixed& other = settings.fixed[k];
      if (one.protocol != other.protocol || one.outside_port != other.outside_port) continue;
      const bool inside =
          one.protocol == 0 && meet(one.inside, one.count, other.inside, other.count);
      if (!inside && !meet(one.outside, one.count, other.outside, other.count)) continue;
      throw Error(of + ipv4_text(one.outside) + " or what it stands for is in two entries");
    }
    if (one.protocol != 0) continue;
    const auto in_pool = std::ranges::lower_bound(settings.pool, one.outside);
    if (in_pool != settings.pool.end() && *in_pool - one.outside < one.count) {
      throw Error(of + ipv4_text(*in_pool) + " is an address of the pool too");
    }
  }
}

}  // namespace

std::span<const KnownSetting> known_nat_settings() {
  static constexpr auto kSettings = [] {
    auto all = with_pool_settings(std::array{
        KnownSetting{.name = "publish", .list = true}, KnownSetting{.name = "static", .list = true},
        KnownSetting{.name = "hairpin"}, KnownSetting{.name = "masquerade"}});
    std::ranges::find(all, "pool", &KnownSetting::name)->unless = "masquerade";
    return all;
  }();
  return kSettings;
}

NatSettings nat_settings(const Settings& given, std::uint32_t masqueraded) {
  NatSettings settings;
  std::vector<NatFixed> statics;
  const bool masquerades =
      std::ranges::find(given, "masquerade", &Settings::value_type::first) != given.end();
  if (masquerades) {
    settings.last_port = kMasqueradeLastPort;
    settings.pool.push_back(masqueraded);
  }
  for (const auto& [key, value] : given) set(key, value, settings, statics);
  if (settings.inside.empty()) throw Error("inside: no port; the ports of the inside are expected");
  if (settings.pool.empty()) {
    throw Error("pool: no address; expected " + std::string(kPoolExpected));
  }
  settings.fixed.insert(settings.fixed.end(), statics.begin(), statics.end());
  std::ranges::sort(settings.pool);
  if (const auto twice = std::ranges::adjacent_find(settings.pool); twice != settings.pool.end()) {
    throw Error("pool: " + ipv4_text(*twice) + " is there twice");
  }
  check_fixed(settings);
  for (const NatFixed& fixed : settings.fixed) {
    const auto at = std::ranges::lower_bound(settings.pool, fixed.outside);
    if (fixed.protocol == 0 || at == settings.pool.end() || *at != fixed.outside) continue;
    settings.reserved.push_back({static_cast<std::uint32_t>(at - settings.pool.begin()),
                                 fixed.outside_port, fixed.protocol});
  }
  return settings;
}

PortPoolShape NatSettings::shape(std::uint32_t lanes) const noexcept {
  return {.addresses = pool,
          .first_port = first_port,
          .last_port = last_port,
          .block = block,
          .lanes = lanes,
          .mappings = share_of_lane(max, lanes, PortPoolShape::kMappingsMax),
          .host_limit = host_limit,
          .filtering = filtering,
          .reserved = reserved};
}

}  // namespace millrace
