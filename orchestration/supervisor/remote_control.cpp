// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/remote_control.hpp"

#include <fstream>
#include <span>

#include "orchestration/supervisor/key_files.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

std::string path_in(const std::string& run_dir) { return run_dir + "/control.remote"; }

}  // namespace

std::optional<RemoteControl> remote_control_of(const Topology& topology) {
  if (!topology.control) return std::nullopt;
  RemoteControl control{.address = topology.control->listen.value,
                        .key = topology.control->key.value};
  for (const Marked<std::string>& file : topology.control->clients) {
    control.clients.push_back(file.value);
  }
  return control;
}

void save_remote_control(const std::string& run_dir, const RemoteControl& control) {
  std::string text = "listen " + control.address + "\nkey " + control.key + "\n";
  for (const std::string& file : control.clients) text += "clients " + file + "\n";
  write_whole_file(path_in(run_dir), std::as_bytes(std::span(text)));
}

std::optional<RemoteControl> load_remote_control(const std::string& run_dir) {
  std::ifstream file(path_in(run_dir));
  if (!file) return std::nullopt;
  RemoteControl control;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string what = line.substr(0, space), value = line.substr(space + 1);
    if (what == "listen") control.address = value;
    if (what == "key") control.key = value;
    if (what == "clients") control.clients.push_back(value);
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
