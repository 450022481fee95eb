// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/loop/open_queues.hpp"
#include "services/classifier/classifier_actor.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/actor/fused_loop.hpp"
#include "shared/actor/setup_beat.hpp"
#include "shared/control/actor_process.hpp"

/// `placement: fused`: all actors that move packets, on one thread. Each has its own entry, links
/// and counters, as in a process of its own; recovery treats them as several actors that died at
/// once.

namespace millrace {
namespace {

/// An actor and what it works with. Constructed in this order, destroyed in the reverse order.
struct Part {
  ActorContext context;
  bool restarted = false;
  std::unique_ptr<FunctionStages> functions;
  std::unique_ptr<BufferPool> pool;
  std::unique_ptr<RxQueue> receive;
  TxQueues send;
  std::unique_ptr<Actor> actor;
};

/// Makes the parts in the order of the path.
std::vector<Part> make_parts(const ActorProcess& process) {
  std::vector<Part> parts;
  for (const ActorKind kind : {ActorKind::kIngress, ActorKind::kClassifier, ActorKind::kEgress}) {
    for (std::uint32_t i = 0; i < process.plan().actors.size(); ++i) {
      if (process.plan().actors[i].kind != kind) continue;
      Part& part = parts.emplace_back();
      part.context = process.context();
      part.context.me = {static_cast<std::uint16_t>(i), 0};
      part.restarted = part.context.my_entry().incarnation.load() != 0;
      // Tables before an actor enrols: a failure costs no packet.
      if (kind != ActorKind::kIngress) {
        part.functions = std::make_unique<FunctionStages>(part.context);
      }
    }
  }
  return parts;
}

/// A thread that keeps the rights of the process's start, to open ports. Ports are opened after
/// functions, which may start threads; those threads must not have the rights. It ends when its
/// work is done, or when it is destroyed.
class Opener {
 public:
  explicit Opener(std::function<void()> work)
      : work_(std::move(work)), thread_([this] { run(); }) {}
  Opener(const Opener&) = delete;  // its thread refers to it
  Opener& operator=(const Opener&) = delete;
  ~Opener() { end(); }
  /// Does the work, once. Throws what the work throws.
  void open() {
    wanted_ = true;
    end();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run() noexcept {
    turn_.acquire();
    try {
      if (wanted_) work_();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  void end() {
    if (!thread_.joinable()) return;
    turn_.release();
    thread_.join();
  }

  const std::function<void()> work_;
  std::binary_semaphore turn_{0};
  bool wanted_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

void make_actor(ActorProcess& process, Part& part) {
  const auto tell = [&process](std::string_view text) { process.warn_of_port(text); };
  const Plan& plan = process.plan();
  const PlanActor& me = plan.actors[part.context.me.actor];
  if (me.kind == ActorKind::kIngress) {
    part.pool = std::make_unique<BufferPool>(part.context, me.index);
    part.receive = open_rx(part.context, me.index, *part.pool, part.restarted, process.run_dir());
    auto ingress =
        std::make_unique<IngressActor>(part.context, me.index, *part.pool, *part.receive);
    ingress->tell_by(tell);
    part.actor = std::move(ingress);
  } else if (me.kind == ActorKind::kClassifier) {
    part.actor = std::make_unique<ClassifierActor>(part.context, *part.functions);
  } else {
    for (std::uint32_t i = 0; i < plan.ports.size(); ++i) {
      if (port_queues(plan.ports[i]).send == 0) continue;
      part.send[i] = open_tx(part.context, i, part.restarted, process.run_dir());
    }
    auto egress = std::make_unique<EgressActor>(part.context, part.send, *part.functions);
    egress->tell_by(tell);
    part.actor = std::move(egress);
  }
}

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace fused: all that move packets, on one thread");
  std::vector<Part> parts;
  Opener opener([&] {
    for (Part& part : parts) make_actor(process, part);
  });
  process.give_up_rights();
  parts = make_parts(process);
  std::vector<ActorContext> enrolled;
  for (Part& part : parts) {
    part.context = process.enrol_as(part.context.me.actor, enrolled);
    enrolled.push_back(part.context);
  }
  std::vector<FusedLoop::Member> members;
  std::vector<PlanFollower*> followers;
  {
    const SetupBeat beat(enrolled);
    opener.open();
  }
  for (Part& part : parts) {
    members.push_back({part.context, part.actor.get()});
    if (part.functions) followers.push_back(part.functions.get());
  }
  process.run_fused(members, std::move(followers));
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-fused", millrace::run, argc, argv);
}
