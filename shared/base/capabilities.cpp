// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr int kNumberMax = 63;  ///< the kernel's masks have no more bits

using Halves = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

__user_cap_header_struct this_thread() noexcept { return {_LINUX_CAPABILITY_VERSION_3, 0}; }

/// While it still has CAP_SETPCAP.
void shrink_bounding_set(Capabilities keep) {
  for (int number = 0; number <= kNumberMax; ++number) {
    const int held = ::prctl(PR_CAPBSET_READ, number, 0, 0, 0);
    if (held < 0) return;  // the kernel has no more of them
    if (held == 0 || (keep & capability(number)) != 0) continue;
    if (::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) == 0) continue;
    if (errno == EPERM) return;
    throw system_error("shrink the bounding set of capabilities", errno);
  }
}

void shrink_permitted(Capabilities keep) {
  auto header = this_thread();
  Halves halves{};
  if (::syscall(SYS_capget, &header, halves.data()) != 0) {
    throw system_error("read this process's capabilities", errno);
  }
  for (std::size_t i = 0; i < halves.size(); ++i) {
    const auto kept = static_cast<std::uint32_t>(keep >> (32 * i)) & halves[i].permitted;
    halves[i] = {.effective = kept, .permitted = kept, .inheritable = 0};
  }
  if (::syscall(SYS_capset, &header, halves.data()) != 0) {
    throw system_error("give up capabilities", errno);
  }
}

}  // namespace

void keep_capabilities(Capabilities keep) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    throw system_error("give up new privileges", errno);
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    throw system_error("give up ambient capabilities", errno);
  }
  shrink_bounding_set(keep);
  shrink_permitted(keep);
}

}  // namespace millrace
