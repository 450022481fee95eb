// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "services/events/event_file.hpp"
#include "services/events/json_line.hpp"
#include "services/events/stream_index.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0640, kFolderMode = 0750;
constexpr std::uint32_t kOpenFilesMax = 128;
constexpr std::uint32_t kNamesMax = 100'000;  ///< connections with the same ends
constexpr std::uint64_t kMovedBytesMax = 1u << 20;
constexpr std::size_t kPartsMax = 4096;            ///< of a file: a hole between each two
constexpr std::size_t kConnectionsMax = 1u << 18;  ///< known at once: an end may be lost

int new_file(const std::string& path) {
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode);
}

}  // namespace

std::optional<StreamFileLimits> stream_file_limits(const PlanFunction& function) {
  if (function.type != "streams") return std::nullopt;
  StreamFileLimits limits;
  for (const auto& [key, value] : function.settings) {
    if (key == "folder") limits.folder = value;
    if (key == "size_mb") limits.bytes_max = std::stoull(value) << 20;
    if (key == "files_max") limits.files_max = std::stoull(value);
  }
  return limits;
}

StreamFiles::StreamFiles(const StreamFileLimits& limits) : limits_(limits) {
  if (::mkdir(limits_.folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    complain("make the folder", errno);
  }
  read_folder();
  cut_half_line(kIndex);
  cut_half_line(kOpen);
  read_open();
}

StreamFiles::~StreamFiles() {
  try {
    finish();
  } catch (const std::exception& error) {
    say("events", limits_.folder + ": " + error.what());
  }
}

/// Counts the bytes that are there already.
void StreamFiles::read_folder() {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(limits_.folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name == kIndex || name == kOpen || !entry.is_regular_file(ignored)) continue;
    ++files_;
    bytes_ += entry.file_size(ignored);
  }
}

/// Cuts off the part of a line that a killed process left (append()).
void StreamFiles::cut_half_line(const char* name) {
  const std::string path = limits_.folder + "/" + name;
  const UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  int error = 0;
  if (file) keep_whole_lines(file, 0, error);
  if (error != 0) complain("cut off half a line of " + path, error);
}

void StreamFiles::read_open() {
  std::ifstream lines(limits_.folder + "/" + kOpen);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint16_t lane = 0;
    std::uint32_t connection = 0;
    std::uint64_t begun = 0, base = 0;
    std::uint32_t direction = 0;
    std::string name;
    words >> lane >> connection >> begun >> direction >> base >> name;
    if (!words || direction > 1 || name.find('/') != std::string::npos) continue;
    Side& side = connections_[{lane, connection, begun}].sides[direction];
    side.name = name;
    side.base = base;
    std::error_code failed;
    const std::uint64_t size = fs::file_size(limits_.folder + "/" + name, failed);
    side.parts = {};
    if (!failed) side.parts.add(0, size);
  }
}

StreamFiles::Key StreamFiles::key_of(const EventRecord& record) {
  return {record.lane, record.tcp_stream.connection, record.tcp_stream.begun_tsc.number()};
}

bool StreamFiles::put(const EventRecord& record, std::span<const std::byte> text) {
  if (record.tcp_stream.step == StreamStep::kData) return put_data(record, text);
  const auto at = connections_.find(key_of(record));
  if (at == connections_.end()) return true;
  at->second.record = record;
  const bool is_whole = put_end(at->second, &record.tcp_stream);
  for (const Side& side : at->second.sides) open_files_ -= side.file ? 1 : 0;
  connections_.erase(at);
  return is_whole;
}

bool StreamFiles::put_data(const EventRecord& record, std::span<const std::byte> text) {
  const StreamEvent& event = record.tcp_stream;
  if (event.direction > 1 || text.empty()) return false;
  if (connections_.size() >= kConnectionsMax) finish();
  Connection& connection = connections_[key_of(record)];
  connection.record = record;
  Side& side = connection.sides[event.direction];
  side.is_picked_up = event.is_picked_up[event.direction] != 0;
  if (bytes_ + text.size() > limits_.bytes_max) {
    return complain("is full: `size_mb` is used up", 0);
  }
  const std::uint64_t position = event.position.number();
  if (side.name.empty()) {
    side.base = side.is_picked_up ? position : 0;
    if (!begin_file(side, record)) return false;
    note_open(key_of(record), event.direction, side);
  }
  if (!open_file(side)) return false;
  if (position < side.base) {
    if (!move_base(side, position)) return false;
    note_open(key_of(record), event.direction, side);
  }
  return write(side, position - side.base, text);
}

bool StreamFiles::begin_file(Side& side, const EventRecord& record) {
  if (files_ >= limits_.files_max) return complain("is full: `files_max` is used up", 0);
  const std::string stem = stream_file_name(record);
  for (std::uint32_t number = 1; number <= kNamesMax; ++number) {
    side.name = number == 1 ? stem : stem + "-" + std::to_string(number);
    side.file = UniqueFd(new_file(limits_.folder + "/" + side.name));
    if (side.file || errno != EEXIST) break;
  }
  if (!side.file) {
    complain("begin " + side.name, errno);
    side.name.clear();
    return false;
  }
  ++files_;
  ++open_files_;
  return true;
}

