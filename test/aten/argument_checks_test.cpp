// Checks and helpers that operators outside of the library use. Texts are libtorch's where it has them.
// Names that are deprecated are called on purpose.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <ATen/DeviceGuard.h>
#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/NativeFunctions.h>
#include <ATen/ScalarOps.h>
#include <ATen/TensorUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <torch/torch.h>

#include <sstream>

#include "test/support/matchers.h"

using namespace test;
using at::Tensor;

TEST_CASE("a number cannot be written into an undefined tensor", "[tensor]") {
  CHECK_THROWS_MATCHES(at::Tensor() = at::Scalar(5), c10::Error, Says("undefined tensor"));
  CHECK_THROWS_MATCHES(at::Tensor().fill_(5), c10::Error, Says("undefined tensor"));
}

TEST_CASE("arguments are named in messages", "[utils]") {
  const Tensor t = at::zeros({2});
  std::ostringstream out;
  out << at::TensorGeometryArg(at::TensorArg{t, "weight", 2}) << ", "
      << at::TensorGeometryArg(at::TensorArg{t, "bias", 0});
  CHECK(out.str() == "argument #2 'weight', 'bias'");
}

TEST_CASE("checks of shapes", "[utils][errors]") {
  const Tensor a_ = at::zeros({2, 3});
  const Tensor b_ = at::zeros({3, 2}, at::kDouble).t();
  const Tensor c_ = at::zeros({4}, at::kLong);
  const Tensor none_;
  const at::TensorArg a{a_, "a", 1}, b{b_, "b", 2}, c{c_, "c", 0}, none{none_, "none", 3};

  at::checkDim("f", a, 2);
  at::checkDim("f", a_, "a", 1, 2);
  at::checkDimRange("f", a, 2, 3);
  at::checkSameDim("f", a, b);
  at::checkContiguous("f", a);
  at::checkAllContiguous("f", {a, none, c});
  at::checkSize("f", a, {2, 3});
  at::checkSize("f", a, -1, 3);
  at::checkSize_symint("f", a, 1, c10::SymInt(3));
  at::checkNumel("f", a, 6);
  at::checkSameNumel("f", a, b);
  at::checkAllSameNumel("f", {none, a, b});
  at::checkSameSize("f", a, b);
  at::checkAllSameSize("f", {a, none, b});
  at::check_dim_size(a_, 2, 1, 3);

  const std::string from = " (while checking arguments for f)";
  const auto says = [&](auto check, const std::string& text) {
    CHECK_THROWS_MATCHES(check(), c10::Error, Says(text + from));
  };
  says(
      [&] { at::checkDim("f", a, 3); },
      "Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'a'");
  says(
      [&] { at::checkDim("f", a_, "a", 1, 3); },
      "Expected 3-dimensional tensor, but got 2-dimensional tensor for argument #1 'a'");
  says(
      [&] { at::checkDimRange("f", a, 3, 5); },
      "Expected 3 to 4 dimensions, but got 2-dimensional tensor for argument #1 'a'");
  says(
      [&] { at::checkSameDim("f", a, c); },
      "Expected tensor for argument #1 'a' to have the same dimension as tensor for 'c'; but 2 does not equal 1");
  says(
      [&] {
        at::checkAllContiguous("f", {a, b});
      },
      "Expected contiguous tensor, but got non-contiguous tensor for argument #2 'b'");
  says(
      [&] {
        at::checkSize("f", a, {3, 2});
      },
      "Expected tensor of size [3, 2], but got tensor of size [2, 3] for argument #1 'a'");
  says(
      [&] { at::checkSize("f", a, 1, 5); },
      "Expected tensor to have size 5 at dimension 1, but got size 3 for argument #1 'a'");
  says(
      [&] { at::checkNumel("f", a, 5); },
      "Expected tensor for argument #1 'a' to have 5 elements; but it actually has 6 elements");
  says(
      [&] {
        at::checkAllSameNumel("f", {none, a, b, c});
      },
      "Expected tensor for argument #1 'a' to have same number of elements as tensor for 'c'; but 6 does not equal 4");
  says(
      [&] {
        at::checkAllSameSize("f", {a, c});
      },
      "Expected tensor for argument #1 'a' to have same size as tensor for 'c'; but [2, 3] does not equal [4]");
  CHECK_THROWS_MATCHES(at::checkSize("f", a, 2, 5), c10::IndexError, Says("Dimension out of range"));
  CHECK_THROWS_MATCHES(
      at::check_dim_size(a_, 3, 1, 5), c10::Error,
      Says("Expected a tensor of dimension 3 and tensor.size[1] == 5 but got"));
  CHECK_THROWS_AS(at::check_dim_size(a_, 2, 7, 5), c10::Error);
}

