// A model that is cut into stages, which ranks run on parts of a batch at the same time.
#include <csrc/distributed/pipeline/pipeline.h>

#include <aten/Functions.h>
#include <autograd/autograd.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::distributed::pipelining {

// A step under way.
struct Pipeline::Batch {
  std::vector<std::vector<at::Tensor>> inputs; // of each microbatch
  std::vector<at::Tensor> targets;
  int64_t rows = 0; // of all targets
  bool training = true;
  bool keep_outputs = true;
  std::map<std::pair<int, int>, Kept> kept; // by stage and microbatch
  std::vector<std::vector<at::Tensor>> outputs; // of each microbatch
  std::vector<at::Tensor> losses;
};

namespace {

std::vector<at::Tensor> cut(const char* what, const at::Tensor& whole, int parts) {
  TORCH_CHECK_VALUE(
      whole.dim() > 0 && whole.size(0) >= parts, "Pipeline: the ", what, " must have a row for each of ", parts,
      " microbatches, but got sizes ", whole.sizes());
  return whole.tensor_split(parts, 0);
}

// Parts of the batch beside one another again.
std::vector<at::Tensor> joined(const std::vector<std::vector<at::Tensor>>& parts) {
  std::vector<at::Tensor> whole;
  for (size_t i = 0; !parts.empty() && i < parts[0].size(); ++i) {
    std::vector<at::Tensor> pieces;
    for (const auto& part : parts) {
      pieces.push_back(part[i].dim() > 0 ? part[i] : part[i].unsqueeze(0));
    }
    whole.push_back(at::cat(pieces));
  }
  return whole;
}

// Names of schedules may be long; their actions are what has to agree.
int64_t fingerprint(const Schedule& schedule) {
  uint64_t hash = 1469598103934665603u; // FNV-1a
  for (const auto& actions : schedule.actions) {
    for (const auto& action : actions) {
      for (const int number : {static_cast<int>(action.kind), action.stage, action.microbatch}) {
        hash = (hash ^ static_cast<uint64_t>(number)) * 1099511628211u;
      }
    }
  }
  return static_cast<int64_t>(hash);
}

} // namespace

Pipeline::Pipeline(std::vector<PipelineStage> stages, Schedule schedule, Loss loss, GroupPtr group, at::Device device)
    : stages_(std::move(stages)),
      schedule_(std::move(schedule)),
      loss_(std::move(loss)),
      group_(group ? std::move(group) : default_group()),
      device_(device),
      messages_(group_, device) {
  check_alike();
  simulate(schedule_);
  const int rank = group_->getRank();
  for (int index = rank; index < schedule_.stages; index += schedule_.ranks) {
    stage(index);
  }
  TORCH_CHECK_VALUE(
      stages_.size() == static_cast<size_t>(schedule_.stages / schedule_.ranks), "Pipeline: rank ", rank, " has ",
      stages_.size(), " stages, but of the ", schedule_.stages, " of ", schedule_.ranks, " ranks each has ",
      schedule_.stages / schedule_.ranks);
}

// Before anything else, so that all ranks hear of it.
void Pipeline::check_alike() {
  TORCH_CHECK_VALUE(
      schedule_.ranks == group_->getSize(), "Pipeline: the schedule ", schedule_.name, " is for ", schedule_.ranks,
      " ranks, but the group has ", group_->getSize());
  const std::vector<int64_t> mine{schedule_.stages, schedule_.microbatches, fingerprint(schedule_)};
  at::Tensor own = numbers(mine, device_);
  at::Tensor all = at::empty({schedule_.ranks, static_cast<int64_t>(mine.size())}, own.options());
  group_->all_gather_single(all, own)->wait();
  all = all.cpu();
  for (int rank = 0; rank < schedule_.ranks; ++rank) {
    const auto* other = all.const_data_ptr<int64_t>() + rank * static_cast<int64_t>(mine.size());
    TORCH_CHECK_VALUE(
        std::equal(mine.begin(), mine.end(), other), "Pipeline: ranks have different schedules: rank ",
        group_->getRank(), " has ", schedule_.name, " of ", mine[0], " stages and ", mine[1], " microbatches, rank ",
        rank, " has one of ", other[0], " stages and ", other[1], " microbatches",
        other[0] == mine[0] && other[1] == mine[1] ? ", in another order" : "");
  }
}

const PipelineStage& Pipeline::stage(int index) const {
  const auto found =
      std::find_if(stages_.begin(), stages_.end(), [&](const PipelineStage& one) { return one.index() == index; });
  TORCH_CHECK_VALUE(
      found != stages_.end(), "Pipeline: rank ", group_->getRank(), " needs stage ", index,
      ": stage s is on rank s modulo ", schedule_.ranks);
  return *found;
}

bool Pipeline::has_first() const {
  return group_->getRank() == 0;
}

bool Pipeline::has_last() const {
  return group_->getRank() == rank_of(schedule_.stages - 1);
}

StepResult Pipeline::step(const std::vector<at::Tensor>& inputs, const at::Tensor& target, bool keep_outputs) {
  const c10::AutoGradMode with_gradients(true);
  return run(inputs, target, keep_outputs, true);
}

StepResult Pipeline::eval(const std::vector<at::Tensor>& inputs, const at::Tensor& target) {
  const c10::NoGradGuard no_gradients;
  return run(inputs, target, true, false);
}

