// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/function.hpp"
#include "services/functions/stream/stream_reader.hpp"
#include "services/functions/stream/stream_table.hpp"
#include "shared/base/packet.hpp"

/// What every function over streams of TCP does with a segment, before and after it looks at what
/// the segment lets its receiver read. Such a function stands behind `flow` in its stage.

namespace millrace {

/// Numbers in FunctionCounters::hits behind a function's own. The READMEs have them too.
enum class StreamCounter : std::uint8_t {
  kTexts,      ///< segments that let their receiver read on
  kAhead,      ///< data that waits for what is missing in front of it
  kSeen,       ///< data that was there already, and is the same
  kNoFlow,     ///< refused: data of no connection, or against its state
  kUnread,     ///< refused: fragments, headers that are cut or contradict themselves, data of a SYN
  kChecksum,   ///< refused: wrong checksum
  kConflicts,  ///< refused: not what was there, or not to be compared
  kNoRoom,     ///< refused: no room for its bytes, or its stream
  kUrgent,     ///< segments that lost the flag URG
  kCount
};

inline constexpr DeclaredReason kStreamConflict = {
    "stream_conflict", ReasonCause::kPolicy,
    "TCP data that cannot be read as its receiver would: of no connection, other bytes than "
    "before, a wrong checksum, a fragment"};
inline constexpr DeclaredReason kStreamFull = {
    "stream_full", ReasonCause::kLoss,
    "TCP data without room to keep it: `window_kb`, `memory_mb` or `streams`"};

struct TcpStreamOptions {
  bool trusts_checksums = false;
  bool keeps_urgent = false;      ///< the flag URG stays: the caller changes no packet
  std::size_t first_counter = 0;  ///< number of StreamCounter::kTexts
};

/// One a worker. Allocates at construction only.
class TcpStreams {
 public:
  enum class Fate : std::uint8_t {
    kPasses,   ///< it has no data
    kOffered,  ///< it passes, if nothing in its text speaks against it: then commit()
    kRefused,  ///< no receiver should read it: `counter`; it is counted
  };
  struct Taken {
    Fate fate = Fate::kPasses;
    StreamCounter counter = StreamCounter::kTexts;
    StreamReader::Offer offer{};             ///< of kOffered
    std::optional<StreamSegment> segment{};  ///< likewise; it borrows from the call
    bool is_unread = false;  ///< of kRefused: its data are of no stream, and may be looked at so
  };

  /// Throws std::bad_alloc.
  TcpStreams(const StreamLimits& limits, TcpStreamOptions options)
      : options_(options), reads_opening_(limits.fast_open), reader_(limits) {}

  /// A segment of TCP.
  struct Segment {
    std::span<std::byte> frame;
    const PacketHeaders& headers;  ///< of the frame
    const PacketFlow& flow;
    const FlowTuple* tuple;  ///< of its flow's direction 0; null: it has none
    bool may_change = true;  ///< false: it is a copy, so the flag URG refuses it
    OverlapPolicy overlaps = OverlapPolicy::kNone;  ///< of its receiver
  };
  /// A segment with its headers, as it may be: cut, a fragment, of no flow. Follows handshakes and
  /// acknowledgments. `table`: null without a state.
  Taken take(const FinishContext& call, StreamTable* table, const Segment& segment) noexcept;
  /// The same of a packet of the batch.
  Taken take(const FinishContext& call, StreamTable* table, std::uint16_t packet,
             const PacketHeaders& headers) noexcept;
  /// A packet goes on, whatever take() has said of it: of a segment the flag URG is taken away,
  /// also where it has no data. Its pointer says of bytes of other segments which one is none.
  void pass(const FinishContext& call, std::span<std::byte> frame,
            const PacketHeaders& headers) const noexcept;
  /// StreamReader::skip() of a direction of the packet's flow; behind it, if the text is not empty,
  /// commit().
  Taken skip(const FinishContext& call, const StreamTable& table, std::uint16_t packet,
             std::uint8_t direction) noexcept;
  /// Counts a segment that the caller has no room for.
  void refuse_for_room(const FinishContext& call) const noexcept {
    hit(call, StreamCounter::kNoRoom);
  }
  /// StreamReader::whole() of the segment that was offered last.
  StreamReader::Offer whole(const StreamTable& table) noexcept { return reader_.whole(table); }
  /// The segment that was offered last passes. False: there is no room for its stream, which would
  /// begin with it, and it must not pass. Counts either.
  bool commit(const FinishContext& call, StreamTable& table, const Taken& taken) noexcept;

 private:
  void hit(const FinishContext& call, StreamCounter counter) const noexcept;
  Taken refuse(const FinishContext& call, StreamCounter counter) const noexcept;
  Taken unread(const FinishContext& call, StreamCounter counter) const noexcept;
  Taken offer(const FinishContext& call, const StreamTable& table,
              const StreamSegment& segment) noexcept;
  bool follow(StreamTable& table, const FlowTuple& tuple, const PacketFlow& flow,
              std::span<const std::byte> frame, const PacketHeaders& headers) const noexcept;

  TcpStreamOptions options_;
  bool reads_opening_;
  StreamReader reader_;
};

}  // namespace millrace
