// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "shared/base/error.hpp"

namespace millrace::test {

/// Runs `work`; the text of the Error that it throws, "no error" when it throws none.
std::string error_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace millrace::test