TEST_CASE("checks of types and devices", "[utils][errors]") {
  const Tensor a_ = at::zeros({2});
  const Tensor b_ = at::zeros({2}, at::kDouble);
  const Tensor none_;
  const at::TensorArg a{a_, "a", 1}, b{b_, "b", 2}, none{none_, "none", 3};

  at::checkScalarType("f", a, at::kFloat);
  at::checkScalarTypes("f", a, {at::kLong, at::kFloat});
  at::checkSameType("f", a, a);
  at::checkAllSameType("f", {none, a, a});
  at::checkDefined("f", a);
  at::checkBackend("f", {a_, none_}, at::Backend::CPU);
  at::checkDeviceType("f", {a_}, at::kCPU);
  at::checkLayout("f", {a_, b_}, at::kStrided);
  CHECK(at::maybe_data_ptr(a_) == a_.data_ptr());
  CHECK(at::maybe_data_ptr(none) == nullptr);

  const auto says = [&](auto check, const std::string& text) {
    CHECK_THROWS_MATCHES(check(), c10::Error, Says(text + " (while checking arguments for f)"));
  };
  says(
      [&] { at::checkScalarType("f", a, at::kLong); },
      "Expected tensor for argument #1 'a' to have scalar type Long; but got CPUFloatType instead");
  says(
      [&] {
        at::checkScalarTypes("f", a, {at::kLong, at::kInt});
      },
      "Expected tensor for argument #1 'a' to have one of the following scalar types: Long, Int; but got CPUFloatType "
      "instead");
  says(
      [&] {
        at::checkAllSameType("f", {a, none, b});
      },
      "Expected tensor for argument #1 'a' to have the same type as tensor for argument #2 'b'; but type CPUFloatType "
      "does "
      "not equal CPUDoubleType");
  says(
      [&] {
        at::checkAllSameGPU("f", {a, b});
      },
      "Tensor for argument #1 'a' is on CPU, Tensor for argument #2 'b' is on CPU, but expected them to be on GPU");
  says(
      [&] {
        at::checkAllDefined("f", {a, none});
      },
      "Expected tensor for argument #3 'none' to be non-null, but it was undefined");
  says(
      [&] { at::checkBackend("f", {a_}, at::Backend::CUDA); },
      "Expected tensor to have CUDA Backend, but got tensor with CPU Backend");
  says(
      [&] { at::checkDeviceType("f", {a_}, at::kCUDA); },
      "Expected tensor to have cuda DeviceType, but got tensor with cpu DeviceType");
  says(
      [&] { at::checkLayout("f", a_, at::kSparse); },
      "Expected tensor to have Sparse Layout, but got tensor with Strided Layout");
}

TEST_CASE("geometry without a tensor", "[utils]") {
  const at::TensorGeometry geometry(at::IntArrayRef({2, 0, 3}));
  CHECK(geometry.strides() == at::IntArrayRef({3, 3, 1}));
  CHECK(geometry.numel() == 0);
  CHECK(geometry.is_contiguous());
  CHECK_FALSE(at::TensorGeometry(at::zeros({2, 3}).t()).is_contiguous());
  CHECK_THROWS_AS(at::TensorGeometry(at::IntArrayRef({-1})), c10::Error);
}

