// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/flow/tcp_window_check.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/services/functions/flow/tcp_script.hpp"

namespace millrace {
namespace {

using tcp_script::play;

/// Asker from 101 with a window of 5000, answerer from 501 with one of 3000.
constexpr const char* kOpening = R"(
> S 100 win 5000 sackok = fine syn_sent
< SA 500 ack 101 win 3000 sackok = fine syn_recv
> A 101 ack 501 win 5000 = fine established
)";

/// What the segment is behind an open connection.
TcpWindowCheck checked(const std::string& opening, const std::string& segment) {
  TcpTrack track = play(opening);
  const tcp_script::Line line = tcp_script::read_line(segment);
  return check_tcp_window(track, line.direction, *parse_tcp_segment(line.bytes), {});
}

TEST(TcpWindowCheck, DataEndsWhereThereIsRoom) {
  EXPECT_EQ(checked(kOpening, "> A 101+3000 ack 501"), TcpWindowCheck::kUpdated);
  EXPECT_EQ(checked(kOpening, "> A 3101+1 ack 501"), TcpWindowCheck::kUpdated) << "a probe";
  EXPECT_EQ(checked(kOpening, "> A 3102+1 ack 501"), TcpWindowCheck::kIgnored) << "a bit too much";
  EXPECT_EQ(checked(kOpening, "> A 3102+2997 ack 501"), TcpWindowCheck::kIgnored);
  EXPECT_EQ(checked(kOpening, "> A 3102+2999 ack 501"), TcpWindowCheck::kOut);
  EXPECT_EQ(checked(kOpening, "> A 2000000 ack 501"), TcpWindowCheck::kOut);
}

TEST(TcpWindowCheck, DataThatIsOldIsHarmless) {
  const std::string sent = kOpening + std::string(R"(
> A 101+3000 ack 501 win 5000 = fine established
< A 501 ack 3101 win 3000 = fine established
)");
  EXPECT_EQ(checked(sent, "> A 101+100 ack 501"), TcpWindowCheck::kUpdated) << "within a window";
  EXPECT_EQ(checked(sent, "> A 101 ack 501"), TcpWindowCheck::kUpdated);
  EXPECT_EQ(checked(sent, "> A 100 ack 501"), TcpWindowCheck::kIgnored);
  EXPECT_EQ(checked(sent, "> A 4294000000 ack 501"), TcpWindowCheck::kIgnored);
}

TEST(TcpWindowCheck, AcknowledgesWhatWasSent) {
  EXPECT_EQ(checked(kOpening, "< A 501 ack 101"), TcpWindowCheck::kUpdated);
  EXPECT_EQ(checked(kOpening, "< A 501 ack 102"), TcpWindowCheck::kOut);
  EXPECT_EQ(checked(kOpening, "< A 501 ack 101 sack 150-200"), TcpWindowCheck::kOut);
  EXPECT_EQ(checked(kOpening, "< A 501 ack 4294901397"), TcpWindowCheck::kUpdated) << "66000 back";
  EXPECT_EQ(checked(kOpening, "< A 501 ack 4294901396"), TcpWindowCheck::kIgnored);
}

TEST(TcpWindowCheck, WindowsAreScaledIfBothSidesSaySo) {
  for (const auto& [asked, answered, room] : {std::tuple(" ws 2", " ws 3", 80000u),
                                              {" ws 0", " ws 3", 80000u},
                                              {" ws 2", "", 10000u},
                                              {"", " ws 3", 10000u},
                                              {"", "", 10000u}}) {
    const std::string opening = std::string("> S 100") + asked +
                                " = fine syn_sent\n< SA 500 ack 101" + answered +
                                " = fine syn_recv\n" + "> A 101 ack 501 = fine established\n" +
                                "< A 501 ack 101 = fine established\n";
    EXPECT_EQ(checked(opening, "> A " + std::to_string(101 + room) + " ack 501"),
              TcpWindowCheck::kUpdated)
        << opening;
    EXPECT_EQ(checked(opening, "> A " + std::to_string(101 + room + 1) + "+40000 ack 501"),
              room > 40000 ? TcpWindowCheck::kIgnored : TcpWindowCheck::kOut)
        << opening;
  }
}

TEST(TcpWindowCheck, AClosedWindowTakesAByte) {
  const std::string closed = kOpening + std::string(R"(
> A 101+3000 ack 501 win 5000 = fine established
< A 501 ack 3101 win 0 = fine established
)");
  EXPECT_EQ(checked(closed, "> A 3101+1 ack 501"), TcpWindowCheck::kUpdated);
  EXPECT_EQ(checked(closed, "> A 3103+3000 ack 501"), TcpWindowCheck::kOut);
}

TEST(TcpWindowCheck, AFragmentMayReachToTheEndOfTheWindow) {
  TcpTrack track = play(kOpening);
  const auto first = tcp_script::read_line("> A 101+600 ack 501");
  ASSERT_EQ(check_tcp_window(track, 0, *parse_tcp_segment(first.bytes, true), {}),
            TcpWindowCheck::kUpdated);
  TcpTrack other = track;
  const auto within = tcp_script::read_line("< A 501 ack 3101");
  const auto beyond = tcp_script::read_line("< A 501 ack 3102");
  EXPECT_EQ(check_tcp_window(track, 1, *parse_tcp_segment(within.bytes), {}),
            TcpWindowCheck::kUpdated);
  EXPECT_EQ(check_tcp_window(other, 1, *parse_tcp_segment(beyond.bytes), {}), TcpWindowCheck::kOut);
}

TEST(TcpWindow, IsExactForWhatAHeaderAndAScaleSay) {
  for (std::uint32_t shift = 0; shift <= 14; ++shift) {
    for (const std::uint32_t number : {0u, 1u, 2u, 1460u, 29200u, 32767u, 32769u, 65534u, 65535u}) {
      EXPECT_EQ(TcpWindow::bytes(TcpWindow::packed(std::uint64_t{number} << shift)),
                number << shift);
    }
  }
}

TEST(TcpWindow, IsOtherwiseTheNextHigherOne) {
  for (std::uint64_t bytes = 1; bytes < (65535u << 14); bytes += bytes / 3 + 1) {
    const std::uint32_t back = TcpWindow::bytes(TcpWindow::packed(bytes));
    EXPECT_GE(back, bytes);
    EXPECT_LE(back - bytes, bytes / 32768);
  }
  EXPECT_EQ(TcpWindow::bytes(TcpWindow::packed(0xffffffffu)), 65535u << 14) << "at most";
}

}  // namespace
}  // namespace millrace
