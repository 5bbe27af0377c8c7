// Machine code for loops: the bits of the kernels that it stands for.
#include <catch2/catch.hpp>

#include <csrc/compile/cpu/loop_code.h>
#include <torch/compile.h>
#include <torch/torch.h>

#include "test/compile/support.h"

#include <functional>

using torch::Tensor;

namespace {

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

std::vector<Tensor> run_compiled(const Function& function, const std::vector<Tensor>& inputs) {
  torch::CompileOptions options;
  options.backend = "fused";
  options.check_calls = 0;
  options.fullgraph = true;
  const auto compiled = torch::compile(function, options);
  compiled(inputs);
  return compiled(inputs);
}

} // namespace

TEST_CASE("Loops as machine code give the bits of the operators", "[compile][code]") {
  const Function functions[] = {
      [](const auto& in) { return std::vector<Tensor>{(in[0] * in[1] + 0.5).relu() * in[0] - in[1]}; },
      [](const auto& in) {
        return std::vector<Tensor>{(in[0].exp() + 1).sqrt().tanh(), in[0].sigmoid() * in[1]};
      },
      [](const auto& in) {
        const Tensor mask = in[0] > in[1];
        return std::vector<Tensor>{mask, mask.to(torch::kFloat) * in[0], torch::gelu(in[0] - in[1])};
      },
      [](const auto& in) {
        return std::vector<Tensor>{torch::silu(in[0].neg()) / (in[1].abs() + 1e-3), in[0].square()};
      },
      [](const auto& in) {
        Tensor x = in[0];
        std::vector<Tensor> all;
        for (int i = 0; i < 12; ++i) {
          x = torch::addcmul(x, in[1], in[2], 0.5).clamp(-3, 3) - in[i % 4];
          all.push_back(x * 2);
        }
        return all;
      }};
  const torch::NoGradGuard no_grad;
  for (const int64_t n : {1, 2, 7, 8, 9, 31, 32, 33, 65, 4097, 70001}) {
    std::vector<Tensor> inputs;
    for (int i = 0; i < 4; ++i) {
      Tensor x = torch::randn({n}) * 3;
      x[n / 2] = i == 0 ? std::numeric_limits<float>::infinity() : i == 1 ? std::nanf("") : -0.0f;
      inputs.push_back(x);
    }
    for (const Function& function : functions) {
      const auto wanted = function(inputs), got = run_compiled(function, inputs);
      for (size_t i = 0; i < wanted.size(); ++i) {
        CHECK(same_bits(got[i], wanted[i]));
      }
    }
  }
}

TEST_CASE("Loops run without machine code where there may be none", "[compile][code]") {
  torch::fused::cpu::allow_code(false);
  const Function f = [](const auto& in) { return std::vector<Tensor>{(in[0] * in[1] + 0.5).relu() * in[0]}; };
  const std::vector<Tensor> inputs{torch::randn({1000}), torch::randn({1000})};
  const auto got = run_compiled(f, inputs);
  torch::fused::cpu::allow_code(true);
  CHECK(same_bits(got[0], f(inputs)[0]));
}

TEST_CASE("A body becomes code once, and one that needs too much becomes none", "[compile][code]") {
  using namespace torch::fused::cpu;
  MicroBody body;
  body.store(1, body.op(Micro::Add, body.load(0), body.number(2)), false);
  const LoopCode code = code_for(body.insts(), 2);
  CHECK(code == code_for(body.insts(), 2));
  if (code) {
    std::vector<float> in(37, 1.0f), out(38, -1.0f);
    char* const operands[] = {reinterpret_cast<char*>(in.data()), reinterpret_cast<char*>(out.data())};
    code(operands, 37);
    CHECK(out[0] == 3);
    CHECK(out[36] == 3);
    CHECK(out[37] == -1);
  }
  MicroBody wide;
  uint32_t sum = wide.load(0);
  for (uint16_t operand = 1; operand < 20; ++operand) {
    sum = wide.op(Micro::Add, sum, wide.load(operand));
  }
  wide.store(20, sum, false);
  CHECK(code_for(wide.insts(), 21) == nullptr);
}
