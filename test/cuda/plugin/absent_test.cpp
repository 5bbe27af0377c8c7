// The plugin where there is no device: it opens, tells why, and fails with an error only.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/PinnedMemoryAllocator.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <dlfcn.h>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("the plugin opens and registers what the core asks for", "[cuda]") {
  CHECK(dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL) != nullptr);
  CHECK(c10::GetAllocator(at::kCUDA) == c10::cuda::CUDACachingAllocator::get());
  CHECK(c10::getDeviceAllocator(at::kCUDA) == c10::cuda::CUDACachingAllocator::get());
  CHECK(c10::impl::getDeviceGuardImpl(at::kCUDA)->deviceCount() == c10::cuda::device_count());
  CHECK(torch::cuda::device_count() == static_cast<size_t>(c10::cuda::device_count()));
  CHECK(torch::cuda::unavailable_reason() == c10::cuda::device_count_failure());
}

TEST_CASE("without a device the runtime's functions are errors that say why", "[cuda]") {
  if (c10::cuda::device_count() > 0) {
    return;
  }
  const std::string reason = torch::cuda::unavailable_reason();
  REQUIRE_FALSE(reason.empty());
  CHECK_THROWS_WITH(c10::cuda::device_count_ensure_non_zero(), StartsWith("No CUDA GPUs are available: " + reason));
  CHECK_THROWS_WITH(at::empty({1}, at::kCUDA), Contains("because " + reason));
  CHECK_THROWS_WITH(torch::cuda::synchronize(), Contains(reason));
  CHECK_THROWS_WITH(at::ones({2}).pin_memory(), Contains(reason));
  CHECK_THROWS_WITH(at::cuda::getStreamFromPool(false, 0), Contains(reason));
  CHECK_THROWS_WITH(at::cuda::getCurrentCUDAStream(0), Contains(reason));
  CHECK_THROWS_WITH(at::cuda::getDeviceProperties(0), Contains(reason));
  CHECK_THROWS_AS(at::cuda::getCurrentCUDABlasHandle(), c10::Error);
  CHECK_THROWS_AS(at::cuda::getCurrentCUDASolverDnHandle(), c10::Error);
  CHECK_THROWS_AS(c10::cuda::CUDACachingAllocator::raw_alloc(100), c10::Error);
  CHECK_THROWS_AS(c10::cuda::CUDACachingAllocator::getDeviceStats(0), c10::Error);
  CHECK_THROWS_AS(at::cuda::CUDAGuard(0), c10::Error);
  CHECK_THROWS_AS(at::cuda::CUDAEvent().record(), c10::Error);
  CHECK_THROWS_AS(at::cuda::detail::getDefaultCUDAGenerator(0), c10::Error);
  CHECK_FALSE(at::cuda::isPinnedPtr(&reason));
  c10::cuda::CUDACachingAllocator::emptyCache();
  at::cuda::CachingHostAllocator_emptyCache();
}

TEST_CASE("failed calls tell the runtime's words, its code and what to do", "[cuda]") {
  CHECK_THROWS_WITH(
      [] { C10_CUDA_CHECK(cudaErrorInvalidDevice); }(),
      StartsWith("CUDA error: invalid device ordinal (cudaErrorInvalidDevice, code 101)") &&
          Contains("device_count()"));
  CHECK_THROWS_WITH(
      [] { AT_CUDA_CHECK(cudaErrorIllegalAddress); }(),
      Contains("CUDA error: an illegal memory access was encountered") && Contains("CUDA_LAUNCH_BLOCKING=1"));
  try {
    C10_CUDA_CHECK(cudaErrorInvalidValue);
  } catch (const c10::CUDAError& e) {
    CHECK(e.get_error_code() == cudaErrorInvalidValue);
    CHECK_THAT(e.what(), Contains("absent_test.cpp"));
  }
  CHECK_NOTHROW([] { C10_CUDA_CHECK(cudaSuccess); }());
  CHECK_THROWS_WITH(
      [] { TORCH_CUDABLAS_CHECK(CUBLAS_STATUS_NOT_INITIALIZED); }(),
      StartsWith("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `CUBLAS_STATUS_NOT_INITIALIZED`"));
  CHECK_THROWS_WITH(
      [] { TORCH_CUSOLVER_CHECK(CUSOLVER_STATUS_INVALID_VALUE); }(),
      StartsWith("cusolver error: CUSOLVER_STATUS_INVALID_VALUE, when calling `CUSOLVER_STATUS_INVALID_VALUE`"));
}
