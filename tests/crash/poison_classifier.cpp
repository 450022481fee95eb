// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "tests/unit/support/odd_classifier.hpp"

/// A classifier whose functions do not survive some packets: those whose number (a numbered
/// generator's) is a multiple of kPoison.

namespace millrace::test {
namespace {

constexpr std::uint64_t kPoison = 8192;
constexpr std::size_t kNumberAt = 58;  // in the frame, most significant byte first
constexpr useconds_t kLifeLeft = 2000;

bool is_poison(std::span<const std::byte> frame) {
  if (frame.size() < kNumberAt + sizeof(std::uint64_t)) return false;
  std::uint64_t number = 0;
  std::memcpy(&number, frame.data() + kNumberAt, sizeof number);
  return __builtin_bswap64(number) % kPoison == 0;
}

class PoisonedWork final : public OddWork {
 public:
  using OddWork::OddWork;

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    bool poison = context_.status.header().functions_out.load() == 0;
    if (poison) poison = has_poison(batch);
    // Again and again, so that the alarm ends the process in the middle of a function.
    if (poison) {
      struct sigaction dies {};
      dies.sa_handler = [](int) { std::abort(); };
      ::sigaction(SIGALRM, &dies, nullptr);
      ::ualarm(kLifeLeft, 0);
    }
    do {
      work_.run(stage, batch);
    } while (poison);
  }

 private:
  static bool has_poison(const Batch& batch) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (is_poison(batch.bytes(i))) return true;
    }
    return false;
  }
};

}  // namespace
}  // namespace millrace::test

int main(int argc, char** argv) {
  return millrace::main_of("poison-classifier",
                           millrace::test::odd_classifier<millrace::test::PoisonedWork>, argc,
                           argv);
}
