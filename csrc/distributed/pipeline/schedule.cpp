// The order in which ranks of a pipeline run their stages.
#include <csrc/distributed/pipeline/schedule.h>

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

namespace torch::distributed::pipelining {

namespace {

void check_counts(const char* name, int ranks, int stages_per_rank, int microbatches) {
  TORCH_CHECK_VALUE(
      ranks >= 1 && stages_per_rank >= 1 && microbatches >= 1, name,
      ": ranks, stages of a rank and microbatches must be at least 1, but got ", ranks, ", ", stages_per_rank, " and ",
      microbatches);
}

// A rank's forwards (or backwards, last stage first): rounds of microbatches, each through all its stages.
std::vector<Action> in_rounds(Action::Kind kind, int rank, int ranks, int stages_per_rank, int microbatches) {
  const int rounds = std::max(1, microbatches / ranks);
  std::vector<Action> all;
  int first = 0;
  for (int round = 0; round < rounds; ++round) {
    const int count = microbatches / rounds + (round < microbatches % rounds ? 1 : 0);
    for (int i = 0; i < stages_per_rank; ++i) {
      const int place = kind == Action::Kind::Forward ? i : stages_per_rank - 1 - i;
      for (int microbatch = first; microbatch < first + count; ++microbatch) {
        all.push_back({kind, place * ranks + rank, microbatch});
      }
    }
    first += count;
  }
  return all;
}

// `ahead` forwards, then a forward and a backward in turn, then what is left of the backwards.
std::vector<Action> in_turn(const std::vector<Action>& forwards, const std::vector<Action>& backwards, size_t ahead) {
  std::vector<Action> all(forwards.begin(), forwards.begin() + static_cast<int64_t>(std::min(ahead, forwards.size())));
  size_t done = 0;
  for (size_t next = all.size(); next < forwards.size(); ++next) {
    all.push_back(forwards[next]);
    all.push_back(backwards[done++]);
  }
  all.insert(all.end(), backwards.begin() + static_cast<int64_t>(done), backwards.end());
  return all;
}

} // namespace

std::string describe(const Action& action) {
  return c10::str(
      action.kind == Action::Kind::Forward ? "forward" : "backward", " of stage ", action.stage, ", microbatch ",
      action.microbatch);
}

Schedule gpipe(int ranks, int microbatches) {
  check_counts("gpipe", ranks, 1, microbatches);
  Schedule schedule{"gpipe", ranks, ranks, microbatches, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    auto all = in_rounds(Action::Kind::Forward, rank, ranks, 1, microbatches);
    const auto backwards = in_rounds(Action::Kind::Backward, rank, ranks, 1, microbatches);
    all.insert(all.end(), backwards.begin(), backwards.end());
    schedule.actions.push_back(std::move(all));
  }
  return schedule;
}

Schedule one_forward_one_backward(int ranks, int microbatches) {
  check_counts("one_forward_one_backward", ranks, 1, microbatches);
  Schedule schedule{"one_forward_one_backward", ranks, ranks, microbatches, {}};
  for (int rank = 0; rank < ranks; ++rank) {
    schedule.actions.push_back(in_turn(
        in_rounds(Action::Kind::Forward, rank, ranks, 1, microbatches),
        in_rounds(Action::Kind::Backward, rank, ranks, 1, microbatches), static_cast<size_t>(ranks - 1 - rank)));
  }
  return schedule;
}

Schedule interleaved_one_forward_one_backward(int ranks, int stages_per_rank, int microbatches) {
  check_counts("interleaved_one_forward_one_backward", ranks, stages_per_rank, microbatches);
  Schedule schedule{"interleaved_one_forward_one_backward", ranks, ranks * stages_per_rank, microbatches, {}};
  const int rounds = std::max(1, microbatches / ranks);
  const int largest_round = (microbatches + rounds - 1) / rounds;
  for (int rank = 0; rank < ranks; ++rank) {
    // A round through all but the last of its stages, and what is under way on the ranks behind, there and back.
    const auto ahead = static_cast<size_t>(2 * (ranks - 1 - rank) + (stages_per_rank - 1) * largest_round);
    schedule.actions.push_back(in_turn(
        in_rounds(Action::Kind::Forward, rank, ranks, stages_per_rank, microbatches),
        in_rounds(Action::Kind::Backward, rank, ranks, stages_per_rank, microbatches), ahead));
  }
  return schedule;
}

} // namespace torch::distributed::pipelining
