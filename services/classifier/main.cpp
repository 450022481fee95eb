// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/classifier/classifier_actor.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/control/actor_process.hpp"

namespace millrace {
namespace {

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace classifier: runs network functions on the CPU");
  process.give_up_rights();  // before a function may start threads
  FunctionStages functions(
      process.context());  // tables before enrolment: a failure costs no packet
  process.enrol();
  ClassifierActor classifier(process.context(), functions);
  process.run(classifier, &functions);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-classifier", millrace::run, argc, argv);
}
