// Pipelines: schedules by simulation, and steps beside those of one process.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <thread>

namespace pp = torch::distributed::pipelining;
using pp::Action;
using pp::Schedule;
using test::expect;
using test::expect_error;
using test::GroupPtr;

namespace {

Schedule schedule_of(int kind, int ranks, int microbatches) {
  return kind == 0 ? pp::gpipe(ranks, microbatches)
      : kind == 1  ? pp::one_forward_one_backward(ranks, microbatches)
                   : pp::interleaved_one_forward_one_backward(ranks, kind, microbatches);
}

// What a linear pipeline wastes, with `m` microbatches and `v` stages on each of `p` ranks.
double expected_bubble(double p, double v, double m) {
  return (p - 1) / (v * m + p - 1);
}

} // namespace

TEST_CASE("Schedules of a pipeline have the bubble and the memory that they promise", "[distributed][pipeline]") {
  for (const int p : {1, 2, 3, 4, 8, 64}) {
    for (const int m : {1, 2, 3, 5, 8, 64, 256}) {
      CAPTURE(p, m);
      const auto all_first = pp::simulate(pp::gpipe(p, m));
      CHECK(all_first.bubble == Approx(expected_bubble(p, 1, m)).margin(1e-12));
      CHECK(all_first.time == Approx(3 * (m + p - 1)));
      const auto in_turn = pp::simulate(pp::one_forward_one_backward(p, m));
      CHECK(in_turn.bubble == Approx(expected_bubble(p, 1, m)).margin(1e-12));
      for (int rank = 0; rank < p; ++rank) {
        CHECK(all_first.peak_activations[rank] == m);
        CHECK(in_turn.peak_activations[rank] == std::min(m, p - rank));
      }
      for (const int v : {2, 3}) {
        const auto interleaved = pp::simulate(pp::interleaved_one_forward_one_backward(p, v, m));
        if (m % p == 0) {
          CHECK(interleaved.bubble == Approx(expected_bubble(p, v, m)).margin(1e-12));
          CHECK(interleaved.peak_activations[0] == std::min(m * v, 2 * (p - 1) + (v - 1) * p + 1));
        }
      }
    }
  }
}

TEST_CASE("Interleaved schedules end for all numbers of microbatches", "[distributed][pipeline]") {
  for (int p = 1; p <= 8; ++p) {
    for (int v = 1; v <= 4; ++v) {
      for (int m = 1; m <= 20; ++m) {
        CAPTURE(p, v, m);
        const auto schedule = pp::interleaved_one_forward_one_backward(p, v, m);
        CHECK_NOTHROW(pp::simulate(schedule));
        Schedule forwards = schedule;
        for (auto& actions : forwards.actions) {
          actions.erase(
              std::remove_if(
                  actions.begin(), actions.end(), [](const Action& a) { return a.kind == Action::Kind::Backward; }),
              actions.end());
        }
        CHECK_NOTHROW(pp::simulate(forwards, {}, false));
      }
    }
  }
}

TEST_CASE("Schedules of 4,096 ranks end", "[distributed][pipeline]") {
  const int p = 4096;
  const int m = 64;
  CHECK(pp::simulate(pp::gpipe(p, m)).bubble == Approx(expected_bubble(p, 1, m)));
  CHECK(pp::simulate(pp::one_forward_one_backward(p, m)).bubble == Approx(expected_bubble(p, 1, m)));
  const auto interleaved = pp::simulate(pp::interleaved_one_forward_one_backward(p, 2, m));
  CHECK(interleaved.bubble < 1);
  // Messages take their time once on the way there and once back, as long as they are hidden meanwhile.
  const auto late = pp::simulate(pp::gpipe(p, m), {1, 2, 0.5});
  CHECK(late.time == Approx(3.0 * (m + p - 1) + 2 * 0.5 * (p - 1)));
}

TEST_CASE("A schedule that is wrong is refused in words", "[distributed][pipeline]") {
  const auto says = [](const Schedule& schedule, std::initializer_list<const char*> parts) {
    expect_error<c10::ValueError>([&] { pp::simulate(schedule); }, parts);
  };
  auto missing = pp::gpipe(2, 2);
  missing.actions[1].pop_back();
  says(missing, {"rank 1 does not have the backward of stage 1, microbatch 1"});
  auto twice = pp::gpipe(2, 2);
  twice.actions[0].push_back(twice.actions[0][0]);
  says(twice, {"rank 0 has the forward of stage 0, microbatch 0 twice"});
  auto elsewhere = pp::gpipe(2, 2);
  elsewhere.actions[0][0].stage = 1;
  says(elsewhere, {"rank 0 has the forward of stage 1, microbatch 0, but"});
  auto early = pp::gpipe(2, 2);
  std::swap(early.actions[0][1], early.actions[0][3]);
  says(early, {"rank 0 has the backward of stage 0, microbatch 1 before its forward"});
  auto shuffled = pp::gpipe(2, 2);
  std::swap(shuffled.actions[1][0], shuffled.actions[1][1]);
  says(shuffled, {"stages 0 and 1 take the forwards of microbatches in different orders"});
  auto stuck = pp::gpipe(2, 2);
  stuck.actions[0] = {stuck.actions[0][0], stuck.actions[0][2], stuck.actions[0][1], stuck.actions[0][3]};
  says(
      stuck,
      {"deadlock: rank 0 waits before the backward of stage 0, microbatch 0", "rank 1 waits before the forward"});
  auto uneven = pp::gpipe(2, 2);
  uneven.stages = 3;
  says(uneven, {"3 stages", "2 ranks"});
  expect_error<c10::ValueError>([] { pp::gpipe(0, 2); }, {"gpipe: ranks", "at least 1, but got 0"});
  test::report_expectations();
}

