// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/fragment_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "tests/unit/services/functions/ids/packets/fragment_frames.hpp"
#include "tests/unit/services/functions/ids/packets/fragment_receiver.hpp"
#include "tests/unit/services/functions/lane_memory.hpp"

namespace millrace {
namespace {

using Outcome = FragmentTable::Outcome;
constexpr FragmentTable::Shape kShape{.datagrams = 100, .blocks = 256};
constexpr char kWord[] = "abcab";

class FragmentTableTest : public testing::Test {
 protected:
  FragmentTable table() { return {lane_.state, 0, kShape, {1, 2}}; }
  /// As `ids` does: a datagram with the word does not pass.
  bool passes(const Frame& frame) {
    const auto fragment = ip_fragment(frame, parse_headers(frame), 0);
    if (!fragment) return false;
    FragmentTable fragments = table();
    last_ = fragments.add(*fragment, {.now_s = now_s_});
    if (last_ == Outcome::kWaits) return true;
    if (last_ != Outcome::kWhole) return false;
    EXPECT_TRUE(fragments.write_whole(*fragment, whole_));
    const bool is_clean = text().find(kWord) == std::string::npos;
    fragments.settle(fragment->key, is_clean);
    return is_clean;
  }
  std::string text() const {
    const PacketHeaders headers = parse_ip_headers(whole_);
    const std::size_t at = headers.ip_version == 4 ? 20 : 40;
    return {reinterpret_cast<const char*>(whole_.data()) + at, whole_.size() - at};
  }
  std::string text_behind_udp() const { return text().substr(8); }
  Outcome outcome(const Frame& frame) {
    passes(frame);
    return last_;
  }

  LaneMemory lane_{{.state_bytes = FragmentTable::bytes_for(kShape), .undo_lines = 5000}};
  std::vector<std::byte> whole_;
  std::uint32_t now_s_ = 1;
  Outcome last_ = Outcome::kWaits;
};

/// Two versions of a datagram, of which pieces come in any order, overlapping, more than once.
struct Forger {
  std::mt19937& random;
  bool is_ipv6;

