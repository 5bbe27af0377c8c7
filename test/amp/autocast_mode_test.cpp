// State, casts and their cache, regions.
#include <catch2/catch.hpp>

#include <ATen/ThreadLocalState.h>
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include "test/amp/support.h"

#include <atomic>
#include <thread>

namespace autocast = at::autocast;

using at::Tensor;
using test::EqualsTensor;
using test::Says;
using torch::amp::AutocastGuard;
using torch::amp::AutocastOptions;

namespace {

Tensor weight() {
  return torch::linspace(-1, 1, 6).view({2, 3}).clone().requires_grad_();
}

} // namespace

TEST_CASE("autocast is off at first, with the dtypes of each device", "[amp]") {
  for (const at::DeviceType device : autocast::_AUTOCAST_SUPPORTED_DEVICES) {
    CHECK(autocast::is_autocast_available(device));
    CHECK_FALSE(autocast::is_autocast_enabled(device));
    const bool bfloat = device == at::kCPU || device == at::kMAIA || device == at::kXLA || device == at::kHPU;
    CHECK(autocast::get_autocast_dtype(device) == (bfloat ? at::kBFloat16 : at::kHalf));
  }
  CHECK(autocast::is_autocast_cache_enabled());
  for (const at::DeviceType device :
       {at::kMeta, at::kVulkan, at::DeviceType::MKLDNN, static_cast<at::DeviceType>(99)}) {
    CHECK_FALSE(autocast::is_autocast_available(device));
    CHECK_THROWS_MATCHES(
        autocast::is_autocast_enabled(device), c10::Error, Says("unknown device type for autocast in"));
    CHECK_THROWS_MATCHES(autocast::set_autocast_enabled(device, true), c10::Error, Says("unknown device type"));
    CHECK_THROWS_MATCHES(autocast::set_autocast_dtype(device, at::kHalf), c10::Error, Says("unknown device type"));
    CHECK_THROWS_MATCHES(
        autocast::get_lower_precision_fp_from_device_type(device), c10::Error, Says("unknown device type"));
    CHECK(autocast::get_autocast_dtype(device) == at::ScalarType::Undefined);
  }
  CHECK_THROWS_MATCHES(autocast::set_autocast_dtype(at::kCPU, at::kInt), c10::Error, Says("floating point type"));
}

TEST_CASE("devices are turned on one by one", "[amp]") {
  autocast::set_autocast_enabled(at::kCUDA, true);
  CHECK(autocast::is_autocast_enabled(at::kCUDA));
  CHECK_FALSE(autocast::is_autocast_enabled(at::kCPU));
  CHECK(torch::mm(torch::ones({2, 2}), torch::ones({2, 2})).scalar_type() == at::kFloat);
  autocast::set_autocast_enabled(at::kCUDA, false);
  CHECK(c10::impl::is_default(c10::impl::raw_local_dispatch_key_set));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  autocast::set_cpu_enabled(true);
  CHECK(autocast::is_cpu_enabled());
  CHECK_FALSE(autocast::is_enabled());
  autocast::set_cpu_enabled(false);
  autocast::set_autocast_gpu_dtype(at::kBFloat16);
  CHECK(autocast::get_autocast_gpu_dtype() == at::kBFloat16);
  autocast::set_autocast_gpu_dtype(at::kHalf);
  CHECK(autocast::get_autocast_cpu_dtype() == at::kBFloat16);
#pragma GCC diagnostic pop
}

TEST_CASE("cached_cast casts what is eligible and nothing else", "[amp]") {
  const Tensor single = torch::ones({2}), half = single.to(at::kHalf);
  CHECK(autocast::cached_cast(at::kBFloat16, single, at::kCPU).scalar_type() == at::kBFloat16);
  CHECK(autocast::cached_cast(at::kFloat, half, at::kCPU).scalar_type() == at::kFloat);
  CHECK(autocast::cached_cast(at::kFloat, single, at::kCPU).is_same(single));
  for (const Tensor& left :
       {single.to(at::kDouble), single.to(at::kLong), single.to(at::kBool), single.to(at::kComplexFloat)}) {
    CHECK_FALSE(autocast::is_eligible(left, at::kCPU));
    CHECK(autocast::cached_cast(at::kBFloat16, left, at::kCPU).is_same(left));
  }
  CHECK_FALSE(autocast::is_eligible(single)); // not a CUDA tensor
  CHECK(autocast::cached_cast(at::kHalf, single).is_same(single));
  CHECK_FALSE(autocast::is_eligible(Tensor(), at::kCPU));
  CHECK_FALSE(autocast::cached_cast(at::kHalf, Tensor(), at::kCPU).defined());
  CHECK_FALSE(autocast::cached_cast(at::kHalf, std::optional<Tensor>(), at::kCPU).has_value());
  CHECK(autocast::cached_cast(at::kHalf, std::optional<Tensor>(single), at::kCPU)->scalar_type() == at::kHalf);
  const std::vector<Tensor> list{single, half, Tensor()};
  const std::vector<Tensor> cast = autocast::cached_cast(at::kBFloat16, at::TensorList(list), at::kCPU);
  CHECK(cast[0].scalar_type() == at::kBFloat16);
  CHECK(cast[1].scalar_type() == at::kBFloat16);
  CHECK_FALSE(cast[2].defined());
  CHECK(autocast::cached_cast(at::kHalf, int64_t{3}, at::kCPU) == 3);
}

