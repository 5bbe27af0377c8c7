// Process-wide switches and what they change; what the build says of itself.
#include <ATen/Context.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/core/GeneratorForPrivateuseone.h>
#include <ATen/core/grad_mode.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "test/support/matchers.h"

using namespace test;
using at::globalContext;
using at::Tensor;

namespace {

/// Puts the determinism switches back.
struct Deterministic {
  explicit Deterministic(bool warn_only = false) {
    globalContext().setDeterministicAlgorithms(true, warn_only);
  }
  ~Deterministic() {
    globalContext().setDeterministicAlgorithms(false, false);
    globalContext().setDeterministicFillUninitializedMemory(true);
  }
};

/// Keeps the warnings of its scope.
struct Warnings : c10::WarningHandler {
  Warnings() : before(c10::WarningUtils::get_warning_handler()) {
    c10::WarningUtils::set_warning_handler(this);
  }
  ~Warnings() override {
    c10::WarningUtils::set_warning_handler(before);
  }
  void process(const c10::Warning& warning) override {
    last = warning.msg();
  }
  c10::WarningHandler* before;
  std::string last;
};

} // namespace

TEST_CASE("what there is", "[context]") {
  at::init();
  CHECK(at::hasOpenMP());
  CHECK(at::hasMKLDNN());
  CHECK_FALSE(at::hasMKL());
  CHECK_FALSE(at::hasXLA());
  CHECK_FALSE(at::hasMPS());
  CHECK(at::hasCUDA() == torch::cuda::is_available());
  CHECK(at::getNumGPUs() == torch::cuda::device_count());
  CHECK(at::getCPUAllocator() == c10::GetAllocator(at::kCPU));
}

TEST_CASE("deterministic algorithms", "[context]") {
  CHECK_FALSE(globalContext().deterministicAlgorithms());
  at::Context::alertNotDeterministic("my_op");
  {
    const Deterministic on;
    CHECK(globalContext().deterministicAlgorithms());
    CHECK_THROWS_MATCHES(
        at::Context::alertNotDeterministic("my_op"), c10::Error,
        Says("my_op does not have a deterministic implementation, but you set "
             "'torch.use_deterministic_algorithms(True)'"));
  }
  const Deterministic on(/*warn_only=*/true);
  CHECK(globalContext().deterministicAlgorithmsWarnOnly());
  const Warnings warnings;
  at::Context::alertNotDeterministic("my_op");
  CHECK(warnings.last.find("my_op does not have a deterministic implementation") == 0);
}

TEST_CASE("fresh memory is filled when algorithms must be deterministic", "[context]") {
  for (int i = 0; i < 3; ++i) {
    at::zeros({1}); // which leaves memory to be used again
    at::empty({1});
  }
  const Deterministic on;
  CHECK(std::isnan(at::empty({1}).item<float>()));
  CHECK(std::isnan(at::empty({3})[1].item<float>()));
  CHECK(std::isnan(at::empty({3}, at::kBFloat16)[2].item<float>()));
  CHECK(std::isnan(at::real(at::empty({1}, at::kComplexDouble)).item<double>()));
  CHECK(at::empty({3}, at::kLong)[0].item<int64_t>() == std::numeric_limits<int64_t>::max());
  CHECK(at::empty({3}, at::kByte)[0].item<int>() == 255);
  CHECK(at::empty({1}, at::kBool).item<bool>());
  CHECK(std::isnan(at::empty_strided({2, 2}, {1, 2})[1][1].item<float>()));
  CHECK(at::empty({0}).numel() == 0);
  globalContext().setDeterministicFillUninitializedMemory(false);
  CHECK_FALSE(at::detail::fill_uninitialized_memory);
  globalContext().setDeterministicFillUninitializedMemory(true);
  globalContext().setDeterministicAlgorithms(false, false);
  CHECK_FALSE(at::detail::fill_uninitialized_memory);
}

TEST_CASE("precision of matrix products", "[context]") {
  CHECK(globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);
  globalContext().setFloat32MatmulPrecision("high");
  CHECK(globalContext().allowTF32CuBLAS());
  globalContext().setFloat32MatmulPrecision(at::Float32MatmulPrecision::MEDIUM);
  CHECK(globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM);
  {
    const Warnings warnings;
    globalContext().setFloat32MatmulPrecision("none");
    CHECK(warnings.last.find("none is not one of 'highest', 'high', or 'medium'") == 0);
    CHECK(globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::MEDIUM);
  }
  globalContext().setAllowTF32CuBLAS(false);
  CHECK(globalContext().float32MatmulPrecision() == at::Float32MatmulPrecision::HIGHEST);

  CHECK_FALSE(at::NoTF32Guard::should_disable_tf32());
  {
    const at::NoTF32Guard outer;
    { const at::NoTF32Guard inner; }
    CHECK(at::NoTF32Guard::should_disable_tf32());
  }
  CHECK_FALSE(at::NoTF32Guard::should_disable_tf32());
}

TEST_CASE("products without oneDNN", "[context]") {
  const Tensor a = at::rand({64, 64});
  const Tensor b = at::rand({64, 64});
  const Tensor with = a.mm(b);
  globalContext().setUserEnabledMkldnn(false);
  const Tensor without = a.mm(b);
  globalContext().setUserEnabledMkldnn(true);
  CHECK_THAT(without, AllClose(with));
}

TEST_CASE("denormal numbers", "[context]") {
  const Tensor tiny = at::full({8}, 1e-310, at::kDouble);
  REQUIRE(at::Context::setFlushDenormal(true));
  const double flushed = (tiny * 1.0)[0].item<double>();
  at::Context::setFlushDenormal(false);
  CHECK(flushed == 0);
  CHECK((tiny * 1.0)[0].item<double>() == 1e-310);
}

