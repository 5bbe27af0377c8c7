// Random programs with views and writes, as they are and as functional graphs: the same bits, memory and random
// numbers.
#include <catch2/catch.hpp>

#include "test/aot/bit_equal.h"
#include "test/aot/random_program.h"

#include <torch/compile.h>

namespace test {

namespace {

torch::CompileOptions functional_options() {
  torch::CompileOptions options;
  options.backend = "aot_eager";
  options.check_calls = 0;
  options.fullgraph = true;
  return options;
}

/// Tensors and what they came of: results first, then inputs.
std::vector<at::Tensor> joined(std::vector<at::Tensor> a, const std::vector<at::Tensor>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Runs one program three times by graph; gives whether it was compiled.
bool check_program(uint32_t seed, const ProgramOptions& options) {
  const auto program = [&](const std::vector<at::Tensor>& inputs) { return RandomProgram(seed, options).run(inputs); };
  const auto compiled = torch::compile(program, functional_options());
  torch::manual_seed(seed);
  const std::vector<at::Tensor> made = program_inputs(seed);
  compiled(copies_of(made));
  if (!compiled.core().last_not_compiled().empty()) {
    WARN("seed " << seed << ": " << compiled.core().last_not_compiled());
    return false;
  }
  for (int call = 0; call < 2; ++call) {
    const std::vector<at::Tensor> inputs = copies_of(made), same = copies_of(made);
    torch::manual_seed(seed + 1);
    const std::vector<at::Tensor> wanted = program(inputs);
    const at::Tensor after = at::rand({1});
    torch::manual_seed(seed + 1);
    INFO("seed " << seed << " call " << call << "\n" << torch::explain(compiled));
    const std::vector<at::Tensor> got = compiled(same);
    REQUIRE(at::rand({1}).equal(after)); // as many random numbers
    REQUIRE(got.size() == wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      INFO("result " << i);
      REQUIRE(bit_difference(got[i], wanted[i]).empty());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      INFO("input " << i);
      REQUIRE(bit_difference(same[i], inputs[i]).empty());
    }
    REQUIRE(memory_of(joined(got, same)) == memory_of(joined(wanted, inputs)));
  }
  return true;
}

void check_programs(uint32_t first, uint32_t count) {
  torch::NoGradGuard no_grad;
  uint32_t compiled = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    ProgramOptions options;
    options.length = 5 + static_cast<int>(seed % 56);
    compiled += check_program(seed, options) ? 1 : 0;
  }
  CHECK(compiled == count);
}

} // namespace

TEST_CASE("Random programs give the same as functional graphs", "[aot][functionalize]") {
  check_programs(1, 120);
}

TEST_CASE("Thousands of random programs give the same as functional graphs", "[aot][functionalize][slow]") {
  check_programs(100000, 4000);
}

} // namespace test
