// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace millrace {

/// What the driver says of the host's GPUs. Its library is loaded if it is there, and never linked.
/// Used by one thread.
class Nvml {
 public:
  struct Gpu {
    std::uint32_t number = 0;
    std::string name;
    std::optional<std::uint32_t> busy_percent;  ///< empty: could not be read
    std::optional<std::uint64_t> memory_used, memory_bytes;
  };

  /// Null when the library is not there or finds no driver.
  static std::unique_ptr<Nvml> load(const char* library = "libnvidia-ml.so.1");
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);  ///< for load()
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  std::vector<Gpu> read() const;

 private:
  std::unique_ptr<Library> library_;
};

}  // namespace millrace
