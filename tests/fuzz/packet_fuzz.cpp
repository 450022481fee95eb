// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes: parse_headers says what the oracle says, reads nothing outside (the copy has no
// byte to spare, so the sanitizer sees it), and both ways of the flow hash agree.

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "shared/base/check.hpp"
#include "shared/base/flow_hash.hpp"
#include "shared/base/packet.hpp"
#include "tests/unit/shared/base/packet_oracle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> frame(size);
  if (size != 0) std::memcpy(frame.data(), data, size);
  const millrace::PacketHeaders found = millrace::parse_headers(frame);
  const millrace::PacketHeaders expected = millrace::oracle::parse(frame);
  MILLRACE_CHECK(found.status == expected.status);
  MILLRACE_CHECK(found.vlan_tags == expected.vlan_tags);
  MILLRACE_CHECK(found.ip_version == expected.ip_version);
  MILLRACE_CHECK(found.protocol == expected.protocol);
  MILLRACE_CHECK(found.fragment == expected.fragment);
  MILLRACE_CHECK(found.first_fragment == expected.first_fragment);
  MILLRACE_CHECK(found.ether_type == expected.ether_type);
  MILLRACE_CHECK(found.network_offset == expected.network_offset);
  MILLRACE_CHECK(found.transport_offset == expected.transport_offset);
  MILLRACE_CHECK(found.payload_offset == expected.payload_offset);
  MILLRACE_CHECK(found.payload_end == expected.payload_end);
  MILLRACE_CHECK(millrace::flow_hash_of(frame) == millrace::flow_hash(frame, found));
  return 0;
}
