// The headers of libtorch that programs write kernels with, used as such programs use them.
#include <torch/mps.h>
#include <torch/torch.h>

#include <ATen/CPUFunctions.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MetaFunctions.h>
#include <ATen/PTThreadPool.h>
#include <ATen/RedispatchFunctions.h>
#include <ATen/core/DistributionsHelper.h>
#include <ATen/cpu/vec/functional.h>
#include <ATen/cpu/vec/vec.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/IndexingUtils.h>
#include <ATen/native/Pool.h>
#include <ATen/native/cpu/Loops.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <sstream>
#include <tuple>
#include <vector>

using at::vec::Vectorized;

TEST_CASE("a pool of a program's own runs operators", "[kernel_headers]") {
  at::PTThreadPool pool(2);
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    pool.run([&] { good += torch::ones({1000}).sum().item<int>() == 1000; });
  }
  pool.waitWorkComplete();
  CHECK(good == 8);
}

TEST_CASE("cpu_kernel makes an operator of a function of elements", "[kernel_headers]") {
  // Not a product before a sum: compilers may round that once or twice.
  const auto fused = [](const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out;
    auto iter = at::TensorIteratorConfig()
                    .add_output(out)
                    .add_const_input(a)
                    .add_const_input(b)
                    .promote_inputs_to_common_dtype(true)
                    .build();
    AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kHalf, at::kBFloat16, at::kBool, iter.common_dtype(), "fused", [&] {
      at::native::cpu_kernel(iter, [](scalar_t x, scalar_t y) -> scalar_t { return (x + y) * x; });
    });
    return iter.output();
  };
  torch::manual_seed(0);
  const at::Tensor a = torch::randn({6, 5}), b = torch::randn({5, 6});
  CHECK(torch::equal(fused(a, a), (a + a) * a));
  CHECK(torch::equal(fused(a, b.t()), (a + b.t()) * a));
  CHECK(torch::equal(
      fused(a.slice(1, 0, 5, 2), b.t().slice(1, 1, 4)),
      (a.slice(1, 0, 5, 2) + b.t().slice(1, 1, 4)) * a.slice(1, 0, 5, 2)));
  CHECK(torch::equal(fused(a, b[0][0]), (a + b[0][0]) * a));
  CHECK(torch::equal(
      fused(a.select(1, 0).unsqueeze(1), b[0]), (a.select(1, 0).unsqueeze(1) + b[0]) * a.select(1, 0).unsqueeze(1)));
  CHECK(torch::equal(
      fused(torch::arange(5), a.to(torch::kDouble)), (torch::arange(5) + a.to(torch::kDouble)) * torch::arange(5)));
  CHECK(fused(torch::empty({0, 3}), torch::ones({3})).sizes() == at::IntArrayRef({0, 3}));
  const at::Tensor large = torch::randn({200000});
  CHECK(torch::equal(fused(large, large), (large + large) * large));
  for (const auto dtype :
       {at::kByte, at::kShort, at::kInt, at::kLong, at::kHalf, at::kBFloat16, at::kDouble, at::kComplexDouble}) {
    const at::Tensor x = torch::arange(1, 10).to(dtype);
    CHECK(torch::equal(fused(x, x).to(at::kComplexDouble), ((x + x) * x).to(at::kComplexDouble)));
  }
}

TEST_CASE("cpu_kernel refuses a function that does not fit the operands", "[kernel_headers]") {
  const at::Tensor a = torch::ones({3});
  at::Tensor out;
  auto iter = at::TensorIterator::unary_op(out, a);
  CHECK_THROWS_AS(at::native::cpu_kernel(iter, [](double x) { return x; }), c10::Error);
  CHECK_THROWS_AS(at::native::cpu_kernel(iter, [](float x, float y) { return x + y; }), c10::Error);
  CHECK_THROWS_AS(
      at::native::cpu_kernel_multiple_outputs(iter, [](float x) { return std::tuple<float, float>(x, x); }),
      c10::Error);
  const at::Tensor meta = torch::ones({3}, at::kMeta);
  at::Tensor meta_out;
  auto nowhere = at::TensorIterator::unary_op(meta_out, meta);
  CHECK_THROWS_AS(at::native::cpu_kernel(nowhere, [](float x) { return x; }), c10::Error);
}

