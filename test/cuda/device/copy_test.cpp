// Copies in all directions, conversions, lazy bits, fills and sequences.
#include "test/cuda/device/support.h"

#include <vector>

using test::kGpu;
using test::near;
using test::same_on_both;

namespace {

const std::vector<at::ScalarType> kDtypes = {
    at::kBool,   at::kByte,         at::kChar,          at::kShort,         at::kInt,        at::kLong,
    at::kUInt16, at::kUInt32,       at::kUInt64,        at::kHalf,          at::kBFloat16,   at::kFloat,
    at::kDouble, at::kComplexFloat, at::kComplexDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2};

at::Tensor sample() {
  return torch::arange(-12, 12).view({4, 6}).to(at::kDouble) / 2;
}

} // namespace

TEST_CASE("tensors survive the way to the device and back, in any layout", "[cuda][copy]") {
  const at::Tensor a = torch::randn({5, 6, 7});
  for (const at::Tensor& t : {a, a.transpose(0, 2), a.slice(1, 0, 6, 2), a.select(2, 3), a.select(0, 0).select(0, 0)}) {
    CHECK(near(t.to(kGpu), t));
    CHECK(t.to(kGpu).strides() == t.clone().strides());
    at::Tensor back = torch::empty_like(t);
    back.copy_(t.to(kGpu).transpose(0, -1).contiguous().transpose(0, -1));
    CHECK(near(back, t));
  }
  CHECK(near(torch::ones({3}).expand({4, 3}).to(kGpu), torch::ones({4, 3})));
  CHECK(torch::empty({0, 3}).to(kGpu).sizes() == at::IntArrayRef({0, 3}));
}

TEST_CASE("every dtype converts to every other on the device as on the host", "[cuda][copy]") {
  for (const at::ScalarType from : kDtypes) {
    for (const at::ScalarType to : kDtypes) {
      // Negative numbers have no unsigned counterpart in C++, unless they are integers.
      const at::Tensor a = sample().abs().to(from);
      INFO(from << " to " << to);
      CHECK(near(a.to(kGpu).to(to).cpu().to(at::kComplexDouble), a.to(to).to(at::kComplexDouble)));
      CHECK(near(a.to(kGpu).t().to(to).cpu().to(at::kComplexDouble), a.t().to(to).to(at::kComplexDouble)));
    }
  }
}

TEST_CASE("copy_ broadcasts, converts and keeps strides across devices", "[cuda][copy]") {
  at::Tensor gpu = torch::zeros({6, 4}, kGpu).t();
  gpu.copy_(sample());
  CHECK(near(gpu, sample().to(at::kFloat)));
  gpu.copy_(torch::arange(6));
  CHECK(near(gpu, torch::arange(6).to(at::kFloat).expand({4, 6}).contiguous()));
  at::Tensor cpu = torch::zeros({6, 4}, at::kInt).t();
  cpu.copy_(gpu);
  CHECK(near(cpu, torch::arange(6).to(at::kInt).expand({4, 6}).contiguous()));
}

TEST_CASE("copies between places that overlap are refused", "[cuda][copy]") {
  at::Tensor a = torch::arange(10, kGpu);
  CHECK_THROWS_WITH(a.slice(0, 1, 10).copy_(a.slice(0, 0, 9)), Catch::Contains("refer to a single memory location"));
  CHECK(near(a.cpu(), torch::arange(10)));
}

TEST_CASE("a number is read from one element, not from none", "[cuda][copy]") {
  CHECK(at::_local_scalar_dense(torch::full({1}, 3.5).to(kGpu)).toDouble() == 3.5);
  CHECK_THROWS_WITH(
      at::_local_scalar_dense(torch::empty({0, 3}).to(kGpu)),
      Catch::Contains("a Tensor with 0 elements cannot be converted to Scalar"));
}

TEST_CASE("pinned memory is copied without waiting", "[cuda][copy]") {
  const at::Tensor host = torch::randn({1 << 20}).pin_memory();
  CHECK(host.is_pinned());
  const at::Tensor there = host.to(kGpu, /*non_blocking=*/true);
  at::Tensor back = torch::empty({1 << 20}, at::TensorOptions().pinned_memory(true));
  back.copy_(there, /*non_blocking=*/true);
  torch::cuda::synchronize();
  CHECK(near(back, host, 0, 0));
}

TEST_CASE("lazy conjugation and negation are carried out on the way", "[cuda][copy]") {
  const at::Tensor z = torch::randn({3, 4}, at::kComplexFloat);
  const at::Tensor gpu = z.to(kGpu);
  CHECK(near(gpu.conj().cpu(), z.conj().resolve_conj()));
  CHECK(near(gpu.conj().clone(), z.conj().resolve_conj()));
  CHECK(near(at::imag(gpu.conj()).clone(), at::imag(z.conj()).clone()));
  CHECK(near(gpu.conj().t().contiguous(), z.conj().t().contiguous()));
  CHECK(near(z.conj().to(kGpu), z.conj().resolve_conj()));
  at::Tensor target = torch::zeros({3, 4}, at::TensorOptions(kGpu).dtype(at::kComplexFloat));
  target.conj().copy_(gpu);
  CHECK(near(target, z.conj().resolve_conj()));
}

TEST_CASE("item, fills and sequences", "[cuda][factory]") {
  for (const at::ScalarType dtype : kDtypes) {
    INFO(dtype);
    CHECK(torch::full({2, 3}, 1, at::TensorOptions(kGpu).dtype(dtype)).cpu().to(at::kDouble).sum().item<double>() == 6);
    CHECK(torch::ones({3}, at::TensorOptions(kGpu).dtype(dtype))[1].to(at::kFloat).item<float>() == 1);
  }
  at::Tensor a = torch::zeros({4, 4}, kGpu);
  a.slice(1, 0, 4, 2).fill_(2.5);
  CHECK(a.sum().item<double>() == 20);
  a.slice(1, 1, 3).zero_();
  CHECK(a.sum().item<double>() == 10);
  same_on_both("arange", [](at::Device d) { return torch::arange(-3, 20, 2, d); });
  same_on_both(
      "arange half", [](at::Device d) { return torch::arange(0, 1, 0.1, at::TensorOptions(d).dtype(at::kHalf)); });
  same_on_both("linspace", [](at::Device d) { return torch::linspace(-1, 1, 101, d); });
  same_on_both(
      "linspace int", [](at::Device d) { return torch::linspace(0, 10, 5, at::TensorOptions(d).dtype(at::kInt)); });
  same_on_both("logspace", [](at::Device d) { return torch::logspace(0, 3, 7, 2, d); });
  same_on_both("eye", [](at::Device d) { return torch::eye(3, 5, d); });
  same_on_both("tril", [](at::Device d) { return sample().to(d).tril(1); });
  same_on_both("triu of a batch", [](at::Device d) {
    return torch::arange(60).view({3, 4, 5}).to(d).transpose(0, 2).triu(-1);
  });
}

TEST_CASE("cat, clone and contiguous", "[cuda][copy]") {
  const at::Tensor a = torch::randn({3, 4}), b = torch::randn({4, 2}).t();
  same_on_both("cat", [&](at::Device d) { return at::cat({a.to(d), b.to(d), torch::empty({0}, d)}, 0); });
  same_on_both("cat of dtypes", [&](at::Device d) { return at::cat({a.to(d), b.to(d).to(at::kHalf)}, 0); });
  same_on_both("stack", [&](at::Device d) { return at::stack({a.to(d), a.to(d) + 1}, 1); });
  same_on_both("contiguous", [&](at::Device d) { return b.to(d).contiguous(); });
}
