// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/signature_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

class SignatureNamesTest : public ::testing::Test {
 protected:
  ~SignatureNamesTest() override { std::filesystem::remove(path_); }
  static Signature signature(std::uint32_t gid, std::uint32_t sid, const std::string& message) {
    Signature one;
    one.gid = gid;
    one.sid = sid;
    one.message = message;
    return one;
  }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }
  std::string problem() const {
    try {
      const SignatureNames names(path_);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::string path_ = testing::TempDir() + "signature_names_test.names";
};

TEST_F(SignatureNamesTest, AFileIsALineForEachSignature) {
  Signature first = signature(1, 2019401, "ET TROJAN a beacon");
  first.revision = 7;
  first.priority = 1;
  first.classification = "A Network Trojan was detected";
  first.metadata = {{"created_at", "2014_10_14"}, {"tag", "c2"}, {"tag", "beacon"}};
  write_signature_names(path_, std::vector{first, signature(3, 5, "")});
  EXPECT_EQ(text(),
            "millrace signature names 1\n"
            "1\t2019401\t7\t1\tET TROJAN a beacon\tA Network Trojan was detected\t"
            "created_at\t2014_10_14\ttag\tc2\ttag\tbeacon\n"
            "3\t5\t0\t3\t\t\n");
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);

  const SignatureNames names(path_);
  const SignatureName* const found = names.find(1, 2019401);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->number, 0u);
  EXPECT_EQ(found->revision, 7u);
  EXPECT_EQ(found->priority, 1u);
  EXPECT_EQ(found->message, first.message);
  EXPECT_EQ(found->classification, first.classification);
  EXPECT_EQ(found->metadata, first.metadata);
  ASSERT_NE(names.find(3, 5), nullptr);
  EXPECT_EQ(names.find(3, 5)->number, 1u);
  EXPECT_EQ(names.find(1, 5), nullptr);
  EXPECT_EQ(names.find(5, 3), nullptr);
  EXPECT_EQ(names.all().size(), 2u);
}

TEST_F(SignatureNamesTest, AnyTextComesBackAsItWas) {
  std::mt19937 random(7);
  const auto any_text = [&] {
    constexpr std::string_view kBytes = "\t\n\\tn\"\r\xff\x01 a";
    std::string text(random() % 9, ' ');
    for (char& one : text) one = kBytes[random() % kBytes.size()];
    return text;
  };
  std::vector<Signature> all;
  for (std::uint32_t sid = 0; sid < 2000; ++sid) {
    all.push_back(signature(1, sid, any_text()));
    all.back().classification = any_text();
    for (std::uint32_t i = random() % 3; i != 0; --i) {
      all.back().metadata.emplace_back(any_text(), any_text());
    }
  }
  write_signature_names(path_, all);
  const SignatureNames names(path_);
  ASSERT_EQ(names.all().size(), all.size());
  for (const Signature& one : all) {
    const SignatureName* const found = names.find(1, one.sid);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->message, one.message);
    EXPECT_EQ(found->classification, one.classification);
    EXPECT_EQ(found->metadata, one.metadata);
  }
}

TEST_F(SignatureNamesTest, AFileIsReplacedAndNothingIsLeftBeside) {
  write_signature_names(path_, std::vector{signature(1, 1, "old")});
  const SignatureNames old(path_);
  write_signature_names(path_, std::vector{signature(1, 1, "new")});
  EXPECT_EQ(old.find(1, 1)->message, "old");
  EXPECT_EQ(SignatureNames(path_).find(1, 1)->message, "new");
  EXPECT_THROW(write_signature_names("/no/folder/x.names", {}), Error);
  write_signature_names(path_, {});
  EXPECT_TRUE(SignatureNames(path_).all().empty());
}

TEST_F(SignatureNamesTest, WhatIsNoSuchFileIsRefusedWithItsPlace) {
  using ::testing::HasSubstr;
  std::filesystem::remove(path_);
  EXPECT_THAT(problem(), HasSubstr("No such file"));
  put("{}\n");
  EXPECT_THAT(problem(), HasSubstr(path_ + ": no file of signature names"));
  const std::string head(kSignatureNamesHead);
  put(head + "1\t2\t3\t4\ta\tb\n1\t2\t3\t4\ta\tb");
  EXPECT_THAT(problem(), HasSubstr(path_ + ":3: the line is cut off"));
  for (const char* const line :
       {"", "1\t2\t3\t4\ta", "x\t2\t3\t4\ta\tb", "1\t2\t3\t400\ta\tb", "1\t2\t3\t4\ta\tb\tkey",
        "1\t-2\t3\t4\ta\tb", "1\t2 \t3\t4\ta\tb", "1\t99999999999\t3\t4\ta\tb"}) {
    put(head + line + "\n");
    EXPECT_THAT(problem(), HasSubstr(path_ + ":2: expected gid")) << line;
  }
}

}  // namespace
}  // namespace millrace