TEST_CASE("cpu_kernel_multiple_outputs fills one output for each member of the tuple", "[kernel_headers]") {
  const at::Tensor x = torch::randn({4, 7}).t();
  at::Tensor whole, rest;
  auto iter = at::TensorIteratorConfig().add_output(whole).add_output(rest).add_const_input(x).build();
  at::native::cpu_kernel_multiple_outputs(iter, [](float v) {
    const float t = std::trunc(v);
    return std::tuple<float, float>(t, v - t);
  });
  CHECK(torch::equal(iter.output(0), x.trunc()));
  CHECK(torch::equal(iter.output(1), x - x.trunc()));
}

TEST_CASE("cpu_kernel_vec uses vectors where operands are dense", "[kernel_headers]") {
  const auto multiply = [](const at::Tensor& a, const at::Tensor& b) {
    at::Tensor out;
    auto iter = at::TensorIterator::binary_op(out, a, b);
    at::native::cpu_kernel_vec(
        iter, [](float x, float y) { return x * y; }, [](Vectorized<float> x, Vectorized<float> y) { return x * y; });
    return iter.output();
  };
  torch::manual_seed(1);
  const at::Tensor a = torch::randn({37, 21}), b = torch::randn({21, 37}), row = torch::randn({21});
  CHECK(torch::equal(multiply(a, a), a * a));
  CHECK(torch::equal(multiply(a, b.t()), a * b.t()));
  CHECK(torch::equal(multiply(a, row), a * row));
  CHECK(torch::equal(multiply(row, a), a * row));
  CHECK(torch::equal(multiply(a, row[3].expand({37, 21})), a * row[3]));
  CHECK(torch::equal(multiply(row[3].expand({37, 21}), a), a * row[3]));
  CHECK(torch::equal(multiply(row[3].expand({37, 21}), row[4].expand({37, 21})), (row[3] * row[4]).expand({37, 21})));
}

TEST_CASE("cpu_serial_kernel visits a range of elements in order", "[kernel_headers]") {
  at::Tensor x = torch::zeros({10});
  auto iter = at::TensorIterator::borrowing_nullary_op(x);
  float next = 0;
  at::native::cpu_serial_kernel(iter, [&next]() -> float { return next++; });
  CHECK(torch::equal(x, torch::arange(10, torch::kFloat)));
  at::native::cpu_serial_kernel(iter, [&next]() -> float { return next++; }, {2, 5});
  CHECK(torch::equal(x, torch::tensor({0.f, 1.f, 10.f, 11.f, 12.f, 5.f, 6.f, 7.f, 8.f, 9.f})));
  at::Tensor y;
  auto unary = at::TensorIterator::unary_op(y, x);
  at::native::cpu_serial_kernel_vec(
      unary, [](float v) { return -v; }, [](Vectorized<float> v) { return v.neg(); });
  CHECK(torch::equal(unary.output(), -x));
}

template <class T>
static std::vector<T> ramp(int n) {
  std::vector<T> values;
  for (int i = 0; i < n; ++i) {
    values.push_back(static_cast<T>(i % 7 + 1));
  }
  return values;
}

