// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/telemetry/nvml.hpp"

#include <dlfcn.h>

#include <utility>

namespace millrace {
namespace {

constexpr int kSuccess = 0;
constexpr unsigned kNameBytes = 96;
constexpr unsigned kGpusMax = 64;

}  // namespace

/// As in NVIDIA's nvml.h, whose ABI does not change: a version is part of a function's name.
struct Nvml::Library {
  using Device = void*;
  struct Utilization {
    unsigned gpu, memory;  // percent
  };
  struct Memory {
    unsigned long long total, free, used;  // bytes
  };

  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*device)(unsigned, Device*) = nullptr;
  int (*name)(Device, char*, unsigned) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle != nullptr) ::dlclose(handle);
  }
  template <typename Function>
  bool find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(handle, symbol));
    return function != nullptr;
  }
};

std::unique_ptr<Nvml> Nvml::load(const char* library) {
  auto found = std::make_unique<Library>();
  found->handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (found->handle == nullptr) return nullptr;
  const bool complete = found->find(found->init, "nvmlInit_v2") &&
                        found->find(found->shutdown, "nvmlShutdown") &&
                        found->find(found->count, "nvmlDeviceGetCount_v2") &&
                        found->find(found->device, "nvmlDeviceGetHandleByIndex_v2") &&
                        found->find(found->name, "nvmlDeviceGetName") &&
                        found->find(found->utilization, "nvmlDeviceGetUtilizationRates") &&
                        found->find(found->memory, "nvmlDeviceGetMemoryInfo");
  if (!complete || found->init() != kSuccess) return nullptr;
  return std::make_unique<Nvml>(std::move(found));
}

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() { library_->shutdown(); }

std::vector<Nvml::Gpu> Nvml::read() const {
  std::vector<Gpu> gpus;
  unsigned count = 0;
  if (library_->count(&count) != kSuccess) return gpus;
  for (unsigned number = 0; number < count && number < kGpusMax; ++number) {
    Library::Device device = nullptr;
    if (library_->device(number, &device) != kSuccess) continue;
    Gpu& gpu = gpus.emplace_back();
    gpu.number = number;
    char name[kNameBytes] = {};
    if (library_->name(device, name, sizeof name - 1) == kSuccess) gpu.name = name;
    Library::Utilization utilization{};
    if (library_->utilization(device, &utilization) == kSuccess) gpu.busy_percent = utilization.gpu;
    Library::Memory memory{};
    if (library_->memory(device, &memory) != kSuccess) continue;
    gpu.memory_used = memory.used;
    gpu.memory_bytes = memory.total;
  }
  return gpus;
}

}  // namespace millrace