StepResult Pipeline::run(
    const std::vector<at::Tensor>& inputs, const at::Tensor& target, bool keep_outputs, bool training) {
  Batch batch;
  batch.training = training;
  batch.keep_outputs = keep_outputs;
  here_.clear();
  peak_ = 0;
  try {
    if (has_first()) {
      TORCH_CHECK_VALUE(!inputs.empty(), "Pipeline: the rank of the first stage needs inputs");
      batch.inputs.resize(static_cast<size_t>(schedule_.microbatches));
      for (const auto& input : inputs) {
        const auto parts = cut("inputs", input, schedule_.microbatches);
        for (size_t i = 0; i < parts.size(); ++i) {
          batch.inputs[i].push_back(parts[i]);
        }
      }
    }
    if (has_last()) {
      TORCH_CHECK_VALUE(
          !training || (loss_ && target.defined()), "Pipeline: the rank of the last stage needs a loss and a target");
      if (loss_ && target.defined()) {
        batch.targets = cut("target", target, schedule_.microbatches);
        batch.rows = target.size(0);
      }
    }
    run_actions(batch);
    messages_.flush();
  } catch (...) {
    if (schedule_.ranks > 1) {
      group_->abort(); // the others would wait for what this rank does not send any more
    }
    throw;
  }
  return {joined(batch.outputs), std::move(batch.losses)};
}

void Pipeline::run_actions(Batch& batch) {
  for (const auto& action : schedule_.actions[static_cast<size_t>(group_->getRank())]) {
    const bool is_forward = action.kind == Action::Kind::Forward;
    if (!is_forward && !batch.training) {
      continue;
    }
    try {
      is_forward ? forward(batch, action) : backward(batch, action);
    } catch (c10::Error& error) {
      error.add_context(c10::str("in the ", describe(action), ", on rank ", group_->getRank()));
      throw;
    }
    peak_ = std::max(peak_, static_cast<int>(batch.kept.size()));
  }
}

std::vector<at::Tensor> Pipeline::inputs_of(Batch& batch, const Action& action) {
  return action.stage == 0 ? batch.inputs[static_cast<size_t>(action.microbatch)] : take(action, action.stage - 1);
}

void Pipeline::forward(Batch& batch, const Action& action) {
  Kept kept;
  kept.inputs = inputs_of(batch, action);
  kept.outputs = stage(action.stage).forward(kept.inputs);
  if (action.stage == schedule_.stages - 1) {
    finish_last(batch, action, kept);
  } else {
    give(action, action.stage + 1, kept.outputs);
  }
  if (batch.training) {
    batch.kept[{action.stage, action.microbatch}] = std::move(kept);
  }
}

void Pipeline::finish_last(Batch& batch, const Action& action, Kept& kept) {
  TORCH_CHECK_VALUE(!kept.outputs.empty(), "Pipeline: the last stage has returned no tensor");
  if (batch.keep_outputs) {
    batch.outputs.emplace_back();
    for (const auto& output : kept.outputs) {
      batch.outputs.back().push_back(output.detach());
    }
  }
  if (batch.targets.empty()) {
    return;
  }
  kept.loss = loss_(kept.outputs[0], batch.targets[static_cast<size_t>(action.microbatch)]);
  TORCH_CHECK_VALUE(
      kept.loss.numel() == 1, "Pipeline: the loss must be a mean, of one element, but has sizes ", kept.loss.sizes());
  batch.losses.push_back(kept.loss.detach());
}

void Pipeline::backward(Batch& batch, const Action& action) {
  const auto place = batch.kept.find({action.stage, action.microbatch});
  Kept kept = std::move(place->second);
  std::vector<at::Tensor> results;
  std::vector<at::Tensor> gradients;
  if (action.stage == schedule_.stages - 1) {
    const auto rows = batch.targets[static_cast<size_t>(action.microbatch)].size(0);
    results.push_back(kept.loss);
    gradients.push_back(at::full_like(kept.loss, static_cast<double>(rows) / static_cast<double>(batch.rows)));
  } else {
    results = kept.outputs;
    gradients = take(action, action.stage + 1);
  }
  std::vector<at::Tensor> with;
  std::vector<at::Tensor> their;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].requires_grad() && gradients[i].defined()) {
      with.push_back(results[i]);
      their.push_back(gradients[i]);
    }
  }
  if (!with.empty()) {
    torch::autograd::backward(with, their);
  }
  if (action.stage > 0) {
    std::vector<at::Tensor> back;
    for (const auto& input : kept.inputs) {
      back.push_back(input.requires_grad() ? input.grad() : at::Tensor());
    }
    give(action, action.stage - 1, std::move(back));
  }
  batch.kept.erase(place);
}

// One for each pair of neighbours and direction: on it microbatches come in their order.
int Pipeline::tag(const Action& action, int from_stage) const {
  return 2 * from_stage + (action.kind == Action::Kind::Forward ? 0 : 1);
}

std::vector<at::Tensor> Pipeline::take(const Action& action, int from_stage) {
  const int from = rank_of(from_stage);
  if (from != group_->getRank()) {
    return messages_.receive(from, tag(action, from_stage));
  }
  return std::move(here_.extract({tag(action, from_stage), action.microbatch}).mapped());
}

void Pipeline::give(const Action& action, int to_stage, std::vector<at::Tensor> tensors) {
  const int to = rank_of(to_stage);
  if (to != group_->getRank()) {
    return messages_.send(tensors, to, tag(action, action.stage));
  }
  for (auto& tensor : tensors) {
    tensor = tensor.defined() ? tensor.detach().requires_grad_(tensor.requires_grad()) : tensor;
  }
  here_[{tag(action, action.stage), action.microbatch}] = std::move(tensors);
}

} // namespace torch::distributed::pipelining
