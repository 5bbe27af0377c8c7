// torch::fft: Fourier transforms under the names that programs use.
#pragma once

#include <c10/macros/Export.h>
#include <csrc/types.h>

#include <c10/core/SymInt.h>

#include <optional>
#include <string_view>
#include <utility>

namespace torch::fft {

/// Complex transforms: of one dimension, of two, of several.
TORCH_API Tensor
fft(const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ifft(
    const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor fft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ifft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor fftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ifftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);

/// From real numbers to half a spectrum, and back.
TORCH_API Tensor rfft(
    const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor irfft(
    const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor rfft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor irfft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor rfftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor irfftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);

/// From half a Hermitian signal to a real spectrum, and back.
TORCH_API Tensor hfft(
    const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ihfft(
    const Tensor& self,
    std::optional<c10::SymInt> n = std::nullopt,
    int64_t dim = -1,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor hfft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ihfft2(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    IntArrayRef dim = {-2, -1},
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor hfftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);
TORCH_API Tensor ihfftn(
    const Tensor& self,
    at::OptionalIntArrayRef s = std::nullopt,
    at::OptionalIntArrayRef dim = std::nullopt,
    std::optional<std::string_view> norm = std::nullopt);

/// Frequencies that belong to the results, for samples d apart.
TORCH_API Tensor fftfreq(int64_t n, double d, const TensorOptions& options = {});
TORCH_API Tensor fftfreq(int64_t n, const TensorOptions& options = {});
TORCH_API Tensor rfftfreq(int64_t n, double d, const TensorOptions& options = {});
TORCH_API Tensor rfftfreq(int64_t n, const TensorOptions& options = {});

/// Frequency zero to the middle, and back to the front.
TORCH_API Tensor fftshift(const Tensor& x, at::OptionalIntArrayRef dim = std::nullopt);
TORCH_API Tensor ifftshift(const Tensor& x, at::OptionalIntArrayRef dim = std::nullopt);

} // namespace torch::fft
