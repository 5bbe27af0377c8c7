#include <aten/native/cuda/conv_product.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/cuda/conv_pointwise.h>
#include <aten/native/cuda/implicit_gemm.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <optional>

namespace at::native::cuda {

namespace {

/// Strides of a batch of images; zero where there is one element, so that they say nothing.
GemmImage strides_of(const Tensor& t, int dims) {
  const auto stride = [&](int64_t d) { return t.size(d) == 1 ? int64_t{0} : t.stride(d); };
  GemmImage s;
  s.batch = stride(0);
  s.channel = t.size(1) == 1 ? 1 : t.stride(1);
  for (int d = 0; d < dims; ++d) {
    s.of[3 - dims + d] = stride(d + 2);
  }
  return s;
}

/// Whether pieces of 16 bytes of channels can be read or written at once.
bool is_wide(const Tensor& t, const GemmImage& s) {
  const int64_t piece = 16 / static_cast<int64_t>(t.itemsize());
  return piece > 1 && s.channel == 1 && s.batch % piece == 0 && s.of[0] % piece == 0 && s.of[1] % piece == 0 &&
      s.of[2] % piece == 0 && reinterpret_cast<std::uintptr_t>(t.const_data_ptr()) % 16 == 0;
}

/// The weight as [groups, columns, taps..., channels], dense and aligned: `columns` and `channels` are its dimensions.
Tensor packed_weight(const Tensor& weight, int64_t groups, ConvolutionPass pass) {
  DimVector sizes = {groups, weight.size(0) / groups}, order = {0};
  sizes.insert(sizes.end(), weight.sizes().begin() + 1, weight.sizes().end());
  const int64_t columns = pass == ConvolutionPass::Features ? 1 : 2;
  order.push_back(columns);
  for (int64_t d = 3; d < static_cast<int64_t>(sizes.size()); ++d) {
    order.push_back(d);
  }
  order.push_back(3 - columns);
  const Tensor packed = weight.unflatten(0, {groups, sizes[1]}).permute(order);
  const bool aligned = reinterpret_cast<std::uintptr_t>(packed.const_data_ptr()) % 16 == 0;
  return packed.is_contiguous() && aligned ? packed : packed.clone(MemoryFormat::Contiguous);
}

/// The same in channels-last, aligned.
Tensor by_channels_last(const Tensor& t) {
  return t.movedim(1, -1).clone(MemoryFormat::Contiguous).movedim(-1, 1);
}

bool tf32_allowed() {
  return at::globalContext().allowTF32CuDNN() && !at::NoTF32Guard::should_disable_tf32();
}

class Plan {
 public:
  Plan(ConvolutionPass pass, const ConvolutionProduct& c)
      : pass_(pass),
        c_(c),
        dtype_(c.image.scalar_type()),
        windowed_(pass == ConvolutionPass::Image ? c.features : c.image),
        pixels_(pass == ConvolutionPass::Image ? c.image : c.features) {
    p_.to_image = pass == ConvolutionPass::Image;
    p_.batch = static_cast<std::int32_t>(c.image.size(0));
    p_.groups = static_cast<std::int32_t>(c.groups);
    p_.channels = static_cast<std::int32_t>(windowed_.size(1) / c.groups);
    p_.columns = static_cast<std::int32_t>(pixels_.size(1) / c.groups);
    kind_.to_weight = pass == ConvolutionPass::Weight;
    if (c.bias.defined()) {
      bias_ = c.bias.contiguous();
      p_.bias = bias_.const_data_ptr();
    }
    p_.stream = c10::cuda::getCurrentCUDAStream();
    set_dims();
    set_images();
    set_weight();
    set_operands();
    set_order();
    set_tiles();
  }

  void run() {
    std::optional<Workspace> parts;
    if (p_.splits > 1) {
      const int64_t tile = int64_t{gemm_tile(kind_.large)} * gemm_tile(kind_.large);
      parts.emplace(static_cast<std::size_t>(p_.tiles() * p_.splits * tile * sum_bytes()), p_.stream);
      p_.parts = parts->data();
    }
    switch (dtype_) {
      case kHalf:
        launch_half_gemm(p_, kind_);
        break;
      case kBFloat16:
        launch_bfloat16_gemm(p_, kind_);
        break;
      default:
        by_tensor_cores() ? launch_tf32_gemm(p_, kind_) : launch_plain_gemm(p_, dtype_, kind_);
    }
    if (p_.splits > 1) {
      launch_join_parts(p_, dtype_, kind_);
    }
  }

