// Gradients of random programs with views and writes: by autograd over the code, and by compiled backward graphs.
#include <catch2/catch.hpp>

#include "test/aot/bit_equal.h"
#include "test/aot/random_program.h"

#include <torch/compile.h>

namespace test {

namespace {

/// What a call gave, and the gradients that its inputs got.
struct Outcome {
  std::vector<at::Tensor> results, inputs, grads;
};

template <class F>
Outcome run(const F& function, const std::vector<at::Tensor>& made, uint32_t seed) {
  Outcome outcome;
  outcome.inputs = copies_of(made);
  for (size_t i = 0; i < made.size(); ++i) {
    outcome.inputs[i].set_requires_grad(made[i].requires_grad());
  }
  torch::manual_seed(seed + 1);
  outcome.results = function(outcome.inputs);
  std::vector<at::Tensor> roots, tangents;
  torch::manual_seed(seed + 2);
  for (const at::Tensor& result : outcome.results) {
    if (result.requires_grad()) {
      roots.push_back(result);
      tangents.push_back(at::randn_like(result.detach()));
    }
  }
  if (!roots.empty()) {
    torch::autograd::backward(roots, tangents);
  }
  for (const at::Tensor& input : outcome.inputs) {
    outcome.grads.push_back(input.is_leaf() ? input.grad() : at::Tensor());
  }
  return outcome;
}

bool check_gradients(uint32_t seed, const ProgramOptions& options, double memory_budget) {
  const auto program = [&](const std::vector<at::Tensor>& inputs) { return RandomProgram(seed, options).run(inputs); };
  torch::CompileOptions compile;
  compile.backend = "aot_eager";
  compile.check_calls = 0;
  compile.memory_budget = memory_budget;
  const auto compiled = torch::compile(program, compile);
  torch::manual_seed(seed);
  std::vector<at::Tensor> made = program_inputs(seed);
  made[0].set_requires_grad(true);
  made[2].set_requires_grad(seed % 3 != 0);
  try {
    run(program, made, seed);
  } catch (const c10::Error&) {
    return true; // what its backward pass needs was written to
  }
  run(compiled, made, seed);
  if (!compiled.core().last_not_compiled().empty() || compiled.core().last_graph().empty()) {
    UNSCOPED_INFO("seed " << seed << ": " << compiled.core().last_not_compiled());
    return false;
  }
  INFO("seed " << seed << "\n" << torch::explain(compiled));
  const Outcome wanted = run(program, made, seed), got = run(compiled, made, seed);
  REQUIRE(compiled.core().num_replays() == 1);
  REQUIRE(got.results.size() == wanted.results.size());
  for (size_t i = 0; i < got.results.size(); ++i) {
    INFO("result " << i);
    REQUIRE(bit_difference(got.results[i], wanted.results[i]).empty());
    REQUIRE(got.results[i].requires_grad() == wanted.results[i].requires_grad());
  }
  for (size_t i = 0; i < got.inputs.size(); ++i) {
    INFO("input " << i);
    REQUIRE(bit_difference(got.inputs[i], wanted.inputs[i]).empty());
    INFO(got.grads[i] << "\n" << wanted.grads[i]);
    REQUIRE(bit_difference(got.grads[i], wanted.grads[i]).empty());
  }
  return true;
}

void check_gradients_of_programs(uint32_t first, uint32_t count) {
  uint32_t compiled = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    ProgramOptions options;
    options.length = 5 + static_cast<int>(seed % 56);
    options.differentiable = true;
    compiled += check_gradients(seed, options, seed % 2 != 0 ? 1 : (seed % 5) / 4.0) ? 1 : 0;
  }
  // Few write to what the gradient of an argument that is written to would need, which nobody asks for here.
  CHECK(compiled * 100 >= count * 95);
}

} // namespace

TEST_CASE("Random programs have the same gradients when compiled", "[aot]") {
  check_gradients_of_programs(1, 120);
}

TEST_CASE("Thousands of random programs have the same gradients when compiled", "[aot][slow]") {
  check_gradients_of_programs(200000, 3000);
}

} // namespace test
