// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/tee/tee.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "shared/base/error.hpp"
#include "tests/unit/services/functions/packet_call.hpp"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<PlanPort> kPorts = {{.name = "lan"}, {.name = "spy"}};

PlanFunction tee_of(const Settings& settings) {
  return {.name = "tee", .type = "tee", .settings = settings};
}

std::unique_ptr<Function> make(const Settings& settings) {
  const PlanFunction plan = tee_of(settings);
  return tee_type().make({.function = plan, .ports = kPorts});
}

std::string refused(const Settings& settings) {
  try {
    tee_type().check(tee_of(settings));
    make(settings);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::vector<unsigned> bits_of(const Batch& batch, const SideRecord& record) {
  std::vector<unsigned> packets;
  const auto bytes = batch.side.bytes_of(record);
  for (unsigned i = 0; i < 8 * bytes.size(); ++i) {
    if ((std::to_integer<unsigned>(bytes[i / 8]) >> i % 8 & 1) != 0) packets.push_back(i);
  }
  return packets;
}

TEST(Tee, AsksForCopiesOfTheSelectedPacketsByOneRecord) {
  PacketCall call(std::vector<Frame>(20, Frame(60)));
  call.selected = {1, 7, 8, 19};
  call.run(*make({{"port", "spy"}}));
  ASSERT_THAT(call.batch.side.records(), SizeIs(1));
  const SideRecord& record = call.batch.side.records()[0];
  EXPECT_EQ(record.kind, static_cast<std::uint8_t>(SideKind::kCopies));
  EXPECT_EQ(record.port, 1);
  EXPECT_EQ(record.argument, static_cast<std::uint32_t>(CopyOf::kAll));
  EXPECT_EQ(record.why, static_cast<std::uint8_t>(Reason::kCopy));
  EXPECT_THAT(bits_of(call.batch, record), ElementsAre(1, 7, 8, 19));
  EXPECT_THAT(call.hits, ElementsAre(4, 0));
  for (std::uint32_t i = 0; i < 20; ++i) EXPECT_TRUE(call.batch.goes_on(i));
}

TEST(Tee, SaysOfWhichFates) {
  const auto argument = [](const char* packets) {
    PacketCall call({Frame(60)});
    call.run(*make({{"packets", packets}, {"port", "lan"}}));
    EXPECT_EQ(call.batch.side.records()[0].port, 0);
    return static_cast<CopyOf>(call.batch.side.records()[0].argument);
  };
  EXPECT_EQ(argument("all"), CopyOf::kAll);
  EXPECT_EQ(argument("passed"), CopyOf::kNotDropped);
  EXPECT_EQ(argument("dropped"), CopyOf::kDropped);
}

TEST(Tee, WithoutPacketsItAsksForNothing) {
  PacketCall call({Frame(60)});
  call.selected.clear();
  call.run(*make({{"port", "spy"}}));
  EXPECT_THAT(call.batch.side.records(), SizeIs(0));
}

TEST(Tee, WhereTheListIsFullItCountsWhatItMissed) {
  PacketCall call(std::vector<Frame>(3, Frame(60)));
  while (call.batch.side.has_room()) {
    call.batch.side.add({.packet = 0, .kind = static_cast<std::uint8_t>(SideKind::kCopy)});
  }
  call.run(*make({{"port", "spy"}}));
  EXPECT_THAT(call.hits, ElementsAre(0, 3));
}

TEST(Tee, RefusesWhatItCannotDo) {
  EXPECT_THAT(refused({}), HasSubstr("port: expected a port"));
  EXPECT_THAT(refused({{"port", "spi"}}), HasSubstr("port: there is no port 'spi'"));
  EXPECT_THAT(refused({{"port", "spy"}, {"packets", "some"}}),
              HasSubstr("packets is 'some'; allowed: all, passed, dropped"));
  EXPECT_THAT(refused({{"port", "spy"}, {"rate", "1"}}),
              HasSubstr("rate: tee has no such setting"));
  EXPECT_EQ(refused({{"port", "spy"}}), "");
}

}  // namespace
}  // namespace millrace
