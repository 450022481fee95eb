// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/routes/kernel_events.hpp"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

class KernelEventsTest : public test::VethTest {
 protected:
  /// All that has been told.
  KernelEvents::Heard read(KernelEvents& events) {
    KernelEvents::Heard all;
    for (bool more = true; more;) {
      const KernelEvents::Heard heard = events.read([&](std::span<const std::byte> message) {
        nlmsghdr header{};
        std::memcpy(&header, message.data(), sizeof header);
        ++(header.nlmsg_type == RTM_NEWROUTE ? added_ : removed_);
      });
      all.lost |= heard.lost;
      all.disturbed |= heard.disturbed;
      more = heard.more;
    }
    return all;
  }

  int added_ = 0, removed_ = 0;
};

TEST_F(KernelEventsTest, RoutesAreToldOneByOne) {
  KernelEvents events;
  read(events);
  added_ = removed_ = 0;
  shell("ip route add 10.7.0.0/16 dev here && ip -6 route add 2001:db8::/32 dev here");
  EXPECT_FALSE(read(events).disturbed);
  EXPECT_EQ(added_, 2);
  shell("ip route del 10.7.0.0/16 && ip -6 route del 2001:db8::/32");
  EXPECT_FALSE(read(events).lost);
  EXPECT_EQ(removed_, 2);
}

TEST_F(KernelEventsTest, WhatChangesRoutesUntoldIsHeard) {
  KernelEvents events;
  shell("ip link set here alias first");
  read(events);  // of the link it has not heard before
  shell("ip link set here alias other");
  EXPECT_FALSE(read(events).disturbed) << "a name changes no route";
  for (const char* const change : {"ip address add 10.1.0.1/24 dev here", "ip link set here down",
                                   "ip link set here up", "ip link del here"}) {
    shell(change);
    EXPECT_TRUE(read(events).disturbed) << change;
  }
}

TEST_F(KernelEventsTest, WhatTheKernelHadNoRoomForIsSaid) {
  KernelEvents events;
  const int small = 4096;
  ASSERT_EQ(setsockopt(events.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  shell("for i in $(seq 1 200); do echo route add 10.7.$i.0/24 dev here; done | ip -batch -");
  EXPECT_TRUE(read(events).lost);
  EXPECT_LT(added_, 200);
  shell("ip route add 10.8.0.0/16 dev here");
  added_ = 0;
  EXPECT_FALSE(read(events).lost);
  EXPECT_EQ(added_, 1) << "it goes on";
}

}  // namespace
}  // namespace millrace
