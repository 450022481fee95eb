// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_ports.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/support/error_of.hpp"

namespace millrace::nat_ports_test {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<PlanPort> kPorts = {
    {.name = "wan", .device = "tap", .addresses = {"fd00::2/64", "192.0.2.2/30", "192.0.2.6/30"}},
    {.name = "lan", .device = "loop", .addresses = {"10.0.0.1/24"}},
    {.name = "turn", .device = "loop"},
    {.name = "six", .addresses = {"fd00:1::2/64"}}};

Settings with(Settings more) {
  Settings all = {{"inside", "lan"}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
std::string error(const Settings& more) {
  return error_of([&] { nat_translation(with(more), kPorts); });
}

TEST(NatPorts, TellAnIngressWhatIsInsideAndOutside) {
  const PlanTranslation translation =
      nat_translation(with({{"pool", "203.0.113.2"},
                            {"pool", "203.0.113.1"},
                            {"block", "128"},
                            {"publish", "udp 203.0.113.1:53 -> 10.0.0.3:5353"}}),
                      kPorts);
  EXPECT_THAT(translation.inside, ElementsAre(1u));
  EXPECT_THAT(translation.pool,
              ElementsAre(PlanTranslation::Range{.first = 0xcb007101, .last = 0xcb007102}));
  EXPECT_EQ(translation.block, 128u);
  EXPECT_THAT(translation.fixed,
              ElementsAre(PlanFixedAddress{
                  .outside = 0xcb007101, .inside = 0x0a000003, .protocol = 17, .port = 53}));
}

TEST(NatPorts, AMasqueradedAddressIsTheFirstOfItsPort) {
  const NatSettings settings = nat_settings_at(
      with({{"masquerade", "wan"}, {"publish", "tcp 192.0.2.2:8080 -> 10.0.0.2:80"}}), kPorts);
  EXPECT_THAT(settings.pool, ElementsAre(0xc0000202));
  EXPECT_THAT(settings.reserved, ElementsAre(ReservedPort{0, 8080, 6}));
  const PlanTranslation translation = nat_translation(with({{"masquerade", "wan"}}), kPorts);
  EXPECT_THAT(translation.pool,
              ElementsAre(PlanTranslation::Range{.first = 0xc0000202, .last = 0xc0000202}));
}

TEST(NatPorts, SayWhichPortsCannotBe) {
  const Settings pool = {{"pool", "203.0.113.1"}};
  EXPECT_THAT(error_of([&] {
                nat_translation({{"inside", "dmz"}, pool[0]}, kPorts);
              }),
              HasSubstr("inside: there is no port 'dmz'"));
  EXPECT_THAT(error({pool[0], {"hairpin", "back"}}), HasSubstr("hairpin: there is no port 'back'"));
  EXPECT_THAT(error({pool[0], {"hairpin", "wan"}}),
              HasSubstr("hairpin: 'wan' is of device 'tap'; expected a port of"));
  EXPECT_THAT(error({pool[0], {"hairpin", "lan"}}),
              HasSubstr("hairpin: 'lan' is a port of the inside"));
  EXPECT_EQ(error({pool[0], {"hairpin", "turn"}}), "no error");
  EXPECT_THAT(error({{"masquerade", "dmz"}}), HasSubstr("masquerade: there is no port 'dmz'"));
  EXPECT_THAT(error({{"masquerade", "lan"}}), HasSubstr("masquerade: 'lan' is a port of the"));
  for (const char* port : {"turn", "six"}) {
    EXPECT_THAT(error({{"masquerade", port}}), HasSubstr("' has no IPv4 address; expected one in"));
  }
}

TEST(NatPorts, AddressesOfPortsAreRefusedByOtherKeys) {
  EXPECT_THAT(error({{"pool", "192.0.2.2"}}),
              HasSubstr("pool: 192.0.2.2 is an address of port 'wan'"));
  EXPECT_THAT(error({{"pool", "192.0.2.2"}, {"masquerade", "wan"}}), HasSubstr("is there twice"));
  EXPECT_THAT(error({{"masquerade", "wan"}, {"publish", "tcp 192.0.2.6:80 -> 10.0.0.2:80"}}),
              HasSubstr("static, publish: 192.0.2.6 is an address of port 'wan'"));
  EXPECT_THAT(error({{"masquerade", "wan"}, {"static", "192.0.2.2 <-> 10.0.0.2"}}),
              HasSubstr("static: 192.0.2.2 is an address of the pool too"));
}

}  // namespace
}  // namespace millrace::nat_ports_test
