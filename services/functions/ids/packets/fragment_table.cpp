// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/fragment_table.hpp"

#include <algorithm>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_wire.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kBlockBytes = 1024, kUnitBytes = 8, kSources = 256;
/// Of units in use, and of fragments that were seen.
constexpr std::uint32_t kSourcesBytes = 2 * kSources * sizeof(std::uint32_t);
constexpr std::size_t kFrontOfIpv4 = ipv4_wire::kHeaderBytesMin,
                      kFrontOfIpv6 = ipv6_wire::kHeaderBytes + ipv6_wire::kFragmentBytes;
/// Datagrams that are given up for their age with one fragment.
constexpr int kExpiriesMax = 2;

}  // namespace

struct FragmentTable::Head {
  std::uint32_t blocks;  ///< in use
  std::uint32_t fresh;   ///< numbers from this on have never been used
  std::uint32_t free;    ///< they hang by `next`
  std::uint32_t padding[13];
};

/// Bytes that follow each other. Those of a datagram hang together in the order of their bytes.
struct FragmentTable::Block {
  std::uint32_t at;  ///< of the first byte in the datagram's data
  std::uint32_t next;
  std::uint32_t bytes;
  std::uint32_t padding;
  std::byte data[kBlockBytes - 16];

  std::uint32_t end() const noexcept { return at + bytes; }
};

/// AgedEntry::own.
struct FragmentTable::Datagram {
  std::uint32_t first, last, blocks;
  std::uint32_t front;   ///< block with the front of the first fragment; 0: that has not passed
  std::uint32_t end;     ///< of its data; 0: the last fragment has not passed
  std::uint32_t bytes;   ///< that have passed
  std::uint32_t source;  ///< place of the source's count
  std::uint8_t is_refused;
  std::uint8_t ttl;
  std::uint8_t is_doubtful;  ///< its receiver may have less of it than has passed
  std::uint8_t padding;
  std::uint32_t begun_s;
  std::uint32_t flow;  ///< Options::flow of the first fragment
  std::uint32_t seen;  ///< fragments of the source, with the last one of it
  std::uint8_t more[20];
};

/// Where a fragment fits in.
struct FragmentTable::Place {
  std::uint32_t before = 0;  ///< the last block in front of it; 0: none
  bool overlaps = false;
  bool is_same = false;  ///< all of it is there, with the same bytes
};

std::uint64_t FragmentTable::bytes_for(const Shape& shape) noexcept {
  return AgedTable::bytes_for(shape.datagrams) + sizeof(Head) + kSourcesBytes +
         std::uint64_t{shape.blocks} * sizeof(Block);
}

FragmentTable::FragmentTable(const LaneState& state, std::uint64_t at, const Shape& shape,
                             const std::array<std::uint64_t, 2>& secret) noexcept
    : state_(state),
      at_(at + AgedTable::bytes_for(shape.datagrams)),
      shape_(shape),
      table_(state, at, shape.datagrams, secret) {
  static_assert(sizeof(Head) == kCacheLine && sizeof(Block) == kBlockBytes);
  static_assert(sizeof(Datagram) == kCacheLine && alignof(Datagram) <= alignof(AgedEntry));
  MILLRACE_CHECK(shape.blocks >= 1 && state.bytes.size() >= at + bytes_for(shape));
}

FragmentTable::Datagram& FragmentTable::datagram_of(AgedEntry& entry) noexcept {
  return *reinterpret_cast<Datagram*>(&entry.own);
}

FragmentTable::Head& FragmentTable::head() const noexcept {
  return *reinterpret_cast<Head*>(state_.bytes.data() + at_);
}

FragmentTable::Block& FragmentTable::block(std::uint32_t reference) const noexcept {
  MILLRACE_CHECK(reference >= 1 && reference <= shape_.blocks);
  std::byte* const blocks = state_.bytes.data() + at_ + sizeof(Head) + kSourcesBytes;
  return reinterpret_cast<Block*>(blocks)[reference - 1];
}

