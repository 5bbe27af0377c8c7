// A schedule without tensors: whether it ends, how long it takes, and what it keeps.
#include <csrc/distributed/pipeline/schedule.h>

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <limits>

namespace torch::distributed::pipelining {

namespace {

using Kind = Action::Kind;

class Simulator {
 public:
  Simulator(const Schedule& schedule, const Costs& costs, bool with_backward)
      : schedule_(schedule),
        costs_(costs),
        with_backward_(with_backward),
        ended_(2 * places(), kNever),
        next_(static_cast<size_t>(schedule.ranks), 0),
        free_(static_cast<size_t>(schedule.ranks), 0) {}

  Simulation run() {
    check_actions();
    check_message_order();
    std::vector<int> ready;
    for (int rank = schedule_.ranks - 1; rank >= 0; --rank) {
      ready.push_back(rank);
    }
    while (!ready.empty()) {
      const int rank = ready.back();
      ready.pop_back();
      advance(rank, ready);
    }
    check_ended();
    return result();
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  size_t places() const {
    return static_cast<size_t>(schedule_.stages) * static_cast<size_t>(schedule_.microbatches);
  }
  size_t place(Kind kind, int stage, int microbatch) const {
    return (kind == Kind::Forward ? 0 : places()) + static_cast<size_t>(stage) * schedule_.microbatches + microbatch;
  }
  const std::vector<Action>& of(int rank) const {
    return schedule_.actions[static_cast<size_t>(rank)];
  }
  bool between_ranks() const {
    return schedule_.ranks > 1;
  }

  void check_actions() const {
    TORCH_CHECK_VALUE(
        schedule_.ranks >= 1 && schedule_.stages >= 1 && schedule_.microbatches >= 1 &&
            schedule_.stages % schedule_.ranks == 0 && schedule_.actions.size() == static_cast<size_t>(schedule_.ranks),
        "pipeline schedule: ", schedule_.stages, " stages and ", schedule_.actions.size(), " lists of actions for ",
        schedule_.ranks, " ranks; each rank must have a list and as many stages as the others");
    std::vector<bool> seen(2 * places(), false);
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      for (const auto& action : of(rank)) {
        TORCH_CHECK_VALUE(
            action.stage >= 0 && action.stage < schedule_.stages && action.microbatch >= 0 &&
                action.microbatch < schedule_.microbatches && action.stage % schedule_.ranks == rank,
            "pipeline schedule: rank ", rank, " has the ", describe(action), ", but there are ", schedule_.stages,
            " stages, of which it has those whose number modulo ", schedule_.ranks, " is its own, and ",
            schedule_.microbatches, " microbatches");
        const size_t at = place(action.kind, action.stage, action.microbatch);
        TORCH_CHECK_VALUE(!seen[at], "pipeline schedule: rank ", rank, " has the ", describe(action), " twice");
        TORCH_CHECK_VALUE(
            action.kind == Kind::Forward || seen[place(Kind::Forward, action.stage, action.microbatch)],
            "pipeline schedule: rank ", rank, " has the ", describe(action), " before its forward");
        seen[at] = true;
      }
    }
    for (size_t at = 0; at < (with_backward_ ? 2 : 1) * places(); ++at) {
      const auto stage = static_cast<int>(at % places()) / schedule_.microbatches;
      const auto microbatch = static_cast<int>(at % schedule_.microbatches);
      TORCH_CHECK_VALUE(
          seen[at], "pipeline schedule: rank ", stage % schedule_.ranks, " does not have the ",
          describe({at < places() ? Kind::Forward : Kind::Backward, stage, microbatch}));
    }
  }

  // Backends without tags match messages by their order.
  void check_message_order() const {
    std::vector<std::vector<int>> orders(2 * static_cast<size_t>(schedule_.stages));
    for (const auto& actions : schedule_.actions) {
      for (const auto& action : actions) {
        orders[(action.kind == Kind::Forward ? 0 : schedule_.stages) + action.stage].push_back(action.microbatch);
      }
    }
    for (int stage = 1; between_ranks() && stage < schedule_.stages; ++stage) {
      for (const int offset : {0, schedule_.stages}) {
        TORCH_CHECK_VALUE(
            orders[offset + stage] == orders[offset + stage - 1], "pipeline schedule: stages ", stage - 1, " and ",
            stage, " take the ", offset == 0 ? "forwards" : "backwards", " of microbatches in different orders");
      }
    }
  }

  // When what an action needs of another stage has come; kNever if that has not been done yet.
  double arrival(const Action& action) const {
    const int from = action.kind == Kind::Forward ? action.stage - 1 : action.stage + 1;
    if (from < 0 || from >= schedule_.stages) {
      return 0;
    }
    return ended_[place(action.kind, from, action.microbatch)] + (between_ranks() ? costs_.message : 0);
  }

  // Runs a rank until it has to wait; whom that lets go on is put into `ready`.
  void advance(int rank, std::vector<int>& ready) {
    size_t& next = next_[static_cast<size_t>(rank)];
    double& now = free_[static_cast<size_t>(rank)];
    for (; next < of(rank).size(); ++next) {
      const Action& action = of(rank)[next];
      const double begin = std::max(now, arrival(action));
      if (begin == kNever) {
        return;
      }
      now = begin + (action.kind == Kind::Forward ? costs_.forward : costs_.backward);
      ended_[place(action.kind, action.stage, action.microbatch)] = now;
      const int to = action.kind == Kind::Forward ? action.stage + 1 : action.stage - 1;
      if (between_ranks() && to >= 0 && to < schedule_.stages) {
        ready.push_back(to % schedule_.ranks);
      }
    }
  }

  void check_ended() const {
    std::string waiting;
    int count = 0;
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      const size_t next = next_[static_cast<size_t>(rank)];
      if (next < of(rank).size() && ++count <= 4) {
        waiting += c10::str(count > 1 ? "; " : "", "rank ", rank, " waits before the ", describe(of(rank)[next]));
      }
    }
    TORCH_CHECK_VALUE(
        count == 0, "pipeline schedule: deadlock: ", waiting, count > 4 ? c10::str(" and ", count - 4, " more") : "");
  }

  Simulation result() const {
    Simulation simulation;
    double busy = 0;
    for (int rank = 0; rank < schedule_.ranks; ++rank) {
      simulation.time = std::max(simulation.time, free_[static_cast<size_t>(rank)]);
      int kept = 0;
      int peak = 0;
      for (const auto& action : of(rank)) {
        const bool forward = action.kind == Kind::Forward;
        busy += forward ? costs_.forward : costs_.backward;
        kept += forward ? 1 : -1;
        peak = std::max(peak, kept);
      }
      simulation.peak_activations.push_back(peak);
    }
    simulation.bubble = simulation.time > 0 ? 1 - busy / (simulation.time * schedule_.ranks) : 0;
    return simulation;
  }

  const Schedule& schedule_;
  const Costs& costs_;
  const bool with_backward_;
  std::vector<double> ended_; // of each action
  std::vector<size_t> next_; // of each rank: its next action
  std::vector<double> free_; // of each rank: when it is
};

} // namespace

Simulation simulate(const Schedule& schedule, const Costs& costs, bool with_backward) {
  return Simulator(schedule, costs, with_backward).run();
}

} // namespace torch::distributed::pipelining
