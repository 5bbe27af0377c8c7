#pragma once

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <string>

namespace test {

inline const at::Device kGpu(at::kCUDA, 0);

/// Same sizes and dtype, and elements equal up to a tolerance; NaN equals NaN.
inline bool near(const at::Tensor& a, const at::Tensor& b, double rtol = 1e-5, double atol = 1e-6) {
  if (a.sizes() != b.sizes() || a.scalar_type() != b.scalar_type()) {
    return false;
  }
  if (!a.is_floating_point() && !a.is_complex()) {
    return a.numel() == 0 || (a.cpu() == b.cpu()).all().item<bool>();
  }
  const auto wide = a.is_complex() ? at::kComplexDouble : at::kDouble;
  return at::allclose(a.cpu().to(wide), b.cpu().to(wide), rtol, atol, /*equal_nan=*/true);
}

/// f(device) gives the same on the CPU and on the GPU.
template <class F>
void same_on_both(const std::string& what, F f, double rtol = 1e-5, double atol = 1e-6) {
  INFO(what);
  const at::Tensor cpu = f(at::Device(at::kCPU)), gpu = f(kGpu);
  CHECK(gpu.device() == kGpu);
  CHECK(near(gpu, cpu, rtol, atol));
}

} // namespace test
