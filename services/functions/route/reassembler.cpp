// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/reassembler.hpp"

#include <algorithm>

namespace millrace {

Reassembler::Datagram& Reassembler::place_of(const FragmentKey& key,
                                             std::uint64_t now_ns) noexcept {
  Datagram* place = datagrams_.data();
  for (Datagram& datagram : datagrams_) {
    if (datagram.used && now_ns - datagram.since_ns >= kTimeNs) datagram.used = false;
    if (datagram.used && datagram.key == key) return datagram;
    const bool better = datagram.used ? datagram.since_ns < place->since_ns : true;
    if (place->used && better) place = &datagram;
  }
  place->key = key;
  place->used = true;
  place->refused = false;
  place->since_ns = now_ns;
  place->end = place->reach = place->front_bytes = 0;
  place->units.reset();
  return *place;
}

bool Reassembler::contradicts(const Datagram& datagram, const Fragment& fragment) noexcept {
  const std::size_t bytes = fragment.data.size(), end = fragment.at + bytes;
  if (bytes == 0 || fragment.at % kUnitBytes != 0 || end > kDataBytesMax) return true;
  const bool knows_end = datagram.end != 0;
  if (fragment.more) return bytes % kUnitBytes != 0 || (knows_end && end >= datagram.end);
  return datagram.reach > end || (knows_end && end != datagram.end);
}

/// `same`: all of it is there already.
bool Reassembler::overlaps(const Datagram& datagram, const Fragment& fragment,
                           bool& same) noexcept {
  const std::size_t end = fragment.at + fragment.data.size();
  bool any = false, all = true;
  for (std::size_t at = fragment.at; at < end; at += kUnitBytes) {
    const bool has = datagram.units[at / kUnitBytes];
    any = any || has;
    all = all && has;
  }
  same = all && end <= datagram.reach && (fragment.more || datagram.end == end) &&
         std::equal(fragment.data.begin(), fragment.data.end(),
                    datagram.bytes.data() + kFrontBytesMax + fragment.at);
  return any;
}

void Reassembler::take(Datagram& datagram, const Fragment& fragment) noexcept {
  const std::size_t end = fragment.at + fragment.data.size();
  for (std::size_t at = fragment.at; at < end; at += kUnitBytes) {
    datagram.units.set(at / kUnitBytes);
  }
  std::ranges::copy(fragment.data, datagram.bytes.data() + kFrontBytesMax + fragment.at);
  datagram.reach = std::max(datagram.reach, end);
  if (!fragment.more) datagram.end = end;
  if (fragment.at != 0) return;
  datagram.front_bytes = std::min(fragment.front.size(), kFrontBytesMax);
  std::ranges::copy(fragment.front.first(datagram.front_bytes),
                    datagram.bytes.data() + kFrontBytesMax - datagram.front_bytes);
}

Reassembler::Outcome Reassembler::add(const Fragment& fragment, std::uint64_t now_ns) noexcept {
  Datagram& datagram = place_of(fragment.key, now_ns);
  bool same = false;
  if (!datagram.refused && !contradicts(datagram, fragment)) {
    if (!overlaps(datagram, fragment, same)) {
      take(datagram, fragment);
      same = true;
    }
  }
  if (!same) {
    datagram.refused = true;
    return Outcome::kRefused;
  }
  const std::size_t units = (datagram.end + kUnitBytes - 1) / kUnitBytes;
  if (datagram.end == 0 || datagram.units.count() != units) return Outcome::kWaits;
  datagram.used = false;
  whole_ = std::span(datagram.bytes)
               .subspan(kFrontBytesMax - datagram.front_bytes, datagram.front_bytes + datagram.end);
  return Outcome::kWhole;
}

}  // namespace millrace
