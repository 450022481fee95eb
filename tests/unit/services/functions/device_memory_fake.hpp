// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "services/functions/device_function.hpp"

namespace millrace {

/// A GPU's memory that is none: what an upload leaves there can be looked at.
class FakeDeviceMemory : public DeviceMemory {
 public:
  const std::byte* copy(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return nullptr;
    pieces_.push_back(std::make_unique<std::uint64_t[]>(bytes.size() / 8 + 1));
    std::memcpy(pieces_.back().get(), bytes.data(), bytes.size());
    return reinterpret_cast<const std::byte*>(pieces_.back().get());
  }

 private:
  std::vector<std::unique_ptr<std::uint64_t[]>> pieces_;
};

/// The view that an upload put into its DeviceTable.
template <typename View>
View view_in(const DeviceTable& table) {
  View view;
  std::memcpy(&view, table.view, sizeof view);
  return view;
}

}  // namespace millrace
