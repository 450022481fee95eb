// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "shared/config/keys.hpp"
#include "shared/config/sections.hpp"

namespace millrace {
namespace {

constexpr std::string_view kScheme = "tcp://";

bool is_tcp_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with(kScheme) || colon <= kScheme.size()) return false;
  std::uint32_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  return error == std::errc{} && stop == end && port <= 65535;
}

std::optional<Marked<std::string>> read_file_name(const YamlValue& value) {
  const std::optional<std::string> name = value.text("a file name");
  if (!name) return std::nullopt;
  return Marked<std::string>{(value.folder() / *name).lexically_normal().string(), value.mark()};
}

}  // namespace

void read_control(const YamlValue& value, Topology& topology) {
  constexpr std::string_view kAllowed =
      "'{ listen: \"tcp://ADDRESS:PORT\", key: FILE, clients: [FILE, ...] }', all three: there is "
      "no TCP without keys (millrace keys FILE makes them)";
  const YamlMap map(value, kAllowed);
  if (!value.is_map()) return;
  map.allow_only(kControlKeys);
  TopologyControl control;
  const YamlValue* const listen = map.need("listen", kAllowed);
  const YamlValue* const key = map.need("key", kAllowed);
  const YamlValue* const clients = map.need("clients", kAllowed);
  if (listen != nullptr) {
    constexpr std::string_view kAddress = "tcp://ADDRESS:PORT, port 0 to 65535";
    const std::optional<std::string> text = listen->text(kAddress);
    if (text && !is_tcp_address(*text)) listen->refuse(kAddress);
    if (text) control.listen = {*text, listen->mark()};
  }
  if (key != nullptr) control.key = read_file_name(*key).value_or(Marked<std::string>{});
  if (clients != nullptr) {
    for (const YamlValue& file : clients->elements()) {
      if (auto name = read_file_name(file)) control.clients.push_back(std::move(*name));
    }
    if (clients->is_list() && clients->elements().empty()) clients->refuse("at least one file");
  }
  topology.control = std::move(control);
}

}  // namespace millrace
