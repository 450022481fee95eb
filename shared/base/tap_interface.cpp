// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/tap_interface.hpp"

#include <linux/rtnetlink.h>
#include <net/if.h>

#include <string_view>

#include "shared/base/kernel_table.hpp"
#include "shared/base/netlink.hpp"

namespace millrace {
namespace {

constexpr std::string_view kStart = "millrace: port ";
constexpr std::string_view kOf = "of the topology in ";

/// Ends at its zero.
std::string_view text_of(const NetlinkAttribute& attribute) {
  const std::string_view bytes(reinterpret_cast<const char*>(attribute.bytes.data()),
                               attribute.bytes.size());
  return bytes.substr(0, bytes.find('\0'));
}

/// False: the kernel's answer was interrupted by a change, so it may be missing.
bool find_alias(std::string_view alias, std::uint32_t& index) {
  return read_kernel_table(
      KernelTable::kInterfaces, [&](const nlmsghdr& header, std::span<const std::byte> message) {
        ifinfomsg link{};
        if (header.nlmsg_type != RTM_NEWLINK || !read_body(message, link)) return;
        for_each_attribute(attributes_behind<ifinfomsg>(message),
                           [&](const NetlinkAttribute& attribute) {
                             if (attribute.type != IFLA_IFALIAS) return;
                             if (text_of(attribute) != alias) return;
                             index = static_cast<std::uint32_t>(link.ifi_index);
                           });
      });
}

std::uint32_t index_of_alias(std::string_view alias) {
  constexpr int kReadsMax = 3;
  std::uint32_t index = 0;
  for (int i = 0; i < kReadsMax && !find_alias(alias, index) && index == 0; ++i) {
  }
  return index;
}

}  // namespace

std::string tap_alias(const std::string& interface, const std::string& run_dir) {
  return std::string(kStart) + interface + " " + std::string(kOf) + run_dir;
}

std::string run_dir_of_tap(const std::string& alias) {
  if (!alias.starts_with(kStart)) return "";
  const std::size_t of = alias.find(kOf, kStart.size());
  if (of == std::string::npos) return "";
  // An interface has a name without blanks.
  const std::size_t blank = alias.find(' ', kStart.size());
  if (of != kStart.size() && blank + 1 != of) return "";
  return alias.substr(of + kOf.size());
}

std::uint32_t tap_interface_index(const std::string& interface, const std::string& run_dir) {
  if (!run_dir.empty()) {
    if (const std::uint32_t index = index_of_alias(tap_alias(interface, run_dir))) return index;
  }
  return ::if_nametoindex(interface.c_str());
}

}  // namespace millrace
