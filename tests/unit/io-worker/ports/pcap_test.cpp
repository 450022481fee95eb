// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/pcap.hpp"

#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::make_port;
using test::TestFolder;

std::string check(Settings settings) {
  return error_of([&] { check_pcap(make_port("pcap", std::move(settings))); });
}

TEST(CheckPcap, AcceptsACaptureAndAFileThatCanBeMade) {
  const TestFolder folder;
  const std::string in = folder.write("in.pcap", test::pcap_of(1));
  EXPECT_EQ(check({{"in", in}}), "");
  EXPECT_EQ(check({{"in", in}, {"out", folder.path("out.pcap")}}), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path("out.pcap")));
}

TEST(CheckPcap, SaysWhichFileIsWrong) {
  const TestFolder folder;
  const std::string in = folder.write("in.pcap", test::pcap_of(1));
  EXPECT_EQ(check({}),
            "port 'lan' (pcap): needs 'in' (a capture to read), 'out' (a file to write), or both");
  EXPECT_EQ(check({{"in", folder.path("none")}}),
            "port 'lan' (pcap): open " + folder.path("none") + ": No such file or directory");
  EXPECT_EQ(check({{"in", in}, {"out", in}}),
            "port 'lan' (pcap): out is '" + in + "'; allowed: another file than 'in'");
  std::filesystem::create_symlink(in, folder.path("link"));
  EXPECT_NE(check({{"in", in}, {"out", folder.path("link")}}), "");
  EXPECT_EQ(check({{"out", folder.path("no/folder/x")}}),
            "port 'lan' (pcap): " + folder.path("no/folder/x") + ": No such file or directory");
  EXPECT_EQ(check({{"out", "/dev/null"}}),
            "port 'lan' (pcap): /dev/null: it is a device; a regular file is needed");
  EXPECT_NE(check({{"in", in}, {"loop", "true"}}).find("unknown setting 'loop'"),
            std::string::npos);
}

TEST(PcapQueues, FollowTheFilesThatAreNamed) {
  EXPECT_EQ(pcap_queues(make_port("pcap", {{"in", "a"}})).receive, 1u);
  EXPECT_EQ(pcap_queues(make_port("pcap", {{"in", "a"}})).send, 0u);
  EXPECT_EQ(pcap_queues(make_port("pcap", {{"out", "a"}})).receive, 0u);
  EXPECT_EQ(pcap_queues(make_port("pcap", {{"out", "a"}})).send, 1u);
}

}  // namespace
}  // namespace millrace
