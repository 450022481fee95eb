// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/layout/batch.hpp"
#include "shared/layout/event_rings.hpp"

namespace millrace {

struct PacketHeaders;  // shared/base/packet.hpp
struct FlowTuple;      // services/functions/flow/flow_tuple.hpp

/// Addresses, ports and protocol of a record that is not about its packet itself.
void put_ends(const FlowTuple& ends, EventRecord& record) noexcept;

/// Writes a function's records about packets, in finish(). It is three words long and made for each
/// call, used or not. Readers see the records when all functions of the stage have had the batch: a
/// worker that is killed before has told nothing, and nothing is told twice.
class EventWriter {
 public:
  EventWriter() = default;  ///< no process listens
  /// Borrowed. `log`: null: no process listens.
  EventWriter(EventLog* log, const Batch& batch, std::uint32_t function)
      : log_(log), batch_(&batch), function_(function) {}

  /// False: emit() would return null. Ask before work that only a record needs.
  bool on() const noexcept { return log_ != nullptr; }
  /// A record about the packet as it is now, so call it before it is changed: addresses, ports and
  /// protocol as far as its headers tell them. The caller fills in the payload of `kind`, all of
  /// which is zero, and nothing else needs to be. Null: no process listens, or there is no room,
  /// which is counted as lost. Some 100 ns. `packet`: index in the batch. `text`: behind it
  /// (event_text.hpp); then the payload is to have `texts`.
  EventRecord* emit(EventKind kind, std::uint32_t packet,
                    std::span<const std::byte> text = {}) const noexcept {
    return log_ == nullptr ? nullptr : begin(kind, packet, text);
  }
  /// Tells of an alert: rule `rule` of the function, by its name, took `action`.
  void alert(std::uint32_t packet, std::uint32_t rule, std::string_view name,
             EventAction action) const noexcept {
    if (EventRecord* const record = emit(EventKind::kAlert, packet)) {
      record->alert.rule = rule;
      record->alert.action = action;
      put_name(name, record->alert.name);
    }
  }

  /// Tells that a signature has matched. `what` has no garbage: begin with SignatureEvent{}.
  /// `what.app`: put_name(name_of(protocol), ...) makes it.
  void signature(std::uint32_t packet, const SignatureEvent& what,
                 std::span<const std::byte> text = {}) const noexcept;
  /// The same, with the addresses, ports and protocol of `frame`, which the packet carries or makes
  /// whole. `headers`: of `frame`, IPv4 or IPv6.
  void signature(std::uint32_t packet, const SignatureEvent& what, std::span<const std::byte> frame,
                 const PacketHeaders& headers, std::span<const std::byte> text = {}) const noexcept;
  /// Tells of a transaction that the packet brings something of. `client`: its flow, as packets of
  /// the client have it.
  void app(std::uint32_t packet, const FlowTuple& client, const AppEvent& what,
           std::span<const std::byte> text) const noexcept;
  /// Tells of bytes of a TCP connection, or of its end. `tuple`: of its direction 0. False: no
  /// process listens, or there is no room for it.
  bool stream(const FlowTuple& tuple, const StreamEvent& what,
              std::span<const std::byte> text = {}) const noexcept;
  /// Tells that the packet is dropped.
  void drop(std::uint32_t packet, const DropEvent& what) const noexcept;

  /// Tells that a flow has ended: `tuple` as its first packet had it.
  void flow_ended(const FlowTuple& tuple, const FlowEvent& what) const noexcept;
  /// Tells that a translation has begun or ended. Packets from inside have `inside`, and leave with
  /// `outside`. Of a mapping destinations do not matter.
  void translation(const FlowTuple& inside, const FlowTuple& outside, TranslationAction action,
                   TranslationScope scope) const noexcept;

  /// Writes the name to `to`, which is zero. A name that is too long is cut at its start, with
  /// three dots: the end of "file:line" tells more.
  static void put_name(std::string_view name, std::span<char> to) noexcept;

 private:
  EventRecord* begin(EventKind kind, std::uint32_t packet,
                     std::span<const std::byte> text) const noexcept;
  EventRecord* begin_flow(EventKind kind, const FlowTuple& tuple,
                          std::span<const std::byte> text = {}) const noexcept;
  EventRecord* add(EventKind kind, std::span<const std::byte> text) const noexcept;

  EventLog* log_ = nullptr;
  const Batch* batch_ = nullptr;
  std::uint32_t function_ = 0;
};

}  // namespace millrace