/// Its data behind `bytes` are free to be written without.
FragmentTable::Block& FragmentTable::change_block(std::uint32_t reference) noexcept {
  Block& changed = block(reference);
  state_.change(state_.offset_of(&changed), offsetof(Block, data));
  return changed;
}

std::uint32_t FragmentTable::blocks() const noexcept { return head().blocks; }

std::uint32_t& FragmentTable::units_of(const Datagram& datagram) const noexcept {
  std::byte* const counts = state_.bytes.data() + at_ + sizeof(Head);
  return reinterpret_cast<std::uint32_t*>(counts)[datagram.source % kSources];
}

/// Fragments of its source so far.
std::uint32_t& FragmentTable::seen_of(const Datagram& datagram) const noexcept {
  return *(&units_of(datagram) + kSources);
}

void FragmentTable::count_units(const Datagram& datagram, std::int64_t more) noexcept {
  std::uint32_t& units = state_.change(units_of(datagram));
  units = static_cast<std::uint32_t>(units + more);
}

/// Datagrams and blocks of one source.
std::uint32_t FragmentTable::units_max() const noexcept {
  return std::max(shape_.blocks / 4, std::min(shape_.blocks, kBlocksMax + 1));
}

AgedEntry* FragmentTable::begin(const IpFragment& fragment, std::uint32_t now_s) noexcept {
  const auto source = static_cast<std::uint32_t>(
      table_.hash(std::as_bytes(std::span(fragment.key.source))) % kSources);
  Datagram begun{};
  begun.source = source;
  begun.ttl = fragment.ttl;
  begun.begun_s = now_s;
  begun.seen = seen_of(begun);
  if (units_of(begun) >= units_max()) return nullptr;
  AgedEntry* const entry = table_.begin(fragment.key, now_s);
  if (entry == nullptr) return nullptr;
  datagram_of(*entry) = begun;
  count_units(begun, 1);
  return entry;
}

/// Gives its blocks back.
void FragmentTable::release(Datagram& datagram) noexcept {
  const auto give_back = [&](std::uint32_t first, std::uint32_t last, std::uint32_t count) {
    if (first == 0) return;
    Head& head = state_.change(this->head());
    change_block(last).next = head.free;
    head.free = first;
    head.blocks -= count;
    count_units(datagram, -std::int64_t{count});
  };
  give_back(datagram.first, datagram.last, datagram.blocks);
  give_back(datagram.front, datagram.front, 1);
  datagram.first = datagram.last = datagram.blocks = datagram.front = 0;
}

void FragmentTable::end(AgedEntry& entry) noexcept {
  table_.change_own(entry);
  release(datagram_of(entry));
  count_units(datagram_of(entry), -1);
  table_.end(entry);
}

void FragmentTable::refuse(AgedEntry& entry) noexcept {
  table_.change_own(entry);
  release(datagram_of(entry));
  datagram_of(entry).is_refused = 1;
}

void FragmentTable::expire(std::uint32_t now_s) noexcept {
  for (int i = 0; i < kExpiriesMax; ++i) {
    AgedEntry* const oldest = table_.oldest();
    if (oldest == nullptr || now_s - oldest->seen_s < kTimeoutS) return;
    end(*oldest);
  }
}

bool FragmentTable::contradicts(const Datagram& datagram, const IpFragment& fragment,
                                const Options& options) const noexcept {
  const std::uint32_t end = fragment.end();
  if (fragment.data.empty() || end > kDatagramBytesMax) return true;
  if (fragment.front.size() > sizeof(Block::data)) return true;
  if (options.is_strict && datagram.ttl != fragment.ttl) return true;
  if (options.is_strict && options.now_s - datagram.begun_s > kWholeS) return true;
  const bool knows_flows = options.flow != 0 && datagram.flow != 0;
  if (knows_flows && options.flow != datagram.flow) return true;
  if (fragment.more) {
    return fragment.data.size() % kUnitBytes != 0 || (datagram.end != 0 && end >= datagram.end);
  }
  const std::uint32_t reach = datagram.last == 0 ? 0 : block(datagram.last).end();
  return reach > end || (datagram.end != 0 && end != datagram.end);
}

