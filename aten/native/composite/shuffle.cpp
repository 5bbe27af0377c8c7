// Operators that move elements between channels and space, or between groups of channels: one copy between two views.
#include <aten/Functions.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

namespace at::native {

using c10::DimVector;

namespace {

Tensor empty_in_format_of(const Tensor& self, IntArrayRef sizes) {
  return at::empty(sizes, self.options(), self.suggest_memory_format());
}

void check_shuffle(const char* op, const char* name, const Tensor& self, int64_t factor) {
  TORCH_CHECK(
      self.dim() >= 3, op, " expects input to have at least 3 dimensions, but got input with ", self.dim(),
      " dimension(s)");
  TORCH_CHECK(factor > 0, op, " expects a positive ", name, ", but got ", factor);
}

} // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  const int64_t factor = upscale_factor;
  check_shuffle("pixel_shuffle", "upscale_factor", self, factor);
  int64_t square = 0;
  TORCH_CHECK(
      !c10::mul_overflows(factor, factor, &square) && self.size(-3) % square == 0,
      "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
      "input.size(-3)=",
      self.size(-3), " is not divisible by ", square);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  const size_t channel = sizes.size() - 3;
  sizes[channel] /= square;
  for (const size_t d : {channel + 1, channel + 2}) {
    TORCH_CHECK(
        !c10::mul_overflows(sizes[d], factor, &sizes[d]), "pixel_shuffle: upscale_factor ", factor, " overflows sizes ",
        self.sizes());
  }
  const Tensor result = empty_in_format_of(self, sizes);
  // [..., c, fh, fw, h, w] goes to [..., c, h, fh, w, fw].
  result.unflatten(-1, {self.size(-1), factor})
      .unflatten(-3, {self.size(-2), factor})
      .copy_(self.unflatten(-3, {sizes[channel], factor, factor}).movedim({-2, -1}, {-4, -2}));
  return result;
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  const int64_t factor = downscale_factor;
  check_shuffle("pixel_unshuffle", "downscale_factor", self, factor);
  for (const auto& [dim, name] : {std::pair(-2, "height"), std::pair(-1, "width")}) {
    TORCH_CHECK(
        self.size(dim) % factor == 0, "pixel_unshuffle expects ", name,
        " to be divisible by downscale_factor, but input.size(", dim, ")=", self.size(dim), " is not divisible by ",
        factor);
  }
  if (factor == 1 && self.numel() == 0) {
    return self.clone();
  }
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  const size_t channel = sizes.size() - 3;
  for (const size_t d : {channel + 1, channel + 2}) {
    sizes[d] /= factor;
    TORCH_CHECK(
        !c10::mul_overflows(sizes[channel], factor, &sizes[channel]), "pixel_unshuffle: downscale_factor ", factor,
        " overflows sizes ", self.sizes());
  }
  const Tensor result = empty_in_format_of(self, sizes);
  result.unflatten(-3, {self.size(-3), factor, factor})
      .movedim({-2, -1}, {-4, -2})
      .copy_(self.unflatten(-1, {sizes[channel + 2], factor}).unflatten(-3, {sizes[channel + 1], factor}));
  return result;
}

namespace {

void check_channel_shuffle(const Tensor& self, int64_t groups) {
  TORCH_CHECK(self.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", self.sizes());
  TORCH_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  TORCH_CHECK(
      self.size(1) % groups == 0, "Number of channels must be divisible by groups. Got ", self.size(1),
      " channels and ", groups, " groups.");
}

} // namespace

Tensor native_channel_shuffle(const Tensor& self, int64_t groups) {
  check_channel_shuffle(self, groups);
  const int64_t channels = self.size(1);
  const Tensor result = empty_in_format_of(self, self.sizes());
  if (result.numel() > 0) {
    result.unflatten(1, {channels / groups, groups})
        .copy_(self.unflatten(1, {groups, channels / groups}).transpose(1, 2));
  }
  return result;
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  if (self.numel() == 0) {
    check_channel_shuffle(self, groups);
    return self;
  }
  return at::native_channel_shuffle(self, groups);
}

} // namespace at::native
