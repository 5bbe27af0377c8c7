// Names that programs use through headers of TorchScript which bring them along in libtorch. Each use stands before the
// next include, which could bring the name as well.
#include <torch/csrc/jit/passes/dead_code_elimination.h>

static const auto kGraphThroughPass = std::make_shared<torch::jit::Graph>();

#include <torch/csrc/jit/ir/alias_analysis.h>

static const torch::jit::Symbol kOperatorThroughAliases = torch::jit::aten::rand;
static const std::vector<int> kMapped = torch::jit::fmap(std::vector<int>{1, 2}, [](int i) { return 2 * i; });
static torch::jit::Future* const kNoFuture = nullptr;

#include <torch/csrc/jit/runtime/custom_operator.h>

static_assert(std::is_move_constructible_v<torch::RegisterOperators>);

#include <torch/csrc/jit/passes/clear_undefinedness.h>

static const auto kDifference = [](const at::Tensor& a, const at::Tensor& b) { return a - b; };

#include <torch/csrc/jit/passes/fold_conv_bn.h>

static const auto kIsTraining = [](const torch::jit::Module& module) { return module.is_training(); };

#include <torch/csrc/jit/serialization/import_source.h>

static const auto kResolver = torch::jit::nativeResolver();

#include <catch2/catch.hpp>

TEST_CASE("headers of TorchScript bring the names that libtorch's bring", "[names]") {
  kGraphThroughPass->registerOutput(kGraphThroughPass->addInput());
  torch::jit::EliminateDeadCode(kGraphThroughPass);
  CHECK(kGraphThroughPass->inputs().size() == 1);
  CHECK(kOperatorThroughAliases == torch::jit::Symbol::fromQualString("aten::rand"));
  CHECK(kMapped == std::vector<int>{2, 4});
  CHECK(kNoFuture == nullptr);
  CHECK(kDifference(at::ones({2}), at::ones({2})).sum().item<float>() == 0);
  CHECK(kIsTraining(torch::jit::Module("M")));
  CHECK(kResolver);
}
