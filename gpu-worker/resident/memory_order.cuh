// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cuda/atomic>

/// Words that several processors share, on the GPU (`_device`) or with the CPU (`_system`).

namespace millrace::resident {

template <typename T, cuda::thread_scope Scope>
__device__ T load_word(const T* at) {
  return cuda::atomic_ref<T, Scope>(*const_cast<T*>(at)).load(cuda::memory_order_relaxed);
}
template <cuda::thread_scope Scope, typename T>
__device__ void store_word(T* at, T value) {
  cuda::atomic_ref<T, Scope>(*at).store(value, cuda::memory_order_relaxed);
}
template <typename T>
__device__ T load_system(const T* at) {
  return load_word<T, cuda::thread_scope_system>(at);
}
/// What the CPU wrote before it released `at` is seen behind this.
template <typename T>
__device__ T acquire_system(const T* at) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(*const_cast<T*>(at))
      .load(cuda::memory_order_acquire);
}
template <typename T>
__device__ T load_device(const T* at) {
  return load_word<T, cuda::thread_scope_device>(at);
}
/// What another block of this GPU wrote, or had seen of the CPU's, before it released `at` is seen
/// behind this; the multiprocessor forgets its first-level cache.
template <typename T>
__device__ T acquire_device(const T* at) {
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*const_cast<T*>(at))
      .load(cuda::memory_order_acquire);
}
template <typename T>
__device__ void store_system(T* at, T value) {
  store_word<cuda::thread_scope_system>(at, value);
}
template <typename T>
__device__ void store_device(T* at, T value) {
  store_word<cuda::thread_scope_device>(at, value);
}
__device__ inline std::uint32_t add_device(std::uint32_t* at, std::uint32_t value) {
  return cuda::atomic_ref<std::uint32_t, cuda::thread_scope_device>(*at).fetch_add(
      value, cuda::memory_order_relaxed);
}

/// What was read before stands, for the blocks of this GPU, before what follows; the multiprocessor
/// forgets its first-level cache: bytes that the CPU wrote since are seen. (A fence for the system
/// would wait for writes to arrive at the CPU, 0.9 us.)
__device__ inline void fence_device() {
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
}

}  // namespace millrace::resident
