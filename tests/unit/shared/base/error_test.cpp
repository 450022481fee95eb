// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <string>

namespace millrace {
namespace {

std::string message_of(const auto& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST(Error, ASystemErrorSaysWhatWasDoneAndWhatTheSystemSaid) {
  EXPECT_STREQ(system_error("open rules.acl", ENOENT).what(),
               "open rules.acl: No such file or directory");
}

TEST(Error, AMessageGathersWhatEachCallerDid) {
  const auto inner = [] { while_doing("line 3", [] { throw Error("no such port"); }); };
  EXPECT_EQ(message_of([&] { while_doing("read a.yaml", inner); }),
            "read a.yaml: line 3: no such port");
}

TEST(Error, OtherExceptionsPassUnchanged) {
  const auto bug = [] { while_doing("read", []() -> int { throw std::logic_error("bug"); }); };
  EXPECT_EQ(message_of(bug), "bug");
}

TEST(Error, WithoutAnErrorTheResultComesThroughAsItIs) {
  int value = 4;
  int& same = while_doing("count", [&]() -> int& { return value; });
  EXPECT_EQ(&same, &value);
}

}  // namespace
}  // namespace millrace
