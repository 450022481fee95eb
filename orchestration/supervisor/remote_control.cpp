// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/remote_control.hpp"

#include "orchestration/supervisor/key_files.hpp"

namespace millrace {

std::optional<RemoteControl> remote_control_of(const Topology& topology) {
  if (!topology.control) return std::nullopt;
  RemoteControl control{.address = topology.control->listen.value,
                        .key = topology.control->key.value};
  for (const Marked<std::string>& file : topology.control->clients) {
    control.clients.push_back(file.value);
  }
  return control;
}

RemoteListen remote_listen_of(const RemoteControl& control) {
  RemoteListen listen{.address = control.address, .keys = read_secret_key(control.key)};
  for (const std::string& file : control.clients) {
    for (std::string& key : read_public_keys(file)) listen.clients.push_back(std::move(key));
  }
  return listen;
}

void check_remote_control(const Topology& topology, Problems& problems) {
  if (!topology.control) return;
  const auto check = [&](const Marked<std::string>& file, auto&& read) {
    if (file.value.empty()) return;  // a problem already
    try {
      read(file.value);
    } catch (const Error& error) {
      problems.add(file.mark,
                   std::string("a file of keys that cannot be used (") + error.what() + ")");
    }
  };
  check(topology.control->key, read_secret_key);
  for (const Marked<std::string>& file : topology.control->clients) check(file, read_public_keys);
}

}  // namespace millrace
