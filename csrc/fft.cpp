#include <csrc/fft.h>

#include <utility>

namespace torch::fft {

Tensor fft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_fft_symint(self, std::move(n), dim, norm);
}

Tensor ifft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_ifft_symint(self, std::move(n), dim, norm);
}

Tensor fft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_fft2(self, s, dim, norm);
}

Tensor ifft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_ifft2(self, s, dim, norm);
}

Tensor fftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_fftn(self, s, dim, norm);
}

Tensor ifftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_ifftn(self, s, dim, norm);
}

Tensor rfft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_rfft_symint(self, std::move(n), dim, norm);
}

Tensor irfft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_irfft_symint(self, std::move(n), dim, norm);
}

Tensor rfft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_rfft2(self, s, dim, norm);
}

Tensor irfft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_irfft2(self, s, dim, norm);
}

Tensor rfftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_rfftn(self, s, dim, norm);
}

Tensor irfftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_irfftn(self, s, dim, norm);
}

Tensor hfft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_hfft_symint(self, std::move(n), dim, norm);
}

Tensor ihfft(const Tensor& self, std::optional<c10::SymInt> n, int64_t dim, std::optional<std::string_view> norm) {
  return at::fft_ihfft_symint(self, std::move(n), dim, norm);
}

Tensor hfft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_hfft2(self, s, dim, norm);
}

Tensor ihfft2(const Tensor& self, at::OptionalIntArrayRef s, IntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_ihfft2(self, s, dim, norm);
}

Tensor hfftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_hfftn(self, s, dim, norm);
}

Tensor ihfftn(
    const Tensor& self, at::OptionalIntArrayRef s, at::OptionalIntArrayRef dim, std::optional<std::string_view> norm) {
  return at::fft_ihfftn(self, s, dim, norm);
}

Tensor fftfreq(int64_t n, double d, const TensorOptions& options) {
  return at::fft_fftfreq(n, d, options);
}

Tensor fftfreq(int64_t n, const TensorOptions& options) {
  return at::fft_fftfreq(n, /*d=*/1.0, options);
}

Tensor rfftfreq(int64_t n, double d, const TensorOptions& options) {
  return at::fft_rfftfreq(n, d, options);
}

Tensor rfftfreq(int64_t n, const TensorOptions& options) {
  return at::fft_rfftfreq(n, /*d=*/1.0, options);
}

Tensor fftshift(const Tensor& x, at::OptionalIntArrayRef dim) {
  return at::fft_fftshift(x, dim);
}

Tensor ifftshift(const Tensor& x, at::OptionalIntArrayRef dim) {
  return at::fft_ifftshift(x, dim);
}

} // namespace torch::fft