TEST_CASE("the widest dtype wins", "[amp]") {
  const Tensor single = torch::ones({2}), low = single.to(at::kBFloat16);
  CHECK(autocast::promote_type(at::kBFloat16, at::kCPU, low, 3, low) == at::kBFloat16);
  CHECK(autocast::promote_type(at::kBFloat16, at::kCPU, low, single) == at::kFloat);
  CHECK(autocast::promote_type(at::kBFloat16, at::kCPU, single.to(at::kDouble), Tensor()) == at::kBFloat16);
  CHECK(autocast::prioritize(at::kBFloat16, at::TensorList{low, single}, at::kCPU) == at::kFloat);
  CHECK(autocast::prioritize(at::kBFloat16, std::optional<Tensor>(single), at::kCPU) == at::kBFloat16);
  CHECK_THROWS_MATCHES(
      autocast::prioritize(at::kBFloat16, single.to(at::kHalf), at::kCPU), c10::Error,
      Says("Unexpected floating ScalarType in at::autocast::prioritize"));
  CHECK_THROWS_MATCHES(autocast::prioritize(at::kDouble, single, at::kCPU), c10::Error, Says("promote type is double"));
}

TEST_CASE("a weight is cast once in a region", "[amp]") {
  const Tensor w = weight();
  Tensor first;
  {
    const AutocastGuard outer(at::kCPU);
    first = autocast::cached_cast(at::kBFloat16, w, at::kCPU);
    {
      const AutocastGuard inner(at::kCPU);
      CHECK(autocast::cached_cast(at::kBFloat16, w, at::kCPU).is_same(first));
    }
    CHECK(autocast::cached_cast(at::kBFloat16, w, at::kCPU).is_same(first));
    CHECK_FALSE(autocast::cached_cast(at::kBFloat16, w * 1, at::kCPU).is_same(first)); // not a leaf
    {
      const AutocastGuard other(at::kCPU, at::kHalf);
      CHECK(autocast::cached_cast(at::kHalf, w, at::kCPU).scalar_type() == at::kHalf);
    }
    {
      const AutocastGuard uncached(at::kCPU, AutocastOptions().cache_enabled(false));
      CHECK_FALSE(autocast::is_autocast_cache_enabled());
      const Tensor cast = autocast::cached_cast(at::kBFloat16, w, at::kCPU);
      CHECK_FALSE(autocast::cached_cast(at::kBFloat16, w, at::kCPU).is_same(cast));
    }
    CHECK(autocast::is_autocast_cache_enabled());
  }
  const AutocastGuard again(at::kCPU);
  CHECK_FALSE(autocast::cached_cast(at::kBFloat16, w, at::kCPU).is_same(first));
}

TEST_CASE("a cached cast is not used where it would be wrong", "[amp]") {
  const AutocastGuard on(at::kCPU);
  const Tensor x = torch::ones({1, 2}), w = weight();
  {
    const c10::NoGradGuard no_grad;
    CHECK_FALSE(torch::mm(x, w).requires_grad());
  }
  CHECK(torch::mm(x, w).requires_grad());
  const Tensor before = torch::mm(x, w).to(at::kFloat).detach();
  {
    const c10::NoGradGuard no_grad;
    w.mul_(2); // an optimizer's step
  }
  CHECK_THAT(torch::mm(x, w).to(at::kFloat).detach(), EqualsTensor(before * 2));
  w.set_data(torch::zeros({2, 3}));
  CHECK_THAT(torch::mm(x, w).to(at::kFloat).detach(), EqualsTensor(torch::zeros({1, 3})));
  {
    const c10::InferenceMode inference;
    const Tensor own = torch::ones({2, 3}).requires_grad_();
    CHECK(torch::mm(x, own).scalar_type() == at::kBFloat16);
    CHECK(torch::mm(x, w).scalar_type() == at::kBFloat16);
  }
  CHECK(torch::mm(x, w).requires_grad());
}