namespace {

// Stage `index` of a model, the same in all processes.
torch::nn::Sequential part(int index, int stages) {
  torch::nn::Sequential part(torch::nn::Linear(6, 6), torch::nn::Tanh());
  if (index == stages - 1) {
    part->push_back(torch::nn::Linear(6, 3));
  }
  test::fill(*part);
  const torch::NoGradGuard no_grad;
  for (auto& parameter : part->parameters()) {
    parameter.mul_(1 + 0.1 * index);
  }
  return part;
}

at::Tensor loss_of(const at::Tensor& output, const at::Tensor& target) {
  return torch::mse_loss(output, target);
}

// Losses of `steps` steps of one process.
std::vector<double> alone(int stages, int64_t count, int steps) {
  std::vector<torch::nn::Sequential> model;
  std::vector<at::Tensor> parameters;
  for (int index = 0; index < stages; ++index) {
    model.push_back(part(index, stages));
    for (const auto& parameter : model.back()->parameters()) {
      parameters.push_back(parameter);
    }
  }
  torch::optim::SGD optimizer(parameters, 0.2);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    at::Tensor output = test::rows(count);
    for (auto& stage : model) {
      output = stage->forward(output);
    }
    const auto loss = loss_of(output, test::rows(count, 3) * 0.3);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

// The same by a pipeline: the loss of the whole batch from those of its parts, on the last rank.
std::vector<double> together(const GroupPtr& group, const Schedule& schedule, int64_t count, int steps) {
  std::vector<pp::PipelineStage> stages;
  std::vector<at::Tensor> parameters;
  for (int index = group->getRank(); index < schedule.stages; index += schedule.ranks) {
    auto module = part(index, schedule.stages);
    for (const auto& parameter : module->parameters()) {
      parameters.push_back(parameter);
    }
    stages.emplace_back(module, index);
  }
  pp::Pipeline pipeline(std::move(stages), schedule, &loss_of, group);
  torch::optim::SGD optimizer(parameters, 0.2);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const auto result = pipeline.step({test::rows(count)}, test::rows(count, 3) * 0.3);
    optimizer.step();
    if (pipeline.has_last()) {
      const auto sizes = test::rows(count).tensor_split(schedule.microbatches);
      double sum = 0;
      for (size_t i = 0; i < sizes.size(); ++i) {
        sum += result.losses[i].item<double>() * static_cast<double>(sizes[i].size(0));
      }
      losses.push_back(sum / static_cast<double>(count));
      expect(result.outputs.size() == 1 && result.outputs[0].size(0) == count && !result.outputs[0].requires_grad());
    } else {
      expect(result.losses.empty() && result.outputs.empty());
    }
  }
  expect(pipeline.peak_activations() == pp::simulate(schedule).peak_activations[group->getRank()]);
  return losses;
}

} // namespace

TEST_CASE("A pipeline trains as one process does", "[distributed][pipeline]") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const int kind = GENERATE(0, 1, 2, 3); // the last two interleave as many stages
  const int64_t count = GENERATE(12, 13); // of which microbatches have the same number of rows, and not
  CAPTURE(ranks, kind, count);
  const auto schedule = schedule_of(kind, ranks, 4);
  const auto expected = alone(schedule.stages, count, 3);
  test::with_rank_threads(ranks, [&](int, const GroupPtr& group) {
    const auto losses = together(group, schedule, count, 3);
    for (size_t i = 0; i < losses.size(); ++i) {
      expect(
          std::abs(losses[i] - expected[i]) < 1e-6, std::to_string(losses[i]) + " and " + std::to_string(expected[i]));
    }
  });
}