TEMPLATE_TEST_CASE(
    "Vectorized does to each lane what C++ does to a number",
    "[kernel_headers]",
    uint8_t,
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    c10::Half,
    c10::BFloat16,
    float,
    double,
    c10::complex<float>,
    c10::complex<double>) {
  using T = TestType;
  using Vec = Vectorized<T>;
  constexpr int n = Vec::size();
  const std::vector<T> x = ramp<T>(n + 3), y(x.begin() + 3, x.end());
  const Vec a = Vec::loadu(x.data()), b = Vec::loadu(y.data());
  const Vec sum = a + b, product = a * b, ratio = a / b, shifted = a - b, twice = a * T(2);
  const Vec chosen = Vec::blendv(a, b, a == b), equal = a.eq(b), first = Vec::set(a, b, 1),
            part = Vec::loadu(x.data(), 1);
  for (int i = 0; i < n; ++i) {
    CHECK(sum[i] == static_cast<T>(x[i] + y[i]));
    CHECK(product[i] == static_cast<T>(x[i] * y[i]));
    CHECK(ratio[i] == static_cast<T>(x[i] / y[i]));
    CHECK(shifted[i] == static_cast<T>(x[i] - y[i]));
    CHECK(twice[i] == static_cast<T>(x[i] * T(2)));
    CHECK(chosen[i] == (x[i] == y[i] ? y[i] : x[i]));
    CHECK(equal[i] == T(x[i] == y[i] ? 1 : 0));
    CHECK(first[i] == (i == 0 ? y[i] : x[i]));
    CHECK(part[i] == (i == 0 ? x[0] : T(0)));
    CHECK(
        maximum(a, b)[i] ==
        (std::abs(static_cast<c10::complex<double>>(x[i])) > std::abs(static_cast<c10::complex<double>>(y[i])) ? x[i]
                                                                                                               : y[i]));
    CHECK((a ^ a)[i] == T(0));
    CHECK(Vec::arange(T(1), T(2))[i] == static_cast<T>(T(1) + static_cast<T>(i) * T(2)));
    CHECK(flip(a)[i] == x[n - 1 - i]);
  }
  std::vector<T> to(n, T(9));
  a.store(to.data(), 1);
  CHECK(to[0] == x[0]);
  CHECK(to[1] == T(9));
}

TEST_CASE("Vectorized has the functions of floating numbers", "[kernel_headers]") {
  using Vec = Vectorized<float>;
  const Vec x = Vec::arange(-1.75f, 0.5f), y = x.abs() + 0.5f;
  for (int i = 0; i < Vec::size(); ++i) {
    CHECK(x.exp()[i] == std::exp(x[i]));
    CHECK(y.log()[i] == std::log(y[i]));
    CHECK(x.tanh()[i] == std::tanh(x[i]));
    CHECK(y.rsqrt()[i] == 1 / std::sqrt(y[i]));
    CHECK(x.floor()[i] == std::floor(x[i]));
    CHECK((x * 2).round()[i] == std::nearbyint(x[i] * 2));
    CHECK(y.pow(x)[i] == std::pow(y[i], x[i]));
    CHECK(clamp(x, Vec(-1), Vec(1))[i] == std::min(std::max(x[i], -1.f), 1.f));
    CHECK(clamp_min(x, 0.f)[i] == std::max(x[i], 0.f));
    CHECK(fmadd(x, y, x)[i] == Approx(x[i] * y[i] + x[i]));
    CHECK((Vec(1) / (Vec(1) + x.neg().exp()))[i] == Approx(1 / (1 + std::exp(-x[i]))));
  }
  CHECK(Vec(0.5f).erfinv()[0] == Approx(at::erfinv(at::scalar_tensor(0.5f)).item<float>()));
  const Vec nan(std::numeric_limits<float>::quiet_NaN());
  CHECK(std::isnan(maximum(x, nan)[0]));
  CHECK(std::isnan(minimum(nan, x)[0]));
  CHECK(std::isnan(clamp(nan, Vec(0), Vec(1))[0]));
  CHECK(nan.has_inf_nan());
  CHECK(Vec(0).zero_mask() == (1 << Vec::size()) - 1);
  CHECK(at::vec::convert_to_int_of_same_size(nan)[0] == std::numeric_limits<int32_t>::min());
  CHECK(at::vec::convert_to_int_of_same_size(Vec(-2.7f))[0] == -2);
  const auto [low, high] = at::vec::convert_bfloat16_float(Vectorized<at::BFloat16>::arange(0.f));
  CHECK(low[1] == 1);
  CHECK(high[0] == Vec::size());
  CHECK(at::vec::convert_float_bfloat16(low, high)[Vec::size() + 1] == at::BFloat16(Vec::size() + 1));
  std::ostringstream text;
  text << Vectorized<double>(1.5);
  CHECK(text.str().substr(0, 9) == "vec[1.5, ");
}

