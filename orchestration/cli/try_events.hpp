// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/record_file.hpp"
#include "services/events/event_json.hpp"
#include "services/events/signature_book.hpp"
#include "services/events/stream_files.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_rings.hpp"
#include "shared/layout/event_text.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {

/// What the functions of `millrace try` tell, as lines of EVE JSON in a file; of `streams`, in
/// its files.
class TryEvents {
 public:
  /// `file`: empty: there is none for lines. `plan`: names the functions; borrowed. Throws Error:
  /// the file cannot be written.
  TryEvents(const std::string& file, const Plan& plan);

  EventLog& log() { return log_; }
  /// Writes what was told since the last call. `time_ns`: of the packets, system clock.
  void write(std::uint64_t time_ns);
  std::uint64_t lines() const { return lines_; }  ///< written, with those of streams
  /// Lines that did not fit, or could not be written.
  std::uint64_t lost() const;

 private:
  void put(const EventPlace& place);
  const Plan& plan_;
  Mapping memory_ = Mapping::create_anonymous(event_rings_bytes(1));
  EventRings rings_{memory_.base(), 1};
  EventLog log_{rings_, 0};
  EventReader reader_{rings_, 0};
  std::vector<EventRecord> records_;
  EventLine line_{};
  EventTimes times_;
  SignatureBook signatures_;
  std::optional<RecordFile> file_;
  std::vector<std::unique_ptr<StreamFiles>> streams_;  ///< by function; null: none
  std::uint64_t lines_ = 0, stream_lost_ = 0;
};

}  // namespace millrace
