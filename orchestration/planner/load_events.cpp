// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/un.h>

#include <charconv>
#include <string_view>

#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/tcp_address.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kRotateBytesMin = 64'000;
constexpr std::uint64_t kRotateBytesMax = 1'000'000'000'000;

/// Bytes of "100MB"; nothing when it is no such size.
std::optional<std::uint64_t> size_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [unit, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > kRotateBytesMax) return std::nullopt;
  const std::string_view rest(unit, text.data() + text.size());
  if (rest == "KB") return number * 1000;
  if (rest == "MB") return number * 1'000'000;
  if (rest == "GB") return number * 1'000'000'000;
  return std::nullopt;
}

void read_rotate(const YamlValue& value, TopologyEvents& events) {
  constexpr std::string_view kAllowed = "a size from 64KB to 1000GB, like 100MB";
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  const std::optional<std::uint64_t> bytes = size_of(*text);
  if (!bytes || *bytes < kRotateBytesMin || *bytes > kRotateBytesMax) return value.refuse(kAllowed);
  events.rotate_bytes = *bytes;
}

/// The kernel takes no longer name of a socket.
void read_socket(const YamlValue& value, TopologyEvents& events) {
  const std::optional<std::string> name = value.file_name();
  if (!name) return;
  if (name->size() >= sizeof(sockaddr_un::sun_path)) {
    return value.refuse("a path of at most " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                        " bytes");
  }
  events.socket = {*name, value.mark()};
}

/// An address, as a name would have to be looked up while packets move.
void read_ipfix(const YamlValue& value, TopologyEvents& events) {
  constexpr std::string_view kAllowed = "'{ collector: ADDRESS:PORT, domain: NUMBER }'";
  constexpr std::string_view kAddress =
      "ADDRESS:PORT like '192.0.2.9:4739' or '[2001:db8::9]:4739', no name, port 1 to 65535";
  const YamlMap map(value, kAllowed);
  if (!value.is_map()) return;
  map.allow_only(kIpfixKeys);
  TopologyIpfix ipfix;
  if (const YamlValue* const collector = map.need("collector", kAllowed)) {
    ipfix.collector = collector->text(kAddress).value_or("");
    const bool has_port = !ipfix.collector.ends_with(":0");
    if (!ipfix.collector.empty() && (!has_port || !socket_address(ipfix.collector))) {
      collector->refuse(kAddress);
    }
  }
  if (const YamlValue* const domain = map.find("domain")) {
    ipfix.domain = static_cast<std::uint32_t>(domain->integer(0, UINT32_MAX).value_or(1));
  }
  events.ipfix = std::move(ipfix);
}

void read_stats(const YamlValue& value, TopologyEvents& events) {
  constexpr std::string_view kAllowed = "a time from 1s to 3600s, like 8s";
  constexpr std::uint32_t kSecondsMax = 3600;
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  std::uint32_t number = 0;
  const auto [unit, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool has_unit = std::string_view(unit, text->data() + text->size()) == "s";
  if (error != std::errc{} || !has_unit || number < 1 || number > kSecondsMax) {
    return value.refuse(kAllowed);
  }
  events.stats_s = number;
}

}  // namespace

void read_events(const YamlValue& value, Topology& topology) {
  const YamlMap map(value,
                    "'{ file: FILE, rotate: SIZE, keep: NUMBER, socket: FILE, "
                    "ipfix: MAP, stats: TIME }', or '{}'");
  if (!value.is_map()) return;
  map.allow_only(kEventsKeys);
  TopologyEvents events;
  events.mark = value.mark();
  const YamlValue* const file = map.find("file");
  const YamlValue* const rotate = map.find("rotate");
  const YamlValue* const keep = map.find("keep");
  if (file != nullptr) {
    if (const auto name = file->file_name()) events.file = {*name, file->mark()};
  }
  if (rotate != nullptr) {
    read_rotate(*rotate, events);
    if (file == nullptr) rotate->refuse("'rotate' beside 'file' only");
  }
  if (keep != nullptr) {
    events.keep = static_cast<std::uint32_t>(keep->integer(1, kEventFilesMax).value_or(1));
    if (rotate == nullptr) keep->refuse("'keep' beside 'rotate' only");
  }
  if (const YamlValue* const socket = map.find("socket")) read_socket(*socket, events);
  if (const YamlValue* const ipfix = map.find("ipfix")) read_ipfix(*ipfix, events);
  if (const YamlValue* const stats = map.find("stats")) read_stats(*stats, events);
  topology.events = std::move(events);
}

}  // namespace millrace