TEMPLATE_TEST_CASE(
    "Vectorized has the functions of quantized numbers", "[kernel_headers]", c10::qint8, c10::quint8, c10::qint32) {
  using Vec = Vectorized<TestType>;
  using Number = typename Vec::value_type;
  const float scale = 0.25f;
  const int zero_point = 5;
  typename Vec::float_vec_return_type values;
  for (int i = 0; i < Vec::float_num_vecs(); ++i) {
    values[i] = Vectorized<float>::arange(-2.6f, 1.3f) * float(i + 1);
  }
  const Vec quantized = Vec::quantize(values, scale, zero_point, 1 / scale);
  const auto back = quantized.dequantize(Vectorized<float>(scale), Vectorized<float>(zero_point));
  const auto differences = quantized.widening_subtract(Vec(TestType(zero_point)));
  const Vec again = Vec::requantize_from_int(differences, 2.f, zero_point);
  Number stored[Vec::size()];
  quantized.relu6(Vec(TestType(zero_point)), Vec(TestType(29))).store(stored);
  const int count = Vectorized<float>::size();
  for (int i = 0; i < Vec::size(); ++i) {
    const float value = values[i / count][i % count];
    CHECK(quantized[i] == at::native::quantize_val<TestType>(scale, zero_point, value).val_);
    CHECK(
        back[i / count][i % count] == at::native::dequantize_val<TestType>(scale, zero_point, TestType(quantized[i])));
    CHECK(differences[i / count][i % count] == int(quantized[i]) - zero_point);
    CHECK(again[i] == at::native::requantize_from_int<TestType>(2.f, zero_point, int(quantized[i]) - zero_point).val_);
    CHECK(stored[i] == std::clamp<int>(quantized[i], zero_point, 29));
  }
  const Vec few = Vec::loadu(stored, 3), least = minimum(few, Vec(TestType(1)));
  CHECK(few[2] == stored[2]);
  CHECK(few[3] == 0);
  CHECK(least[0] == 1);
  CHECK(least[3] == 0);
}

TEMPLATE_TEST_CASE(
    "vec::map and vec::reduce_all run over arrays of any length",
    "[kernel_headers]",
    float,
    double,
    int64_t,
    at::Half,
    at::BFloat16) {
  using T = TestType;
  using Real = at::vec::vec_scalar_t<T>;
  using Vec = Vectorized<Real>;
  for (const int n : {0, 1, 3, 8, 17, 64, 101}) {
    const std::vector<T> x = ramp<T>(n), y(x.rbegin(), x.rend());
    std::vector<T> out(n + 1, T(99));
    at::vec::map<T>([](Vec v) { return v * v + Vec(1); }, out.data(), x.data(), n);
    for (int i = 0; i < n; ++i) {
      CHECK(out[i] == static_cast<T>(static_cast<Real>(x[i]) * static_cast<Real>(x[i]) + Real(1)));
    }
    at::vec::map3<T>([](Vec a, Vec b, Vec c) { return a * b - c; }, out.data(), x.data(), y.data(), x.data(), n);
    Real sum = 0, product_sum = 0, most = 0;
    for (int i = 0; i < n; ++i) {
      CHECK(out[i] == static_cast<T>(static_cast<Real>(x[i]) * static_cast<Real>(y[i]) - static_cast<Real>(x[i])));
      sum += static_cast<Real>(x[i]);
      product_sum += static_cast<Real>(x[i]) * static_cast<Real>(y[i]);
      most = std::max(most, static_cast<Real>(x[i]));
    }
    CHECK(out[n] == T(99));
    const auto add = [](Vec a, Vec b) { return a + b; };
    CHECK(at::vec::reduce_all<T>(add, x.data(), n) == sum);
    CHECK(at::vec::reduce_all<T>([](Vec a, Vec b) { return maximum(a, b); }, x.data(), n) == most);
    CHECK(at::vec::map2_reduce_all<T>([](Vec a, Vec b) { return a * b; }, add, x.data(), y.data(), n) == product_sum);
  }
}

namespace at::native {

using scale_fn = void (*)(TensorIteratorBase&, double);
DECLARE_DISPATCH(scale_fn, scale_stub);
DECLARE_DISPATCH(scale_fn, unregistered_stub);
DEFINE_DISPATCH(scale_stub);
DEFINE_DISPATCH(unregistered_stub);

static void scale_kernel(TensorIteratorBase& iter, double factor) {
  AT_DISPATCH_FLOATING_TYPES(iter.dtype(), "scale", [&] {
    cpu_kernel(iter, [factor](scalar_t x) -> scalar_t { return x * static_cast<scalar_t>(factor); });
  });
}
static void scale_meta(TensorIteratorBase&, double) {}

REGISTER_DISPATCH(scale_stub, &scale_kernel)
REGISTER_PRIVATEUSE1_DISPATCH(scale_stub, &scale_meta)
REGISTER_NO_CPU_DISPATCH(unregistered_stub)

} // namespace at::native

