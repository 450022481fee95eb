// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/support/odd_classifier.hpp"

/// A classifier that forgets the last packet of its hundredth batch: neither dropped nor passed on.

namespace millrace::test {
namespace {

constexpr int kForgetfulBatch = 100;

class ForgetfulWork final : public OddWork {
 public:
  using OddWork::OddWork;

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.run(stage, batch);
    if (++batches_ == kForgetfulBatch) --batch.header->count;
  }

 private:
  int batches_ = 0;
};

}  // namespace
}  // namespace millrace::test

int main(int argc, char** argv) {
  return millrace::main_of("lossy-classifier",
                           millrace::test::odd_classifier<millrace::test::ForgetfulWork>, argc,
                           argv);
}
