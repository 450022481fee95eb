// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/classifier/classifier_actor.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// Classifiers that do something odd besides their work, as programs to put in the place of the
/// real one.

namespace millrace::test {

/// The real work; an odd one overrides what it does otherwise.
class OddWork : public StageWork {
 public:
  OddWork(const ActorContext& context, StageWork& work) : context_(context), work_(work) {}

  void run(std::uint8_t stage, const Batch& batch) noexcept override { work_.run(stage, batch); }
  void compute(std::uint8_t stage, const Batch& batch, std::uint32_t* results) noexcept override {
    work_.compute(stage, batch, results);
  }
  std::uint32_t columns(std::uint8_t stage, std::uint32_t edition) const noexcept override {
    return work_.columns(stage, edition);
  }
  void finish(std::uint8_t stage, const Batch& batch) noexcept override {
    work_.finish(stage, batch);
  }

 protected:
  ActorContext context_;
  StageWork& work_;
};

/// For main_of(): a classifier with that Work around its functions.
template <typename Work>
void odd_classifier(int argc, char** argv) {
  ActorProcess process(argc, argv, "An odd classifier, for tests");
  FunctionStages functions(process.context());
  Work work(process.context(), functions);
  process.enrol();
  ClassifierActor classifier(process.context(), work);
  process.run(classifier);
}

}  // namespace millrace::test
