// The CUDA part of the stable interface, as an extension calls it.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/c/shim.h>
#include <torch/csrc/stable/macros.h>
#include <torch/headeronly/util/shim_utils.h>

#include <torch/cuda.h>

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("STD_CUDA_CHECK throws what the CUDA runtime says", "[cuda][stable]") {
  CHECK_NOTHROW([] { STD_CUDA_CHECK(cudaSuccess); }());
  CHECK_THROWS_WITH([] { STD_CUDA_CHECK(cudaErrorInvalidValue); }(), Catch::StartsWith("CUDA error: invalid argument"));
  char* text = nullptr;
  REQUIRE(torch_c10_cuda_check_msg(cudaErrorMemoryAllocation, "file.cu", "function", 7, true, &text) == TORCH_SUCCESS);
  REQUIRE(text != nullptr);
  CHECK_THAT(std::string(text), Catch::Contains("out of memory"));
  torch_c10_cuda_free_error_msg(text);
}

TEST_CASE(
    "functions of the stable interface for CUDA fail with a text where there is no such device", "[cuda][stable]") {
  CUDAGuardHandle guard = nullptr;
  REQUIRE(aoti_torch_create_cuda_guard(1000, &guard) == TORCH_FAILURE);
  CHECK_THAT(std::string(torch_exception_get_what()), Catch::Contains("device index 1000"));
  CHECK(aoti_torch_cuda_guard_set_index(nullptr, 0) == TORCH_FAILURE);
  void* stream = nullptr;
  REQUIRE(aoti_torch_get_current_cuda_stream(-2, &stream) == TORCH_FAILURE);
  CHECK_THAT(std::string(torch_exception_get_what_without_backtrace()), Catch::Contains("device index -2"));
}

TEST_CASE("streams, guards, handles and memory of the stable interface", "[cuda][gpu][stable]") {
  if (!torch::cuda::is_available()) {
    return;
  }
  void *pooled = nullptr, *current = nullptr, *blas = nullptr, *memory = nullptr;
  STD_TORCH_CHECK(torch_get_cuda_stream_from_pool(false, -1, &pooled) == TORCH_SUCCESS, torch_exception_get_what());
  CUDAStreamGuardHandle guard = nullptr;
  REQUIRE(aoti_torch_create_cuda_stream_guard(pooled, 0, &guard) == TORCH_SUCCESS);
  REQUIRE(aoti_torch_get_current_cuda_stream(0, &current) == TORCH_SUCCESS);
  CHECK(current == pooled);
  REQUIRE(torch_get_current_cuda_blas_handle(&blas) == TORCH_SUCCESS);
  cudaStream_t of_blas = nullptr;
  REQUIRE(cublasGetStream(static_cast<cublasHandle_t>(blas), &of_blas) == CUBLAS_STATUS_SUCCESS);
  CHECK(of_blas == pooled);
  REQUIRE(aoti_torch_cuda_caching_allocator_raw_alloc(1000, &memory) == TORCH_SUCCESS);
  STD_CUDA_CHECK(cudaMemsetAsync(memory, 0, 1000, static_cast<cudaStream_t>(current)));
  REQUIRE(torch_cuda_stream_synchronize(pooled, 0) == TORCH_SUCCESS);
  REQUIRE(aoti_torch_cuda_caching_allocator_raw_delete(memory) == TORCH_SUCCESS);
  REQUIRE(aoti_torch_delete_cuda_stream_guard(guard) == TORCH_SUCCESS);
  REQUIRE(aoti_torch_get_current_cuda_stream(0, &current) == TORCH_SUCCESS);
  CHECK(current != pooled);
}
