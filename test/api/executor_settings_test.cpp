// Switches of TorchScript's executor that programs set before they run models, and names of dimensions that none has.
#include <ATen/NamedTensorUtils.h>
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <thread>

TEST_CASE("switches of the executor begin as in libtorch and keep what is set", "[api][jit]") {
  using namespace torch::jit;
  CHECK(getProfilingMode());
  CHECK(getExecutorMode());
  CHECK(getNumProfiledRuns() == 1);
  CHECK(getBailoutDepth() == 12);
  CHECK(tensorExprFuserEnabled());
  CHECK_FALSE(tensorExprDynamicShapeFusionEnabled());
  CHECK_FALSE(canFuseOnCPU());
  CHECK(canFuseOnGPU());
  CHECK(getFusionGroupInlining());

  FusionStrategy strategy{{FusionBehavior::DYNAMIC, 3}};
  FusionStrategy before = setFusionStrategy(strategy);
  CHECK(before == FusionStrategy{{FusionBehavior::STATIC, 2}, {FusionBehavior::DYNAMIC, 10}});
  CHECK(getBailoutDepth() == 3);
  setFusionStrategy(before);

  setTensorExprFuserEnabled(false);
  CHECK_FALSE(tensorExprFuserEnabled());
  setTensorExprFuserEnabled(true);
  CHECK_FALSE(setTexprReductionsEnabled(true));
  CHECK(setTexprReductionsEnabled(false));
  overrideCanFuseOnCPU(true);
  CHECK(canFuseOnCPU());
  overrideCanFuseOnCPU(false);

  getProfilingMode() = false;
  getExecutorMode() = false;
  {
    const EnableProfilingGuard guard;
    CHECK(getExecutorMode());
    CHECK_FALSE(getProfilingMode());
  }
  CHECK_FALSE(getExecutorMode());
  getProfilingMode() = true;
  getExecutorMode() = true;
}

TEST_CASE("optimization of graphs is a switch of the thread", "[api][jit]") {
  using namespace torch::jit;
  setGraphExecutorOptimize(false);
  bool elsewhere = false;
  std::thread([&] { elsewhere = getGraphExecutorOptimize(); }).join();
  CHECK(elsewhere);
  {
    GraphOptimizerEnabledGuard guard(true);
    CHECK(getGraphExecutorOptimize());
  }
  CHECK_FALSE(getGraphExecutorOptimize());
  setGraphExecutorOptimize(true);
}

TEST_CASE("tensors without names pass through functions that hand names on", "[api]") {
  const at::Tensor a = at::ones({2, 3});
  const at::Tensor b = at::ones({3, 2});
  CHECK_FALSE(a.has_names());
  CHECK_FALSE(at::has_names(at::TensorList{a, b}));
  CHECK(at::namedinference::compute_broadcast_outnames(a, b).empty());
  CHECK(at::namedinference::compute_matmul_outnames(a, b).empty());
  CHECK(at::namedinference::compute_cat_outnames(at::ITensorListRef(at::TensorList{a, b}).materialize()).empty());
  CHECK(&at::namedinference::propagate_names_if_nonempty(a, at::namedinference::compute_squeeze_outnames(b)) == &a);
  at::namedinference::propagate_names(a, b);
  at::namedinference::propagate_names_except(a, b, {7});
  at::namedinference::propagate_names(at::ones({}), at::DimnameList());
  CHECK_THROWS_WITH(
      at::namedinference::propagate_names(a, at::DimnameList()), Catch::Contains("the list of names is empty"));
  CHECK(at::NamesMode::is_enabled());
  {
    at::NoNamesGuard guard;
    CHECK_FALSE(at::NamesMode::is_enabled());
    CHECK(torch::equal(a + 1, at::full({2, 3}, 2)));
    guard.reset();
    CHECK(at::NamesMode::is_enabled());
  }
  CHECK(at::NamesMode::is_enabled());
}

TEST_CASE("types, schemas and symbols have names in torch::jit", "[api][jit]") {
  using namespace torch::jit;
  const FunctionSchema schema = parseSchema("demo::f(Tensor a, int[] b) -> Tensor");
  const TypePtr second = schema.arguments().at(1).type();
  CHECK(second->kind() == TypeKind::ListType);
  CHECK(*second == *ListType::create(IntType::get()));
  CHECK(*schema.returns().at(0).type() == *TensorType::get());
  CHECK(Symbol::fromQualString("aten::add").toUnqualString() == std::string("add"));
  STATIC_REQUIRE(std::is_same_v<OptionalTypePtr, c10::OptionalTypePtr>);
}
