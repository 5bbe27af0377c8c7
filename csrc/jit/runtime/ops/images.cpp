// Sizes of images changed, as the compilers of PyTorch 1.0 to 1.4 wrote it.
#include <csrc/jit/runtime/ops/rows.h>

#include <csrc/nn/functional/upsampling.h>

#include <algorithm>

namespace torch::jit::ops {

namespace {

namespace F = torch::nn::functional;
using Options = F::InterpolateFuncOptions;

// A number stands for all spatial dimensions.
template <class T>
std::optional<std::vector<T>> per_dimension(const Tensor& input, const IValue& value) {
  if (value.isNone()) {
    return std::nullopt;
  }
  std::vector<T> out;
  if (value.isList()) {
    for (const IValue& each : value.toListRef()) {
      out.push_back(each.toScalar().to<T>());
    }
  } else {
    out.assign(static_cast<size_t>(std::clamp<int64_t>(input.dim() - 2, 0, 3)), value.toScalar().to<T>());
  }
  return out;
}

void set_mode(Options& options, const std::string& mode) {
  if (mode == "nearest") {
    options.mode(torch::kNearest);
  } else if (mode == "linear") {
    options.mode(torch::kLinear);
  } else if (mode == "bilinear") {
    options.mode(torch::kBilinear);
  } else if (mode == "bicubic") {
    options.mode(torch::kBicubic);
  } else if (mode == "trilinear") {
    options.mode(torch::kTrilinear);
  } else if (mode == "area") {
    options.mode(torch::kArea);
  } else if (mode == "nearest-exact") {
    options.mode(torch::kNearestExact);
  } else {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "Input Error: unknown mode of interpolation '", mode, "'");
  }
}

Tensor resized(const Tensor& input, const IValue& size, const IValue& scale, Options options) {
  options.size(per_dimension<int64_t>(input, size));
  options.scale_factor(per_dimension<double>(input, scale));
  return F::interpolate(input, options);
}

Tensor interpolate(
    const Tensor& input,
    IValue& size,
    IValue& scale_factor,
    const std::string& mode,
    std::optional<bool> align_corners,
    std::optional<bool> recompute_scale_factor,
    bool antialias) {
  Options options;
  set_mode(options, mode);
  options.align_corners(align_corners).recompute_scale_factor(recompute_scale_factor).antialias(antialias);
  return resized(input, size, scale_factor, options);
}
Tensor upsample(
    const Tensor& input,
    IValue& size,
    IValue& scale_factor,
    const std::string& mode,
    std::optional<bool> align_corners) {
  return interpolate(input, size, scale_factor, mode, align_corners, std::nullopt, false);
}
Tensor upsample_nearest(const Tensor& input, IValue& size, IValue& scale_factor) {
  return resized(input, size, scale_factor, Options().mode(torch::kNearest));
}
Tensor upsample_bilinear(const Tensor& input, IValue& size, IValue& scale_factor) {
  return resized(input, size, scale_factor, Options().mode(torch::kBilinear).align_corners(true));
}

constexpr OperatorRow kRows[] = {
    {"aten::__upsample_bilinear(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
     call<upsample_bilinear>},
    {"aten::__upsample_bilinear.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
     call<upsample_bilinear>},
    {"aten::__upsample_bilinear.scale_list(Tensor input, int? size=None, int[]? scale_factor=None) -> Tensor",
     call<upsample_bilinear>},
    {"aten::__upsample_bilinear.size_list_scale_list(Tensor input, int[]? size=None, int[]? scale_factor=None) -> "
     "Tensor",
     call<upsample_bilinear>},
    {"aten::__upsample(Tensor input, int? size=None, int? scale_factor=None, str mode=\"nearest\", bool? "
     "align_corners=None) -> Tensor",
     call<upsample>},
    {"aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, str mode=\"nearest\", bool? "
     "align_corners=None) -> Tensor",
     call<upsample>},
    {"aten::__interpolate.scale_list(Tensor input, int? size=None, float[]? scale_factor=None, str mode=\"nearest\", "
     "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
     call<interpolate>},
    {"aten::__interpolate.size_list_scale_list(Tensor input, int[]? size=None, float[]? scale_factor=None, str "
     "mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
     call<interpolate>},
    {"aten::__interpolate(Tensor input, int? size=None, float? scale_factor=None, str mode=\"nearest\", bool? "
     "align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
     call<interpolate>},
    {"aten::__interpolate.size_list(Tensor input, int[]? size=None, float? scale_factor=None, str mode=\"nearest\", "
     "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
     call<interpolate>},
    {"aten::__upsample_nearest(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
     call<upsample_nearest>},
    {"aten::__upsample_nearest.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
     call<upsample_nearest>},
};

} // namespace

at::ArrayRef<OperatorRow> image_rows() {
  return kRows;
}

} // namespace torch::jit::ops
