// Operators that exist by name only, and those of PyTorch's mkldnn layout, which are the dense operators here.
#include <ATen/ATen.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/core/jit_type.h>

#include <catch2/catch.hpp>

#include <string>
#include <tuple>
#include <vector>

using Catch::Matchers::Contains;

namespace {

/// Some value of the argument's type.
c10::IValue value_of(const c10::Argument& argument) {
  const c10::TypePtr& type = argument.type();
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
      return at::ones({2, 2});
    case c10::TypeKind::OptionalType:
      return {};
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::NumberType:
      return int64_t{1};
    case c10::TypeKind::FloatType:
      return 1.0;
    case c10::TypeKind::BoolType:
      return true;
    case c10::TypeKind::DeviceObjType:
      return c10::Device(c10::kCPU);
    case c10::TypeKind::StringType:
      return std::string("none");
    case c10::TypeKind::ListType:
      if (type->containedType(0)->kind() == c10::TypeKind::TensorType) {
        return std::vector<at::Tensor>{at::ones({2, 2})};
      }
      if (type->containedType(0)->kind() == c10::TypeKind::BoolType) {
        c10::List<bool> flags;
        flags.resize(static_cast<size_t>(argument.N().value_or(1)), true);
        return flags;
      }
      return std::vector<int64_t>(static_cast<size_t>(argument.N().value_or(1)), 1);
    default:
      FAIL("no value for an argument of type " << type->str());
      return {};
  }
}

} // namespace

TEST_CASE("operators that exist by name only refuse with their name and a reason", "[dispatch]") {
  size_t count = 0;
  for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const c10::OperatorHandle op =
        c10::Dispatcher::singleton().findSchemaOrThrow(name.name.c_str(), name.overload_name.c_str());
    if (op.debug().find("unavailable.yaml") == std::string::npos) {
      continue;
    }
    ++count;
    const std::string full_name = c10::toString(name);
    CAPTURE(full_name);
    c10::Stack stack;
    for (const c10::Argument& argument : op.schema().arguments()) {
      stack.push_back(value_of(argument));
    }
    try {
      op.callBoxed(stack);
      FAIL_CHECK("the call returned");
    } catch (const c10::NotImplementedError& error) {
      CHECK_THAT(error.what_without_backtrace(), Contains("Could not run '" + full_name + "'"));
      CHECK_THAT(error.what_without_backtrace(), Contains("Reason: "));
    }
  }
  CHECK(count == 133);
}

TEST_CASE("operators that exist by name only are called as functions", "[dispatch]") {
  const at::Tensor x = at::ones({1, 2, 4, 4}, at::requires_grad());
  const at::Tensor w = at::ones({2, 2, 3, 3});
  CHECK_THROWS_AS(at::miopen_convolution(x, w, {}, {1, 1}, {1, 1}, {1, 1}, 1, false, false), c10::NotImplementedError);
  CHECK_THROWS_AS(x.to_padded_tensor(0.0), c10::NotImplementedError);
  CHECK_THROWS_AS(at::mm(at::ones({2, 2}), at::ones({2, 2}), at::kDouble), c10::NotImplementedError);
}

