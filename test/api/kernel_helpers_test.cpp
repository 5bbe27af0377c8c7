// Helpers in libtorch's headers for programs with kernels of their own.
#include <torch/torch.h>

#include <ATen/CPUApplyUtils.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MatrixRef.h>
#include <ATen/TracerMode.h>
#include <ATen/core/Array.h>
#include <ATen/core/CheckMemoryFormat.h>
#include <ATen/core/DistributionsHelper.h>
#include <ATen/core/MT19937RNGEngine.h>
#include <ATen/core/PhiloxRNGEngine.h>
#include <ATen/native/CanUse32BitIndexMath.h>
#include <ATen/native/ReduceOpsUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorShape.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/utils.h>
#include <ATen/native/cpu/zmath.h>
#include <c10/util/LeftRight.h>
#include <c10/util/safe_conv.h>
#include <torch/csrc/autograd/utils/grad_layout_contract.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/utils/variadic.h>

#include <catch2/catch.hpp>

#include <map>
#include <string>

TEST_CASE("make_reduction sizes the result and reduces into it", "[kernel_helpers]") {
  const at::Tensor x = torch::arange(24, torch::kFloat).view({2, 3, 4});
  for (const bool keepdim : {false, true}) {
    at::Tensor result;
    auto iter = at::native::make_reduction("my_sum", result, x, at::IntArrayRef({0, 2}), keepdim, at::kFloat);
    result.zero_();
    // Serial: the output has stride 0 along what is reduced.
    iter.serial_for_each(
        [](char** data, const int64_t* strides, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            *reinterpret_cast<float*>(data[0] + i * strides[0]) += *reinterpret_cast<float*>(data[1] + i * strides[1]);
          }
        },
        {0, iter.numel()});
    CHECK(torch::equal(result, x.sum({0, 2}, keepdim)));
  }
  at::Tensor wrong = torch::empty({3}, torch::kDouble);
  CHECK_THROWS_WITH(
      at::native::make_reduction("my_sum", wrong, x, at::IntArrayRef({0, 2}), false, at::kFloat),
      Catch::StartsWith("my_sum: provided dtype must match dtype of result. Got Double and Float."));
  CHECK(at::meta::get_reduction_shape(x, {1}, true) == at::DimVector({2, 1, 4}));
  CHECK(at::native::get_zero_numel_tensor_size(torch::empty({2, 0, 4}), 0, false, "max") == std::vector<int64_t>{0, 4});
  CHECK_THROWS_AS(at::native::zero_numel_check_dims(torch::empty({2, 0}), 1, "max"), c10::IndexError);
  CHECK(at::native::integer_upcast(x.to(at::kShort), std::nullopt).scalar_type() == at::kLong);
  CHECK(at::native::lower_bound<float>() == -std::numeric_limits<float>::infinity());
}

TEST_CASE("resizing by hand keeps elements and storage in step", "[kernel_helpers]") {
  at::Tensor x = torch::arange(4, torch::kFloat);
  CHECK(at::native::resize_output_check(x, {2, 2}));
  CHECK_FALSE(at::native::resize_output_check(x, {4}));
  at::native::resize_impl_cpu_(x.unsafeGetTensorImpl(), {2, 3}, std::nullopt);
  CHECK(x.sizes() == at::IntArrayRef({2, 3}));
  CHECK(x.storage().nbytes() == 24);
  CHECK(torch::equal(x.reshape({6}).slice(0, 0, 4), torch::arange(4, torch::kFloat)));
  float data[2] = {1, 2};
  at::Tensor fixed = torch::from_blob(data, {2});
  CHECK_THROWS(at::native::resize_impl_cpu_(fixed.unsafeGetTensorImpl(), {5}, std::nullopt));
  CHECK(fixed.sizes() == at::IntArrayRef({2}));
  const std::vector<int64_t> sizes{2, 3}, strides{4, 1};
  CHECK(at::native::storage_size_for(at::IntArrayRef(sizes), at::IntArrayRef(strides)) == 7);
  CHECK_THROWS_WITH(
      at::native::checkInBoundsForStorage({3}, {1}, 0, fixed.dtype(), fixed.storage()),
      Catch::Contains("out of bounds"));
  at::native::checkInBoundsForStorage({2}, {1}, 0, fixed.dtype(), fixed.storage());
  const at::Tensor expanded = torch::arange(3).unsqueeze(1).expand({3, 2});
  const at::Tensor copy = at::native::clone_preserve_strides(expanded);
  CHECK(copy.strides() == expanded.strides());
  CHECK(torch::equal(copy, expanded));
  CHECK_FALSE(copy.is_alias_of(expanded));
  CHECK(at::native::get_num_splits(torch::empty({7}), 3, 0) == 3);
  CHECK_THROWS_AS(at::native::get_num_splits(torch::empty({7}), 0, 0), c10::Error);
  CHECK(at::native::canUse32BitIndexMath(torch::empty({7})));
  CHECK_FALSE(at::native::canUse32BitIndexMath(torch::empty({1}).expand({int64_t{1} << 32})));
}

