// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/classifier_actor.hpp"
#include "services/classifier/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// A classifier that forgets the last packet of its hundredth batch: neither dropped nor passed on.

namespace millrace {
namespace {

constexpr int kForgetfulBatch = 100;

class ForgetfulWork final : public StageWork {
 public:
  explicit ForgetfulWork(StageWork& work) : work_(work) {}

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.run(stage, batch);
    if (++batches_ == kForgetfulBatch) --batch.header->count;
  }
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override {
    work_.compute(stage, batch, results);
  }
  void finish(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.finish(stage, batch);
  }

 private:
  StageWork& work_;
  int batches_ = 0;
};

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "A classifier that loses a packet, for tests");
  FunctionStages functions(process.context());
  ForgetfulWork work(functions);
  process.enrol();
  ClassifierActor classifier(process.context(), work);
  process.run(classifier);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("lossy-classifier", millrace::run, argc, argv);
}
