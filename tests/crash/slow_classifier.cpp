// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <thread>

#include "services/classifier/classifier_actor.hpp"
#include "services/classifier/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// A classifier that has a batch in its hands nearly all the time: whoever kills it hits one.

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kInHands{10};

class SlowWork final : public StageWork {
 public:
  explicit SlowWork(StageWork& work) : work_(work) {}

  void run(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.run(stage, batch);
    std::this_thread::sleep_for(kInHands);
  }
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override {
    work_.compute(stage, batch, results);
  }
  void finish(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.finish(stage, batch);
  }

 private:
  StageWork& work_;
};

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "A classifier that takes its time, for tests");
  FunctionStages functions(process.context());
  SlowWork work(functions);
  process.enrol();
  ClassifierActor classifier(process.context(), work);
  process.run(classifier);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("slow-classifier", millrace::run, argc, argv);
}
