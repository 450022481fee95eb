// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>

#include <string_view>

#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/tcp_address.hpp"

namespace millrace {
namespace {

std::optional<Marked<std::string>> read_file_name(const YamlValue& value) {
  const std::optional<std::string> name = value.file_name();
  if (!name) return std::nullopt;
  return Marked<std::string>{*name, value.mark()};
}

/// A name may be one of an interface there; one of a host is not looked up.
bool can_listen(std::string_view address) {
  const auto rest = host_and_port(address);
  if (!rest) return false;
  const std::string_view host = rest->substr(0, rest->rfind(':'));
  return socket_address(*rest) || host == "*" || (host.size() < IF_NAMESIZE && host != "localhost");
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
    constexpr std::string_view kAddress =
        "tcp://ADDRESS:PORT with an address of the host like 127.0.0.1 or [::1], one of its "
        "interfaces, or * for all; port 0 to 65535";
    const std::optional<std::string> text = listen->text(kAddress);
    if (text && !can_listen(*text)) listen->refuse(kAddress);
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
