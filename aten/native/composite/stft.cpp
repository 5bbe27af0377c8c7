// Short-time Fourier transforms.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>

#include <sstream>

namespace at::native {
namespace {

struct Frames {
  int64_t n_fft, hop_length, win_length;
};

/// The call, in front of every message: with so many sizes one wants to see them all.
std::string described(
    const char* name,
    const Tensor& self,
    const Frames& frames,
    const std::optional<Tensor>& window,
    const std::string& rest) {
  std::ostringstream text;
  text << name << "(" << self.toString() << self.sizes() << ", n_fft=" << frames.n_fft
       << ", hop_length=" << frames.hop_length << ", win_length=" << frames.win_length << ", window=";
  if (window.has_value() && window->defined()) {
    text << window->toString() << "{" << window->sizes() << "}";
  } else {
    text << "None";
  }
  text << rest << ") : ";
  return text.str();
}

/// ", NAME=VALUE", or None where there is no value.
template <class T>
std::string named(const char* name, const std::optional<T>& value) {
  return c10::str(", ", name, "=", value.has_value() ? c10::str(static_cast<int64_t>(*value)) : "None");
}
template <class T>
std::string named(const char* name, T value) {
  return named(name, std::optional<T>(value));
}

Frames frames_of(int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length) {
  return {n_fft, hop_length.value_or(n_fft / 4), win_length.value_or(n_fft)};
}

/// A window of n_fft points with the given one, or ones, in its middle.
Tensor centred_window(const Tensor& window, const Frames& frames) {
  const int64_t missing = frames.n_fft - frames.win_length;
  if (missing == 0) {
    return window;
  }
  return at::constant_pad_nd(window, {missing / 2, missing - missing / 2});
}

Tensor short_time_transform(
    const Tensor& self,
    const Frames& frames,
    const std::optional<Tensor>& window_opt,
    std::optional<std::string_view> pad_mode,
    bool normalized,
    std::optional<bool> onesided_opt,
    std::optional<bool> return_complex_opt) {
  const std::string call = described(
      "stft", self, frames, window_opt,
      named("normalized", normalized) + named("onesided", onesided_opt) + named("return_complex", return_complex_opt));
  const bool has_window = window_opt.has_value() && window_opt->defined();
  const bool complex_window = has_window && window_opt->is_complex();
  const bool return_complex = return_complex_opt.value_or(self.is_complex() || complex_window);
  if (!return_complex && !return_complex_opt.has_value()) {
    TORCH_WARN_ONCE(
        "stft requires the return_complex parameter be given for real inputs, and will further require that "
        "return_complex=True in a "
        "future PyTorch release. The result is returned as real numbers.");
  }
  TORCH_CHECK(
      self.is_floating_point() || self.is_complex(), call, "expected a tensor of floating point or complex values");
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, call, "expected a 1D or 2D tensor");
  Tensor signal = self.dim() == 1 ? self.unsqueeze(0) : self;
  if (pad_mode.has_value()) {
    const int64_t amount = std::max<int64_t>(frames.n_fft, 0) / 2;
    signal = at::pad(signal.unsqueeze(0), {amount, amount}, *pad_mode).squeeze(0);
  }
  const int64_t length = signal.size(1);
  TORCH_CHECK(
      frames.n_fft > 0 && frames.n_fft <= length, call, "expected 0 < n_fft < ", length,
      ", but got n_fft=", frames.n_fft);
  TORCH_CHECK(frames.hop_length > 0, call, "expected hop_length > 0, but got hop_length=", frames.hop_length);
  TORCH_CHECK(
      frames.win_length > 0 && frames.win_length <= frames.n_fft, call,
      "expected 0 < win_length <= n_fft, but got win_length=", frames.win_length);
  TORCH_CHECK(
      !has_window || (window_opt->dim() == 1 && window_opt->size(0) == frames.win_length), call,
      "expected a 1D window tensor of size equal to win_length=", frames.win_length, ", but got window with size ",
      has_window ? window_opt->sizes() : IntArrayRef());
  Tensor pieces = signal.unfold(-1, frames.n_fft, frames.hop_length);
  if (has_window) {
    pieces = pieces.mul(centred_window(*window_opt, frames));
  } else if (frames.win_length < frames.n_fft) {
    pieces = pieces.mul(centred_window(at::ones({frames.win_length}, self.options()), frames));
  }
  const bool complex_pieces = pieces.is_complex(), onesided = onesided_opt.value_or(!complex_pieces);
  TORCH_CHECK(!complex_pieces || !onesided, "Cannot have onesided output if window or input is complex");
  const int64_t mode = normalized ? 1 : 0;
  Tensor result =
      complex_pieces ? at::_fft_c2c(pieces, 2, mode, /*forward=*/true) : at::_fft_r2c(pieces, 2, mode, onesided);
  result = result.transpose(1, 2);
  if (self.dim() == 1) {
    result = result.squeeze(0);
  }
  return return_complex ? result : at::view_as_real(result);
}

} // namespace

Tensor stft_center(
    const Tensor& self,
    int64_t n_fft,
    std::optional<int64_t> hop_length,
    std::optional<int64_t> win_length,
    const std::optional<Tensor>& window,
    bool center,
    std::string_view pad_mode,
    bool normalized,
    std::optional<bool> onesided,
    std::optional<bool> return_complex,
    std::optional<bool> align_to_window) {
  TORCH_CHECK(!center || !align_to_window.has_value(), "stft align_to_window should only be set when center = false");
  TORCH_CHECK_NOT_IMPLEMENTED(
      !align_to_window.value_or(false), "stft: align_to_window=True is not supported; pad the signal before the call");
  return short_time_transform(
      self, frames_of(n_fft, hop_length, win_length), window, center ? std::optional(pad_mode) : std::nullopt,
      normalized, onesided, return_complex);
}

