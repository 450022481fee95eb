// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "services/functions/ids/packets/fragment_table.hpp"

namespace millrace {

/// A host that puts datagrams together, byte by byte.
class FragmentReceiver {
 public:
  /// Of two bytes for one place it takes the last one; else the first one.
  explicit FragmentReceiver(bool takes_last) : takes_last_(takes_last) {}

  /// The data of a datagram that is whole now. What it has waited for `kTimeoutS` it forgets.
  std::optional<std::string> receive(const IpFragment& fragment, std::uint32_t now_s) {
    Datagram& datagram = datagrams_[fragment.key.destination_port];
    if (now_s - datagram.seen_s >= FragmentTable::kTimeoutS) datagram = {};
    datagram.seen_s = now_s;
    for (std::size_t i = 0; i < fragment.data.size(); ++i) {
      const char byte = static_cast<char>(fragment.data[i]);
      if (takes_last_) datagram.bytes[fragment.at + i] = byte;
      datagram.bytes.emplace(fragment.at + i, byte);
    }
    if (!fragment.more && (takes_last_ || !datagram.end)) datagram.end = fragment.end();
    if (!datagram.end) return std::nullopt;
    std::string whole;
    for (const auto& [at, byte] : datagram.bytes) {
      if (at == *datagram.end) break;
      if (at != whole.size()) return std::nullopt;
      whole += byte;
    }
    if (whole.size() != *datagram.end) return std::nullopt;
    datagrams_.erase(fragment.key.destination_port);
    return whole;
  }

 private:
  struct Datagram {
    std::map<std::size_t, char> bytes;
    std::optional<std::size_t> end;
    std::uint32_t seen_s = 0;
  };
  bool takes_last_;
  std::map<std::uint16_t, Datagram> datagrams_;
};

}  // namespace millrace
