// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/watch/watch_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kRingBytesMin = std::uint64_t{64} << 10;
constexpr std::uint64_t kRingBytesMax = std::uint64_t{1} << 30;

WatchLayout layout_of(std::uint64_t filter_count, std::uint64_t slot_count,
                      std::uint64_t ring_count, std::uint64_t ring_bytes) {
  const auto to_line = [](std::uint64_t at) { return (at + kCacheLine - 1) & ~(kCacheLine - 1); };
  WatchLayout at;
  at.filter = to_line(sizeof(WatchHeader));
  at.marks = to_line(at.filter + filter_count * sizeof(std::uint64_t));
  at.rings = to_line(at.marks + slot_count * sizeof(TraceMark));
  at.ring_bytes_first = at.rings + ring_count * sizeof(WatchRing);
  at.bytes = at.ring_bytes_first + ring_count * ring_bytes;
  return at;
}

WatchLayout layout_of(const WatchHeader& header) {
  return layout_of(header.filter_count, header.slot_count, header.ring_count, header.ring_bytes);
}

bool is_sound(const WatchHeader& header, std::uint32_t actor_count) {
  if (header.actor_count != actor_count || actor_count > kActorCountMax) return false;
  if (header.filter_count > kFilterInstructionMax || header.ring_count > actor_count) return false;
  if (header.ring_bytes < kRingBytesMin || header.ring_bytes > kRingBytesMax) return false;
  if (!std::has_single_bit(header.ring_bytes)) return false;
  return header.slot_count <= kSlotCountMax;
}

bool lock(int file, int kind) { return ::flock(file, kind | LOCK_NB) == 0; }

/// False: the file was removed, and its name may belong to another by now.
bool has_name(const UniqueFd& file) {
  struct stat about {};
  return ::fstat(file.get(), &about) == 0 && about.st_nlink != 0;
}

/// True when the file belongs to a user without rights here.
bool is_foreign(const UniqueFd& file, unsigned uid) {
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return true;
  return about.st_uid != 0 && about.st_uid != uid && about.st_uid != ::geteuid();
}

/// Makes a new file of that name, ours and locked. Removes first the file of a dead watcher, or one
/// of a foreign user, if it may. Empty: a living watcher has the name.
UniqueFd claim(const std::string& name, unsigned uid) {
  for (;;) {
    UniqueFd file(::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    if (file) {
      if (lock(file.get(), LOCK_EX) && has_name(file)) return file;
      continue;  // a clean-up had it for a moment, and removes it
    }
    if (errno != EEXIST) throw system_error("create /dev/shm" + name, errno);
    const UniqueFd old(::shm_open(name.c_str(), O_RDWR, 0));
    if (!old && errno == ENOENT) continue;
    if (!old || (!is_foreign(old, uid) && !lock(old.get(), LOCK_EX))) return UniqueFd();
    if (has_name(old) && ::shm_unlink(name.c_str()) != 0 && errno != ENOENT) return UniqueFd();
  }
}

void fill_header(WatchHeader& header, const WatchWish& wish) {
  header.actor_count = static_cast<std::uint32_t>(wish.actors.size());
  header.filter_count = static_cast<std::uint32_t>(wish.filter.size());
  header.ring_bytes = wish.ring_bytes;
  header.snap_length = wish.snap_length;
  header.dropped = wish.dropped;
  header.trace_count = wish.trace_count;
  header.slot_count = wish.slot_count;
  std::ranges::copy(wish.port_in, header.port_in);
  std::ranges::copy(wish.port_out, header.port_out);
  std::ranges::copy(wish.link, header.link);
  std::ranges::fill(header.ring_of, kNoRing);
  for (std::size_t actor = 0; actor < wish.actors.size(); ++actor) {
    if (wish.actors[actor]) header.ring_of[actor] = static_cast<std::uint8_t>(header.ring_count++);
  }
}

}  // namespace

std::string watch_name(const std::string& topology, std::uint32_t number) {
  return "/millrace-" + topology + ".watch." + std::to_string(number);
}

