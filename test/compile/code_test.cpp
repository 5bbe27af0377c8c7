// Machine code for loops: the bits of the kernels that it stands for.
#include <catch2/catch.hpp>

#include <csrc/compile/cpu/loop_code.h>
#include <aten/core/Version.h>
#include <torch/compile.h>
#include <torch/torch.h>

#include "test/compile/support.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

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
        return std::vector<Tensor>{(in[0].exp() + 1).sqrt().tanh(), in[0].sigmoid() * in[1], in[0].log() * in[1]};
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

TEST_CASE("Machine code for each dtype gives the bits of the operators", "[compile][code]") {
  const Function functions[] = {
      [](const auto& in) {
        const Tensor mask = in[0] > in[1];
        return std::vector<Tensor>{torch::where(mask, in[0] * in[2], in[1]), mask.logical_not(), in[3].le(in[1])};
      },
      [](const auto& in) {
        const Tensor both = (in[0] != in[1]).logical_and(in[2] >= in[3]);
        return std::vector<Tensor>{both.logical_or(in[0] == in[2]), torch::where(both, in[1], in[0] - in[2]), ~both};
      },
      [](const auto& in) {
        return std::vector<Tensor>{
            (in[0] + in[1] * 3 - in[2]).clamp(-5, 5) * in[3], torch::maximum(in[0], in[1]).neg().abs(),
            torch::minimum(in[2] - 2, in[3] + 1)};
      },
      [](const auto& in) {
        return std::vector<Tensor>{in[0].masked_fill(in[1] < 0, 2), (in[2] > 0).to(in[2].scalar_type()) * in[3]};
      }};
  torch::manual_seed(3);
  const torch::NoGradGuard no_grad;
  for (const auto dtype :
       {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kInt, torch::kLong, torch::kShort}) {
    for (const int64_t n : {1, 3, 8, 9, 31, 33, 1000, 70001}) {
      std::vector<Tensor> inputs;
      for (int i = 0; i < 4; ++i) {
        Tensor x = (torch::randn({n}) * 4).to(dtype);
        if (torch::isFloatingType(dtype)) {
          x[n / 2] = i == 0 ? std::numeric_limits<float>::infinity() : i == 1 ? std::nanf("") : -0.0f;
        }
        inputs.push_back(x);
      }
      for (size_t f = 0; f < std::size(functions); ++f) {
        const auto wanted = functions[f](inputs), got = run_compiled(functions[f], inputs);
        for (size_t i = 0; i < wanted.size(); ++i) {
          INFO(torch::toString(dtype) << " " << n << ", function " << f << ", result " << i);
          CHECK(same_bits(got[i], wanted[i]));
        }
      }
    }
  }
}

TEST_CASE("Numbers change their dtype in machine code as operators change it", "[compile][code]") {
  torch::manual_seed(4);
  const torch::NoGradGuard no_grad;
  const auto dtypes = {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16,
                       torch::kInt,   torch::kLong,   torch::kBool};
  for (const auto from : dtypes) {
    for (const auto to : dtypes) {
      const Function f = [to](const auto& in) {
        const Tensor x = torch::where(in[0] == in[1], in[0], in[1]).to(to);
        return std::vector<Tensor>{x, torch::where(x == 0, x, torch::ones_like(x))};
      };
      const std::vector<Tensor> inputs{(torch::randn({1003}) * 3).to(from), (torch::randn({1003}) * 3).to(from)};
      const auto wanted = f(inputs), got = run_compiled(f, inputs);
      INFO(torch::toString(from) << " to " << torch::toString(to));
      CHECK(same_bits(got[0], wanted[0]));
      CHECK(same_bits(got[1], wanted[1]));
    }
  }
}

// With sanitizers the compiler contracts other products of the kernels: the code would have other last bits than they.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("Functions of floats have machine code on each level", "[compile][code]") {
  if (at::get_cpu_capability() == "DEFAULT") {
    return;
  }
  const Tensor x = torch::randn({100});
  std::vector<std::string> ops{"exp", "sigmoid", "silu", "tanh", "erf", "gelu"};
  if (at::get_cpu_capability() == "AVX512") {
    ops.emplace_back("log");
  }
  for (const std::string& op : ops) {
    const std::string text = "graph(%x) {\n%y = aten::" + op + "(%x)\n%z = aten::mul.Tensor(%y, %x)\nreturn (%z)\n}";
    const torch::fused::FusedGraph compiled(graph_for(text.c_str(), {x}));
    REQUIRE(compiled.program().steps.size() == 1);
    const auto* const group = compiled.program().steps[0].group();
    REQUIRE(group != nullptr);
    const auto segments = torch::fused::cpu::make_code(*group);
    INFO(op);
    CHECK(segments.size() == 1);
    CHECK((segments.empty() || segments[0].insts.size() == 2));
  }
}
#endif

TEST_CASE("Long bodies become several pieces of code, with the bits of one", "[compile][code]") {
  const Function f = [](const auto& in) {
    Tensor x = in[0];
    std::vector<Tensor> all;
    for (int i = 0; i < 6; ++i) {
      x = (x * in[1]).exp().tanh() + torch::sigmoid(x);
      all.push_back(x - in[2]);
    }
    return all;
  };
  for (const int64_t n : {5, 16, 300, 9000}) {
    const std::vector<Tensor> inputs{torch::randn({n}), torch::randn({n}), torch::randn({n})};
    const auto wanted = f(inputs), got = run_compiled(f, inputs);
    for (size_t i = 0; i < wanted.size(); ++i) {
      CHECK(same_bits(got[i], wanted[i]));
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

TEST_CASE("Without memory for machine code loops run on tiles, in a process of its own", "[.refused]") {
  if (!std::getenv("TENSOR_TEST_REFUSED")) {
    return; // other tests of this process have such memory already
  }
  struct Count : c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      times += std::string(warning.msg()).find("no memory for machine code") != std::string::npos ? 1 : 0;
    }
    int times = 0;
  } count;
  const c10::WarningUtils::WarningHandlerGuard guard(&count);
  // Such memory is a file, and no more files may be opened.
  const rlimit none{3, 3};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const std::vector<Tensor> inputs{torch::randn({1000}), torch::randn({1000})};
  for (int i = 0; i < 3; ++i) {
    const Function f = [i](const auto& in) { return std::vector<Tensor>{(in[0] * in[1] + i).relu() * in[0]}; };
    CHECK(same_bits(run_compiled(f, inputs)[0], f(inputs)[0]));
  }
  CHECK(count.times == (at::get_cpu_capability() == "DEFAULT" ? 0 : 1));
}

// Not with sanitizers, which open files to look at objects.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("Memory for machine code that the system refuses is said once", "[compile][code]") {
  std::array<char, 4096> path{};
  REQUIRE(readlink("/proc/self/exe", path.data(), path.size() - 1) > 0);
  CHECK(std::system(("TENSOR_TEST_REFUSED=1 " + std::string(path.data()) + " '[refused]' > /dev/null").c_str()) == 0);
}
#endif

TEST_CASE("A body becomes code once, and one that needs too much becomes none", "[compile][code]") {
  using namespace torch::fused::cpu;
  MicroBody body;
  body.store(1, body.op(Micro::Add, body.load(0), body.number(2)));
  const LoopCode code = code_for(body, 2);
  CHECK(code == code_for(body, 2));
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
  wide.store(20, sum);
  CHECK(code_for(wide, 21) == nullptr);
}
