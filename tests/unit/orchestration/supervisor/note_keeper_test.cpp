// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/note_keeper.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace millrace {
namespace {

TEST(NoteKeeper, WritesWhatHasChangedAndTriesAgainWhatFailed) {
  NoteKeeper<int> keeper;
  std::vector<int> written;
  const auto write = [&](int number) { written.push_back(number); };
  const auto fail = [](int) { throw Error("no room"); };
  for (const int number : {1, 1, 2}) keeper.keep(number, write);
  EXPECT_EQ(written, (std::vector<int>{1, 2}));
  testing::internal::CaptureStderr();
  keeper.keep(3, fail);
  keeper.keep(3, fail);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "millrace: no room\n") << "told once";
  keeper.keep(3, write);
  EXPECT_EQ(written.back(), 3);
}

}  // namespace
}  // namespace millrace