TEST_CASE("Stages of a pipeline are processes as well", "[distributed][pipeline]") {
  const auto expected = alone(2, 10, 2);
  const auto results = test::with_rank_processes(2, [](int, const GroupPtr& group) {
    const auto losses = together(group, pp::one_forward_one_backward(2, 3), 10, 2);
    return losses.empty() ? std::string() : std::to_string(losses[0]) + " " + std::to_string(losses[1]);
  });
  CHECK(results[0] == "");
  CHECK(results[1] == std::to_string(expected[0]) + " " + std::to_string(expected[1]));
}

TEST_CASE("Stages hand several tensors on, of any dtype, with and without gradients", "[distributed][pipeline]") {
  test::with_rank_threads(2, [](int rank, const GroupPtr& group) {
    auto weight = torch::full({1}, 2.0, torch::requires_grad());
    const auto forward = [&](const std::vector<at::Tensor>& in) -> std::vector<at::Tensor> {
      if (rank == 0) {
        const auto half = in[0].mul(weight).to(at::kDouble);
        return {half, in[1], in[0].mul(weight), at::empty({0, 2})}; // the third one is used by nobody
      }
      expect(in.size() == 4 && in[1].scalar_type() == at::kLong && in[3].sizes() == at::IntArrayRef({0, 2}));
      expect(in[0].requires_grad() == at::GradMode::is_enabled() && !in[1].requires_grad() && !in[3].requires_grad());
      return {in[0] * in[1] * weight};
    };
    pp::Pipeline pipeline(
        {pp::PipelineStage(forward, rank)}, pp::gpipe(2, 2),
        [](const auto& y, const auto& t) { return (y - t).mean(); }, group);
    for (const int64_t width : {3, 3, 5}) { // sizes may change from step to step
      weight.mutable_grad() = at::Tensor();
      const std::vector<at::Tensor> inputs{torch::ones({4, width}), torch::full({4, width}, 3, at::kLong)};
      pipeline.step(inputs, torch::zeros({4, width}, at::kDouble));
      expect(std::abs(weight.grad().item<double>() - 6) < 1e-6); // of 3 * w0 * w1
    }
    const auto result = pipeline.eval({torch::ones({4, 2}), torch::full({4, 2}, 3, at::kLong)});
    expect(result.losses.empty() && result.outputs.size() == static_cast<size_t>(rank));
    expect(rank == 0 || result.outputs[0].equal(torch::full({4, 2}, 12, at::kDouble)));
  });
}

TEST_CASE("What goes wrong in one stage ends the step on all ranks", "[distributed][pipeline]") {
  test::with_rank_threads(3, [](int rank, const GroupPtr& group) {
    const auto forward = [rank](const std::vector<at::Tensor>& in) -> std::vector<at::Tensor> {
      TORCH_CHECK_VALUE(rank != 1, "this stage does not work");
      return {in[0] * 2};
    };
    pp::Pipeline pipeline({pp::PipelineStage(forward, rank)}, pp::one_forward_one_backward(3, 4), &loss_of, group);
    const auto step = [&] { pipeline.step({test::rows(8)}, test::rows(8)); };
    if (rank == 1) {
      expect_error<c10::ValueError>(step, {"this stage does not work", "forward of stage 1, microbatch 0, on rank 1"});
    } else {
      expect_error<c10::DistBackendError>(step, {"rank 1 has"});
    }
  });
}

TEST_CASE("Arguments of a pipeline are checked", "[distributed][pipeline]") {
  const auto same = [](const std::vector<at::Tensor>& in) { return in; };
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto make = [&](std::vector<pp::PipelineStage> stages, const Schedule& schedule) {
      return pp::Pipeline(std::move(stages), schedule, &loss_of, group);
    };
    const pp::PipelineStage own(same, rank);
    expect_error<c10::ValueError>([&] { make({own}, pp::gpipe(3, 2)); }, {"for 3 ranks, but the group has 2"});
    expect_error<c10::ValueError>(
        [&] { make({own}, pp::gpipe(2, rank + 2)); }, {"ranks have different schedules", "2 microbatches"});
    expect_error<c10::ValueError>(
        [&] { make({pp::PipelineStage(same, 7)}, pp::gpipe(2, 2)); }, {"needs stage", "stage s is on rank s"});
    expect_error<c10::ValueError>([&] { make({own, own}, pp::gpipe(2, 2)); }, {"has 2 stages", "each has 1"});
  });
  test::with_rank_threads(1, [&](int, const GroupPtr& group) {
    pp::Pipeline pipeline({pp::PipelineStage(same, 0)}, pp::gpipe(1, 4), &loss_of, group);
    expect_error<c10::ValueError>([&] { pipeline.step({}, test::rows(8)); }, {"the first stage needs inputs"});
    expect_error<c10::ValueError>([&] { pipeline.step({test::rows(8)}); }, {"needs a loss and a target"});
    expect_error<c10::ValueError>(
        [&] { pipeline.step({test::rows(3)}, test::rows(3)); }, {"a row for each of 4 microbatches", "[3, 6]"});
  });
}
