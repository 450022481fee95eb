// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/events/event_file.hpp"
#include "services/events/event_json.hpp"
#include "services/events/event_socket.hpp"
#include "services/events/ipfix_export.hpp"
#include "services/events/signature_book.hpp"
#include "services/events/stream_files.hpp"
#include "shared/base/clock.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_rings.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {

/// Moves records from the rings to the file, the socket, the collector and the files of streams. A
/// record leaves its ring when it is told or counted as lost. After a kill the successor finds in
/// the file what was written, so each line is there once. If it cannot open `file`, all records of
/// the last write count as lost, at most kRecordsPerTurn, though some of their lines may be in the
/// file. One thread.
class EventPump {
 public:
  /// `file`, `ipfix`: null if there is none. All borrowed; `tsc_hz`: of the status file.
  EventPump(const Plan& plan, const EventRings& rings, std::uint64_t tsc_hz, EventFile* file,
            EventSocket& socket, IpfixExport* ipfix = nullptr);

  /// Takes names of functions, and files with names of signatures, from a newer plan of the same
  /// topology.
  void use(Plan plan);
  /// `newest` is asked for the newest plan when a signature is unknown: a table that was just
  /// switched to has new ones. At most once a turn.
  void on_unknown(std::function<std::optional<Plan>()> newest) { newest_ = std::move(newest); }
  /// Deals with at most kRecordsPerTurn records of each ring. Returns the number of lines.
  std::size_t turn();

  /// Adds a line of `stats`. It belongs to no ring, and is not counted as a line of functions.
  void tell_stats(const StatusView& status);

  static constexpr std::uint32_t kRecordsPerTurn = 256;

 private:
  struct Source {
    std::string actor;
    EventReader reader;
  };

  void finish_what_was_begun();
  void tell_without_file(std::uint32_t ring);
  void begin_turn() noexcept;
  std::uint32_t tell(std::uint32_t ring);
  void write(std::uint32_t ring, std::uint64_t head, std::uint32_t count) noexcept;
  void use_streams();
  void count_streams() noexcept;
  bool put_stream(const EventRecord& record, std::span<const std::byte> text);
  std::uint32_t records_of(EventReader& reader, std::uint64_t lines, std::uint64_t& refused,
                           std::uint64_t& streamed) noexcept;
  void note_place() noexcept;
  void rotate() noexcept;
  const SignatureName* name_of(const EventRecord& record);
  void put_lines(const Source& source, std::uint64_t head, std::span<const EventRecord> records);

  Plan plan_;
  EventRings rings_;
  EventSink& sink_;
  TscScale scale_;
  EventFile* file_;
  EventSocket& socket_;
  IpfixExport* ipfix_;
  EventTimes times_;
  SignatureBook signatures_;
  std::vector<std::unique_ptr<StreamFiles>> streams_;  ///< by number of the function; null: none
  std::function<std::optional<Plan>()> newest_;
  bool asked_ = false;           ///< newest_, in this turn
  std::vector<Source> sources_;  ///< by ring
  std::array<EventRecord, kRecordsPerTurn> records_;
  std::array<std::uint64_t, kRecordsPerTurn> times_ns_;  ///< of each of these; system clock
  std::string lines_;
  std::uint32_t line_count_ = 0;                  ///< in `lines_`
  std::uint32_t refused_ = 0;                     ///< records beside these that make no line
  std::uint32_t streamed_ = 0, stream_lost_ = 0;  ///< lines of kStream; of these, not written
  EventLine line_{};
  std::uint64_t now_tsc_ = 0, now_ns_ = 0;  ///< the same moment by both clocks
};

}  // namespace millrace