FragmentTable::Place FragmentTable::place_of(const Datagram& datagram,
                                             const IpFragment& fragment) const noexcept {
  Place place;
  std::uint32_t at = datagram.first;
  if (datagram.last != 0 && block(datagram.last).end() <= fragment.at) {
    return {.before = datagram.last};
  }
  while (at != 0 && block(at).end() <= fragment.at) {
    place.before = at;
    at = block(at).next;
  }
  std::uint32_t covered = fragment.at;  // [fragment.at, covered) is there, and the same
  for (; at != 0 && block(at).at < fragment.end(); at = block(at).next) {
    const Block& there = block(at);
    place.overlaps = true;
    if (there.at > covered) return place;
    const std::uint32_t until = std::min(there.end(), fragment.end());
    if (std::memcmp(there.data + (covered - there.at),
                    fragment.data.data() + (covered - fragment.at), until - covered) != 0) {
      return place;
    }
    covered = until;
  }
  place.is_same = covered == fragment.end() && (fragment.more || datagram.end == covered);
  return place;
}

/// A first fragment comes once more: with other headers the datagram would be another one.
bool FragmentTable::has_same_front(const Datagram& datagram,
                                   const IpFragment& fragment) const noexcept {
  if (fragment.at != 0) return true;
  const Block& front = block(datagram.front);
  return std::ranges::equal(std::span(front.data).first(front.bytes), fragment.front);
}

/// For the blocks that store() takes.
bool FragmentTable::has_room(const Datagram& datagram, const IpFragment& fragment,
                             std::uint32_t before) const noexcept {
  std::size_t bytes = fragment.data.size();
  if (before != 0 && block(before).end() == fragment.at) {
    bytes -= std::min<std::size_t>(bytes, sizeof(Block::data) - block(before).bytes);
  }
  const auto needed = static_cast<std::uint32_t>(
      (bytes + sizeof(Block::data) - 1) / sizeof(Block::data) + (fragment.at == 0 ? 1 : 0));
  return needed <= shape_.blocks - head().blocks && datagram.blocks + needed <= kBlocksMax &&
         units_of(datagram) + needed <= units_max();
}

std::uint32_t FragmentTable::take_block(Datagram& datagram) noexcept {
  Head& head = state_.change(this->head());
  ++head.blocks;
  const bool is_fresh = head.free == 0;
  const std::uint32_t reference = is_fresh ? ++head.fresh : head.free;
  Block& taken = change_block(reference);
  if (!is_fresh) head.free = taken.next;
  taken.next = taken.bytes = taken.at = 0;
  count_units(datagram, 1);
  return reference;
}

void FragmentTable::store(Datagram& datagram, const IpFragment& fragment,
                          std::uint32_t before) noexcept {
  if (fragment.at == 0) {
    datagram.front = take_block(datagram);
    Block& front = block(datagram.front);
    std::ranges::copy(fragment.front, front.data);
    front.bytes = static_cast<std::uint32_t>(fragment.front.size());
  }
  std::span<const std::byte> rest = fragment.data;
  for (std::uint32_t at = fragment.at; !rest.empty();) {
    const bool goes_on =
        before != 0 && block(before).end() == at && block(before).bytes < sizeof(Block::data);
    if (!goes_on) {
      const std::uint32_t taken = take_block(datagram);
      std::uint32_t& word = before == 0 ? datagram.first : change_block(before).next;
      block(taken).next = word;
      block(taken).at = at;
      word = taken;
      if (block(taken).next == 0) datagram.last = taken;
      ++datagram.blocks;
      before = taken;
    }
    Block& into = change_block(before);
    const std::size_t count = std::min(rest.size(), sizeof(Block::data) - into.bytes);
    std::memcpy(into.data + into.bytes, rest.data(), count);
    into.bytes += static_cast<std::uint32_t>(count);
    at += static_cast<std::uint32_t>(count);
    rest = rest.subspan(count);
  }
  datagram.bytes += static_cast<std::uint32_t>(fragment.data.size());
  if (!fragment.more) datagram.end = fragment.end();
}