TEST_CASE("switches keep what they are set to", "[context]") {
  auto& context = globalContext();
  context.setBenchmarkCuDNN(true);
  CHECK(context.benchmarkCuDNN());
  context.setBenchmarkCuDNN(false);
  context.setBenchmarkLimitCuDNN(3);
  CHECK(context.benchmarkLimitCuDNN() == 3);
  context.setBenchmarkLimitCuDNN(10);
  CHECK(context.userEnabledFlashSDP());
  context.setSDPUseFlash(false);
  CHECK_FALSE(context.userEnabledFlashSDP());
  context.setSDPUseFlash(true);
  context.setLinalgPreferredBackend(at::LinalgBackend::Cusolver);
  CHECK(context.linalgPreferredBackend() == at::LinalgBackend::Cusolver);
  context.setLinalgPreferredBackend(at::LinalgBackend::Default);
  CHECK(context.supportedQEngines() == std::vector<at::QEngine>{at::QEngine::NoQEngine});
  CHECK_THROWS_MATCHES(context.setQEngine(at::QEngine::FBGEMM), c10::Error, Says("FBGEMM is not supported"));
}

TEST_CASE("default generators", "[context]") {
  const at::Generator& cpu = globalContext().defaultGenerator(at::kCPU);
  CHECK(cpu == at::detail::getDefaultCPUGenerator());
  at::manual_seed(7);
  CHECK(cpu.current_seed() == 7);
  CHECK_THROWS_MATCHES(globalContext().defaultGenerator(at::Device(at::kMeta)), c10::Error, Says("not an accelerator"));
  CHECK_THROWS_MATCHES(
      globalContext().defaultGenerator(at::Device("privateuseone:0")), c10::Error,
      Says("RegisterPrivateUse1HooksInterface"));
  CHECK_THROWS_MATCHES(at::GetGeneratorForPrivateuse1(0), c10::Error, Says("REGISTER_GENERATOR_PRIVATEUSE1"));
}

TEST_CASE("a default-constructed generator has no stream, and says so", "[context]") {
  at::Generator none;
  const auto refused = Says("this at::Generator is default-constructed");
  CHECK_FALSE(none.defined());
  CHECK(none == at::Generator());
  CHECK(none.getIntrusivePtr() == nullptr);
  CHECK_THROWS_MATCHES(none.seed(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.current_seed(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.set_current_seed(1), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.get_offset(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.set_offset(4), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.clone(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.get_state(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.set_state(at::detail::getDefaultCPUGenerator().get_state()), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.graphsafe_get_state(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.graphsafe_set_state(at::detail::getDefaultCPUGenerator()), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.mutex(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.device(), c10::Error, refused);
  CHECK_THROWS_MATCHES(none.key_set(), c10::Error, refused);
  at::Generator some = at::detail::createCPUGenerator();
  CHECK_THROWS_MATCHES(some.graphsafe_set_state(none), c10::Error, Says("generator"));
  // Operators draw from the default one then.
  at::manual_seed(3);
  const at::Tensor want = at::randn({4});
  at::manual_seed(3);
  CHECK(at::randn({4}, none).equal(want));
}

TEST_CASE("without an accelerator", "[context]") {
  if (torch::cuda::is_available()) {
    return;
  }
  CHECK_THROWS_MATCHES(globalContext().lazyInitCUDA(), c10::Error, Says("no CUDA device can be used"));
  CHECK_FALSE(at::getAccelerator().has_value());
  CHECK(at::accelerator::deviceCount() == 0);
  CHECK_THROWS_MATCHES(
      at::accelerator::getDeviceIndex(), c10::Error, Says("Cannot access accelerator device when none is available"));
  CHECK_THROWS_MATCHES(
      at::accelerator::emptyCache(), c10::Error, Says("Cannot access accelerator device when none is available"));
  CHECK(at::accelerator::isAcceleratorExcluded(at::kCUDA, at::kXPU));
  CHECK_FALSE(at::accelerator::isAcceleratorExcluded(at::kCUDA, at::kXPU, at::kCUDA));
  CHECK_FALSE(at::accelerator::isAcceleratorExcluded(at::kCPU, at::kXPU));
  int on_stack = 0;
  CHECK_FALSE(globalContext().isPinnedPtr(&on_stack));
  CHECK_THROWS_MATCHES(globalContext().getPinnedMemoryAllocator(), c10::Error, Says("Cannot pin memory"));
  CHECK(globalContext().getDeviceFromPtr(&on_stack, at::kCPU) == at::Device(at::kCPU));
}

TEST_CASE("the build describes itself", "[context]") {
  const std::string config = at::show_config();
  for (const std::string& part :
       {at::get_openmp_version(), at::get_mkldnn_version(), at::get_cpu_capability(), at::get_cxx_flags()}) {
    INFO(part);
    CHECK_FALSE(part.empty());
    CHECK(config.find(part) != std::string::npos);
  }
  CHECK(at::get_openmp_version().find("OpenMP 20") == 0);
  CHECK(at::get_parallel_info().find("ATen/Parallel:\n\tat::get_num_threads() : ") == 0);
  CHECK(at::get_mkl_version() == "MKL not found");
}

TEST_CASE("grad mode under its name in at", "[context]") {
  {
    const at::NoGradGuard off;
    CHECK_FALSE(at::GradMode::is_enabled());
    const at::AutoGradMode on(true);
    CHECK(at::GradMode::is_enabled());
  }
  CHECK(at::GradMode::is_enabled());
}
