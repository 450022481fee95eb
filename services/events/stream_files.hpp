// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "services/events/stream_parts.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/event_record.hpp"

namespace millrace {

/// Where bytes of TCP connections are written, and how many at most.
struct StreamFileLimits {
  std::string folder;
  std::uint64_t bytes_max = std::uint64_t{1024} << 20;  ///< in all files of the folder together
  std::uint64_t files_max = 10'000;                     ///< likewise

  friend bool operator==(const StreamFileLimits&, const StreamFileLimits&) = default;
};
/// The limits of a function `streams` with checked settings; nothing for any other.
std::optional<StreamFileLimits> stream_file_limits(const PlanFunction& function);

/// Files of one function `streams` (services/functions/streams/README.md): one of each direction of
/// each connection, ADDRESS.PORT-ADDRESS.PORT, and kIndex with a line of JSON for each connection
/// that has ended. Byte n of a stream is byte n of its file, so bytes that both a killed process
/// and its successor write are there once. One thread; calls last as long as the disk takes. An
/// error is logged once, and the loss counted; when the index goes on, that is logged too. The
/// index and the list of open connections have whole lines only: half a line of a killed process is
/// cut off when the folder is opened.
class StreamFiles {
 public:
  static constexpr const char* kIndex = "connections.jsonl";
  /// The list of files of connections that have not ended; a successor goes on with them.
  static constexpr const char* kOpen = ".open";

  /// Makes the folder where there is none. Goes on with what a killed process left.
  explicit StreamFiles(const StreamFileLimits& limits);
  StreamFiles(const StreamFiles&) = delete;  // owns files
  StreamFiles& operator=(const StreamFiles&) = delete;
  ~StreamFiles();  ///< as finish()

  const StreamFileLimits& limits() const { return limits_; }
  /// Writes a record of kStream with its text. True: all of it is in its file and, at a
  /// connection's end, its line is in the index.
  bool put(const EventRecord& record, std::span<const std::byte> text);
  /// Adds a line to the index for each connection that has not ended, and forgets them. These lines
  /// belong to no record: a failure is only logged, with its count.
  void finish();

  std::uint64_t bytes() const { return bytes_; }  ///< in the files
  std::uint64_t files() const { return files_; }

 private:
  /// Lane, number, time of the begin.
  using Key = std::tuple<std::uint16_t, std::uint32_t, std::uint64_t>;
  struct Side {
    std::string name;  ///< of the file; empty: there is none
    UniqueFd file;
    std::uint64_t base = 0;  ///< position of the file's first byte
    StreamParts parts;       ///< of the file, that are written
    bool is_picked_up = false;
  };
  struct Connection {
    EventRecord record{};  ///< one of it, for its addresses
    std::array<Side, 2> sides;
  };

  static Key key_of(const EventRecord& record);
  void read_folder();
  void cut_half_line(const char* name);
  void read_open();
  bool put_data(const EventRecord& record, std::span<const std::byte> text);
  bool begin_file(Side& side, const EventRecord& record);
  bool open_file(Side& side);
  bool move_base(Side& side, std::uint64_t position);
  bool write(Side& side, std::uint64_t at, std::span<const std::byte> bytes);
  void note_open(const Key& key, std::uint8_t direction, const Side& side);
  bool put_end(const Connection& connection, const StreamEvent* end);
  bool append(const char* name, const std::string& line, std::uint64_t& lost);
  void note_lost(const std::string& path, int error, std::uint64_t& lost);
  void note_written(const std::string& path, std::uint64_t& lost);
  bool complain(const std::string& what, int error);

  StreamFileLimits limits_;
  std::map<Key, Connection> connections_;
  std::uint64_t bytes_ = 0, files_ = 0;
  std::uint32_t open_files_ = 0;
  std::uint64_t index_lost_ = 0, open_lost_ = 0;  ///< lines, since it was said; 0: all is well
  bool complained_ = false;
};

}  // namespace millrace
