// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/streams_settings.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(StreamsSettings, AreRead) {
  const StreamsSettings read = streams_settings({{"folder", "/f"},
                                                 {"streams", "7"},
                                                 {"depth_kb", "2"},
                                                 {"pickup", "false"},
                                                 {"checksums", "trust"},
                                                 {"size_mb", "3"},
                                                 {"files_max", "4"}});
  EXPECT_EQ(read.folder, "/f");
  EXPECT_EQ(read.streams, 7u);
  EXPECT_EQ(read.depth, 2048u);
  EXPECT_FALSE(read.picks_up);
  EXPECT_TRUE(read.trusts_checksums);
}

TEST(StreamsSettings, OthersAreRefused) {
  EXPECT_NE(test::error_of([] { streams_settings({}); }).find("folder"), std::string::npos);
  EXPECT_NE(test::error_of([] {
              streams_settings({{"folder", "f"}, {"checksums", "no"}});
            }).find("no"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              streams_settings({{"folder", "f"}, {"deep", "1"}});
            }).find("deep"),
            std::string::npos);
}

}  // namespace
}  // namespace millrace
