// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// Messages of the kernel, by rtnetlink(7). Nothing outside the given bytes is read, whatever they
/// hold: what does not fit into them is not there, and neither is what comes behind it.

namespace millrace {

/// One attribute of a message.
struct NetlinkAttribute {
  std::uint16_t type = 0;  ///< without its flags
  std::span<const std::byte> bytes;

  /// False: it is shorter than `value`, which stays as it is.
  template <typename T>
  bool read(T& value) const {
    if (bytes.size() < sizeof value) return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
  }
};

/// Calls `visit(const NetlinkAttribute&)` for each.
template <typename Visit>
void for_each_attribute(std::span<const std::byte> bytes, Visit visit) {
  while (bytes.size() >= sizeof(rtattr)) {
    rtattr header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.rta_len < sizeof header || header.rta_len > bytes.size()) return;
    const auto type = static_cast<std::uint16_t>(header.rta_type & NLA_TYPE_MASK);
    visit(NetlinkAttribute{type, bytes.subspan(RTA_LENGTH(0), header.rta_len - RTA_LENGTH(0))});
    bytes = bytes.subspan(std::min<std::size_t>(RTA_ALIGN(header.rta_len), bytes.size()));
  }
}

/// Calls `visit(const nlmsghdr&, message)` for each; `message`: with its header.
template <typename Visit>
void for_each_message(std::span<const std::byte> bytes, Visit visit) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) return;
    visit(static_cast<const nlmsghdr&>(header), bytes.first(header.nlmsg_len));
    bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), bytes.size()));
  }
}

/// The fixed part of a message, behind its header. False: it is cut.
template <typename T>
bool read_body(std::span<const std::byte> message, T& body) {
  if (message.size() < NLMSG_HDRLEN + sizeof body) return false;
  std::memcpy(&body, message.data() + NLMSG_HDRLEN, sizeof body);
  return true;
}

/// The attributes behind a fixed part of type T.
template <typename T>
std::span<const std::byte> attributes_behind(std::span<const std::byte> message) {
  return message.subspan(
      std::min<std::size_t>(NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(T)), message.size()));
}

}  // namespace millrace