  std::vector<Frame> frames(std::uint16_t id) {
    std::vector<Frame> made;
    const std::size_t bytes = 8 + random() % 60;
    const std::array<Frame, 2> versions{udp_frame(random_text(random, bytes), is_ipv6),
                                        udp_frame(random_text(random, bytes), is_ipv6)};
    const std::size_t end = data_bytes_of(versions[0]);
    const bool is_fair = random() % 2 == 0;
    for (int i = 0; i < 24; ++i) {
      const std::size_t at = random() % (end / 8 + 1) * 8;
      const std::size_t until = is_fair ? at + 8 : at + 8 * (1 + random() % 4);
      if (at >= end) continue;
      const bool more = until < end;
      const Frame& version = versions[is_fair ? 0 : random() % 2];
      made.push_back(cut_of(version, {at, std::min(until, end), more}, id));
      if (random() % 4 == 0) made.push_back(made[random() % made.size()]);
    }
    return made;
  }
};

TEST_F(FragmentTableTest, NoReceiverBuildsADatagramThatWasDropped) {
  std::mt19937 random(17);
  int delivered = 0, dropped = 0;
  for (int round = 0; round < 6000; ++round) {
    now_s_ += 40;
    FragmentReceiver first(false), last(true);
    Forger forger{random, random() % 2 == 0};
    std::vector<Frame> frames = forger.frames(1);
    for (Frame& frame : forger.frames(2)) frames.push_back(std::move(frame));
    std::ranges::shuffle(frames, random);
    for (const Frame& frame : frames) {
      if (!passes(frame)) {
        dropped += last_ == Outcome::kWhole ? 1 : 0;
        continue;
      }
      const auto fragment = ip_fragment(frame, parse_headers(frame), 0);
      for (FragmentReceiver* receiver : {&first, &last}) {
        const auto text = receiver->receive(*fragment, now_s_);
        if (!text) continue;
        ++delivered;
        ASSERT_EQ(text->find(kWord), std::string::npos) << round;
      }
    }
    if (round % 4 == 0) now_s_ += 2 * FragmentTable::kTimeoutS;
  }
  EXPECT_GT(delivered, 500);
  EXPECT_GT(dropped, 100);
}

TEST_F(FragmentTableTest, CleanDatagramsComeWholeInAnyOrder) {
  std::mt19937 random(18);
  for (std::uint16_t round = 1; round < 1000; ++round) {
    now_s_ += 1;
    const std::string text = "ab" + std::string(random() % 6000, 'x');
    const Frame frame = udp_frame(text, random() % 2 == 0);
    std::vector<Frame> frames = fragments_of(frame, 8 * (10 + random() % 170), round);
    if (frames.size() < 2) continue;
    const std::size_t count = frames.size();
    for (std::size_t i = 0; i < count / 3; ++i) frames.push_back(frames[random() % count]);
    std::ranges::shuffle(frames, random);
    std::set<Frame> came;
    for (const Frame& one : frames) {
      ASSERT_TRUE(passes(one)) << round;
      came.insert(one);
      ASSERT_EQ(last_ == Outcome::kWhole, came.size() == count);
      if (came.size() == count) break;
    }
    EXPECT_EQ(text_behind_udp(), text);
    ASSERT_EQ(table().blocks(), 0u);
    ASSERT_EQ(table().datagrams(), 0u);
  }
}

TEST_F(FragmentTableTest, ABatchIsTakenBack) {
  std::mt19937 random(19);
  for (std::uint32_t batch = 1; batch < 3000; ++batch) {
    lane_.state.undo.begin(0, batch);
    // Data of blocks that are not in use may be written without: compare what can be seen.
    const std::uint32_t blocks = table().blocks(), datagrams = table().datagrams();
    Forger forger{random, false};
    const auto frames = forger.frames(static_cast<std::uint16_t>(1 + random() % 60));
    for (std::size_t i = 0; i < 3 && i < frames.size(); ++i) passes(frames[i]);
    now_s_ += random() % 8;
    if (random() % 3 != 0) continue;
    ASSERT_EQ(lane_.state.undo.undo(0, batch), LaneUndoLog::Undone::kAll);
    ASSERT_EQ(table().blocks(), blocks);
    ASSERT_EQ(table().datagrams(), datagrams);
  }
}

TEST_F(FragmentTableTest, AKilledWorkersFragmentsComeAgain) {
  const auto frames = fragments_of(udp_frame("xxxxxxxxxxxabcabxxxxxxxx"), 16);
  lane_.state.undo.begin(0, 1);
  EXPECT_TRUE(passes(frames[0]));
  lane_.state.undo.begin(0, 2);
  EXPECT_FALSE(passes(frames[1]));
  EXPECT_EQ(last_, Outcome::kWhole);
  lane_.state.undo.undo(0, 2);
  EXPECT_FALSE(passes(frames[1]));
  EXPECT_EQ(last_, Outcome::kWhole);
  EXPECT_EQ(outcome(frames[1]), Outcome::kRefused);
  EXPECT_EQ(outcome(frames[0]), Outcome::kRefused);
}

TEST_F(FragmentTableTest, WhatContradictsRefusesItsDatagram) {
  const Frame frame = udp_frame("0123456789abcdefghijklmnopqrstuvw");
  const std::vector<Frame> good = fragments_of(frame, 16);
  const auto refused = [&](Frame bad) {
    now_s_ += FragmentTable::kTimeoutS;
    EXPECT_EQ(outcome(good[0]), Outcome::kWaits);
    EXPECT_EQ(outcome(bad), Outcome::kRefused);
    EXPECT_EQ(outcome(good[1]), Outcome::kRefused);
    EXPECT_EQ(outcome(good[2]), Outcome::kRefused);
  };
  refused(cut_of(frame, {8, 24, true}, 7));
  refused(cut_of(frame, {0, 8, false}, 7));  // an end within what has come
  refused(cut_of(frame, {16, 28, true}, 7));
  refused(cut_of(frame, {16, 16, true}, 7));
  Frame other_ttl = good[1];
  other_ttl[kIpAt + 8] = std::byte{9};
  refused(other_ttl);
  Frame other_header = good[0];
  other_header[kIpAt + 1] = std::byte{4};
  refused(other_header);
}

TEST_F(FragmentTableTest, ADatagramIsForgottenInTime) {
  const auto frames = fragments_of(udp_frame("0123456789abcdefghijklmnopqrstuvw"), 16);
  EXPECT_EQ(outcome(frames[0]), Outcome::kWaits);
  now_s_ += FragmentTable::kWholeS;
  EXPECT_EQ(outcome(frames[0]), Outcome::kWaits);
  now_s_ += FragmentTable::kTimeoutS - 1;
  EXPECT_EQ(outcome(frames[1]), Outcome::kRefused);  // too late: its receiver has forgotten
  now_s_ += 1;
  now_s_ += FragmentTable::kTimeoutS;
  EXPECT_EQ(outcome(frames[2]), Outcome::kWaits);
  EXPECT_EQ(table().datagrams(), 1u);
}

/// What a receiver has kept of a datagram that was whole must not be made whole by another end.
TEST_F(FragmentTableTest, WhatItsReceiverMayHaveForgottenIsNotBegunAnew) {
  const std::string start(24, 'x');
  const Frame clean = udp_frame(start + "harmless"), dirty = udp_frame(start + "abcababc");
  const auto goes_on_as_dirty = [&](std::uint16_t id, const auto& between) {
    const auto of_clean = fragments_of(clean, 32, id), of_dirty = fragments_of(dirty, 32, id);
    EXPECT_TRUE(passes(of_clean[1]));
    between();
    EXPECT_TRUE(passes(of_clean[0]));
    EXPECT_EQ(last_, Outcome::kWhole);
    return passes(of_dirty[1]);
  };
  EXPECT_TRUE(goes_on_as_dirty(1, [] {}));  // its receiver has all of it, and begins another one
  EXPECT_FALSE(goes_on_as_dirty(2, [&] {
    for (std::uint16_t id = 100; id <= 100 + FragmentTable::kFarApart; ++id) {
      EXPECT_TRUE(passes(fragments_of(clean, 32, id)[0]));
    }
  }));
  now_s_ += FragmentTable::kTimeoutS;
  EXPECT_EQ(outcome(fragments_of(clean, 32, 2)[0]), Outcome::kWaits);
}

/// With an option that its receiver, or a router, refuses, it has the other one alone.
TEST_F(FragmentTableTest, AFragmentWithOptionsIsNotForgottenEither) {
  const Frame clean = udp_frame(std::string(24, 'x') + "harmless");
  auto frames = fragments_of(clean, 32);
  Frame& last = frames[1];
  constexpr std::array kSourceRoute{std::byte{137}, std::byte{3}, std::byte{4}, std::byte{0}};
  last.insert(last.begin() + kIpv4HeaderEnd, kSourceRoute.begin(), kSourceRoute.end());
  last[kIpAt] = std::byte{0x46};
  wire_bytes::put16(last, kIpAt + 2, static_cast<std::uint16_t>(last.size() - kIpAt));
  EXPECT_TRUE(passes(last));
  EXPECT_TRUE(passes(frames[0]));
  EXPECT_EQ(last_, Outcome::kWhole);
  EXPECT_EQ(outcome(fragments_of(clean, 32)[1]), Outcome::kRefused);
}

TEST_F(FragmentTableTest, OneOfAnotherFlowRefusesItsDatagram) {
  const auto frames = fragments_of(udp_frame("0123456789abcdefghijklmnopqrstuvw"), 16);
  const auto add = [&](const Frame& frame, std::uint32_t flow) {
    const auto fragment = ip_fragment(frame, parse_headers(frame), 0);
    return table().add(*fragment, {.now_s = now_s_, .flow = flow});
  };
  EXPECT_EQ(add(frames[1], 0), Outcome::kWaits);
  EXPECT_EQ(add(frames[0], 2), Outcome::kWaits);
  EXPECT_EQ(add(frames[2], 6), Outcome::kRefused);
  EXPECT_EQ(add(frames[2], 2), Outcome::kRefused);
}

/// One source fills its share, and another one has room still.
TEST_F(FragmentTableTest, HasABound) {
  const Frame frame = udp_frame(std::string(1400, 'x'));
  Outcome last = Outcome::kWaits;
  std::uint16_t id = 1;
  for (; id < 1000 && last == Outcome::kWaits; ++id) {
    last = outcome(cut_of(frame, {0, 1400, true}, id));
  }
  EXPECT_EQ(last, Outcome::kFull);
  EXPECT_LE(table().blocks(), kShape.blocks);
  Frame other = frame;
  other[kIpAt + 15] = std::byte{77};
  EXPECT_EQ(outcome(cut_of(other, {0, 1400, true}, 1)), Outcome::kWaits);
  for (int source = 0; source < 60; ++source) {
    other[kIpAt + 14] = std::byte(source);
    for (id = 1; id < 20; ++id) last = outcome(cut_of(other, {0, 1400, true}, id));
  }
  EXPECT_EQ(last, Outcome::kFull);
  EXPECT_LE(table().blocks(), kShape.blocks);
  EXPECT_LE(table().datagrams(), kShape.datagrams);
}

TEST_F(FragmentTableTest, TheLongestDatagramHasRoom) {
  const Frame frame = udp_frame(std::string(65'500 - 8, 'x'));
  const auto frames = fragments_of(frame, 1480);
  for (const Frame& one : frames) ASSERT_TRUE(passes(one));
  EXPECT_EQ(last_, Outcome::kWhole);
  EXPECT_EQ(whole_.size(), 65'520u);
  // One of many small pieces, the last one first, has not.
  Outcome last = Outcome::kWaits;
  for (std::size_t at = 4000; at > 0 && last == Outcome::kWaits; at -= 16) {
    last = outcome(cut_of(frame, {at, at + 8, true}, 9));
  }
  EXPECT_EQ(last, Outcome::kFull);
}

}  // namespace
}  // namespace millrace
