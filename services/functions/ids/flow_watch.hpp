// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "services/functions/ids/detect/blocked_apps.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/flow_cache.hpp"
#include "services/functions/ids/ids_lane.hpp"
#include "services/functions/ids/ids_log.hpp"
#include "services/functions/ids/packet_memory.hpp"
#include "services/functions/ids/protocols/app_session.hpp"
#include "services/functions/ids/protocols/transaction_pool.hpp"
#include "services/functions/stream/kept_bytes.hpp"
#include "services/functions/stream/stream_reader.hpp"

/// Reads what flows carry, and shows it to the detector. What it knows of a flow is a cache: where
/// it does not fit what the lane's state says (another worker had the lane, a segment that was read
/// did not pass after all), it is made anew from the bytes that the stream keeps.

namespace millrace {

/// The packet in hand, and where what it brings is noted. Borrowed.
struct WatchedPacket {
  const PacketView& view;
  const FlowTuple& tuple;  ///< of its flow's direction 0
  PacketMemory& memory;
  std::vector<MatchedRule>& matched;
  IdsLog& log;  ///< where transactions are noted, if it has any
};

/// One a worker. One thread.
class FlowWatch {
 public:
  static constexpr std::uint32_t kFlowsMax = 16'384, kDatagramFlowsMax = 4'096;

  struct Memory {
    std::uint32_t history;  ///< StreamLimits::history
    /// Bytes of parsers and waiting rules, of all flows of TCP; of datagrams an eighth beside.
    std::size_t parsers;
  };
  /// `detector` is borrowed, as is what `limits` names. `logs_apps`: transactions are read even if
  /// no rule asks for them. `blocked`: WorkShare::lose_parser() is called too where a parser of
  /// these gives up a direction, and where the client sends on to a flow that has lost its parser.
  /// (So what a server sends on, as a download, ends well also where another worker takes over.)
  FlowWatch(Detector& detector, const AppLimits& limits, const Memory& memory, bool logs_apps,
            const BlockedApps& blocked = {});

  /// Of a segment: makes ready what is known of the flow, as the lane's state has it, and hands the
  /// text to its parser. `record`: of the flow. Behind it settle() or forget().
  void read(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
            const StreamReader::Offer& offer) noexcept;
  /// Of read(): with these data it is known what the flow carries, or they are their direction's
  /// first, and it was.
  bool has_recognised() const noexcept { return has_recognised_; }
  /// Behind read(): rules of streams.
  void look_at_stream(const WatchedPacket& packet, const StreamReader::Offer& offer,
                      StreamHistory& history) noexcept;
  /// The segment that was read passes, and has been committed.
  void settle(const FlowTuple& tuple, IdsTables& tables, FlowRecord& record) noexcept;

  /// A FIN of the packet's direction stands behind its bytes, which end at `sequence`.
  void note_fin(const WatchedPacket& packet, std::uint32_t sequence) noexcept;
  /// The receiver of `direction` has acknowledged up to `sequence`: if that is behind a FIN, the
  /// stream is through. Behind it settle().
  void end(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
           std::uint8_t direction, std::uint32_t sequence) noexcept;

  /// A datagram of UDP. Where its flow has made room, or may have (others took the places of some),
  /// answers of DNS are lost until a question comes; other protocols have nothing to lose.
  void read_datagram(const WatchedPacket& packet) noexcept;

  /// Behind all looks at a packet: where its flow has grown beyond the memory that there is, others
  /// make room, the one that was asked for longest ago first.
  void make_room() noexcept;
  /// Flows of TCP beyond kFlowsMax, and flows beyond the memory, that have made room. What they
  /// knew is made anew with their next packets; where that fails for a parser, it is lost, and
  /// WorkShare::lose_parser() is called.
  std::uint64_t made_room() const noexcept {
    return cache_.emptied() + cache_.replaced() + datagrams_.emptied();
  }

  /// What the packet's flow carries.
  AppProtocol protocol_of(const FlowTuple& tuple, const FlowRecord* record) noexcept;
  /// Of a flow of TCP; null: nothing is known of it. Good until the next read(), end() or forget().
  FlowRules* rules_of(const FlowTuple& tuple, std::uint8_t direction) noexcept;
  void forget(const FlowTuple& tuple) noexcept;
  /// Of a flow of TCP, a packet of which is dropped by itself behind read(): its parser goes on at
  /// the next one, as what is known of it fits or can be made anew; or it had none.
  bool is_kept(const FlowTuple& tuple, const IdsTables& tables) noexcept;
  /// The flow ends: notes transactions of it that are not through, if this worker has read them.
  void note_rest(const FlowTuple& tuple, const IdsTables& tables, IdsLog& log) noexcept;
  /// Flows whose parsers were lost: what they were in the middle of was not kept.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  bool is_given_up(const AppSession& session, std::uint8_t direction) const noexcept;
  FlowCache& cache_of(const FlowTuple& tuple) noexcept;
  CachedFlow& ready(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record) noexcept;
  void make_session(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                    const Stream* stream, CachedFlow& flow) noexcept;
  /// Fills kept_ with the last bytes that the stream keeps in front of `end`. Where they begin.
  std::uint64_t keep_last(const IdsTables& tables, const Stream& stream, std::uint8_t direction,
                          std::uint64_t end) noexcept;
  void make_pending(const WatchedPacket& packet, IdsTables& tables, const Stream& stream,
                    std::uint8_t direction, CachedFlow& flow) noexcept;
  /// Bytes of `kept_` that rules of streams look at once more.
  struct Replayed {
    const PacketView& view;
    PacketMemory& memory;
    std::uint64_t base;   ///< place of kept_[0] in the stream
    std::uint32_t looks;  ///< that may still be taken
    PendingRules& pending;
  };
  void replay(Replayed& replayed, std::size_t from, std::size_t to) noexcept;
  static void note_rest(CachedFlow& flow, IdsLog& log) noexcept;
  void read_kept(const WatchedPacket& packet, KeptBytes kept, std::uint8_t direction,
                 CachedFlow& flow) noexcept;
  void begin_anew(const WatchedPacket& packet, IdsTables& tables, FlowRecord& record,
                  CachedFlow& flow) noexcept;
  void lose_parser(IdsTables& tables, FlowRecord& record, CachedFlow& flow) noexcept;
  void tell_lost() const noexcept;
  void tell_unread(const FlowRecord& record, std::uint8_t direction) const noexcept;
  void tell_broken(const AppSession& session, const std::array<bool, 2>& before) const noexcept;

  Detector& detector_;
  bool reads_apps_;  ///< rules ask for transactions, or the log does
  AppLimits limits_;
  BlockedApps blocked_;
  std::uint32_t history_;
  TransactionPool pool_;  ///< of the sessions in the caches
  FlowCache cache_;
  FlowCache datagrams_;  ///< of their own: questions of DNS, each a flow, drive no stream out
  std::vector<std::byte> kept_;
  std::vector<MatchedRule> known_;  ///< rules that have matched before
  CachedFlow* grown_ = nullptr;     ///< of the packet in hand; null: none
  std::uint64_t lost_ = 0;
  bool has_recognised_ = false;
};

}  // namespace millrace
