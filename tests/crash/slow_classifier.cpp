// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <thread>

#include "tests/unit/support/odd_classifier.hpp"

/// A classifier that has a batch in its hands nearly all the time: a kill hits one.

namespace millrace::test {
namespace {

constexpr std::chrono::milliseconds kInHands{10};

class SlowWork final : public OddWork {
 public:
  using OddWork::OddWork;

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.run(stage, batch);
    std::this_thread::sleep_for(kInHands);
  }
};

}  // namespace
}  // namespace millrace::test

int main(int argc, char** argv) {
  return millrace::main_of("slow-classifier",
                           millrace::test::odd_classifier<millrace::test::SlowWork>, argc, argv);
}