TEST_CASE("a dispatch stub calls what is registered for the device", "[kernel_headers]") {
  const at::Tensor x = torch::randn({5}, torch::kDouble);
  at::Tensor out;
  auto iter = at::TensorIterator::unary_op(out, x);
  at::native::scale_stub(at::kCPU, iter, 3);
  CHECK(torch::equal(iter.output(), x * 3));
  CHECK(at::native::scale_stub.is_device_supported(at::kPrivateUse1));
  CHECK_FALSE(at::native::scale_stub.is_device_supported(at::kCUDA));
  CHECK_THROWS_AS(at::native::scale_stub(at::kCUDA, iter, 3), c10::Error);
  CHECK_THROWS_AS(at::native::unregistered_stub(at::kCPU, iter, 3), c10::Error);
}

TEST_CASE("at::cpu and at::meta go straight to the kernels", "[kernel_headers]") {
  const at::Tensor x = torch::randn({3, 4}).requires_grad_(), y = torch::randn({4});
  const at::Tensor sum = at::cpu::add(x, y, 2);
  CHECK(torch::equal(sum, (x + y * 2).detach()));
  CHECK_FALSE(sum.requires_grad());
  at::Tensor out = torch::empty({0});
  CHECK(torch::equal(at::cpu::mul_out(out, x.detach(), y), x.detach() * y));
  CHECK(torch::equal(at::cpu::mul_outf(x.detach(), y, out), out));
  at::Tensor z = torch::ones({4});
  at::cpu::add_(z, y);
  CHECK(torch::equal(z, y + 1));
  CHECK(at::cpu::empty({2, 3}, at::kInt).scalar_type() == at::kInt);
  CHECK(torch::equal(at::cpu::sum(x.detach(), at::IntArrayRef{1}), x.detach().sum(1)));

  const at::Tensor shape = at::meta::add(x.detach().to(at::kMeta), y.to(at::kMeta));
  CHECK(shape.is_meta());
  const at::Tensor of_data = at::meta::add(x.detach(), y);
  CHECK(of_data.is_meta());
  CHECK(of_data.sizes() == shape.sizes());
  CHECK(at::meta::cat({x.detach(), x.detach()}, 1).sizes() == at::IntArrayRef({3, 8}));
  CHECK(shape.sizes() == at::IntArrayRef({3, 4}));
  CHECK_THROWS_AS(at::meta::mm(torch::ones({2, 3}, at::kMeta), torch::ones({2, 3}, at::kMeta)), c10::Error);
}

namespace {
int seen = 0;
at::Tensor counted_mul(c10::DispatchKeySet keys, const at::Tensor& a, const at::Tensor& b) {
  ++seen;
  return at::redispatch::mul(
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::AutogradPrivateUse1), a, b);
}
} // namespace

TEST_CASE("at::redispatch goes on to the kernels of other keys", "[kernel_headers]") {
  const at::Tensor x = torch::randn({3}), y = torch::randn({3});
  const c10::DispatchKeySet cpu(c10::DispatchKey::CPU);
  CHECK(torch::equal(at::redispatch::add(cpu, x, y, 1), x + y));
  at::Tensor out = torch::empty({3});
  CHECK(torch::equal(at::redispatch::add_out(cpu, out, x, y), x + y));
  CHECK(torch::equal(at::redispatch::add_outf(cpu, x, y, 1, out), x + y));
  CHECK(torch::equal(counted_mul(c10::DispatchKeySet(c10::DispatchKey::AutogradPrivateUse1) | cpu, x, y), x * y));
  CHECK(seen == 1);
}

template <class T, class Distribution>
static at::Tensor drawn(Distribution distribution) {
  at::Generator generator = at::detail::createCPUGenerator(5);
  at::Tensor out = torch::empty({9}, c10::CppTypeToScalarType<T>::value);
  for (int i = 0; i < 9; ++i) {
    out.data_ptr<T>()[i] = static_cast<T>(distribution(at::check_generator<at::CPUGeneratorImpl>(generator)));
  }
  return out;
}

