// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Fragments through FragmentTable: two versions of a datagram, cut and repeated in any order, while
// time passes and workers die. Whichever version of a byte a host takes, it builds no datagram with
// the word that is dropped. And any bytes as a frame: what they carry lies within them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/ids/packets/carried_packet.hpp"
#include "services/functions/ids/packets/fragment_table.hpp"
#include "shared/base/check.hpp"
#include "shared/packet/ip_header_checksum.hpp"
#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"
#include "tests/unit/services/functions/ids/packets/fragment_receiver.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

constexpr FragmentTable::Shape kShape{.datagrams = 6, .blocks = 12};
constexpr std::uint32_t kUndoLines = FragmentTable::kLinesOfAdd + FragmentTable::kLinesOfSettle;
constexpr std::size_t kOpBytes = 4, kTextBytes = 2400;
constexpr char kWord[] = "abcab";

/// The word is all over it, or cannot be in it: no letter follows the one before it.
std::string version_text(bool has_word) {
  constexpr std::size_t kStepMost = 7;
  std::string text(kTextBytes, 'a');
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>('a' + (i * (has_word ? 1 : 2) + i / kStepMost) % 3);
  }
  return text;
}

class World {
 public:
  explicit World(bool is_ipv6)
      : versions_{udp_frame(version_text(false), is_ipv6), udp_frame(version_text(true), is_ipv6)} {
  }

  /// `bits`: version, whether it is the last, and dies; and the identification.
  void send(std::uint8_t bits, std::uint8_t at, std::uint8_t units) {
    const std::size_t begin = at * std::size_t{8}, end = data_bytes_of(versions_[0]);
    if (begin >= end) return;
    const Frame frame = cut_of(
        versions_[bits & 1],
        {begin, std::min(begin + (units + std::size_t{1}) * 8, end), (bits & 2) == 0}, bits >> 4);
    const auto fragment = ip_fragment(frame, parse_headers(frame), 0);
    if (!fragment) return;
    lane_.state.undo.begin(0, ++batch_);
    const bool passes = judge(*fragment);
    if ((bits & 12) == 12) {  // the worker dies with its batch, and the fragment is lost
      MILLRACE_CHECK(lane_.state.undo.undo(0, batch_) == LaneUndoLog::Undone::kAll);
    } else if (passes) {
      for (FragmentReceiver* receiver : {&first_, &last_}) {
        const auto text = receiver->receive(*fragment, now_s_);
        MILLRACE_CHECK(!text || text->find(kWord) == std::string::npos);
      }
    }
  }
  void wait(std::uint8_t seconds) { now_s_ += seconds; }
  void check_room() {
    MILLRACE_CHECK(table().blocks() <= kShape.blocks);
    MILLRACE_CHECK(table().datagrams() <= kShape.datagrams);
  }

 private:
  FragmentTable table() { return {lane_.state, 0, kShape, {1, 2}}; }
  bool judge(const IpFragment& fragment) {
    FragmentTable fragments = table();
    const auto outcome = fragments.add(fragment, {.now_s = now_s_});
    if (outcome != FragmentTable::Outcome::kWhole) {
      return outcome == FragmentTable::Outcome::kWaits;
    }
    const bool is_made = fragments.write_whole(fragment, whole_);
    const std::string text(reinterpret_cast<const char*>(whole_.data()), whole_.size());
    const bool passes = is_made && text.find(kWord) == std::string::npos;
    fragments.settle(fragment.key, passes);
    return passes;
  }

  std::array<Frame, 2> versions_;
  LaneMemory lane_{{.state_bytes = FragmentTable::bytes_for(kShape), .undo_lines = kUndoLines}};
  FragmentReceiver first_{false}, last_{true};
  std::vector<std::byte> whole_;
  std::uint64_t batch_ = 0;
  std::uint32_t now_s_ = 1;
};

void check_fragments(std::span<const std::uint8_t> rest, bool is_ipv6) {
  World world(is_ipv6);
  for (; rest.size() >= kOpBytes; rest = rest.subspan(kOpBytes)) {
    world.wait(rest[3]);
    world.send(rest[0], rest[1], rest[2]);
    world.check_room();
  }
}

void check_frame(std::span<const std::byte> frame) {
  constexpr int kStepsMax = 20;
  PacketHeaders headers = parse_headers(frame);
  for (int step = 0; step < kStepsMax; ++step) {
    if (headers.fragment) {
      if (const auto fragment = ip_fragment(frame, headers, 1)) {
        MILLRACE_CHECK(fragment->data.data() + fragment->data.size() <=
                       frame.data() + frame.size());
        std::vector<std::byte> whole;
        append_datagram_headers(fragment->front, fragment->data.size(), whole);
      }
      has_good_ip_checksum(frame, headers);
      return;
    }
    const auto carried = carried_packet(frame, headers);
    if (!carried) return;
    MILLRACE_CHECK(carried->frame.data() >= frame.data());
    MILLRACE_CHECK(carried->frame.data() + carried->frame.size() <= frame.data() + frame.size());
    MILLRACE_CHECK(carried->headers.payload_end <= carried->frame.size());
    frame = carried->frame;
    headers = carried->headers;
  }
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  if (data[0] < 128) {
    millrace::check_frame(std::as_bytes(rest));
  } else {
    millrace::check_fragments(rest, (data[0] & 1) != 0);
  }
  return 0;
}