/// With the fragment, which overlaps nothing.
bool FragmentTable::is_whole(const Datagram& datagram, const IpFragment& fragment) noexcept {
  const std::uint32_t end = fragment.more ? datagram.end : fragment.end();
  return end != 0 && datagram.bytes + fragment.data.size() == end;
}

/// What says that its receiver may not have kept all of it.
void FragmentTable::note(AgedEntry& entry, const IpFragment& fragment,
                         const Options& options) noexcept {
  table_.change_own(entry);
  Datagram& datagram = datagram_of(entry);
  const std::uint32_t seen = ++state_.change(seen_of(datagram));
  const std::size_t plain = fragment.key.version == 4 ? kFrontOfIpv4 : kFrontOfIpv6;
  const bool is_doubtful = seen - datagram.seen > kFarApart || fragment.front.size() > plain;
  if (options.is_strict && is_doubtful) datagram.is_doubtful = 1;
  datagram.seen = seen;
  if (fragment.at == 0 && datagram.front == 0) datagram.flow = options.flow;
}

FragmentTable::Outcome FragmentTable::add(const IpFragment& fragment,
                                          const Options& options) noexcept {
  expire(options.now_s);
  AgedEntry* entry = table_.find(fragment.key);
  if (entry == nullptr) entry = begin(fragment, options.now_s);
  if (entry == nullptr) return Outcome::kFull;
  Datagram& datagram = datagram_of(*entry);
  if (datagram.is_refused != 0) return Outcome::kRefused;
  note(*entry, fragment, options);
  const Place place = contradicts(datagram, fragment, options) ? Place{.overlaps = true}
                                                               : place_of(datagram, fragment);
  if (place.overlaps && !(place.is_same && has_same_front(datagram, fragment))) {
    refuse(*entry);
    return Outcome::kRefused;
  }
  if (place.overlaps) {
    table_.see(*entry, options.now_s);
    return Outcome::kWaits;
  }
  if (is_whole(datagram, fragment)) return Outcome::kWhole;
  if (!has_room(datagram, fragment, place.before)) {
    if (datagram.bytes == 0) end(*entry);
    return Outcome::kFull;
  }
  table_.change_own(*entry);
  store(datagram, fragment, place.before);
  table_.see(*entry, options.now_s);
  return Outcome::kWaits;
}

bool FragmentTable::write_whole(const IpFragment& fragment,
                                std::vector<std::byte>& whole) const noexcept {
  AgedEntry* const entry = table_.find(fragment.key);
  MILLRACE_CHECK(entry != nullptr);
  const Datagram& datagram = datagram_of(*entry);
  whole.clear();
  std::span<const std::byte> front = fragment.front;
  if (fragment.at != 0) {
    const Block& first = block(datagram.front);
    front = std::span(first.data).first(first.bytes);
  }
  if (!append_datagram_headers(front, datagram.bytes + fragment.data.size(), whole)) return false;
  std::uint32_t at = datagram.first;
  const auto put = [&](std::span<const std::byte> bytes) {
    whole.insert(whole.end(), bytes.begin(), bytes.end());
  };
  const auto put_blocks = [&](std::uint32_t end) {
    for (; at != 0 && block(at).at < end; at = block(at).next) {
      put(std::span(block(at).data).first(block(at).bytes));
    }
  };
  put_blocks(fragment.at);
  put(fragment.data);
  put_blocks(UINT32_MAX);
  return true;
}

void FragmentTable::settle(const FlowTuple& key, bool passes) noexcept {
  AgedEntry* const entry = table_.find(key);
  if (entry == nullptr) return;
  if (passes && datagram_of(*entry).is_doubtful == 0) return end(*entry);
  refuse(*entry);
}

}  // namespace millrace
