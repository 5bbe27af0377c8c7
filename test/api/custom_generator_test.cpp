// A generator of a program's own behind PyTorch's samplers, as csprng and the tests of backends write it.
#include <ATen/native/DistributionTemplates.h>
#include <ATen/native/cpu/DistributionTemplates.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <limits>
#include <optional>

namespace {

namespace templates = at::native::templates;
using OptGenerator = std::optional<at::Generator>;

/// Always draws the same bits.
struct ConstantGenerator : c10::GeneratorImpl {
  explicit ConstantGenerator(uint64_t bits)
      : GeneratorImpl(at::kCPU, c10::DispatchKeySet(c10::DispatchKey::CustomRNGKeyId)), bits_(bits) {}
  uint32_t random() {
    return static_cast<uint32_t>(bits_);
  }
  uint64_t random64() {
    return bits_;
  }
  void set_current_seed(uint64_t seed) override {
    bits_ = seed;
  }
  uint64_t current_seed() const override {
    return bits_;
  }
  uint64_t seed() override {
    return bits_;
  }
  void set_state(const c10::TensorImpl&) override {}
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return torch::zeros({0}).getIntrusivePtr();
  }
  ConstantGenerator* clone_impl() const override {
    return new ConstantGenerator(bits_);
  }
  static c10::DeviceType device_type() {
    return c10::DeviceType::CPU;
  }

 private:
  uint64_t bits_;
};

at::Tensor& random_(at::Tensor& self, OptGenerator gen) {
  return templates::random_impl<templates::cpu::RandomKernel, ConstantGenerator>(self, gen);
}
at::Tensor& random_from(at::Tensor& self, int64_t from, std::optional<int64_t> to, OptGenerator gen) {
  return templates::random_from_to_impl<templates::cpu::RandomFromToKernel, ConstantGenerator>(self, from, to, gen);
}
at::Tensor& normal_(at::Tensor& self, double mean, double std, OptGenerator gen) {
  return templates::normal_impl_<templates::cpu::NormalKernel, ConstantGenerator>(self, mean, std, gen);
}
at::Tensor normal_tensors(const at::Tensor& mean, const at::Tensor& std, OptGenerator gen) {
  return templates::normal_impl<templates::cpu::NormalKernel, ConstantGenerator>(mean, std, gen);
}
at::Tensor& uniform_(at::Tensor& self, double from, double to, OptGenerator gen) {
  return templates::uniform_impl_<templates::cpu::UniformKernel, ConstantGenerator>(self, from, to, gen);
}
at::Tensor& log_normal_(at::Tensor& self, double mean, double std, OptGenerator gen) {
  return templates::log_normal_impl_<templates::cpu::LogNormalKernel, ConstantGenerator>(self, mean, std, gen);
}
at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, OptGenerator gen) {
  return templates::cauchy_impl_<templates::cpu::CauchyKernel, ConstantGenerator>(self, median, sigma, gen);
}
at::Tensor& geometric_(at::Tensor& self, double p, OptGenerator gen) {
  return templates::geometric_impl_<templates::cpu::GeometricKernel, ConstantGenerator>(self, p, gen);
}
at::Tensor& exponential_(at::Tensor& self, double lambda, OptGenerator gen) {
  return templates::exponential_impl_<templates::cpu::ExponentialKernel, ConstantGenerator>(self, lambda, gen);
}
at::Tensor& bernoulli_tensor(at::Tensor& self, const at::Tensor& p, OptGenerator gen) {
  return templates::bernoulli_impl_<templates::cpu::BernoulliKernel, ConstantGenerator>(self, p, gen);
}
at::Tensor& bernoulli_float(at::Tensor& self, double p, OptGenerator gen) {
  return templates::bernoulli_impl_<templates::cpu::BernoulliKernel, ConstantGenerator>(self, p, gen);
}
at::Tensor& bernoulli_out(const at::Tensor& self, OptGenerator gen, at::Tensor& out) {
  return templates::bernoulli_out_impl<templates::cpu::BernoulliKernel, ConstantGenerator>(out, self, gen);
}

TORCH_LIBRARY_IMPL(aten, CustomRNGKeyId, m) {
  m.impl("random_", random_);
  m.impl("random_.from", random_from);
  m.impl("normal_", normal_);
  m.impl("normal.Tensor_Tensor", normal_tensors);
  m.impl("uniform_", uniform_);
  m.impl("log_normal_", log_normal_);
  m.impl("cauchy_", cauchy_);
  m.impl("geometric_", geometric_);
  m.impl("exponential_", exponential_);
  m.impl("bernoulli_.Tensor", bernoulli_tensor);
  m.impl("bernoulli_.float", bernoulli_float);
  m.impl("bernoulli.out", bernoulli_out);
}

/// Whether all elements are `value`, or near it.
bool all_are(const torch::Tensor& t, double value) {
  return torch::allclose(t.to(torch::kDouble), torch::full(t.sizes(), value, torch::kDouble), 1e-3);
}

constexpr uint64_t kBits = 424242424242424242;

} // namespace