TEST_CASE("strides of views", "[utils]") {
  using Strides = std::vector<int64_t>;
  CHECK(at::detail::defaultStrides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(
      at::detail::computeStride(at::IntArrayRef({2, 3}), at::IntArrayRef({3, 1}), at::IntArrayRef({6})) == Strides{1});
  CHECK(
      at::detail::computeStride(at::IntArrayRef({2, 3}), at::IntArrayRef({3, 1}), at::IntArrayRef({3, 2})) ==
      Strides{2, 1});
  CHECK_FALSE(
      at::detail::computeStride(at::IntArrayRef({2, 3}), at::IntArrayRef({1, 2}), at::IntArrayRef({6})).has_value());
  const c10::DimVector split{2, 1, 3};
  CHECK(at::detail::computeStride(at::IntArrayRef({2, 3}), at::IntArrayRef({1, 2}), split) == c10::DimVector{1, 6, 2});
  CHECK_THROWS_AS(at::detail::computeStride(at::IntArrayRef({2}), at::IntArrayRef(), at::IntArrayRef({2})), c10::Error);
}

TEST_CASE("the -1 of shapes", "[utils]") {
  CHECK(at::infer_size(at::IntArrayRef({2, -1}), 6) == std::vector<int64_t>{2, 3});
  CHECK(at::infer_size_dv(at::IntArrayRef({6}), 6) == c10::DimVector{6});
  CHECK(at::infer_size_dv(c10::SymIntArrayRef({c10::SymInt(-1), c10::SymInt(3)}), c10::SymInt(6))[0] == 2);
  const auto says = [](at::IntArrayRef shape, int64_t numel, const char* text) {
    CHECK_THROWS_MATCHES(at::infer_size(shape, numel), c10::Error, Says(text));
  };
  says({-1, -1}, 6, "only one dimension can be inferred");
  says({-1, 4}, 6, "shape '[-1, 4]' is invalid for input of size 6");
  says({-2, 4}, 6, "invalid shape dimension -2 at index 0 of shape [-2, 4]");
  says({-1, 0}, 0, "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size -1");
  says({5}, 6, "shape '[5]' is invalid for input of size 6");
}

TEST_CASE("dimensions that count from the end", "[utils]") {
  std::vector<int64_t> dims{-1, 0};
  at::maybe_wrap_dims(dims, 3);
  CHECK(dims == std::vector<int64_t>{2, 0});
  CHECK(at::maybe_wrap_dim(-1, at::TensorList({at::zeros({2, 3})})) == 1);
  CHECK(at::maybe_wrap_dim(-1, std::vector<std::vector<int64_t>>{{1, 2, 3}}) == 2);
  CHECK(at::legacy_cat_wrap_dim(-1, std::vector<std::vector<int64_t>>{{0}, {2, 3}}) == 1);
  CHECK(at::legacy_cat_wrap_dim(-1, at::ITensorListRef(at::TensorList({at::zeros({0}), at::zeros({2, 3})}))) == 1);
  std::vector<int64_t> out_of_range{3};
  CHECK_THROWS_AS(at::maybe_wrap_dims(out_of_range, 3), c10::IndexError);

  CHECK(at::dim_list_to_bitset(at::IntArrayRef({0, -1}), 3).to_ulong() == 5);
  CHECK(at::dim_list_to_bitset(std::nullopt, 3).to_ulong() == 7);
  CHECK_THROWS_MATCHES(
      at::dim_list_to_bitset(at::IntArrayRef({0, -2}), 2), c10::Error,
      Says("dim 0 appears multiple times in the list of dims"));
  CHECK_THROWS_AS(at::dim_list_to_bitset(at::IntArrayRef({5}), 2), c10::IndexError);
  CHECK_THROWS_AS(at::dim_list_to_bitset(std::nullopt, 65), c10::Error);
}

TEST_CASE("numbers as tensors", "[utils]") {
  CHECK_THAT(c10::scalar_to_tensor(2.5), EqualsTensor(at::scalar_tensor(2.5, at::kDouble)));
  CHECK_THAT(c10::scalar_to_tensor(true), EqualsTensor(at::scalar_tensor(true, at::kBool)));
  CHECK_THAT(c10::scalar_to_tensor(3), EqualsTensor(at::scalar_tensor(3, at::kLong)));
  CHECK(c10::scalar_to_tensor(c10::complex<float>(1, 2)).scalar_type() == at::kComplexDouble);
  CHECK(c10::scalar_to_tensor(3, at::Device(at::kMeta)).is_meta());
  const Tensor number = at::native::wrapped_scalar_tensor(2.5);
  CHECK(number.unsafeGetTensorImpl()->is_wrapped_number());
  CHECK((at::ones({2}) * number).scalar_type() == at::kFloat);
  CHECK_THROWS_AS(at::detail::scalar_tensor_static(1, at::kLong, at::Device(at::kMeta)), c10::Error);
}

TEST_CASE("at::tensor", "[utils]") {
  CHECK_THAT(at::tensor({1, 2}), EqualsTensor(at::arange(1, 3, at::kInt)));
  CHECK_THAT(at::tensor({1.5, 2.5}), EqualsTensor(at::full({2}, 1.5, at::kDouble) + at::arange(2, at::kDouble)));
  CHECK_THAT(at::tensor({true, false}), EqualsTensor(at::arange(1, -1, -1).to(at::kBool)));
  CHECK_THAT(at::tensor(3.0f), EqualsTensor(at::full({1}, 3, at::kFloat)));
  // With options, but no dtype among them: the default dtype.
  CHECK_THAT(at::tensor({1, 2}, at::TensorOptions(at::kCPU)), EqualsTensor(at::arange(1, 3, at::kFloat)));
  CHECK_THAT(at::tensor({1.75, 2.0}, at::kInt), EqualsTensor(at::arange(1, 3, at::kInt)));
  const std::vector<int64_t> values{4, 5};
  CHECK_THAT(at::tensor(at::ArrayRef<int64_t>(values)), EqualsTensor(at::arange(4, 6)));
  CHECK(at::tensor(at::ArrayRef<double>(), at::kDouble).sizes() == at::IntArrayRef({0}));
  CHECK(at::tensor({c10::complex<float>(1, 2)}).scalar_type() == at::kComplexFloat);
  CHECK_THROWS_AS(at::tensor({c10::complex<float>(1, 2)}, at::kFloat), c10::Error);
  CHECK_FALSE(at::tensor({1.0}, at::TensorOptions().requires_grad(true)).requires_grad());
}

TEST_CASE("torch::tensor", "[utils]") {
  CHECK(torch::tensor(1).scalar_type() == at::kLong);
  CHECK(torch::tensor(int16_t{1}).scalar_type() == at::kShort);
  CHECK(torch::tensor(std::vector<int>{1, 2}).scalar_type() == at::kLong);
  CHECK(torch::tensor(1.5).scalar_type() == at::kFloat);
  CHECK(torch::tensor(1.5f).scalar_type() == at::kFloat);
  CHECK(torch::tensor(true).scalar_type() == at::kBool);
  CHECK(torch::tensor(c10::complex<double>(1, 2)).scalar_type() == at::kComplexDouble);
  CHECK(torch::tensor({}).sizes() == at::IntArrayRef({0}));
  CHECK(torch::tensor({{}, {}}).sizes() == at::IntArrayRef({2, 0}));
  CHECK(torch::tensor({true, false}).scalar_type() == at::kBool);
  CHECK_THAT(torch::tensor({{1, 2}, {3, 4}}), EqualsTensor(at::arange(1, 5).view({2, 2})));
  CHECK_THAT(torch::tensor({{{1.0}}, {{2.0}}}), EqualsTensor(at::arange(1, 3, at::kFloat).view({2, 1, 1})));
  CHECK_THAT(torch::tensor(std::vector<int>{1, 2}), EqualsTensor(at::arange(1, 3, at::kLong)));
  CHECK_THAT(torch::tensor(std::vector<double>{1, 2}), EqualsTensor(at::arange(1, 3, at::kFloat)));
  CHECK_THAT(torch::tensor({1.0, 2.0}, at::kHalf), EqualsTensor(at::arange(1, 3, at::kFloat).to(at::kHalf)));
  CHECK(torch::tensor({1.0}, torch::requires_grad()).requires_grad());
  CHECK_THROWS_MATCHES(
      torch::tensor({{1, 2}, {3}}), c10::Error,
      Says("Expected all sub-lists to have sizes: 2 (e.g. {1, 2}), but got sub-list {3}"));
  CHECK_THROWS_MATCHES(
      torch::tensor({{1, 2.0}}), c10::Error, Says("same scalar type: Int, but got element of scalar type: Double"));
  CHECK_THROWS_MATCHES(
      torch::tensor({1.0, 2.0f}), c10::Error, Says("same scalar type: Double, but got element of scalar type: Float"));
  c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  CHECK(torch::tensor({1.5f}).scalar_type() == at::kDouble);
  CHECK(torch::tensor({1.5}).scalar_type() == at::kDouble);
  c10::set_default_dtype(caffe2::TypeMeta::Make<float>());
}

TEST_CASE("allocation for backends", "[utils]") {
  const auto keys = c10::DispatchKeySet(c10::DispatchKey::CPU);
  c10::Allocator* allocator = at::getCPUAllocator();
  CHECK(at::detail::computeStorageNbytes({2, 3}, {3, 1}, 4) == 24);
  CHECK(at::detail::computeStorageNbytes({2, 3}, {1, 4}, 4, 2) == 48);
  CHECK(at::detail::computeStorageNbytes({2, 0}, {100, 100}, 4) == 0);
  CHECK(at::detail::computeStorageNbytesContiguous({2, 3}, 8, 1) == 56);
  const Tensor nhwc(
      at::detail::empty_generic({1, 2, 3, 4}, allocator, keys, at::kFloat, at::MemoryFormat::ChannelsLast));
  CHECK(nhwc.strides() == at::IntArrayRef({24, 1, 8, 2}));
  const Tensor strided(at::detail::empty_strided_generic({2, 2}, {1, 3}, allocator, keys, at::kInt));
  CHECK(strided.storage().nbytes() == 20);
  CHECK_THROWS_AS(at::detail::empty_generic({-1}, allocator, keys, at::kInt, std::nullopt), c10::Error);
  CHECK_THROWS_AS(at::detail::empty_generic({2}, allocator, keys, at::kInt, at::MemoryFormat::Preserve), c10::Error);
  CHECK_THROWS_AS(
      at::detail::empty_generic({2}, allocator, keys, at::kInt, at::MemoryFormat::ChannelsLast), c10::Error);
  CHECK_THROWS_AS(at::detail::empty_generic({2}, nullptr, keys, at::kInt, std::nullopt), c10::Error);
  CHECK_THROWS_AS(at::detail::empty_strided_generic({2}, {-1}, allocator, keys, at::kInt), c10::Error);
  CHECK_THROWS_AS(at::detail::empty_strided_generic({2}, {1, 1}, allocator, keys, at::kInt), c10::Error);
  const int64_t huge = int64_t{1} << 62;
  CHECK_THROWS_AS(at::detail::computeStorageNbytes({huge}, {huge}, 4), c10::Error);
  CHECK_THROWS_AS(at::detail::computeStorageNbytesContiguous({huge, 8}, 1), c10::Error);
}

TEST_CASE("names of at::native", "[utils]") {
  CHECK(at::native::empty_like(at::ones({2}, at::kInt)).scalar_type() == at::kInt);
  CHECK(at::native::result_type(at::ones({2}, at::kInt), at::ones({2})) == at::kFloat);
  const Tensor a = at::arange(12.).reshape({2, 6});
  CHECK(at::native::cpu_equal(a, a.clone()));
  CHECK_FALSE(at::native::cpu_equal(a, a + 1));
  CHECK(at::native::_stack_cpu({a, a}, 1).equal(at::stack({a, a}, 1)));
  const Tensor v = at::arange(2.), w = at::arange(6.);
  CHECK(at::native::math_addr(a, v, w, 2, 3).equal(at::native::addr(a, v, w, 2, 3)));
  CHECK(at::native::math_silu_backward(v, v).equal(at::native::silu_backward(v, v)));
  CHECK(at::native::math_mish_backward(v, v).equal(at::native::mish_backward(v, v)));
  const auto layer = at::native::math_native_layer_norm(a, {6}, std::nullopt, w, 1e-5);
  CHECK(std::get<0>(layer).equal(std::get<0>(at::native::native_layer_norm(a, {6}, {}, w, 1e-5))));
  const auto group = at::native::math_group_norm(a, w, std::nullopt, 2, 6, 1, 3, 1e-5);
  CHECK(std::get<1>(group).equal(std::get<1>(at::native::native_group_norm(a, w, {}, 2, 6, 1, 3, 1e-5))));
}

TEST_CASE("the type of a tensor as an object", "[utils]") {
  const Tensor t = at::ones({2}, at::kDouble);
  CHECK(t.type().scalarType() == at::kDouble);
  CHECK(t.type().backend() == at::Backend::CPU);
  CHECK_FALSE(t.type().is_cuda());
  CHECK(t.type().toString() == "CPUDoubleType");
  CHECK(t.type() == at::CPU(at::kDouble));
  CHECK(t.type() != t.to(at::kInt).type());
  CHECK(&t.type() == &at::zeros({1}, at::kDouble).type());
  auto& type = t.type();
  CHECK(at::zeros({1}, type).scalar_type() == at::kDouble);
  CHECK(t.type().toScalarType(at::kInt).options().dtype() == at::kInt);
  CHECK_THAT(at::CPU(at::kInt).copy(t), EqualsTensor(at::ones({2}, at::kInt)));
  CHECK(at::zeros({1}, at::kMeta).type().device_type() == at::kMeta);
  CHECK(AT_DISPATCH_FLOATING_TYPES(type, "size", [] { return sizeof(scalar_t); }) == 8);
  const auto type_of_nothing = [] { return &Tensor().type(); };
  CHECK_THROWS_MATCHES(type_of_nothing(), c10::Error, Says("undefined tensor"));
}

TEST_CASE("devices of arguments", "[utils]") {
  CHECK(at::device_of(at::ones({1})) == at::Device(at::kCPU));
  CHECK_FALSE(at::device_of(Tensor()).has_value());
  CHECK_FALSE(at::device_of(std::optional<Tensor>()).has_value());
  CHECK(at::device_of(at::ITensorListRef(at::TensorList({at::ones({1}, at::kMeta)}))) == at::Device(at::kMeta));
}