WatchFile WatchFile::create(const std::string& topology, const WatchWish& wish, unsigned uid) {
  UniqueFd file;
  std::string name;
  for (std::uint32_t number = 0; number < kWatchCountMax && !file; ++number) {
    name = watch_name(topology, number);
    file = claim(name, uid);
  }
  if (!file) {
    throw Error("topology '" + topology + "' is watched by " + std::to_string(kWatchCountMax) +
                " captures or traces already; end one of them");
  }
  const auto rings = static_cast<std::uint64_t>(std::ranges::count(wish.actors, true));
  const WatchLayout at = layout_of(wish.filter.size(), wish.slot_count, rings, wish.ring_bytes);
  // Allocate all of it now: a shortage is an Error here, and never a SIGBUS in an actor.
  const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(at.bytes));
  if (error != 0 || (::geteuid() != uid && ::fchown(file.get(), uid, gid_t(-1)) != 0)) {
    const int why = error != 0 ? error : errno;
    ::shm_unlink(name.c_str());
    throw system_error("make /dev/shm" + name + " of " + std::to_string(at.bytes) + " bytes", why);
  }
  Mapping mapping = Mapping::of_file(file.get(), at.bytes, "/dev/shm" + name);
  auto& header = *reinterpret_cast<WatchHeader*>(mapping.base());
  fill_header(header, wish);
  std::ranges::copy(wish.filter, reinterpret_cast<std::uint64_t*>(mapping.base() + at.filter));
  header.magic.store(kWatchMagic, std::memory_order_release);
  return {std::move(file), std::move(mapping), at, std::move(name)};
}

std::optional<WatchFile> WatchFile::attach(const std::string& topology, std::uint32_t number,
                                           std::uint32_t actor_count) {
  const std::string name = watch_name(topology, number);
  UniqueFd file(::shm_open(name.c_str(), O_RDWR | O_NOFOLLOW, 0));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) return std::nullopt;
  // Any user may make a file of this name: packets go only to our own user.
  if (info.st_uid != ::geteuid() || (info.st_mode & 0177) != 0) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes < sizeof(WatchHeader)) return std::nullopt;
  Mapping mapping = Mapping::of_file(file.get(), bytes, "/dev/shm" + name);
  const auto& header = *reinterpret_cast<const WatchHeader*>(mapping.base());
  if (header.magic.load(std::memory_order_acquire) != kWatchMagic) return std::nullopt;
  const WatchLayout at = layout_of(header);
  if (!is_sound(header, actor_count) || at.bytes != bytes) return std::nullopt;
  WatchFile watch(std::move(file), std::move(mapping), at, "");
  if (!watch.watched()) return std::nullopt;
  if (header.filter_count != 0 && !is_sound_filter(watch.filter())) return std::nullopt;
  return watch;
}

WatchFile::WatchFile(WatchFile&& other) noexcept
    : file_(std::move(other.file_)),
      mapping_(std::move(other.mapping_)),
      at_(other.at_),
      owned_name_(std::exchange(other.owned_name_, {})) {}

WatchFile::~WatchFile() {
  if (!owned_name_.empty()) ::shm_unlink(owned_name_.c_str());
}

void WatchFile::begin_to_follow() noexcept {
  reinterpret_cast<WatchHeader*>(mapping_.base())->following.store(1, std::memory_order_release);
}

bool WatchFile::watched() const noexcept {
  if (!lock(file_.get(), LOCK_SH)) return true;
  ::flock(file_.get(), LOCK_UN);
  return false;
}

std::span<const std::uint64_t> WatchFile::filter() const {
  return {reinterpret_cast<const std::uint64_t*>(mapping_.base() + at_.filter),
          header().filter_count};
}

WatchRing& WatchFile::ring(std::uint32_t number) const {
  return reinterpret_cast<WatchRing*>(mapping_.base() + at_.rings)[number];
}

TraceMark& WatchFile::mark(std::uint32_t slot) const {
  return reinterpret_cast<TraceMark*>(mapping_.base() + at_.marks)[slot];
}

std::byte* WatchFile::ring_base(std::uint32_t number) const {
  return mapping_.base() + at_.ring_bytes_first + number * header().ring_bytes;
}

void remove_watches(const std::string& topology, bool all) noexcept {
  for (std::uint32_t number = 0; number < kWatchCountMax; ++number) {
    const std::string name = watch_name(topology, number);
    const UniqueFd file(::shm_open(name.c_str(), O_RDWR, 0));
    if (file && (all || lock(file.get(), LOCK_EX))) ::shm_unlink(name.c_str());
  }
}

}  // namespace millrace
