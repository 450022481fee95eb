// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "services/events/stream_parts.hpp"
#include "shared/layout/event_record.hpp"

/// Names of files of streams, and lines of their index.

namespace millrace {

/// "10.0.0.1.5000-192.0.2.9.80": the sender of the record's direction comes first.
std::string stream_file_name(const EventRecord& record);

/// One direction of a connection.
struct StreamFileLine {
  std::string name;  ///< empty: nothing could be written
  std::uint8_t direction = 0;
  std::uint64_t bytes = 0;  ///< of the stream, from the file's first byte to the last one seen
  bool is_picked_up = false;
  StreamParts parts;  ///< that are in the file
};
/// A line of JSON with its line end. `has_ended`: false when the connection goes on and only the
/// writing ends.
std::string stream_index_line(const EventRecord& record, std::span<const StreamFileLine> files,
                              bool has_ended);

}  // namespace millrace