TEST_CASE("operators of the mkldnn layout are the dense ones", "[ops]") {
  const at::Tensor x = at::randn({2, 4, 6, 6});
  const at::Tensor dense = x.to_mkldnn();
  CHECK(dense.layout() == at::kStrided);
  CHECK_FALSE(dense.is_alias_of(x));
  CHECK(at::equal(dense, x));
  CHECK(x.to_mkldnn(at::kBFloat16).scalar_type() == at::kBFloat16);
  CHECK(at::to_mkldnn_backward(x, x.to(at::kDouble)).scalar_type() == at::kDouble);

  const at::Tensor w = at::randn({6, 2, 3, 3});
  const at::Tensor b = at::randn({6});
  const at::Tensor conv = at::conv2d(x, w, b, {2, 2}, {1, 1}, {1, 1}, 2);
  CHECK(
      at::allclose(at::mkldnn_convolution(x, at::mkldnn_reorder_conv2d_weight(w), b, {1, 1}, {2, 2}, {1, 1}, 2), conv));
  at::Tensor out = at::empty({0});
  CHECK(at::allclose(at::mkldnn_convolution_out(out, x, w, b, {1, 1}, {2, 2}, {1, 1}, 2), conv));
  const at::Tensor full = at::randn({6, 4, 3, 3});
  CHECK(at::allclose(at::_nnpack_spatial_convolution(x, full, b, {1, 1}), at::conv2d(x, full, b, {1, 1}, {1, 1})));

  CHECK(at::equal(at::mkldnn_max_pool2d(x, {2, 2}), at::max_pool2d(x, {2, 2})));
  CHECK(at::equal(at::mkldnn_max_pool3d(x, {2, 2, 2}), at::max_pool3d(x, {2, 2, 2})));
  CHECK(at::equal(at::mkldnn_adaptive_avg_pool2d(x, {3, 2}), at::adaptive_avg_pool2d(x, {3, 2})));
  CHECK(at::equal(at::_mkldnn_reshape(x, {8, 36}), x.reshape({8, 36})));
  CHECK(at::equal(at::_mkldnn_transpose(x, 1, 2), x.transpose(1, 2)));
  at::Tensor turned = x.clone();
  CHECK(at::_mkldnn_transpose_(turned, 0, 1).size(0) == 4);
  CHECK_FALSE(at::_nnpack_available());
  CHECK_FALSE(at::is_vulkan_available());
}

TEST_CASE("gradients of the mkldnn layout are those of the dense operators", "[ops]") {
  const auto leaf = [](at::IntArrayRef sizes) { return at::randn(sizes).set_requires_grad(true); };
  const auto grad = [](const at::Tensor& t) { return t.grad(); };
  at::Tensor x = leaf({3, 2, 5});
  at::Tensor w = leaf({4, 5});
  at::Tensor b = leaf({4});
  const at::Tensor arriving = at::randn({3, 2, 4});
  at::mkldnn_linear(x, w, b).backward(arriving);
  const auto linear = at::mkldnn_linear_backward(x.detach(), arriving, w.detach(), {true, true, true});
  CHECK(at::allclose(std::get<0>(linear), grad(x)));
  CHECK(at::allclose(std::get<1>(linear), grad(w), 1e-4));
  CHECK(at::allclose(std::get<2>(linear), grad(b), 1e-4));
  CHECK_FALSE(std::get<2>(at::mkldnn_linear_backward(x.detach(), arriving, w.detach(), {true, true, false})).defined());

  at::Tensor image = leaf({1, 2, 4, 4});
  const at::Tensor pooled = at::mkldnn_max_pool2d(image, {2, 2});
  const at::Tensor ones = at::ones_like(pooled);
  pooled.backward(ones);
  CHECK(at::equal(at::mkldnn_max_pool2d_backward(ones, pooled.detach(), image.detach(), {2, 2}), grad(image)));
  at::Tensor volume = leaf({2, 4, 4, 4});
  const at::Tensor pooled3d = at::mkldnn_max_pool3d(volume, {2, 2, 2});
  pooled3d.backward(at::ones_like(pooled3d));
  CHECK(at::equal(
      at::mkldnn_max_pool3d_backward(at::ones_like(pooled3d), pooled3d.detach(), volume.detach(), {2, 2, 2}),
      grad(volume)));
  at::Tensor plane = leaf({1, 2, 4, 4});
  const at::Tensor mean = at::mkldnn_adaptive_avg_pool2d(plane, {2, 2});
  mean.backward(at::ones_like(mean));
  CHECK(at::allclose(at::mkldnn_adaptive_avg_pool2d_backward(at::ones_like(mean), plane.detach()), grad(plane)));
}

TEST_CASE("out forms of sparse constructors take the members over", "[sparse]") {
  at::Tensor out = at::empty({0}, at::TensorOptions().layout(at::kSparse));
  at::_sparse_coo_tensor_with_dims_out(out, 1, 1, {3, 2});
  CHECK(out.sparse_dim() == 1);
  CHECK(out._nnz() == 0);
  const at::Tensor indices = at::tensor(std::vector<int64_t>{0, 2}).reshape({1, 2});
  const at::Tensor values = at::ones({2, 2});
  at::_sparse_coo_tensor_with_dims_and_tensors_out(out, 1, 1, {3, 2}, indices, values);
  CHECK(out._nnz() == 2);
  CHECK(out.to_dense().sum().item<float>() == 4);
}
