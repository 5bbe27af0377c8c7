// vmap by hand, under libtorch's names, and a batching rule of an operator of one's own.
#include "support.h"

#include <ATen/functorch/BatchRulesHelper.h>
#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/DynamicLayer.h>

#include <torch/autograd/gradcheck.h>
#include <torch/library.h>

#include <optional>
#include <tuple>

using namespace func_test;
using namespace at::functorch;

namespace {

int calls = 0;

Tensor twice(const Tensor& x) {
  ++calls;
  return x * 2;
}

Tensor twice_batched(const Tensor& x) {
  const int64_t level = maybe_get_level(x);
  const auto [value, bdim] = unwrapTensorAtLevel(x, level);
  return makeBatched(twice(value), *bdim, level);
}

} // namespace

TORCH_LIBRARY(func_test, m) {
  m.def("twice(Tensor x) -> Tensor");
  m.def("looped(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(func_test, CPU, m) {
  m.impl("twice", &twice);
  m.impl("looped", &twice);
}
TORCH_LIBRARY_IMPL(func_test, FuncTorchBatched, m) {
  m.impl("twice", &twice_batched);
}

TEST_CASE("levels by hand") {
  const Tensor x = randn({3, 4});
  const int64_t level = _vmap_increment_nesting(4, "error");
  const Tensor sample = at::functorch::_add_batch_dim(x, 1, level);
  CHECK(isBatchedTensor(sample));
  CHECK(maybe_get_level(sample) == level);
  CHECK(maybe_get_bdim(sample) == 1);
  CHECK(sample.sizes() == at::IntArrayRef({3}));
  const Tensor sum = at::functorch::_remove_batch_dim(sample.sum(), level, 4, 0);
  const Tensor shared = at::functorch::_remove_batch_dim(x, level, 4, 2);
  CHECK(_vmap_decrement_nesting() == level);
  check_close(sum, x.sum(0));
  check_close(shared, x.unsqueeze(2).expand({3, 4, 4}));
  CHECK(maybe_get_level(x) == -1);
  CHECK_THAT(error_of([] { _vmap_decrement_nesting(); }), Catch::Contains("has entered no vmap"));
}

TEST_CASE("levels by hand, by the names of operators") {
  const auto call = [](const char* name, torch::jit::Stack stack) {
    c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&stack);
    return stack.at(0).toTensor();
  };
  const Tensor x = randn({3, 4});
  const int64_t level = _vmap_increment_nesting(4, "error");
  const Tensor sample = call("aten::_add_batch_dim", {x, 1, level});
  CHECK(maybe_get_level(sample) == level);
  const Tensor sine = call("aten::_remove_batch_dim", {sample.sin(), level, 4, -1});
  const Tensor shared = call("aten::_remove_batch_dim", {x, level, 4, 0});
  _vmap_decrement_nesting();
  check_close(sine, x.sin());
  check_close(shared, x.expand({4, 3, 4}));
}

TEST_CASE("helpers of batching rules") {
  const Tensor x = randn({3, 2, 4});
  CHECK(rankWithoutBatchDim(x, 1) == 2);
  CHECK(numelWithoutBatchDim(x, 1) == 12);
  check_close(moveBatchDimToFront(x, 1), x.movedim(1, 0));
  CHECK(getPhysicalDim(x, true, -1) == 2);
  CHECK(maybePadToLogicalRank(x, 0, 4).sizes() == at::IntArrayRef({3, 1, 1, 2, 4}));
  CHECK(ensure_has_bdim(x, false, 5).sizes() == at::IntArrayRef({5, 3, 2, 4}));
  const Tensor joined = reshape_dim_into(0, 1, x);
  CHECK(joined.sizes() == at::IntArrayRef({2, 12}));
  check_close(reshape_dim_outof(1, 3, joined).movedim(1, 0), x);
}

namespace {

struct CallsTwice : torch::autograd::Function<CallsTwice> {
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& x) {
    return twice(x);
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext*, torch::autograd::variable_list grads) {
    static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("func_test::twice", "");
    return {op.typed<Tensor(const Tensor&)>().call(grads[0])};
  }
};

} // namespace

TEST_CASE("a rule of one's own for batches at a level that no code runs in") {
  torch::autograd::GradcheckOptions options;
  options.check_batched_grad = true;
  const auto f = [](const std::vector<Tensor>& in) { return CallsTwice::apply(in[0]); };
  calls = 0;
  CHECK(torch::autograd::gradcheck(
      torch::autograd::GradcheckFunctionOfOneResult(f), {randn({3}).requires_grad_()}, options));
}

TEST_CASE("operators of one's own: a rule, or a loop") {
  const Tensor x = randn({5, 3});
  const auto call = [](const char* name) {
    return [name](const Tensor& t) {
      return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Tensor(const Tensor&)>().call(t);
    };
  };
  calls = 0;
  check_close(torch::func::vmap(call("func_test::twice"))(x), 2 * x);
  CHECK(calls == 1);
  check_close(torch::func::vmap(call("func_test::looped"))(x), 2 * x);
  CHECK(calls == 6);
}