/// Opens the side's file; closes all others when too many are open.
bool StreamFiles::open_file(Side& side) {
  if (open_files_ > kOpenFilesMax) {
    for (auto& [key, connection] : connections_) {
      for (Side& other : connection.sides) other.file = UniqueFd();
    }
    open_files_ = 0;
  }
  if (side.file) return true;
  side.file =
      UniqueFd(::open((limits_.folder + "/" + side.name).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!side.file) return complain("open " + side.name, errno);
  ++open_files_;
  return true;
}

/// Makes room for bytes in front of the first one that was seen.
bool StreamFiles::move_base(Side& side, std::uint64_t position) {
  const std::uint64_t by = side.base - position;
  const std::uint64_t size = side.parts.end();
  if (by > kMovedBytesMax || size > kMovedBytesMax) return false;
  std::vector<std::byte> bytes(size);
  if (::pread(side.file.get(), bytes.data(), size, 0) != static_cast<ssize_t>(size) ||
      ::pwrite(side.file.get(), bytes.data(), size, static_cast<off_t>(by)) !=
          static_cast<ssize_t>(size)) {
    return complain("move bytes of " + side.name, errno);
  }
  // Zeros over the old bytes: those that are not written again count as missing.
  const std::vector<std::byte> zeros(std::min(by, size));
  if (!zeros.empty() && ::pwrite(side.file.get(), zeros.data(), zeros.size(), 0) < 0) {
    return complain("move bytes of " + side.name, errno);
  }
  side.parts.move(by);
  side.base = position;
  return true;
}

bool StreamFiles::write(Side& side, std::uint64_t at, std::span<const std::byte> bytes) {
  if (side.parts.count() >= kPartsMax) return complain(side.name + " has too many holes", 0);
  const std::uint64_t before = side.parts.bytes();
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(side.file.get(), bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    side.parts.add(at, at + static_cast<std::uint64_t>(count));
    at += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  const int error = errno;
  bytes_ += side.parts.bytes() - before;
  if (!bytes.empty()) return complain("write " + side.name, error);
  return true;
}

void StreamFiles::note_open(const Key& key, std::uint8_t direction, const Side& side) {
  const auto& [lane, connection, begun] = key;
  std::ostringstream line;
  line << lane << ' ' << connection << ' ' << begun << ' ' << unsigned{direction} << ' '
       << side.base << ' ' << side.name << '\n';
  append(kOpen, line.str(), open_lost_);
}

bool StreamFiles::put_end(const Connection& connection, const StreamEvent* end) {
  std::vector<StreamFileLine> files;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    const Side& side = connection.sides[direction];
    const std::uint64_t seen = end == nullptr ? 0 : end->bytes[direction].number();
    const std::uint64_t bytes = std::max(side.parts.end(), seen - std::min(seen, side.base));
    if (bytes == 0 && side.name.empty()) continue;
    files.push_back({.name = side.name,
                     .direction = static_cast<std::uint8_t>(direction),
                     .bytes = bytes,
                     .is_picked_up = side.is_picked_up,
                     .parts = side.parts});
  }
  return append(kIndex, stream_index_line(connection.record, files, end != nullptr), index_lost_);
}

void StreamFiles::finish() {
  for (const auto& [key, connection] : connections_) put_end(connection, nullptr);
  connections_.clear();
  open_files_ = 0;
  ::unlink((limits_.folder + "/" + kOpen).c_str());
}

/// Appends the whole line, or nothing of it.
bool StreamFiles::append(const char* name, const std::string& line, std::uint64_t& lost) {
  const std::string path = limits_.folder + "/" + name;
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  struct stat before {};
  ssize_t count = -1;
  if (file && ::fstat(file.get(), &before) == 0) {
    count = ::write(file.get(), line.data(), line.size());
  }
  if (count == std::ssize(line)) {
    note_written(path, lost);
    return true;
  }
  note_lost(path, count < 0 ? errno : ENOSPC, lost);
  if (count > 0 && ::ftruncate(file.get(), before.st_size) != 0) {
    complain("cut off half a line of " + path, errno);
  }
  return false;
}

void StreamFiles::note_lost(const std::string& path, int error, std::uint64_t& lost) {
  if (lost++ != 0) return;
  say("events", "write " + path + ": " + std::generic_category().message(error) +
                    "; until that is mended its lines are lost");
}

void StreamFiles::note_written(const std::string& path, std::uint64_t& lost) {
  if (lost == 0) return;
  say("events", path + " goes on; " + std::to_string(lost) + " lines are lost");
  lost = 0;
  complained_ = false;  // the next error is logged again
}

/// Logs an error once. Returns false, for the caller to return.
bool StreamFiles::complain(const std::string& what, int error) {
  if (complained_) return false;
  complained_ = true;
  say("events", limits_.folder + " (`folder`): " + what +
                    (error == 0 ? "" : ": " + std::generic_category().message(error)) +
                    "; bytes of streams are lost");
  return false;
}

}  // namespace millrace
