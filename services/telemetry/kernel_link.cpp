// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/kernel_link.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kMegabitBytes = 125'000;

/// The settings, with room for the link mode masks that the kernel puts behind them.
class SettingsQuestion {
 public:
  ethtool_link_settings& head() { return *reinterpret_cast<ethtool_link_settings*>(room_); }
  bool ask(const UniqueFd& socket, ifreq& request, std::int8_t mask_words) {
    std::memset(room_, 0, sizeof room_);
    head().cmd = ETHTOOL_GLINKSETTINGS;
    head().link_mode_masks_nwords = mask_words;
    request.ifr_data = reinterpret_cast<char*>(room_);
    return ::ioctl(socket.get(), SIOCETHTOOL, &request) == 0;
  }

 private:
  static constexpr std::size_t kMaskBytes = 3 * 127 * sizeof(std::uint32_t);
  alignas(ethtool_link_settings) std::byte room_[sizeof(ethtool_link_settings) + kMaskBytes];
};

/// The speed in megabits a second; 0: not known.
std::uint32_t speed_of(const UniqueFd& socket, ifreq request) {
  SettingsQuestion settings;
  // The first question is how many words the masks have; the kernel answers a negative number.
  if (!settings.ask(socket, request, 0) || settings.head().link_mode_masks_nwords >= 0) return 0;
  const auto words = static_cast<std::int8_t>(-settings.head().link_mode_masks_nwords);
  if (!settings.ask(socket, request, words)) return 0;
  const std::uint32_t speed = settings.head().speed;
  return speed == static_cast<std::uint32_t>(SPEED_UNKNOWN) ? 0 : speed;
}

}  // namespace

std::optional<LinkState> read_kernel_link(const std::string& interface) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  if (!socket || interface.size() >= sizeof request.ifr_name) return std::nullopt;
  std::memcpy(request.ifr_name, interface.data(), interface.size());
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) {
    if (errno == ENODEV) return LinkState{.up = false, .bytes_per_second = 0};
    return std::nullopt;
  }
  const bool up = (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_RUNNING) != 0;
  return LinkState{.up = up, .bytes_per_second = speed_of(socket, request) * kMegabitBytes};
}

}  // namespace millrace
