// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace millrace {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Stands for the initializer of a member of any type; never defined. An optional takes it as its
/// value.
struct AnyInitializer {
  template <typename T>
  requires(!kIsOptional<T>) operator T() const;  // NOLINT(google-explicit-*)
};

/// Members of an aggregate without base: with how many initializers it can be made at most.
template <typename Aggregate, typename... Initializers>
constexpr std::size_t field_count() {
  if constexpr (requires { Aggregate{Initializers{}..., AnyInitializer{}}; }) {
    return field_count<Aggregate, Initializers..., AnyInitializer>();
  } else {
    return sizeof...(Initializers);
  }
}

}  // namespace millrace
