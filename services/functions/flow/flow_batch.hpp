// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/flow/flow_entry.hpp"
#include "services/functions/flow/flow_fragments.hpp"
#include "services/functions/flow/flow_settings.hpp"
#include "services/functions/flow/flow_sort.hpp"
#include "services/functions/flow/flow_table.hpp"
#include "services/functions/function.hpp"
#include "shared/base/limits.hpp"

/// The flows of the packets of one batch, as `flow` has found them, for the functions behind it in
/// the stage (FinishContext::flows). A flow that begins in the batch is written into the lane's
/// table when the last function is through, if a packet of it is not dropped: what a firewall
/// refuses costs no room.

namespace millrace {

/// What a packet is to its flow; as the states of conntrack.
enum class FlowState : std::uint8_t {
  kUntracked,    ///< of no flow: not IP, a later fragment, discovery of neighbours (RFC 4861)
  kInvalid,      ///< it claims a flow that there is not, or does not fit into its own
  kNew,          ///< of a flow without an answer so far
  kEstablished,  ///< of a flow that has been answered
  kRelated,      ///< an ICMP error about a flow
};
inline constexpr std::size_t kFlowStateCount = 5;

inline constexpr std::uint32_t kNoFlow = UINT32_MAX;

struct PacketFlow {
  std::uint32_t flow = kNoFlow;  ///< for the functions of FlowBatch alone, within this batch
  /// Of the packet. One of an ICMP error about a packet of direction 0 goes in direction 1.
  std::uint8_t direction = 0;
  FlowState state = FlowState::kUntracked;
  // Of TCP; as it was with this packet, whatever follows it in the batch.
  bool opens = false;         ///< the handshake is under way, maybe anew: numbers begin
  bool is_picked_up = false;  ///< the beginning of its flow has not been seen
  /// By direction: up to where its receiver has acknowledged; nothing: it has sent no ACK.
  std::array<std::optional<std::uint32_t>, 2> acknowledged{};
};

/// One a worker and stage. One thread; nothing allocates.
class FlowBatch {
 public:
  PacketFlow of(std::uint16_t packet) const noexcept { return packets_[packet]; }

  /// The packet is a usual one (flow_usual.hpp) still, with the addresses and ports of its tuple:
  /// no function has changed it.
  bool is_usual(std::uint16_t packet) const noexcept {
    return (usual_[packet / 64u] >> packet % 64u & 1) != 0;
  }
  /// Its bytes are others now; of all packets: they may be.
  void forget_usual(std::uint16_t packet) noexcept {
    usual_[packet / 64u] &= ~(std::uint64_t{1} << packet % 64u);
  }
  void forget_usual() noexcept { usual_.fill(0); }
  /// The packet, of IPv6, has a fragment header so that it can leave in pieces of 1,280 bytes: it
  /// was one of IPv4 that routers may cut (RFC 7915 4).
  void let_split(std::uint16_t packet) noexcept { splits_.set(packet); }
  bool splits(std::uint16_t packet) const noexcept { return splits_.test(packet); }
  /// A function (FlowOwn::renumbered) has changed TCP numbers of the packet.
  void note_renumbered(std::uint16_t packet) noexcept {
    renumbered_.set(packet);
    forget_usual(packet);
  }
  bool is_renumbered(std::uint16_t packet) const noexcept { return renumbered_.test(packet); }
  /// The packet was of a flow with other addresses, ports or numbers on the other side, and that
  /// flow has gone in this batch: how it has come is not known, so its sender cannot be told of it.
  bool has_lost_translation(std::uint16_t packet) const noexcept { return lost_.test(packet); }
  /// The packet, `frame`, gets the numbers that its sender has sent. Not is_renumbered() then.
  void revert_numbers(std::uint16_t packet, std::span<std::byte> frame) noexcept;

  // Of the flow of a packet: not kNoFlow.

  /// What packets of that direction have, as they come in.
  const FlowTuple& tuple(std::uint32_t flow, std::uint8_t direction) const noexcept;
  const FlowOwn& own(std::uint32_t flow) const noexcept;
  /// To write one's own fields of it. The reference is good until the next call that is not const.
  FlowOwn& change_own(std::uint32_t flow) noexcept;
  /// It begins in this batch, and has no place in the table yet.
  bool is_new(std::uint32_t flow) const noexcept;

  enum class Translated : std::uint8_t {
    kDone,
    kTaken,  ///< packets with that tuple are another flow's
    kFull,   ///< there is no room
  };
  /// Packets of direction 1 of a new flow will have that tuple. It has its place in the table now.
  Translated translate(std::uint32_t flow, const FlowTuple& answer) noexcept;
  /// A flow that begins is written into the table though no packet of it goes on: what follows of
  /// it is to be known.
  void keep(std::uint32_t flow) noexcept;
  /// A segment of it that a function behind has sent, and that no packet of this batch is.
  void follow(std::uint32_t flow, std::uint8_t direction, const TcpSegment& segment) noexcept;
  /// It ends now; packets of it in this batch have no flow from here on.
  void forget(std::uint32_t flow) noexcept { end(flow, FlowEndReason::kForced); }