TEST_CASE("a generator of one's own draws integers through the templates", "[api][random]") {
  const at::Generator gen = at::make_generator<ConstantGenerator>(kBits);
  CHECK(torch::empty({3}, torch::kLong).random_(gen)[2].item<int64_t>() == static_cast<int64_t>(kBits));
  CHECK(all_are(
      torch::empty({3}, torch::kInt).random_(-5, 37, gen), static_cast<double>(static_cast<uint32_t>(kBits) % 42) - 5));
  CHECK(
      all_are(torch::empty({3}, torch::kUInt8).random_(7, std::nullopt, gen), static_cast<uint32_t>(kBits) % 249 + 7));
  CHECK(all_are(torch::empty({3}, torch::kBool).random_(gen).to(torch::kInt), kBits & 1));
  const auto all_bits =
      torch::empty({1}, torch::kLong).random_(std::numeric_limits<int64_t>::lowest(), std::nullopt, gen);
  CHECK(all_bits.item<int64_t>() == static_cast<int64_t>(kBits));
  CHECK(torch::empty({0}).random_(0, 3, gen).numel() == 0);
  CHECK_THROWS_WITH(
      torch::empty({1}).random_(3, 3, gen), Catch::Contains("random_ expects 'from' to be less than 'to'"));
}

TEST_CASE("a generator of one's own draws real numbers through the templates", "[api][random]") {
  const at::Generator gen = at::make_generator<ConstantGenerator>(kBits);
  const double uniform =
      static_cast<double>(kBits & ((uint64_t{1} << 53) - 1)) / static_cast<double>(uint64_t{1} << 53);
  const auto empty = [] { return torch::empty({3, 3}, torch::kDouble); };
  CHECK(all_are(empty().uniform_(-2, 4, gen), -2 + 6 * uniform));
  const double normal = std::sqrt(-2 * std::log1p(-uniform)) * std::cos(2 * c10::pi<double> * uniform);
  CHECK(all_are(empty().normal_(1, 3, gen), 1 + 3 * normal));
  CHECK(all_are(
      at::normal(torch::full({2, 1}, 5.0, torch::kDouble), torch::full({3}, 2.0, torch::kDouble), gen),
      5 + 2 * normal));
  CHECK(all_are(empty().log_normal_(0.1, 0.5, gen), std::exp(0.1 + 0.5 * normal)));
  CHECK(all_are(empty().cauchy_(1, 2, gen), 1 + 2 * std::tan(c10::pi<double> * (uniform - 0.5))));
  CHECK(all_are(empty().geometric_(0.4, gen), std::ceil(std::log(uniform) / std::log(0.6))));
  CHECK(all_are(empty().exponential_(2, gen), -std::log1p(-uniform) / 2));
  CHECK(all_are(empty().bernoulli_(uniform + 0.01, gen), 1));
  CHECK(all_are(empty().bernoulli_(uniform - 0.01, gen), 0));
  CHECK(all_are(empty().bernoulli_(torch::full({3}, uniform + 0.01, torch::kDouble), gen), 1));
  CHECK(all_are(torch::bernoulli(torch::full({3}, uniform - 0.01, torch::kDouble), gen), 0));
  CHECK_THROWS_WITH(empty().normal_(0, -1, gen), Catch::Contains("normal expects std >= 0.0, but found std -1"));
  CHECK_THROWS_WITH(
      empty().bernoulli_(1.5, gen), Catch::Contains("bernoulli_ expects p to be in [0, 1], but got p=1.5"));
}

TEST_CASE("the kernels of the templates draw what the library draws", "[api][random]") {
  const auto dtype = GENERATE(torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16);
  const int64_t n = GENERATE(5, 16, 37);
  CAPTURE(dtype, n);
  const auto drawn = [&](auto&& draw) {
    at::Generator gen = at::make_generator<at::CPUGeneratorImpl>(7);
    torch::Tensor t = torch::empty({n}, dtype);
    draw(t, gen);
    return t;
  };
  const auto kernel_of = [](at::Generator& gen) { return at::check_generator<at::CPUGeneratorImpl>(gen); };
  CHECK(torch::equal(
      drawn([&](auto& t, auto& gen) {
        templates::cpu::normal_kernel(t, 1.0, 2.0, kernel_of(gen));
      }).to(torch::kBFloat16),
      drawn([&](auto& t, auto& gen) { t.normal_(1.0, 2.0, gen); }).to(torch::kBFloat16)));
  // The library's kernels may use fused multiplication and addition.
  CHECK(torch::allclose(
      drawn([&](auto& t, auto& gen) {
        auto iter = at::TensorIterator::nullary_op(t);
        templates::cpu::uniform_kernel(iter, -1.0, 2.0, kernel_of(gen));
      }),
      drawn([&](auto& t, auto& gen) { t.uniform_(-1.0, 2.0, gen); }), 1e-6));
  CHECK(torch::equal(
      drawn([&](auto& t, auto& gen) {
        auto iter = at::TensorIterator::nullary_op(t);
        templates::cpu::random_from_to_kernel(iter, 100, -3, kernel_of(gen));
      }),
      drawn([&](auto& t, auto& gen) { t.random_(-3, 97, gen); })));
}