TEST_CASE("the cache keeps no weight alive that a cast without gradient was made of", "[amp]") {
  const AutocastGuard on(at::kCPU);
  const c10::NoGradGuard no_grad;
  Tensor w = weight();
  torch::mm(torch::ones({1, 2}), w);
  const c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> weak(w.getIntrusivePtr());
  w.reset();
  CHECK(weak.expired());
}

TEST_CASE("gradients come back in the weight's own dtype", "[amp]") {
  const Tensor w = weight(), x = torch::ones({1, 2});
  Tensor one, two;
  {
    const AutocastGuard on(at::kCPU);
    one = torch::mm(x, w);
    two = torch::mm(x, w);
    CHECK(one.scalar_type() == at::kBFloat16);
  }
  // Both lead through one cast, and each pass of its own.
  one.sum().backward();
  two.sum().backward();
  CHECK(w.grad().scalar_type() == at::kFloat);
  CHECK_THAT(w.grad(), EqualsTensor(torch::full({2, 3}, 2.0)));
}

TEST_CASE("regions nest and set what was before", "[amp]") {
  const Tensor a = torch::ones({2, 2});
  {
    const AutocastGuard on(at::kCPU);
    CHECK(torch::mm(a, a).scalar_type() == at::kBFloat16);
    {
      const AutocastGuard off(at::kCPU, AutocastOptions().enabled(false));
      CHECK(torch::mm(a, a).scalar_type() == at::kFloat);
      const AutocastGuard half(at::kCPU, at::kHalf);
      CHECK(torch::mm(a, a).scalar_type() == at::kHalf);
    }
    CHECK(autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16);
    CHECK(torch::mm(a, a).scalar_type() == at::kBFloat16);
    try {
      const AutocastGuard half(at::kCPU, at::kHalf);
      torch::mm(a, torch::ones({3, 3}));
    } catch (const c10::Error&) {
    }
    CHECK(autocast::get_autocast_dtype(at::kCPU) == at::kBFloat16);
  }
  CHECK(c10::impl::is_default(c10::impl::raw_local_dispatch_key_set));
  CHECK(autocast::increment_nesting() == 1);
  CHECK(autocast::decrement_nesting() == 0);
}

TEST_CASE("regions that cannot be", "[amp]") {
  CHECK_THROWS_MATCHES(AutocastGuard(at::kMeta), c10::Error, Says("unknown device type for autocast"));
  const Tensor a = torch::ones({2, 2});
  for (const auto dtype : {at::kFloat, at::kDouble, at::kInt}) {
    test::Warnings warnings;
    const AutocastGuard on(at::kCPU, dtype);
    CHECK_FALSE(autocast::is_autocast_enabled(at::kCPU));
    CHECK(torch::mm(a, a).scalar_type() == at::kFloat);
    REQUIRE(warnings.texts().size() == 1);
    CHECK_THAT(
        warnings.texts()[0],
        Catch::Contains("In CPU autocast, but the target dtype is not supported. Disabling autocast."));
  }
  if (!torch::cuda::is_available()) {
    test::Warnings warnings;
    const AutocastGuard on(at::kCUDA);
    CHECK_FALSE(autocast::is_autocast_enabled(at::kCUDA));
    CHECK(warnings.texts().size() == 1);
  }
}

TEST_CASE("a thread's settings are its own, and are carried where it asks", "[amp][threads]") {
  const AutocastGuard on(at::kCPU, at::kHalf);
  bool enabled = true;
  at::ScalarType dtype = at::kFloat;
  const auto look = [&] {
    enabled = autocast::is_autocast_enabled(at::kCPU);
    dtype = autocast::get_autocast_dtype(at::kCPU);
  };
  std::thread(look).join();
  CHECK_FALSE(enabled);
  CHECK(dtype == at::kBFloat16);
  std::thread(at::wrapPropagateTLSState(look)).join();
  CHECK(enabled);
  CHECK(dtype == at::kHalf);
}

TEST_CASE("threads share the cache", "[amp][threads]") {
  const Tensor w = weight();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const AutocastGuard on(at::kCPU);
        const Tensor y = torch::mm(torch::full({1, 2}, 1.0 + t), w);
        wrong += y.scalar_type() != at::kBFloat16 || !y.requires_grad();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
}
