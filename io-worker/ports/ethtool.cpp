// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/ethtool.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Of ethtool(8) -k: gro, lro, tso, gso, ufo, rx and tx checksums, rxvlan; as prefixes, because
/// they come in kinds (tx-tcp6-segmentation, rx-gro-hw).
constexpr std::string_view kHarmful[] = {"rx-gro",
                                         "rx-lro",
                                         "rx-udp-gro-forwarding",
                                         "rx-checksum",
                                         "rx-vlan-hw-parse",
                                         "rx-vlan-stag-hw-parse",
                                         "tx-checksum-",
                                         "tx-generic-segmentation",
                                         "tx-tcp-",
                                         "tx-tcp6-segmentation",
                                         "tx-udp-segmentation",
                                         "tx-udp-fragmentation"};

/// A request with an array behind its fixed part, as words: aligned, and no longer than asked for.
class Request {
 public:
  explicit Request(std::size_t bytes) : words_((bytes + 7) / 8) {}
  template <typename T>
  T& as() {
    return *reinterpret_cast<T*>(words_.data());
  }
  void* data() { return words_.data(); }

 private:
  std::vector<std::uint64_t> words_;
};

constexpr std::size_t blocks_for(std::size_t features) { return (features + 31) / 32; }

}  // namespace

bool is_harmful_offload(const std::string& feature) {
  return std::any_of(std::begin(kHarmful), std::end(kHarmful),
                     [&](std::string_view prefix) { return feature.starts_with(prefix); });
}

bool is_virtual_cable(const std::string& driver) { return driver == "veth" || driver == "tun"; }

Ethtool::Ethtool(const std::string& interface)
    : interface_(interface), socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  if (!socket_) throw system_error("open a socket to ask for " + interface, errno);
}

int Ethtool::call(void* request) const noexcept {
  ifreq question{};
  interface_.copy(question.ifr_name, IFNAMSIZ - 1);
  question.ifr_data = static_cast<char*>(request);
  return ::ioctl(socket_.get(), SIOCETHTOOL, &question) < 0 ? errno : 0;
}

std::vector<std::string> Ethtool::feature_names() const {
  Request info(sizeof(ethtool_sset_info) + sizeof(std::uint32_t));
  auto& sizes = info.as<ethtool_sset_info>();
  sizes.cmd = ETHTOOL_GSSET_INFO;
  sizes.sset_mask = std::uint64_t{1} << ETH_SS_FEATURES;
  if (call(info.data()) != 0 || sizes.sset_mask == 0) return {};
  const std::uint32_t count = sizes.data[0];
  Request request(sizeof(ethtool_gstrings) + std::size_t{count} * ETH_GSTRING_LEN);
  auto& strings = request.as<ethtool_gstrings>();
  strings.cmd = ETHTOOL_GSTRINGS;
  strings.string_set = ETH_SS_FEATURES;
  strings.len = count;
  if (call(request.data()) != 0) return {};
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* text =
        reinterpret_cast<const char*>(strings.data) + std::size_t{i} * ETH_GSTRING_LEN;
    names.emplace_back(text, ::strnlen(text, ETH_GSTRING_LEN));
  }
  return names;
}

std::vector<Ethtool::Feature> Ethtool::features() const {
  const std::vector<std::string> names = feature_names();
  const std::size_t blocks = blocks_for(names.size());
  Request request(sizeof(ethtool_gfeatures) + blocks * sizeof(ethtool_get_features_block));
  auto& answer = request.as<ethtool_gfeatures>();
  answer.cmd = ETHTOOL_GFEATURES;
  answer.size = static_cast<std::uint32_t>(blocks);
  if (names.empty() || call(request.data()) != 0) return {};
  std::vector<Feature> features;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ethtool_get_features_block& block = answer.features[i / 32];
    const std::uint32_t bit = 1u << (i % 32);
    const bool fixed = (block.available & bit) == 0 || (block.never_changed & bit) != 0;
    features.push_back({names[i], (block.active & bit) != 0, fixed});
  }
  return features;
}

void Ethtool::set_features(const std::vector<std::string>& wanted, bool on) const {
  const std::vector<std::string> names = feature_names();
  const std::size_t blocks = blocks_for(names.size());
  Request request(sizeof(ethtool_sfeatures) + blocks * sizeof(ethtool_set_features_block));
  auto& order = request.as<ethtool_sfeatures>();
  order.cmd = ETHTOOL_SFEATURES;
  order.size = static_cast<std::uint32_t>(blocks);
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(wanted.begin(), wanted.end(), names[i]) == wanted.end()) continue;
    const std::uint32_t bit = 1u << (i % 32);
    order.features[i / 32].valid |= bit;
    if (on) order.features[i / 32].requested |= bit;
    any = true;
  }
  if (!any) return;
  if (const int error = call(request.data()); error != 0) {
    throw system_error("switch offloads of " + interface_, error);
  }
}

std::string Ethtool::driver() const {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (call(&info) != 0) return "";
  return {info.driver, ::strnlen(info.driver, sizeof info.driver)};
}

std::uint32_t Ethtool::rx_queues() const {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  if (call(&channels) != 0) return 0;
  return channels.rx_count + channels.combined_count;
}

int Ethtool::set_rx_queues(std::uint32_t count) const {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  if (const int error = call(&channels); error != 0) return error;
  channels.cmd = ETHTOOL_SCHANNELS;
  if (channels.max_combined != 0) {
    channels.combined_count = count;
    channels.rx_count = 0;
  } else {
    channels.rx_count = count;
  }
  return call(&channels);
}

}  // namespace millrace
