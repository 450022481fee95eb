// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/neighbour_list.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <tuple>

#include "orchestration/cli/sgr.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/mac.hpp"

namespace millrace {
namespace {

std::string port_name(const Plan& plan, const NeighbourKey& key) {
  return key.port < plan.ports.size() ? plan.ports[key.port].name : "?";
}

/// Nothing for what has never been.
std::optional<double> age_s(std::uint64_t now_ms, std::uint64_t then_ms) {
  if (then_ms == 0) return std::nullopt;
  return now_ms > then_ms ? static_cast<double>(now_ms - then_ms) / 1e3 : 0;
}

std::string age_text(std::optional<double> seconds) {
  if (!seconds) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", *seconds);
  return text;
}

std::string_view look_name(NeighbourLook look) {
  return kNeighbourLookNames[static_cast<std::size_t>(look)];
}

const char* look_colour(NeighbourLook look) {
  switch (look) {
    case NeighbourLook::kReachable:
    case NeighbourLook::kPermanent:
      return sgr::kGreen;
    case NeighbourLook::kFailed:
      return sgr::kRed;
    case NeighbourLook::kStale:
      return sgr::kPlain;
    default:
      return sgr::kYellow;
  }
}

std::string in_column(const std::string& text, std::size_t width) {
  return text + std::string(text.size() < width ? width - text.size() : 0, ' ');
}

std::string remarks_of(const NeighbourSnapshot& entry) {
  std::string text;
  if (entry.asks == 1) text = "asked once";
  if (entry.asks > 1) text = "asked " + std::to_string(entry.asks) + " times";
  if (entry.pinned) text += text.empty() ? "stays" : ", stays";
  return text;
}

/// "3 neighbours: 2 reachable, 1 failed; room for 1024".
std::string summary(const NeighbourList& list) {
  NeighbourCounts counts{};
  for (const NeighbourSnapshot& entry : list.entries) {
    ++counts[static_cast<std::size_t>(neighbour_look(entry, list.now_ms))];
  }
  std::string by_state;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    by_state += (by_state.empty() ? ": " : ", ") + std::to_string(counts[i]) + " " +
                std::string(kNeighbourLookNames[i]);
  }
  const std::size_t count = list.entries.size();
  std::string text = (count == 0 ? "no" : std::to_string(count)) +
                     (count == 1 ? " neighbour" : " neighbours") + by_state + "; room for " +
                     std::to_string(list.capacity);
  if (list.evicted != 0) text += ", " + std::to_string(list.evicted) + " gave way to others";
  if (list.full != 0) text += ", " + std::to_string(list.full) + " found no place";
  return text + "\n";
}

}  // namespace

bool has_mac(const NeighbourSnapshot& entry) {
  return entry.state == NeighbourState::kKnown || entry.state == NeighbourState::kStatic;
}

std::string_view neighbour_state_name(const NeighbourSnapshot& entry, std::uint64_t now_ms) {
  return look_name(neighbour_look(entry, now_ms));
}

std::uint64_t neighbour_now_ms(const Observed& observed) {
  const StatusHeader& header = observed.status.header();
  return neighbour_ms(TscScale(header.tsc_hz).ns_between(header.tsc_origin, tsc_now()));
}

NeighbourList list_neighbours(const NeighbourTableView& table, std::uint64_t now_ms,
                              std::optional<std::uint32_t> port) {
  NeighbourList list{.entries = {},
                     .now_ms = now_ms,
                     .capacity = table.entry_count(),
                     .evicted = table.evicted_count(),
                     .full = table.full_count()};
  table.each([&](const NeighbourSnapshot& entry) {
    if (!port || entry.key.port == *port) list.entries.push_back(entry);
  });
  std::ranges::sort(list.entries, {}, [](const NeighbourSnapshot& entry) {
    return std::tuple(entry.key.port, entry.key.family, entry.key.address);
  });
  return list;
}

std::optional<NeighbourKey> key_of_address(const std::string& text, std::uint32_t port) {
  NeighbourKey key{.port = static_cast<std::uint16_t>(port)};
  key.family = NeighbourFamily::kIpv4;
  if (::inet_pton(AF_INET, text.c_str(), key.address.data()) == 1) return key;
  key.family = NeighbourFamily::kIpv6;
  if (::inet_pton(AF_INET6, text.c_str(), key.address.data()) == 1) return key;
  return std::nullopt;
}

std::string address_text(const NeighbourKey& key) {
  char text[INET6_ADDRSTRLEN] = "?";
  const int family = key.family == NeighbourFamily::kIpv4 ? AF_INET : AF_INET6;
  ::inet_ntop(family, key.address.data(), text, sizeof text);
  return text;
}

std::string neighbours_text(const Plan& plan, const NeighbourList& list, bool colour) {
  if (list.entries.empty()) return summary(list);
  std::size_t address_width = 16, port_width = 8;
  for (const NeighbourSnapshot& entry : list.entries) {
    address_width = std::max(address_width, address_text(entry.key).size() + 1);
    port_width = std::max(port_width, port_name(plan, entry.key).size() + 1);
  }
  const auto line = [&](const std::string& address, const std::string& port, const std::string& mac,
                        const std::string& state, const std::string& confirmed,
                        const std::string& used, const std::string& remarks) {
    std::string text = in_column(address, address_width) + in_column(port, port_width) +
                       in_column(mac, 19) + state + in_column(confirmed, 12) + in_column(used, 10) +
                       remarks;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text =
      line("address", "port", "mac", in_column("state", 12), "confirmed", "used", "");
  for (const NeighbourSnapshot& entry : list.entries) {
    const NeighbourLook look = neighbour_look(entry, list.now_ms);
    const std::string state = in_column(std::string(look_name(look)), 12);
    text += line(address_text(entry.key), port_name(plan, entry.key),
                 has_mac(entry) ? mac_text(entry.mac) : "-",
                 colour ? look_colour(look) + state + sgr::kPlain : state,
                 age_text(age_s(list.now_ms, entry.confirmed_ms)),
                 age_text(age_s(list.now_ms, entry.used_ms)), remarks_of(entry));
  }
  return text + summary(list);
}

nlohmann::ordered_json neighbours_json(const Plan& plan, const NeighbourList& list) {
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  const auto put_age = [&](nlohmann::ordered_json& to, const char* key, std::uint64_t then_ms) {
    if (const auto age = age_s(list.now_ms, then_ms)) to[key] = *age;
  };
  for (const NeighbourSnapshot& entry : list.entries) {
    nlohmann::ordered_json one = {{"address", address_text(entry.key)},
                                  {"port", port_name(plan, entry.key)}};
    if (has_mac(entry)) one["mac"] = mac_text(entry.mac);
    one["state"] = neighbour_state_name(entry, list.now_ms);
    one["stays"] = entry.pinned;
    put_age(one, "confirmed_s", entry.confirmed_ms);
    put_age(one, "used_s", entry.used_ms);
    put_age(one, "asked_s", entry.asked_ms);
    one["asks"] = entry.asks;
    entries.push_back(std::move(one));
  }
  return {{"ok", true},
          {"topology", plan.name},
          {"neighbours", entries},
          {"room", list.capacity},
          {"evicted", list.evicted},
          {"full", list.full}};
}

}  // namespace millrace
