// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/loader.hpp"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <utility>

#include "orchestration/planner/include.hpp"
#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/tcp_address.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

/// The file's name, with what a name may not hold replaced.
std::string default_name(const std::filesystem::path& file) {
  std::string name = file.stem().string().substr(0, kNameBytesMax);
  for (char& c : name) {
    if (!is_name(std::string("a") + c)) c = '-';
  }
  return is_name(name) ? name : "topology";
}

void read_duration(const YamlValue& value, std::uint32_t& milliseconds) {
  constexpr std::string_view kAllowed = "a time from 100ms to 60s, like 500ms or 2s";
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  std::uint32_t number = 0;
  const auto [unit, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::string_view rest(unit, text->data() + text->size());
  if (error == std::errc{} && number <= 60'000 && (rest == "s" || rest == "ms")) {
    const std::uint32_t total = rest == "s" ? number * 1000 : number;
    if (total >= 100 && total <= 60'000) {
      milliseconds = total;
      return;
    }
  }
  value.refuse(kAllowed);
}

void read_listen(const YamlValue& value, Topology& topology) {
  constexpr std::string_view kAllowed =
      "ADDRESS:PORT like '127.0.0.1:9090' or '[::1]:9090', no name (0.0.0.0 and [::] are all "
      "addresses of the host), port 0 to 65535";
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  if (!socket_address(*text)) return value.refuse(kAllowed);
  topology.telemetry_listen = *text;
}

void read_bypass(const YamlValue& value, Topology& topology) {
  constexpr std::string_view kAllowed = "'bridge: [PORT, PORT]' or 'command: [PROGRAM, ...]'";
  const YamlMap map(value, kAllowed);
  if (!value.is_map()) return;
  map.allow_only(kBypassKeys);
  const YamlValue* bridge = map.find("bridge");
  const YamlValue* command = map.find("command");
  if ((bridge == nullptr) == (command == nullptr)) {
    value.problems().add(value.mark(), "a bypass", std::string(kAllowed));
    return;
  }
  if (bridge != nullptr) {
    topology.bypass_bridge = read_names(*bridge, "a port");
    if (topology.bypass_bridge.size() != 2) bridge->refuse("two ports");
    return;
  }
  for (const YamlValue& word : command->elements()) {
    const auto text = word.text("a word");
    if (!text) continue;
    if (text->find('\n') != std::string::npos) word.refuse("a word of one line");
    topology.bypass_command.push_back({*text, word.mark()});
  }
  if (topology.bypass_command.empty() || !topology.bypass_command[0].value.starts_with('/')) {
    command->refuse("a program's path from / on, then its words");
  }
}

void read_globals(const YamlMap& map, Topology& topology) {
  if (const YamlValue* name = map.find("name")) {
    if (const auto read = read_name(*name, "text")) topology.name = read->value;
  }
  if (const YamlValue* batch = map.find("batch")) {
    const YamlMap inner(*batch);
    inner.allow_only(kBatchKeys);
    if (const YamlValue* capacity = inner.find("capacity")) {
      topology.batch_capacity = static_cast<std::uint32_t>(
          capacity->integer(1, kBatchCapacityMax).value_or(kBatchCapacityDefault));
    }
  }
  if (const YamlValue* limit = map.find("heartbeat_limit")) {
    read_duration(*limit, topology.heartbeat_limit_ms);
  }
  if (const YamlValue* limit = map.find("crash_limit")) {
    topology.crash_limit =
        static_cast<std::uint32_t>(limit->integer(0, kCrashLimitMax).value_or(0));
  }
  if (const YamlValue* limit = map.find("neighbour_limit")) {
    topology.neighbour_limit = static_cast<std::uint32_t>(
        limit->integer(kNeighbourCountMin, kNeighbourCountMax).value_or(kNeighbourCountDefault));
  }
  if (const YamlValue* bypass = map.find("bypass")) read_bypass(*bypass, topology);
  if (const YamlValue* control = map.find("control")) read_control(*control, topology);
  if (const YamlValue* events = map.find("events")) read_events(*events, topology);
  if (const YamlValue* placement = map.find("placement")) {
    constexpr std::string_view kChoices[] = {"fused", "processes"};
    topology.fused = placement->choice(kChoices) == 0U;
  }
  if (const YamlValue* telemetry = map.find("telemetry")) {
    const YamlMap inner(*telemetry);
    inner.allow_only(kTelemetryKeys);
    if (const YamlValue* listen = inner.find("listen")) read_listen(*listen, topology);
  }
  if (const YamlValue* egress = map.find("egress")) {
    const YamlMap inner(*egress);
    inner.allow_only(kEgressKeys);
    if (const YamlValue* count = inner.find("count")) {
      topology.egress_count = {
          static_cast<std::uint32_t>(count->integer(1, kStreamCountMax).value_or(1)),
          count->mark()};
    }
    if (const YamlValue* cores = inner.find("cores")) topology.egress_cores = read_cores(*cores);
  }
}

constexpr std::size_t kVariableCountMax = 256;

void read_variables(const YamlValue& section, Variables& variables) {
  for (const YamlEntry& entry : read_items(section, "variable", kVariableCountMax)) {
    variables.define(entry.key.value,
                     [value = entry.value] { return value.text_or_secret("text or a number"); });
  }
  variables.evaluate_all();
}

void read_topology(const YamlMap& map, const LoadContext& context, Topology& topology) {
  read_globals(map, topology);
  if (const YamlValue* ports = map.need("ports", "a map of 'port: {...}'")) {
    read_ports(*ports, context, topology);
  }
  if (const YamlValue* workers = map.find("workers")) read_workers(*workers, context, topology);
  if (const YamlValue* functions = map.find("functions")) {
    read_functions(*functions, context, topology);
  }
  if (const YamlValue* paths = map.need("paths", "a map of 'path: {...}'")) {
    read_paths(*paths, topology);
  }
}

void check_file(const TopologySetting& setting, Problems& problems) {
  std::error_code ignored;
  const std::filesystem::path path = setting.value.value;
  if (setting.kind == SettingKind::kInputFile) {
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    // A pipe would be waited for, and could be read once only; a device may have no end.
    const bool good = exists(status) && no_file_at(path).empty();
    const char* const found = is_directory(status) ? "the folder '"
                              : exists(status)     ? "no regular file '"
                                                   : "no file '";
    if (!good) {
      problems.add(setting.value.mark, found + path.string() + "' for '" + setting.key + "'",
                   "a file that can be read");
    }
  }
  if (setting.kind == SettingKind::kOutputFile &&
      !std::filesystem::is_directory(path.parent_path(), ignored)) {
    problems.add(setting.value.mark,
                 "no folder '" + path.parent_path().string() + "' for '" + setting.key + "'",
                 "a file in a folder that is there");
  }
}

/// Both are made by the process `events`, in folders that are there.
void check_event_files(const TopologyEvents& events, Problems& problems) {
  const auto check = [&](const char* key, const Marked<std::string>& name) {
    if (name.value.empty()) return;
    check_file({.key = key, .value = name, .kind = SettingKind::kOutputFile}, problems);
  };
  check("file", events.file);
  check("socket", events.socket);
}

Topology read_text(std::string text, const std::string& file,
                   std::span<const KnownFunction> functions, ReadFile read_file,
                   Problems& problems) {
  Topology topology;
  topology.mark = {file, 1, 1};
  topology.egress_count.mark = topology.mark;
  topology.name = default_name(file);
  Variables variables(std::move(read_file));
  if (const auto map = read_documents(std::move(text), file, variables, problems)) {
    if (const YamlValue* vars = map->find("vars")) read_variables(*vars, variables);
    read_topology(*map, {functions, topology.secrets}, topology);
    add_default_groups(topology, functions);
    resolve_auto(topology, problems);
    check_references(topology, functions, problems);
    add_host_ports(topology, problems);
    check_exclusive(topology, problems);
    check_vlans(topology, problems);
    check_loops(topology, problems);
  }
  return topology;
}

}  // namespace

