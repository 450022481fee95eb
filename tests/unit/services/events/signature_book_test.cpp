// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/signature_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "services/functions/image_file.hpp"
#include "tests/unit/services/events/event_world.hpp"

namespace millrace {
namespace {

class SignatureBookTest : public ::testing::Test {
 protected:
  SignatureBookTest() {
    plan_.functions.resize(2);
    plan_.functions[1] = {.name = "ids", .type = "ids", .image = image(1)};
  }
  std::string image(int edition) const { return folder_.path(std::to_string(edition) + ".image"); }
  void put_names(int edition, std::uint32_t sid, std::uint32_t revision,
                 const std::string& message) {
    Signature one;
    one.sid = sid;
    one.revision = revision;
    one.message = message;
    write_signature_names(names_beside_image(image(edition)), std::vector{one});
  }
  /// As a reload has it: another image computes.
  std::vector<std::string> switch_to(int edition) {
    plan_.functions[1].image = image(edition);
    return book_.use(plan_);
  }
  std::string message(std::uint32_t sid, std::uint32_t revision, std::uint8_t function = 1) const {
    EventRecord record{};
    record.kind = EventKind::kSignature;
    record.function = function;
    record.signature.gid = 1;
    record.signature.sid = sid;
    record.signature.revision = revision;
    const SignatureName* const name = book_.find(record);
    return name == nullptr ? "none" : name->message;
  }

  test::EventFolder folder_;
  Plan plan_;
  SignatureBook book_;
};

TEST_F(SignatureBookTest, NamesAreThoseOfTheFunction) {
  EXPECT_EQ(message(7, 1), "none");
  EXPECT_TRUE(book_.use(plan_).empty()) << "a function need not have names";
  EXPECT_EQ(message(7, 1), "none");
  put_names(1, 7, 1, "first");
  EXPECT_TRUE(book_.use(plan_).empty());
  EXPECT_EQ(message(7, 1), "first");
  EXPECT_EQ(message(7, 2), "first") << "of another revision, better than nothing";
  EXPECT_EQ(message(8, 1), "none");
  EXPECT_EQ(message(7, 1, 0), "none");
  EXPECT_EQ(message(7, 1, 9), "none");
}

TEST_F(SignatureBookTest, CountsThoseOfTheNewestImage) {
  EXPECT_TRUE(book_.counts().empty()) << "no function has any";
  put_names(1, 7, 1, "first");
  book_.use(plan_);
  EXPECT_EQ(book_.counts(), (std::vector<std::uint64_t>{1}));
}

TEST_F(SignatureBookTest, TheImageBeforeIsStillKnown) {
  put_names(1, 7, 1, "first");
  book_.use(plan_);
  put_names(2, 7, 2, "second");
  switch_to(2);
  EXPECT_EQ(message(7, 1), "first");
  EXPECT_EQ(message(7, 2), "second");
  EXPECT_EQ(message(7, 3), "second");
  remove_image(image(1));
  put_names(3, 8, 1, "third");
  switch_to(3);
  EXPECT_EQ(message(7, 1), "second");
  EXPECT_EQ(message(8, 1), "third");
}

TEST_F(SignatureBookTest, AnEditionBesideTheOneInUseIsKnown) {
  put_names(1, 7, 1, "first");
  book_.use(plan_);
  for (int edition = 2; edition < 5; ++edition) {  // of which the first ones come to nothing
    put_names(edition, 7, static_cast<std::uint32_t>(edition), "next");
    plan_.others = {{.number = 1, .function = plan_.functions[1]}};
    plan_.others[0].function.image = image(edition);
    book_.use(plan_);
    EXPECT_EQ(message(7, static_cast<std::uint32_t>(edition)), "next");
    EXPECT_EQ(message(7, 1), "first");
  }
}

TEST_F(SignatureBookTest, WhatCannotBeReadIsSaidAndTriedAgain) {
  put_names(1, 7, 1, "first");
  book_.use(plan_);
  std::ofstream(names_beside_image(image(2))) << "{}\n";
  EXPECT_THAT(switch_to(2), ::testing::ElementsAre(::testing::HasSubstr("no file of signature")));
  EXPECT_EQ(message(7, 1), "first");
  put_names(2, 7, 1, "mended");
  EXPECT_TRUE(book_.use(plan_).empty());
  EXPECT_EQ(message(7, 1), "mended");
}

}  // namespace
}  // namespace millrace