Tensor stft(
    const Tensor& self,
    int64_t n_fft,
    std::optional<int64_t> hop_length,
    std::optional<int64_t> win_length,
    const std::optional<Tensor>& window,
    bool normalized,
    std::optional<bool> onesided,
    std::optional<bool> return_complex,
    std::optional<bool> align_to_window) {
  return at::stft(
      self, n_fft, hop_length, win_length, window, /*center=*/false, /*pad_mode=*/"constant", normalized, onesided,
      return_complex, align_to_window);
}

Tensor istft(
    const Tensor& given,
    int64_t n_fft,
    std::optional<int64_t> hop_length,
    std::optional<int64_t> win_length,
    const std::optional<Tensor>& window_opt,
    bool center,
    bool normalized,
    std::optional<bool> onesided_opt,
    std::optional<int64_t> length,
    bool return_complex) {
  // Pairs of real numbers are an older form of complex ones.
  const bool pairs = given.is_floating_point() && (given.dim() == 3 || given.dim() == 4) && given.size(-1) == 2;
  const Tensor self = pairs ? at::view_as_complex(given.contiguous()) : given;
  const Frames frames = frames_of(n_fft, hop_length, win_length);
  const std::string call = described(
      "istft", self, frames, window_opt,
      named("center", center) + named("normalized", normalized) + named("onesided", onesided_opt) +
          named("length", length) + named("return_complex", return_complex));
  const bool has_window = window_opt.has_value() && window_opt->defined();
  TORCH_CHECK(
      self.is_complex(),
      "istft requires a complex-valued input tensor matching the output from stft with return_complex=True.");
  TORCH_CHECK(self.numel() != 0, call, "input tensor cannot be empty.");
  TORCH_CHECK(
      self.dim() == 2 || self.dim() == 3, call, "expected a tensor with 2 or 3 dimensions, but got ", self.dim());
  const int64_t pieces = self.size(-1), points = self.size(-2);
  const bool onesided = onesided_opt.value_or(points != n_fft);
  if (onesided) {
    TORCH_CHECK(
        n_fft / 2 + 1 == points, call,
        "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft / 2 + 1 when "
        "onesided=True, but "
        "got ",
        points);
  } else {
    TORCH_CHECK(
        n_fft == points, call,
        "expected the frequency dimension (3rd to the last) of the input tensor to match n_fft when onesided=False, "
        "but got ",
        points);
  }
  TORCH_CHECK(
      0 < frames.hop_length && frames.hop_length <= frames.win_length, call, "expected 0 < hop_length <= win_length");
  TORCH_CHECK(0 < frames.win_length && frames.win_length <= n_fft, call, "expected 0 < win_length <= n_fft");
  TORCH_CHECK(
      !has_window || (window_opt->dim() == 1 && window_opt->size(0) == frames.win_length), call,
      "Invalid window shape. window has to be 1D and length of `win_length`");
  TORCH_CHECK(
      return_complex || !has_window || !window_opt->is_complex(),
      "Complex windows are incompatible with return_complex=False");
  TORCH_CHECK(!return_complex || !onesided, "Cannot have onesided output if window or input is complex");

  const auto real = self.options().dtype(c10::toRealValueType(self.scalar_type()));
  const Tensor window = centred_window(has_window ? *window_opt : at::ones({frames.win_length}, real), frames);
  Tensor spectra = (self.dim() == 2 ? self.unsqueeze(0) : self).transpose(1, 2);
  const int64_t mode = normalized ? 1 : 2;
  if (!return_complex && !onesided) {
    spectra = spectra.narrow(-1, 0, n_fft / 2 + 1);
  }
  const Tensor signals =
      return_complex ? at::_fft_c2c(spectra, 2, mode, /*forward=*/false) : at::_fft_c2r(spectra, 2, mode, n_fft);

  // Overlap and add, then take off what the windows have added up to.
  const int64_t whole = n_fft + frames.hop_length * (pieces - 1);
  const Tensor weighted = signals * window.view({1, 1, n_fft});
  Tensor sum = at::unfold_backward(weighted, {weighted.size(0), whole}, 1, n_fft, frames.hop_length);
  Tensor envelope =
      at::unfold_backward(window.pow(2).expand({1, pieces, n_fft}), {1, whole}, 1, n_fft, frames.hop_length);
  const int64_t start = center ? n_fft / 2 : 0;
  const int64_t wanted_end = length.has_value() ? start + *length : center ? whole - n_fft / 2 : whole;
  const int64_t end = std::max(start, std::min(wanted_end, whole));
  sum = sum.slice(1, start, end);
  envelope = envelope.slice(1, start, end);
  const double smallest = envelope.numel() == 0 ? 1.0 : envelope.abs().min().item().to<double>();
  TORCH_CHECK(
      smallest >= 1e-11, call, "window overlap add min: ", smallest, " is not above 0: some points are in no window");
  Tensor result = sum / envelope;
  if (self.dim() == 2) {
    result = result.squeeze(0);
  }
  if (wanted_end > whole) {
    TORCH_WARN_ONCE(
        "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
        "Please check "
        "your center and hop_length settings.");
    result = at::constant_pad_nd(result, {0, wanted_end - whole});
  }
  return result;
}

} // namespace at::native