Topology parse_topology(std::string text, const std::string& file,
                        std::span<const KnownFunction> functions, ReadFile read_file) {
  Problems problems;
  Topology topology = read_text(std::move(text), file, functions, std::move(read_file), problems);
  problems.throw_if_any();
  return topology;
}

Topology load_topology(const std::string& path, std::span<const KnownFunction> functions,
                       Problems& problems, ReadFile read_file) {
  return read_text(whole_file(path, kYamlBytesMax), path, functions, std::move(read_file),
                   problems);
}

void check_files(const Topology& topology, Problems& problems) {
  if (!topology.bypass_command.empty() && topology.bypass_command[0].value.starts_with('/')) {
    const Marked<std::string>& program = topology.bypass_command.front();
    std::error_code ignored;
    if (::access(program.value.c_str(), X_OK) != 0 ||
        std::filesystem::is_directory(program.value, ignored)) {
      problems.add(program.mark, "no program '" + program.value + "' for 'bypass: command'",
                   "a program that can be executed");
    }
  }
  if (topology.events) check_event_files(*topology.events, problems);
  for (const TopologyPort& port : topology.ports) {
    for (const TopologySetting& setting : port.settings) check_file(setting, problems);
  }
  for (const TopologyFunction& function : topology.functions) {
    for (const TopologySetting& setting : function.settings) check_file(setting, problems);
  }
}

}  // namespace millrace
