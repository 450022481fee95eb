// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/files_in_use.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/error.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class FilesInUse : public testing::Test {
 protected:
  FilesInUse() {
    std::filesystem::create_directory(run_dir_);
    for (const char* name : {"x.yaml", "in.pcap", "scan.rules"}) std::ofstream(at(name)) << "text";
    plan_.sources = {source_of(at("x.yaml")), source_of(at("scan.rules"))};
    plan_.ports.push_back({.name = "wan", .settings = {{"in", at("in.pcap")}, {"loop", "out"}}});
    plan_.ports.push_back({.name = "lan", .settings = {{"out", at("out.pcap")}}});
    plan_.functions.push_back({.name = "scan", .settings = {{"table", at("scan.table")}}});
  }
  std::string at(const std::string& name) const { return folder_.path(name); }
  auto refused(const std::string& path) const {
    return [this, path] { refuse_file_in_use(plan_, run_dir_, path); };
  }

  test::TestFolder folder_;
  std::string run_dir_ = folder_.path("run");
  Plan plan_;
};

TEST_F(FilesInUse, WhatATopologyReadsOrWritesIsLeftAlone) {
  EXPECT_THAT(refused(at("x.yaml")), ThrowsMessage<Error>(HasSubstr("was made from")));
  EXPECT_THAT(refused(at("scan.rules")), ThrowsMessage<Error>(HasSubstr("was made from")));
  EXPECT_THAT(refused(at("in.pcap")), ThrowsMessage<Error>(HasSubstr("'in' of 'wan'")));
  EXPECT_THAT(refused(at("out.pcap")), ThrowsMessage<Error>(HasSubstr("'out' of 'lan'")));
  EXPECT_THAT(refused(at("scan.table")), ThrowsMessage<Error>(HasSubstr("'table' of 'scan'")));
  EXPECT_THAT(refused(plan_path(run_dir_)), ThrowsMessage<Error>(HasSubstr("run directory")));
}

TEST_F(FilesInUse, AlsoByAnotherName) {
  std::filesystem::create_symlink(at("in.pcap"), at("link"));
  EXPECT_THAT(refused(at("link")), ThrowsMessage<Error>(HasSubstr("'in' of 'wan'")));
  EXPECT_THAT(refused(run_dir_ + "/../x.yaml"), ThrowsMessage<Error>(HasSubstr("was made from")));
}

TEST_F(FilesInUse, WhatElseThereIsMayBeWritten) {
  for (const std::string& path : {at("mine.pcap"), std::string("out"), std::string("/dev/null")}) {
    EXPECT_NO_THROW(refused(path)()) << path;
  }
}

}  // namespace
}  // namespace millrace