  /// The packet has become an answer to its sender: it is of no flow. One that it has begun is not
  /// written into the table for it.
  void take_out(std::uint16_t packet) noexcept;
  /// The packet, which is of no flow, of one that begins or of one that only it has asked for, has
  /// become the SYN `segment`: its flow begins with that. `tuple`: of the packet, TCP. False: there
  /// is another flow with that tuple, and nothing is changed.
  bool begin_with(std::uint16_t packet, const FlowTuple& tuple, const TcpSegment& segment) noexcept;

 private:
  friend class FlowFunction;
  friend class FlowTracker;

  /// A flow that begins in the batch.
  struct Beginning {
    FlowTuple tuple, answer;
    FlowOwn own{};
    std::array<std::uint64_t, 2> packets{}, bytes{};  ///< by direction
    std::uint32_t deadline_s = 0;
    std::uint32_t in_table = kNoFlow;  ///< its number there, once it has one
    bool gone = false, is_kept = false;
  };
  /// What FlowTracker notes of packets that it looks up at once, by their place among them.
  struct Room {
    std::array<FlowTuple, FlowTable::kManyMax> tuples;
    std::array<FlowTable::MaybeFound, FlowTable::kManyMax> found;
    std::array<SortedPacket, FlowTable::kManyMax> sorted;  ///< of those that are not usual
  };
  static constexpr std::uint32_t kBeginning = 1u << 31;  ///< the rest is a place in beginnings_
  static constexpr std::size_t kPlaces = 2 * kBatchCapacityMax;

  /// `settings`: borrowed until the batch is through.
  void begin(const FinishContext& call, const FlowSettings& settings,
             const std::array<std::uint64_t, 2>& secret) noexcept;
  void set_usual(std::uint16_t packet) noexcept {
    usual_[packet / 64u] |= std::uint64_t{1} << packet % 64u;
  }
  void prolong(std::uint32_t flow) noexcept;
  FlowTable& table() noexcept { return *table_; }
  FlowFragments& fragments() noexcept { return *fragments_; }
  std::optional<FlowTable::Found> find_beginning(const FlowTuple& tuple) const noexcept;
  std::optional<std::uint32_t> place_of(const FlowTuple& tuple) const noexcept;
  std::uint32_t add_beginning(const Beginning& one) noexcept;
  Beginning& beginning(std::uint32_t flow) noexcept { return beginnings_[flow & ~kBeginning]; }
  const Beginning& beginning(std::uint32_t flow) const noexcept {
    return beginnings_[flow & ~kBeginning];
  }
  /// True where it stands in the table; `flow` becomes its number there.
  bool resolve(std::uint32_t& flow) const noexcept;
  FlowTable::Insertion insert(Beginning& one, const FlowTuple& answer) noexcept;
  void tell_not_kept(const Beginning& one) noexcept;
  void tell_end(std::uint32_t in_table, FlowEndReason why) noexcept;
  void end(std::uint32_t flow, FlowEndReason why) noexcept;
  bool is_translated(std::uint32_t in_table) const noexcept;
  void lose(std::uint32_t flow, bool translated) noexcept;

  std::optional<FlowTable> table_;
  std::optional<FlowFragments> fragments_;
  std::span<const StateOfFunction> behind_;
  EventWriter events_;
  const FlowSettings* settings_ = nullptr;
  std::uint64_t now_ms_ = 0;
  std::uint8_t port_in_ = kOutputDefault;
  // Flows that have gone in this batch: for room; all; of these, established ones.
  std::uint32_t given_up_ = 0, ended_ = 0, established_ended_ = 0;
  bool forgot_ = false;                  ///< a flow went: what was found before may be another one
  std::bitset<kBatchCapacityMax> over_;  ///< packets that their flow ends with
  std::array<std::uint64_t, kBatchCapacityMax / 64> usual_{};  ///< one bit a packet
  std::bitset<kBatchCapacityMax> splits_;
  std::bitset<kBatchCapacityMax> renumbered_;
  std::bitset<kBatchCapacityMax> lost_;
  std::bitset<kBatchCapacityMax> is_question_;  ///< new packets, no later fragments
  std::uint32_t packet_count_ = 0, beginning_count_ = 0;
  std::array<PacketFlow, kBatchCapacityMax> packets_;
  std::array<Beginning, kBatchCapacityMax> beginnings_;
  std::array<std::uint16_t, kPlaces> places_{};  ///< by hash: place in beginnings_ + 1
  Room room_;
};

// What functions ask for each packet.

inline bool FlowBatch::resolve(std::uint32_t& flow) const noexcept {
  if ((flow & kBeginning) == 0) return true;
  const std::uint32_t in_table = beginning(flow).in_table;
  if (in_table == kNoFlow) return false;
  flow = in_table;
  return true;
}

inline const FlowTuple& FlowBatch::tuple(std::uint32_t flow,
                                         std::uint8_t direction) const noexcept {
  if (!resolve(flow)) return direction == 0 ? beginning(flow).tuple : beginning(flow).answer;
  return table_->entry(flow).tuple_of(direction);
}

inline const FlowOwn& FlowBatch::own(std::uint32_t flow) const noexcept {
  return resolve(flow) ? table_->entry(flow).own : beginning(flow).own;
}

inline FlowOwn& FlowBatch::change_own(std::uint32_t flow) noexcept {
  return resolve(flow) ? table_->change_own(flow) : beginning(flow).own;
}

inline bool FlowBatch::is_new(std::uint32_t flow) const noexcept { return !resolve(flow); }

}  // namespace millrace