 private:
  bool by_tensor_cores() const {
    return dtype_ == kHalf || dtype_ == kBFloat16 || (dtype_ == kFloat && tf32_allowed());
  }
  int64_t sum_bytes() const {
    return static_cast<int64_t>(std::max<std::size_t>(c10::elementSize(dtype_), sizeof(float)));
  }
  /// Positions of the depth in a tile.
  int64_t tile_depth() const {
    return 64 / static_cast<int64_t>(c10::elementSize(dtype_));
  }

  void set_dims() {
    int64_t phases = 1;
    for (int i = 0; i < 3; ++i) {
      const SlidingDim& from = c_.dim[i];
      GemmDim& d = p_.dim[i];
      const int tensor_dim = i - (3 - c_.dims) + 2;
      if (tensor_dim >= 2) {
        d.windowed = static_cast<std::int32_t>(windowed_.size(tensor_dim));
        d.size = static_cast<std::int32_t>(pixels_.size(tensor_dim));
      }
      d.kernel = from.kernel;
      d.stride = from.stride;
      d.padding = from.padding;
      d.dilation = from.dilation;
      d.pixels = d.size;
      d.tap_move = d.dilation;
      if (p_.to_image) {
        d.phases = std::min(d.stride, d.size);
        d.pixels = (d.size + d.stride - 1) / d.stride;
        const std::int32_t common = std::gcd(d.stride, d.dilation);
        d.tap_step = d.stride / common;
        d.tap_move = -(d.dilation / common);
      }
      phases *= d.phases;
    }
    TORCH_CHECK(
        std::max(phases, c_.image.size(0)) <= INT32_MAX, c_.op,
        ": on CUDA batches and strides are below 2^31, got sizes ", c_.image.sizes(), " and strides ",
        IntArrayRef({c_.dim[0].stride, c_.dim[1].stride, c_.dim[2].stride}));
    p_.phases = static_cast<std::int32_t>(phases);
    const int64_t taps = int64_t{p_.dim[0].kernel} * p_.dim[1].kernel * p_.dim[2].kernel * p_.channels;
    TORCH_CHECK(
        taps <= INT32_MAX, c_.op, ": on CUDA a weight has up to 2^31 - 1 elements for each output channel, got sizes ",
        c_.weight.sizes());
    pixel_count_ = int64_t{p_.batch} * p_.dim[0].pixels * p_.dim[1].pixels * p_.dim[2].pixels;
    p_.rows = pass_ == ConvolutionPass::Weight ? taps : pixel_count_;
    depth_ = pass_ == ConvolutionPass::Weight ? pixel_count_ : taps;
  }

  /// Tensor cores wait for what is read element by element. So where channels fill pieces of 16 bytes, what lies
  /// otherwise is copied channels-last, unless windows leave most of the image out.
  void set_images() {
    const int64_t piece = 16 / static_cast<int64_t>(c10::elementSize(dtype_));
    const auto strides = [&](const Tensor& t) { return strides_of(t, c_.dims); };
    const bool fills = by_tensor_cores() && p_.channels % piece == 0 && (!kind_.to_weight || p_.columns % piece == 0);
    const auto pixels_of = [](const Tensor& t) { return t.numel() / (t.size(0) * t.size(1)); };
    if (fills && (p_.to_image || pixels_of(c_.weight) * pixels_of(c_.features) >= pixels_of(c_.image))) {
      windowed_ = is_wide(windowed_, strides(windowed_)) ? windowed_ : by_channels_last(windowed_);
      pixels_ = !kind_.to_weight || is_wide(pixels_, strides(pixels_)) ? pixels_ : by_channels_last(pixels_);
    }
    p_.windowed = strides(windowed_);
    p_.pixels = strides(pixels_);
    kind_.wide = fills && is_wide(windowed_, p_.windowed) && (!kind_.to_weight || is_wide(pixels_, p_.pixels));
  }

  void set_weight() {
    GemmWeight& s = p_.weight;
    const Tensor& w = c_.weight;
    if (kind_.wide && !kind_.to_weight) {
      weight_ = packed_weight(w, c_.groups, pass_);
      s.group = weight_.stride(0);
      s.column = weight_.stride(1);
      s.channel = 1;
      for (int d = 0; d < c_.dims; ++d) {
        s.of[3 - c_.dims + d] = weight_.stride(2 + d);
      }
      return;
    }
    weight_ = w;
    s.group = w.size(0) / c_.groups * w.stride(0);
    // The first dimension is the features' channels.
    s.column = p_.to_image ? w.stride(1) : w.stride(0);
    s.channel = p_.to_image ? w.stride(0) : w.stride(1);
    for (int d = 0; d < c_.dims; ++d) {
      s.of[3 - c_.dims + d] = w.stride(2 + d);
    }
  }

