// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "shared/config/loop.hpp"
#include "tests/unit/support/odd_classifier.hpp"

/// A classifier that takes one off the TTL of each packet, and sends to the loop whatever has more
/// than kLastTtl left: a packet of TTL 64 goes through the loop kLastTtl less than 64 times.

namespace millrace::test {
namespace {

constexpr std::byte kLastTtl{60};
constexpr std::size_t kTtlAt = 14 + 8;  ///< in an untagged frame of IPv4

class RoundWork final : public OddWork {
 public:
  RoundWork(const ActorContext& context, StageWork& work)
      : OddWork(context, work),
        loop_(static_cast<std::uint8_t>(std::ranges::find_if(context.plan->ports, is_loop) -
                                        context.plan->ports.begin())) {}

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.run(stage, batch);
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (!batch.goes_on(i)) continue;
      std::byte& ttl = batch.data(i)[kTtlAt];
      ttl = static_cast<std::byte>(static_cast<unsigned>(ttl) - 1);
      if (ttl > kLastTtl) batch.output[i] = loop_;
    }
  }

 private:
  std::uint8_t loop_;
};

}  // namespace
}  // namespace millrace::test

int main(int argc, char** argv) {
  return millrace::main_of("round-classifier",
                           millrace::test::odd_classifier<millrace::test::RoundWork>, argc, argv);
}