TEST_CASE("distributions draw the numbers of the tensors' methods", "[kernel_headers]") {
  const auto generator = [] { return at::detail::createCPUGenerator(5); };
  const at::Tensor d = torch::empty({9}, torch::kDouble), f = torch::empty({9});
  // The tensors' kernels fuse a product and a sum.
  CHECK(torch::allclose(
      drawn<double>(at::uniform_real_distribution<double>(-1, 2)), d.clone().uniform_(-1, 2, generator()), 0, 1e-15));
  CHECK(torch::allclose(
      drawn<float>(at::uniform_real_distribution<float>(-1, 2)), f.clone().uniform_(-1, 2, generator()), 0, 1e-6));
  CHECK(torch::allclose(drawn<double>(at::normal_distribution<double>(1, 2)), d.clone().normal_(1, 2, generator())));
  CHECK(torch::allclose(
      drawn<double>(at::lognormal_distribution<double>(1, 2)), d.clone().log_normal_(1, 2, generator())));
  CHECK(
      torch::allclose(drawn<double>(at::exponential_distribution<double>(3)), d.clone().exponential_(3, generator())));
  CHECK(torch::allclose(drawn<double>(at::cauchy_distribution<double>(1, 2)), d.clone().cauchy_(1, 2, generator())));
  CHECK(torch::equal(drawn<double>(at::geometric_distribution<double>(0.25)), d.clone().geometric_(0.25, generator())));
  CHECK(torch::equal(
      drawn<int64_t>(at::uniform_int_from_to_distribution<int64_t>(10, -3)),
      torch::empty({9}, torch::kLong).random_(-3, 7, generator())));
  CHECK(torch::equal(
      drawn<uint8_t>(at::uniform_int_distribution<uint8_t>()), torch::empty({9}, torch::kByte).random_(generator())));
  CHECK_THROWS_AS(at::uniform_real_distribution<double>(2, 1), c10::Error);
}

TEST_CASE("lists of index tensors are brought into the order of kernels", "[kernel_headers]") {
  const at::Tensor x = torch::arange(24).view({2, 3, 4}), mask = torch::tensor({true, false, true}), none;
  const at::Tensor index = torch::tensor({0, 3});
  const c10::List<std::optional<at::Tensor>> given({std::nullopt, mask, index});
  const std::vector<at::Tensor> expanded = at::native::expandTensors(x, given);
  REQUIRE(expanded.size() == 3);
  CHECK_FALSE(expanded[0].defined());
  CHECK(torch::equal(expanded[1], torch::tensor({0, 2})));
  CHECK(at::native::hasContiguousSubspace(expanded));
  CHECK_FALSE(at::native::hasContiguousSubspace({index, none, index}));
  const auto [moved, order, inverse] = at::native::transposeToFrontAndInvPerm(x, expanded);
  CHECK(moved.sizes() == at::IntArrayRef({3, 4, 2}));
  CHECK(torch::equal(moved.permute(inverse), x));
  CHECK_FALSE(order[2].defined());
  CHECK_THROWS_AS(at::native::expandTensors(x, c10::List<std::optional<at::Tensor>>({mask})), c10::IndexError);
  CHECK_THROWS_AS(
      at::native::checkIndexTensorTypes(c10::List<std::optional<at::Tensor>>({torch::ones({2})})), c10::IndexError);
}

TEST_CASE("pooling_output_shape counts the windows that max_pool1d has", "[kernel_headers]") {
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t pad : {0, 1}) {
      for (const bool ceil_mode : {false, true}) {
        const at::Tensor y = torch::max_pool1d(torch::randn({1, 1, 10}), 3, stride, pad, 1, ceil_mode);
        CHECK(at::native::pooling_output_shape<int64_t>(10, 3, pad, stride, 1, ceil_mode) == y.size(2));
      }
    }
  }
  CHECK_THROWS_AS(at::native::pooling_output_shape<int64_t>(10, 3, 2, 1, 1, false), c10::Error);
  CHECK_THROWS_AS(at::native::pooling_output_shape<int64_t>(10, 3, 1, 0, 1, false), c10::Error);
  CHECK_FALSE(torch::mps::is_available());
}