  void set_operands() {
    p_.a = windowed_.const_data_ptr();
    p_.b = kind_.to_weight ? pixels_.const_data_ptr() : weight_.const_data_ptr();
    p_.out = kind_.to_weight ? weight_.mutable_data_ptr() : pixels_.mutable_data_ptr();
  }

  /// Neighbouring threads go along what lies side by side.
  void set_order() {
    // The smallest stride of a dimension that has some elements.
    constexpr int64_t kNone = INT64_MAX;
    const auto nearest = [](const int64_t(&strides)[3], const auto& size) {
      int64_t best = kNone;
      for (int i = 0; i < 3; ++i) {
        best = size(i) > 1 ? std::min(best, strides[i]) : best;
      }
      return best;
    };
    const int64_t tap = nearest(p_.weight.of, [&](int i) { return p_.dim[i].kernel; });
    const bool windowed_last = kind_.wide ||
        p_.windowed.channel < nearest(
                                  p_.windowed.of, [&](int i) { return p_.dim[i].windowed; });
    const bool pixels_last = p_.pixels.channel < nearest(
                                                     p_.pixels.of, [&](int i) { return p_.dim[i].size; });
    p_.taps_fastest = tap < p_.weight.channel && !windowed_last;
    if (kind_.to_weight) {
      p_.a_by_depth = !windowed_last;
      p_.b_by_depth = !pixels_last;
      p_.columns_fastest = p_.weight.column < std::min(p_.weight.channel, tap);
      const Digits step = digits(tile_depth());
      std::copy(step.begin(), step.end(), p_.depth_step);
    } else {
      p_.a_by_depth = windowed_last;
      p_.b_by_depth = std::min(p_.weight.channel, tap) < p_.weight.column;
      p_.columns_fastest = pixels_last;
      p_.wide_out = pixels_last && is_wide(pixels_, p_.pixels) &&
          p_.columns % (16 / static_cast<int64_t>(pixels_.itemsize())) == 0;
    }
  }

  using Digits = std::array<std::int32_t, 4>;
  /// A number of pixels as images and coordinates.
  Digits digits(int64_t pixels) const {
    Digits d;
    for (int i = 3; i > 0; --i) {
      d[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(pixels % p_.dim[i - 1].pixels);
      pixels /= p_.dim[i - 1].pixels;
    }
    d[0] = static_cast<std::int32_t>(pixels);
    return d;
  }

  /// Large tiles where they give each multiprocessor something to do. Where tiles are few and the depth is long, it is
  /// split.
  void set_tiles() {
    const int64_t multiprocessors = at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    const int64_t steps = (depth_ + tile_depth() - 1) / tile_depth();
    const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
    const auto tiles = [&](bool large) {
      return up(p_.columns, gemm_tile(large)) * up(p_.rows, gemm_tile(large)) * p_.phases * p_.groups;
    };
    // A share has this many steps at least: fewer are not worth their part of the result.
    constexpr int64_t kFewestSteps = 8;
    kind_.large = (by_tensor_cores() || dtype_ == kFloat) && p_.columns > gemm_tile(false) &&
        p_.rows > gemm_tile(false) && tiles(true) * up(steps, kFewestSteps) >= multiprocessors;
    const int64_t size = gemm_tile(kind_.large), count = tiles(kind_.large),
                  wanted = multiprocessors * (kind_.large ? 2 : 4);
    p_.column_tiles = static_cast<std::int32_t>(up(p_.columns, size));
    const int64_t row_tiles = up(p_.rows, size);
    // Steps are counted in 31 bits.
    const int64_t splits =
        std::max(std::clamp<int64_t>(wanted / count, 1, up(steps, kFewestSteps)), up(steps, int64_t{1} << 30));
    TORCH_CHECK(
        count * splits <= INT32_MAX, c_.op, ": too large for CUDA: image ", c_.image.sizes(), ", weight ",
        c_.weight.sizes(), " and features ", c_.features.sizes(), " give more than 2^31 - 1 tiles of ", size, " x ",
        size);
    p_.row_tiles = static_cast<std::int32_t>(row_tiles);
    p_.splits = static_cast<std::int32_t>(splits);
  }

  ConvolutionPass pass_;
  const ConvolutionProduct& c_;
  c10::ScalarType dtype_;
  Tensor windowed_, pixels_, weight_, bias_;
  int64_t pixel_count_ = 0, depth_ = 0;
  ImplicitGemm p_{};
  GemmKind kind_{};
};

} // namespace

void convolve_by_product(ConvolutionPass pass, const ConvolutionProduct& c) {
  if (!convolve_pointwise(pass, c, tf32_allowed())) {
    Plan(pass, c).run();
  }
}

} // namespace at::native::cuda
