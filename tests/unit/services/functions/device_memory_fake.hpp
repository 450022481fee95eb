// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>

#include "services/functions/device_function.hpp"

namespace millrace {

/// A GPU's memory that is none: what an upload leaves there can be looked at.
class FakeDeviceMemory : public DeviceMemory {
 public:
  const std::byte* copy(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return nullptr;
    std::size_t room = bytes.size() + kAligned;
    auto piece = std::make_unique_for_overwrite<std::byte[]>(room);
    void* at = piece.get();
    std::align(kAligned, bytes.size(), at, room);
    std::memcpy(at, bytes.data(), bytes.size());
    pieces_.emplace(static_cast<const std::byte*>(at), std::move(piece));
    return static_cast<const std::byte*>(at);
  }
  void write(const std::byte* at, std::span<const std::byte> bytes) override {
    std::memcpy(const_cast<std::byte*>(at), bytes.data(), bytes.size());
  }
  void settle() override {}
  void give_back(const std::byte* at) noexcept override { pieces_.erase(at); }
  std::size_t piece_count() const { return pieces_.size(); }

 private:
  static constexpr std::size_t kAligned = 256;

  std::unordered_map<const std::byte*, std::unique_ptr<std::byte[]>> pieces_;
};

/// The view that an upload put into its DeviceTable.
template <typename View>
View view_in(const DeviceTable& table) {
  View view;
  std::memcpy(&view, table.view, sizeof view);
  return view;
}

}  // namespace millrace
