// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace::test {

/// Two GPUs, of which the second tells nothing of its load.
inline constexpr const char* kNvmlSource = R"(
typedef void* Device;
int nvmlInit_v2(void) { return INIT; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned number, Device* device) {
  *device = (Device)(unsigned long)(number + 1);
  return 0;
}
int nvmlDeviceGetName(Device device, char* name, unsigned bytes) {
  if (bytes < 8) return 7;
  name[0] = 'G'; name[1] = (char)('0' + (unsigned long)device); name[2] = 0;
  return 0;
}
int nvmlDeviceGetUtilizationRates(Device device, unsigned* rates) {
  if ((unsigned long)device == 2) return 3;
  rates[0] = 42; rates[1] = 5;
  return 0;
}
int nvmlDeviceGetMemoryInfo(Device device, unsigned long long* bytes) {
  (void)device;
  bytes[0] = 1000; bytes[1] = 300; bytes[2] = 700;
  return 0;
}
)";

inline std::string make_nvml(const TestFolder& folder, const std::string& options) {
  // Compiled here: no library of that name must lie among those of the build.
  const std::string source = folder.path("nvml.c"), library = folder.path("libnvidia-ml.so.1");
  std::ofstream(source) << kNvmlSource;
  const std::string command = "cc -shared -fPIC " + options + " -o " + library + " " + source;
  EXPECT_EQ(std::system(command.c_str()), 0);
  return library;
}

}  // namespace millrace::test
