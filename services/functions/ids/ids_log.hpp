// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/ids/ids_settings.hpp"
#include "services/functions/ids/protocols/transaction.hpp"
#include "services/functions/ids/rules/signature.hpp"
#include "shared/base/packet.hpp"
#include "shared/layout/event_text.hpp"

namespace millrace {

/// What `ids` tells of beside alerts, as `log` asks for it. One thread.
class IdsLog {
 public:
  /// `signatures`: borrowed. `alert_app`: alerts ask for texts of their transactions.
  IdsLog(const IdsLogChoice& choice, bool alert_app, std::span<const Signature> signatures)
      : choice_(choice), alert_app_(alert_app), signatures_(signatures) {}

  /// note() and note_matched() are to be called.
  bool has_apps() const noexcept { return choice_.has_apps() || alert_app_; }

  // Transactions: what a packet brings of them is kept until it is known that the packet counts.
  /// Nothing is kept.
  void begin() noexcept;
  /// `direction` of the transaction has something new.
  void note(Transaction& transaction, std::uint8_t direction) noexcept;
  /// A rule has matched by the transaction. In front of note().
  void note_matched(Transaction& transaction, std::uint8_t direction) noexcept;
  /// Of the transaction by which a rule has matched: its text; empty: none is kept.
  std::span<const std::byte> text_of(std::uint64_t transaction) const noexcept;
  /// The parser of the flow's `direction` has given up.
  void note_unreadable(AppProtocol app, std::uint8_t direction) noexcept;
  /// Tells what is kept. `client`: the flow as its client's packets have it.
  void tell(const EventWriter& events, std::uint16_t packet, const FlowTuple& client) noexcept;

  struct Dropped {
    std::uint16_t packet;  ///< in its batch
    FlowDirection direction;
    EventDropReason reason;
    std::optional<std::uint32_t> rule;  ///< number of the signature that says so
    /// For what it is dropped, where that is not itself: what it carries, or makes whole.
    std::span<const std::byte> inner = {};
    PacketHeaders inner_headers = {};  ///< of `inner`
  };
  /// The packet is about to be dropped.
  void drop(const FinishContext& call, const Dropped& what) noexcept {
    if (choice_.drop && call.events.on()) tell_drop(call, what);
  }

 private:
  /// The text of one is a part of texts_.
  struct Line {
    AppEvent event;
    std::size_t begin, bytes;
  };
  struct Unreadable {
    AppProtocol app;
    FlowDirection direction;
  };

  bool wants(AppProtocol app) const noexcept;
  void put(Transaction& transaction, std::uint8_t direction);
  void keep(const Transaction& transaction, FlowDirection direction, std::vector<Line>& lines);
  void note_messages(Transaction& transaction, std::uint8_t direction);
  void tell_drop(const FinishContext& call, const Dropped& what) const noexcept;

  IdsLogChoice choice_;
  bool alert_app_;
  std::span<const Signature> signatures_;
  EventTextWriter text_;
  std::vector<std::byte> texts_;
  std::vector<Line> lines_, matched_;
  std::optional<Unreadable> unreadable_;
};

}  // namespace millrace
