// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/tee/tee.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "services/functions/function_rows.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/side_list.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kSettings[] = {
    {.name = "port", .kind = SettingKind::kOutputPort, .required = true}, {.name = "packets"}};

struct TeeSettings {
  std::string port;
  CopyOf packets = CopyOf::kAll;
};

CopyOf copy_of(const std::string& value) {
  if (value == "all") return CopyOf::kAll;
  if (value == "passed") return CopyOf::kNotDropped;
  if (value == "dropped") return CopyOf::kDropped;
  throw Error("packets is '" + value + "'; allowed: all, passed, dropped");
}

TeeSettings tee_settings(const Settings& settings) {
  TeeSettings read;
  for (const auto& [key, value] : settings) {
    if (key == "port") {
      read.port = value;
    } else if (key == "packets") {
      read.packets = copy_of(value);
    } else {
      refuse_key("tee", key, kSettings);
    }
  }
  if (read.port.empty()) throw Error("port: expected a port for the copies");
  return read;
}

std::uint8_t number_of(const std::string& name, std::span<const PlanPort> ports) {
  const auto at = std::ranges::find(ports, name, &PlanPort::name);
  if (at == ports.end()) throw Error("port: there is no port '" + name + "'");
  return static_cast<std::uint8_t>(at - ports.begin());
}

/// One record for all packets of a batch, so that functions behind it find room for theirs.
class Tee final : public Function {
 public:
  explicit Tee(const FunctionContext& context)
      : settings_(tee_settings(context.function.settings)) {
    port_ = number_of(settings_.port, context.ports);
  }

  void compute(const Batch&, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) results[packet] = 0;
  }

  void finish(const FinishContext& call) noexcept override {
    if (call.selected.packets.empty()) return;
    const std::size_t bytes = call.selected.packets.back() / 8 + std::size_t{1};
    const std::uint64_t packets = call.selected.packets.size();
    if (!call.batch.side.has_room(bytes)) return count(call, TeeCounter::kNoRoom, packets);
    const std::span<std::byte> bits =
        call.batch.side.add({.packet = 0,
                             .kind = static_cast<std::uint8_t>(SideKind::kCopies),
                             .port = port_,
                             .argument = static_cast<std::uint32_t>(settings_.packets),
                             .why = static_cast<std::uint8_t>(Reason::kCopy)},
                            bytes);
    std::ranges::fill(bits, std::byte{0});
    for (const std::uint16_t packet : call.selected.packets) {
      bits[packet / 8] |= std::byte{1} << (packet % 8);
    }
    count(call, TeeCounter::kSeen, packets);
  }

 private:
  static void count(const FinishContext& call, TeeCounter which, std::uint64_t packets) noexcept {
    const auto number = static_cast<std::size_t>(which);
    if (metrics_kept() && number < call.counters.hits.size()) {
      call.counters.hits[number] += packets;
    }
  }

  TeeSettings settings_;
  std::uint8_t port_ = 0;
};

void check_tee(const PlanFunction& function) { tee_settings(function.settings); }

}  // namespace

FunctionType tee_type() {
  FunctionType type;
  type.traits = {.type = "tee",
                 .summary = "copies packets to another port; all pass",
                 .counter_count = kTeeCounterCount,
                 .settings = kSettings};
  type.make = make_function<Tee>;
  type.build = nullptr;
  type.check = check_tee;
  return type;
}

}  // namespace millrace
