// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/exporter.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "services/telemetry/status_collectable.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/services/telemetry/scraping.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::scrape;
using test::TestFolder;

TEST(Exporter, ServesTheMetricsAtTheAddressThatItWrites) {
  const TestFolder run_dir;
  const test::WatchedTopology watched;
  const auto metrics = std::make_shared<StatusCollectable>(watched.plan, watched.status);
  Exporter exporter("127.0.0.1:0", run_dir.path(""));
  exporter.serve(metrics);
  const std::string address = test::await_word(telemetry_address_path(run_dir.path("")));
  EXPECT_EQ(address, exporter.address());
  EXPECT_TRUE(address.starts_with("127.0.0.1:"));
  EXPECT_FALSE(address.ends_with(":0"));
  const std::string answer = scrape(address);
  EXPECT_NE(answer.find("200 OK"), std::string::npos);
  EXPECT_NE(answer.find("# TYPE millrace_recoveries_total counter"), std::string::npos);
  EXPECT_NE(answer.find("millrace_topology_info{topology=\"watched\"} 1"), std::string::npos);
  EXPECT_NE(answer.find("millrace_latency_seconds_bucket{stream=\"lan.0\",le=\"+Inf\"} 0"),
            std::string::npos);
}

TEST(Exporter, AnswersHeadWithTheHeadersAloneAndRefusesToBeWritten) {
  const TestFolder run_dir;
  const test::WatchedTopology watched;
  Exporter exporter("127.0.0.1:0", run_dir.path(""));
  exporter.serve(std::make_shared<StatusCollectable>(watched.plan, watched.status));
  const std::string head = scrape(exporter.address(), "HEAD");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_EQ(head.find("# TYPE"), std::string::npos);
  EXPECT_NE(scrape(exporter.address(), "POST").find(" 405 "), std::string::npos);
  const std::string all = scrape(exporter.address());
  EXPECT_EQ(all.find("exposer_"), std::string::npos) << "of the library, declared nowhere";
}

TEST(Exporter, WritesTheFileByWhichPrometheusFindsIt) {
  namespace fs = std::filesystem;
  const TestFolder folder;
  const std::string run_dir = folder.path("branch");
  fs::create_directory(run_dir);
  const Exporter exporter("127.0.0.1:0", run_dir);
  exporter.announce("branch");
  std::ifstream file(folder.path("branch.telemetry.json"));
  std::string text;
  std::getline(file, text);
  EXPECT_EQ(text, "[{\"targets\": [\"" + exporter.address() +
                      "\"], \"labels\": {\"topology\": \"branch\"}}]");
  const auto rights = fs::status(folder.path("branch.telemetry.json")).permissions();
  EXPECT_NE(rights & fs::perms::others_read, fs::perms::none);
  fs::remove_all(run_dir);
  fs::create_directory(folder.path("branch.telemetry.json.tmp"));  // in the way
  EXPECT_NE(error_of([&] { exporter.announce("branch"); }).find("branch.telemetry.json"),
            std::string::npos);
}

TEST(Exporter, ListensByIpv6AndWritesItInBrackets) {
  if (!test::has_ipv6()) GTEST_SKIP() << "this host has no ::1";
  const TestFolder run_dir;
  const test::WatchedTopology watched;
  Exporter exporter("[::1]:0", run_dir.path(""));
  exporter.serve(std::make_shared<StatusCollectable>(watched.plan, watched.status));
  EXPECT_TRUE(exporter.address().starts_with("[::1]:")) << exporter.address();
  EXPECT_EQ(test::await_word(telemetry_address_path(run_dir.path(""))), exporter.address());
  EXPECT_NE(scrape(exporter.address()).find("200 OK"), std::string::npos);
}

TEST(Exporter, TakesTheSamePortAgainAfterARestart) {
  const TestFolder run_dir;
  std::string address;
  { address = Exporter("127.0.0.1:0", run_dir.path("")).address(); }
  EXPECT_EQ(Exporter("127.0.0.1:0", run_dir.path("")).address(), address);
}

TEST(Exporter, TakesAnotherPortWhenItsOldOneIsGone) {
  const TestFolder run_dir, other_run_dir;
  std::string address;
  { address = Exporter("127.0.0.1:0", run_dir.path("")).address(); }
  const Exporter thief(address, other_run_dir.path(""));
  const Exporter exporter("127.0.0.1:0", run_dir.path(""));
  EXPECT_NE(exporter.address(), address);
  EXPECT_EQ(test::await_word(telemetry_address_path(run_dir.path(""))), exporter.address());
}

TEST(Exporter, SaysWhichAddressItCannotHave) {
  const TestFolder run_dir, other_run_dir;
  const Exporter first("127.0.0.1:0", run_dir.path(""));
  const std::string text = error_of([&] { Exporter(first.address(), other_run_dir.path("")); });
  EXPECT_NE(text.find("telemetry cannot listen on " + first.address()), std::string::npos) << text;
}

}  // namespace
}  // namespace millrace
