// The headers that programs written for libtorch include most, in one source, and a use of what each is included for.
// Names that are deprecated are called on purpose.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <torch/extension.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <ATen/ATen.h>
#include <ATen/AccumulateType.h>
#include <ATen/ArrayRef.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Config.h>
#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch.h>
#include <ATen/EmptyTensor.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/Generator.h>
#include <ATen/InferSize.h>
#include <ATen/NativeFunctions.h>
#include <ATen/OpMathType.h>
#include <ATen/Operators.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/Storage.h>
#include <ATen/Tensor.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorOptions.h>
#include <ATen/TensorUtils.h>
#include <ATen/Type.h>
#include <ATen/Version.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/autocast_mode.h>
#include <ATen/ceil_div.h>
#include <ATen/core/Generator.h>
#include <ATen/core/List.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/TensorAccessor.h>
#include <ATen/core/TensorBody.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/op_registration/op_registration.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tensor.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/ScalarType.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/TensorOptions.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/Half.h>
#include <c10/util/Logging.h>
#include <c10/util/Optional.h>
#include <c10/util/Unroll.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/irange.h>
#include <c10/util/llvmMathExtras.h>
#include <c10/util/typeid.h>
#include <torch/all.h>
#include <torch/autograd.h>
#include <torch/csrc/Export.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/generated/variable_factories.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/cuda.h>
#include <torch/custom_class.h>
#include <torch/library.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <catch2/catch.hpp>

namespace {

// As extensions are written: checks by macro, dispatch by type(), a binding block at the end.
#define CHECK_INPUT(x) TORCH_CHECK((x).is_contiguous(), #x " must be contiguous")

at::Tensor halve(const at::Tensor& input) {
  CHECK_INPUT(input);
  at::Tensor output = at::zeros(input.sizes(), input.type());
  AT_DISPATCH_FLOATING_TYPES(input.type(), "halve", [&] {
    const scalar_t* from = input.data_ptr<scalar_t>();
    scalar_t* to = output.data_ptr<scalar_t>();
    at::parallel_for(0, input.numel(), 1000, [&](int64_t begin, int64_t end) {
      for (const auto i : c10::irange(begin, end)) {
        to[i] = from[i] / 2;
      }
    });
  });
  return output;
}

} // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("halve", &halve, "half of each element");
}

TORCH_LIBRARY(header_test, m) {
  m.def("halve(Tensor input) -> Tensor", &halve);
}

TEST_CASE("an extension's source works as it stands", "[api]") {
  const at::Tensor x = torch::tensor({2.0, 4.0}, torch::kDouble);
  const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("header_test::halve", "").typed<at::Tensor(const at::Tensor&)>();
  CHECK(at::allclose(op.call(x), torch::tensor({1.0, 2.0}, torch::kDouble)));
  CHECK_THROWS_AS(halve(at::ones({2, 3}).t()), c10::Error);
  CHECK_THROWS_AS(halve(at::ones({2}, at::kLong)), c10::NotImplementedError);
}

TEST_CASE("an int is a dimension, not a bool", "[api]") {
  const at::Tensor x = at::arange(6, at::kFloat).view({2, 3});
  CHECK(x.std(0).sizes() == at::IntArrayRef({3}));
  CHECK(x.var(1).sizes() == at::IntArrayRef({2}));
  CHECK(at::std(x, -1).sizes() == at::IntArrayRef({2}));
  CHECK(at::var(x, 0).sizes() == at::IntArrayRef({3}));
  CHECK(std::get<0>(at::var_mean(x, 0)).sizes() == at::IntArrayRef({3}));
  CHECK(std::get<1>(at::std_mean(x, 1)).sizes() == at::IntArrayRef({2}));
  CHECK(x.std(true).dim() == 0);
  CHECK(x.std(false).item<float>() < x.std().item<float>());
  CHECK(x.sum(0).sizes() == at::IntArrayRef({3}));
  CHECK(x.mean(1).sizes() == at::IntArrayRef({2}));
}

TEST_CASE("names that come with torch.h", "[api]") {
  CHECK(at::numel(at::ones({2, 3})) == 6);
  CHECK(at::is_signed(at::ones({1})));
  CHECK(ATEN_OP2(add, Tensor)::call(at::ones({1}), at::ones({1}), 1).item<float>() == 2);
  CHECK(at::ceil_div(7, 2) == 4);
  CHECK(at::round_up(7, 4) == 8);
  const std::optional<at::Tensor> none;
  CHECK_FALSE(at::borrow_from_optional_tensor(none)->defined());
  CHECK(at::native::empty_like(at::ones({2})).numel() == 2);
  const at::NoGradGuard guard;
  CHECK_FALSE(torch::GradMode::is_enabled());
  at::init();
  at::manual_seed(1);
  CHECK(torch::dtype(torch::kInt32).requires_grad(false).dtype() == torch::kInt);
}
