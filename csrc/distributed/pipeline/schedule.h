// The order in which ranks of a pipeline run their stages, and what an order costs.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <string>
#include <vector>

namespace torch::distributed::pipelining {

/// One stage on one microbatch, forward or backward.
struct Action {
  enum class Kind : uint8_t { Forward, Backward };
  Kind kind = Kind::Forward;
  int stage = 0;
  int microbatch = 0;

  bool operator==(const Action& other) const {
    return kind == other.kind && stage == other.stage && microbatch == other.microbatch;
  }
};

/// What each rank does, in its order. Stage s is on rank s % ranks. Messages do not block who sends them.
struct TORCH_API Schedule {
  std::string name;
  int ranks = 1;
  int stages = 1;
  int microbatches = 1;
  std::vector<std::vector<Action>> actions; // of each rank
};

/// All forwards, then all backwards (Huang et al., GPipe, arXiv 1811.06965). These functions throw ValueError for
/// numbers below 1.
TORCH_API Schedule gpipe(int ranks, int microbatches);
/// As few forwards as keep all ranks busy, then one of each in turn: rank r keeps at most ranks - r microbatches
/// (Narayanan et al., PipeDream, arXiv 1806.03377).
TORCH_API Schedule one_forward_one_backward(int ranks, int microbatches);
/// The same with several stages on each rank, which makes the bubble smaller by their number and takes more messages
/// (Narayanan et al., arXiv 2104.04473). Microbatches go through the stages in rounds of at least `ranks`; where they
/// do not divide evenly the first rounds have one more.
TORCH_API Schedule interleaved_one_forward_one_backward(int ranks, int stages_per_rank, int microbatches);

/// What actions take, in any unit of time.
struct Costs {
  double forward = 1; // of one stage and one microbatch
  double backward = 2;
  double message = 0; // between ranks; others' time, not theirs
};

struct Simulation {
  double time = 0;
  double bubble = 0; // the part of all ranks' time in which they wait
  std::vector<int> peak_activations; // of each rank: microbatches whose backward is to come, over its stages
};

/// Runs a schedule without tensors. Throws ValueError, and says which action of which rank is at fault, where one is
/// missing, doubled, out of place or waits for ever, or where a rank takes messages of another one in an order that
/// they are not sent in. `with_backward` is false for schedules that have forwards alone.
TORCH_API Simulation simulate(const Schedule& schedule, const Costs& costs = {}, bool with_backward = true);

/// "forward of stage 1, microbatch 2".
TORCH_API std::string describe(const Action& action);

} // namespace torch::distributed::pipelining