TEST_CASE("loops over elements take any strides", "[kernel_helpers]") {
  const at::Tensor a = torch::arange(6, torch::kFloat).view({2, 3}).t().clone(),
                   b = torch::arange(6, torch::kFloat).view({2, 3});
  at::Tensor product = torch::empty({6});
  at::CPU_tensor_apply3<float, const float, const float>(
      product, a.t(), b, [](float& z, const float& x, const float& y) { z = x * y; });
  CHECK(torch::equal(product.view({2, 3}), b * b));
  at::Tensor one = torch::tensor(3.f);
  at::CPU_tensor_apply1<float>(one, [](float& x) { x += 1; });
  CHECK(one.item<float>() == 4);
  CHECK_THROWS_WITH(
      (at::CPU_tensor_apply2<float, float>(one, b, [](float&, float&) {})),
      Catch::StartsWith("inconsistent tensor size"));
  CHECK_THROWS(at::CPU_tensor_apply1<double>(one, [](double&) {}));

  int64_t n = 0, c = 0, h = 0;
  at::native::data_index_init<int64_t>(17, n, int64_t{2}, c, int64_t{3}, h, int64_t{4});
  CHECK(std::make_tuple(n, c, h) == std::make_tuple(int64_t{1}, int64_t{1}, int64_t{1}));
  for (int i = 0; i < 7; ++i) {
    at::native::data_index_step(n, int64_t{2}, c, int64_t{3}, h, int64_t{4});
  }
  CHECK(std::make_tuple(n, c, h) == std::make_tuple(int64_t{0}, int64_t{0}, int64_t{0}));
  CHECK(at::native::utils::CeilLog2(9) == 4);
  CHECK(at::native::zabs<c10::complex<float>, float>({3, 4}) == 5);
  CHECK(at::native::conj_impl(c10::complex<double>(1, 2)) == c10::complex<double>(1, -2));
}

TEST_CASE("generators of numbers: Philox, and normal floats", "[kernel_helpers]") {
  // Known answers of Random123 for ten rounds and zero counter and key.
  at::Philox4_32 zero(0, 0, 0);
  CHECK(zero() == 0x6627e8d5u);
  CHECK(zero() == 0xe169c58du);
  CHECK(zero() == 0xbc57ac4cu);
  CHECK(zero() == 0x9b00dbd8u);
  at::Philox4_32 ahead(0, 0, 1);
  CHECK(zero() == ahead());

  at::Generator generator = at::detail::createCPUGenerator(9);
  auto* impl = generator.get<at::CPUGeneratorImpl>();
  at::normal_distribution<float> normal(0, 1);
  // As libtorch draws them.
  CHECK(normal(impl) == -0.4731946587562561f);
  const at::Generator copy = generator.clone();
  at::Generator restored = at::detail::createCPUGenerator(1);
  restored.set_state(generator.get_state());
  CHECK(normal(impl) == -0.70372164249420166f);
  CHECK(normal(copy.get<at::CPUGeneratorImpl>()) == -0.70372164249420166f);
  CHECK(normal(restored.get<at::CPUGeneratorImpl>()) == -0.70372164249420166f);
  CHECK(normal(impl) == -1.7195456027984619f);

  at::mt19937_engine twister(7);
  at::Generator seven = at::detail::createCPUGenerator(3);
  seven.get<at::CPUGeneratorImpl>()->set_engine(at::mt19937(7));
  CHECK(twister() == seven.get<at::CPUGeneratorImpl>()->random());
}

namespace {

// Gives an element as a number of the wanted type.
struct ElementAs {
  template <typename T>
  T operator()(size_t place) const {
    return static_cast<T>(values[place]);
  }
  const std::vector<double>& values;
};

} // namespace

TEST_CASE("small classes of libtorch's headers", "[kernel_helpers]") {
  at::detail::Array<int, 3> array(2);
  array[1] = 5;
  CHECK(array[0] + array[1] + array.size() == 10);

  const std::vector<int> numbers{1, 2, 3, 4, 5, 6};
  const at::MatrixRef<int> matrix(numbers, 3);
  CHECK(matrix.size(0) == 2);
  CHECK(matrix[1][0] == 4);
  CHECK_THROWS(at::MatrixRef<int>(numbers, 4));

  CHECK(torch::count_tensors(torch::ones({1}), std::vector<at::Tensor>(3), std::optional<at::Tensor>()) == 4);
  CHECK(torch::count_variables(torch::ones({1}), torch::ones({1})) == 2);
  std::string called;
  torch::apply([&](const auto& part) { called += std::to_string(part) + ";"; }, 1, size_t{2}, 3);
  CHECK(called == "1;2;3;");
  const std::vector<double> given{1.5, 2.5, 3.5};
  CHECK(
      torch::unpack<std::string, int, double>(
          [](int a, double b) { return std::to_string(a) + " " + std::to_string(b); }, ElementAs{given}) ==
      "1 2.500000");

  CHECK(c10::safe_conv<int8_t>(int64_t{-128}) == -128);
  CHECK_THROWS_WITH(c10::safe_conv<uint8_t>(-1, "width"), Catch::Contains("width"));

  c10::LeftRight<std::map<int, int>> shared;
  shared.write([](std::map<int, int>& m) { m[1] = 2; });
  CHECK(shared.read([](const std::map<int, int>& m) { return m.at(1); }) == 2);
  CHECK_THROWS(shared.write([](std::map<int, int>& m) {
    m[5] = 1;
    throw std::runtime_error("no");
  }));
  CHECK(shared.read([](const std::map<int, int>& m) { return m.count(5); }) == 0);

  const at::Tensor weight = torch::zeros({2, 3}).t(), grad = torch::ones({3, 2});
  CHECK_FALSE(torch::autograd::utils::obeys_layout_contract(grad, weight));
  const at::Tensor obeying = torch::autograd::utils::clone_obey_contract(grad, weight);
  CHECK(torch::autograd::utils::obeys_layout_contract(obeying, weight));
  CHECK(torch::equal(obeying, grad));

  CHECK_FALSE(at::tracer::impl::is_dispatch_enabled());
}
