// Shape functions of pooling.
#include <aten/shape/pool_windows.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/shape/operand_checks.h>

#include <c10/core/Contiguity.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace at::shape {
namespace {

using c10::DimVector;

const char* count_word(int64_t dims) {
  return dims == 2 ? "two" : "three";
}

std::string_view base_name(std::string_view op) {
  for (const std::string_view suffix : {"_with_indices", "_backward"}) {
    const size_t at = op.find(suffix);
    if (at != std::string_view::npos) {
      return op.substr(0, at);
    }
  }
  return op;
}

/// What a list of windows' numbers must be. Dilations, means of volumes and margins of maxima say it with their own
/// messages.
const char* must_be(std::string_view name, std::string_view what) {
  return what == "dilation"                       ? " must be either"
      : name == "avg_pool3d"                      ? " must be"
      : name == "max_pool2d" && what == "padding" ? " must be either be"
                                                  : " must either be";
}

DimVector repeated(const char* op, IntArrayRef values, const char* what, int64_t dims, IntArrayRef otherwise = {}) {
  if (values.empty() && !otherwise.empty()) {
    values = otherwise;
  }
  TORCH_CHECK(
      values.size() == 1 || static_cast<int64_t>(values.size()) == dims, base_name(op), ": ", what,
      must_be(base_name(op), what), otherwise.empty() ? "" : " omitted,", " a single int, or a tuple of ",
      count_word(dims), " ints; got ", values);
  return values.size() == 1 ? DimVector(static_cast<size_t>(dims), values[0]) : DimVector(values.begin(), values.end());
}

/// "kH: 1 kW: 2" of a list that is called k.
std::string by_axis(const char* name, IntArrayRef values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::string(name) + "THW"[3 - values.size() + i] + ": " + std::to_string(values[i]);
  }
  return text;
}

/// "(1x2x2)" of the channels and spatial sizes.
std::string volume(int64_t channels, IntArrayRef sizes) {
  std::string text = "(" + std::to_string(channels);
  for (const int64_t s : sizes) {
    text += "x" + std::to_string(s);
  }
  return text + ")";
}

void check_pool_input(const char* op, const TensorBase& self, int64_t dims) {
  const bool batched = self.dim() == dims + 2;
  if (dims == 3) {
    TORCH_CHECK(
        batched || self.dim() == 4, "non-empty 4D or 5D (batch mode) tensor expected for input of ", op, "; got ",
        self.sizes());
    for (int64_t d = self.dim() - 4; d < self.dim(); ++d) {
      TORCH_CHECK(
          self.size(d) > 0, op,
          "_out_cpu_template(): Expected input's non-batch dimensions to have positive length, but input has a shape "
          "of ",
          self.sizes(), " and non-batch dimension ", d - (self.dim() - 4), " has length zero!");
    }
    return;
  }
  bool full = batched || self.dim() == dims + 1;
  for (int64_t d = self.dim() - dims - 1; full && d < self.dim(); ++d) {
    full = self.size(d) != 0;
  }
  TORCH_CHECK(
      full, "Expected ", dims + 1, "D or ", dims + 2,
      "D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
}

TensorSpec pooled_spec(const TensorBase& self, IntArrayRef spatial, c10::ScalarType dtype) {
  const int64_t lead = self.dim() - static_cast<int64_t>(spatial.size());
  DimVector sizes(self.sizes().begin(), self.sizes().begin() + lead);
  sizes.append(spatial.begin(), spatial.end());
  TensorSpec spec = TensorSpec::like(self, sizes, dtype);
  spec.memory_format = self.suggest_memory_format();
  return spec;
}

TensorSpec like_input(const TensorBase& self) {
  TensorSpec spec = TensorSpec::like(self, self.sizes());
  spec.memory_format = self.suggest_memory_format();
  return spec;
}

TensorSpec plain(TensorSpec spec) {
  spec.memory_format = c10::MemoryFormat::Contiguous;
  return spec;
}

std::array<TensorSpec, 2> with_indices(const TensorBase& self, IntArrayRef spatial) {
  TensorSpec values = pooled_spec(self, spatial, self.scalar_type()), indices = values;
  indices.dtype = kLong;
  return {std::move(values), std::move(indices)};
}

/// Sizes after pooling with fixed windows; checks everything about them.
DimVector windows(
    const char* op,
    int64_t dims,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride_size,
    IntArrayRef padding_size,
    IntArrayRef dilation_size,
    bool ceil_mode) {
  const DimVector kernel = repeated(op, kernel_size, "kernel_size", dims),
                  stride = repeated(op, stride_size, "stride", dims, kernel),
                  padding = repeated(op, padding_size, "padding", dims),
                  dilation = repeated(op, dilation_size, "dilation", dims);
  TORCH_CHECK(
      dims == 2 || self.dim() == 4 || self.dim() == 5, "non-empty 4D or 5D (batch mode) tensor expected for input of ",
      op, "; got ", self.sizes());
  if (std::string_view(op).starts_with("max_pool2d")) {
    TORCH_CHECK(
        self.dim() == 3 || self.dim() == 4, "non-empty 3D or 4D (batch mode) tensor expected for input of ", op,
        "; got ", self.sizes());
  } else if (dims == 2) {
    self.size(-3); // refuses what has no channels
  }
  DimVector out;
  const IntArrayRef in = self.sizes().slice(self.dim() - dims);
  for (int64_t d = 0; d < dims; ++d) {
    TORCH_CHECK(stride[d] != 0, "stride should not be zero");
    TORCH_CHECK(
        kernel[d] > 0, "kernel size should be greater than zero, but got ", by_axis("k", kernel), " (in ", op, ")");
    TORCH_CHECK(stride[d] > 0, "stride should be greater than zero, but got ", by_axis("d", stride), " (in ", op, ")");
    TORCH_CHECK(
        dilation[d] > 0, "dilation should be greater than zero, but got ", by_axis("dilation", dilation), " (in ", op,
        ")");
    out.push_back(pooled_size(in[d], kernel[d], padding[d], stride[d], dilation[d], ceil_mode));
  }
  check_pool_input(op, self, dims);
  for (const int64_t size : out) {
    TORCH_CHECK(
        size >= 1, "Given input size: ", volume(self.size(self.dim() - dims - 1), in),
        ". Calculated output size: ", volume(self.size(self.dim() - dims - 1), out), ". Output size is too small");
  }
  return out;
}

void check_divisor(std::optional<int64_t> divisor_override) {
  TORCH_CHECK(!divisor_override.has_value() || *divisor_override != 0, "divisor must be not zero");
}

/// Throws unless `t` has the sizes that the forward pass gives.
void check_result(
    const char* op,
    const char* what,
    const TensorBase& t,
    const TensorBase& self,
    IntArrayRef spatial,
    c10::ScalarType dtype) {
  const TensorSpec spec = pooled_spec(self, spatial, dtype);
  const int64_t rank = self.dim();
  const int64_t channels = rank - static_cast<int64_t>(spatial.size()) - 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t d = (channels + i) % rank; // the batch last
    TORCH_CHECK(
        t.dim() == rank && t.size(d) == spec.sizes[d], "Expected a tensor of dimension ", rank, " and tensor.size[", d,
        "] == ", spec.sizes[d], " but got: dimension ", t.dim(), " and tensor.size[", d,
        "] = ", d < t.dim() ? t.size(d) : 0, " (", what, " of ", op, ")");
  }
  if (t.scalar_type() != dtype) {
    TORCH_CHECK(dtype != kLong, "expected scalar type Long but found ", t.scalar_type(), " for ", what, " of ", op);
    TORCH_CHECK(
        false, "expected dtype ", c10::scalarTypeToTypeMeta(dtype).name(), " for `", what, "` but got dtype ",
        t.dtype().name(), " (in ", op, ")");
  }
  check_same_device(op, {&self, &t});
}

std::string ranks(int64_t dims) {
  return dims == 2 ? "3D or 4D" : "4D or 5D";
}

/// What an adaptive pooling makes of each window. A mean of whole maps is made without windows, so it takes empty ones.
enum class Adaptive { Max, Mean, MeanOfMaps };

DimVector adaptive(const char* name, Adaptive kind, int64_t dims, const TensorBase& self, IntArrayRef output_size) {
  const bool means = kind != Adaptive::Max;
  const bool fits = static_cast<int64_t>(output_size.size()) == dims;
  TORCH_CHECK(fits || !means, name, ": output_size must be ", dims, ", but got ", output_size);
  TORCH_CHECK(
      self.dim() == dims + 1 || self.dim() == dims + 2, name, "(): Expected ", ranks(dims), " tensor, but got",
      means ? " " : ": ", self.sizes());
  TORCH_CHECK(fits, name, "(): internal error: output_size.size() must be ", dims, ", but got ", output_size);
  DimVector out(output_size.begin(), output_size.end());
  for (const int64_t size : out) {
    TORCH_CHECK(
        size >= 0 || !means, name, ": elements of output_size must be greater than or equal to 0 but received ",
        dims == 2 ? c10::str("{", out[0], ", ", out[1], "}") : c10::str(output_size));
  }
  // The mean of nothing is NaN.
  const bool single =
      kind == Adaptive::MeanOfMaps && std::all_of(out.begin(), out.end(), [](int64_t size) { return size == 1; });
  const int64_t first = means && dims == 2 ? self.dim() - dims : 1; // the mean of no channels is no channel
  for (int64_t d = first; d < self.dim(); ++d) {
    TORCH_CHECK(
        single || self.size(d) > 0, name,
        "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", self.sizes(),
        " with dimension ", d, " being empty");
  }
  for (const int64_t size : out) {
    const auto sizes = [&] {
      DimVector all(self.sizes().begin(), self.sizes().end() - dims);
      all.append(out.begin(), out.end());
      return all;
    };
    TORCH_CHECK(
        size >= 0, "Trying to create tensor with negative dimension ", size, ": ", IntArrayRef(sizes()), " (in ", name,
        ")");
  }
  return out;
}

DimVector spatial_of(const char* op, int64_t dims, const TensorBase& grad_output, const TensorBase& self) {
  TORCH_CHECK(
      (self.dim() == dims + 1 || self.dim() == dims + 2) && grad_output.dim() == self.dim(), op, ": Expected ",
      ranks(dims), " grad_output and input of the same number of dimensions, but got ", grad_output.sizes(), " and ",
      self.sizes());
  for (int64_t d = 1; d < grad_output.dim(); ++d) {
    TORCH_CHECK(
        grad_output.size(d) > 0, op,
        ": Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes ",
        grad_output.sizes(), " with dimension ", d, " being empty");
  }
  for (int64_t d = self.dim() - dims; d < self.dim(); ++d) {
    TORCH_CHECK(self.size(d) > 0, op, ": input has no elements: ", self.sizes());
  }
  const IntArrayRef spatial = grad_output.sizes().slice(grad_output.dim() - dims);
  return DimVector(spatial.begin(), spatial.end());
}

DimVector fractional(
    const char* op,
    int64_t dims,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef output_size,
    const TensorBase* samples) {
  const DimVector kernel = repeated(op, kernel_size, "kernel_size", dims),
                  out = repeated(op, output_size, "output_size", dims);
  const bool batched = self.dim() == dims + 2;
  TORCH_CHECK(batched || self.dim() == dims + 1, op, "(): Expected ", ranks(dims), " tensor, but got: ", self.sizes());
  for (int64_t d = batched ? 1 : 0; d < self.dim(); ++d) {
    TORCH_CHECK(
        self.size(d) > 0, op, "(): Expected input to have non-zero  size for non-batch dimenions, but got ",
        self.sizes(), " with dimension ", d, " being empty.");
  }
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t in = self.size(self.dim() - dims + d);
    TORCH_CHECK(
        kernel[d] > 0 && out[d] > 0, op, "(): kernel_size and output_size must be positive; got ", kernel_size, " and ",
        output_size);
    // Of volumes PyTorch asks for one element more.
    const bool spare = dims == 3 && samples != nullptr;
    constexpr const char* kNames[] = {"time", "height", "width"};
    const char* name = kNames[3 - dims + d];
    TORCH_CHECK(
        kernel[d] <= in && out[d] <= in - kernel[d] + (spare ? 0 : 1), op, dims == 3 ? "_out" : "", "(): pool ", name,
        " ", kernel[d], " too large relative to input ", name, " ", in, ", for an output of ", out[d]);
  }
  if (samples != nullptr) {
    TORCH_CHECK(
        samples->scalar_type() == self.scalar_type(), "Expect _random_samples to have the same dtype as input; ", op,
        " got ", samples->scalar_type(), " and ", self.scalar_type());
    TORCH_CHECK(samples->dim() == 3, "Expect _random_samples to have 3 dimensions, got ", samples->dim());
    TORCH_CHECK(
        samples->size(0) >= (batched ? self.size(0) : 1),
        "Expect _random_samples.size(0) no less then input batch size.");
    TORCH_CHECK(
        samples->size(1) >= self.size(self.dim() - dims - 1),
        "Expect _random_samples.size(1) no less then input channel size.");
    TORCH_CHECK(
        samples->size(2) == dims, "Expect _random_samples.size(2) equals to ", dims, "; got ", samples->size(2), ".");
    check_same_device(op, {&self, samples});
  }
  return out;
}

TensorSpec unpooled(
    const char* op, int64_t dims, const TensorBase& self, const TensorBase& indices, IntArrayRef output_size) {
  TORCH_CHECK(
      indices.scalar_type() == kLong, "elements in indices should be type int64 but got: ", indices.scalar_type());
  TORCH_CHECK(
      static_cast<int64_t>(output_size.size()) == dims, "There should be exactly ", count_word(dims), " elements (",
      dims == 2 ? "height, width" : "depth, height, width", ") in output_size, but got ", output_size.size(),
      " elements.");
  TORCH_CHECK(
      self.dim() == dims + 1 || self.dim() == dims + 2, "Input to max_unpooling", dims, "d should be a ", dims + 1,
      "d or ", dims + 2, "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  TORCH_CHECK(
      self.sizes() == indices.sizes(), "Expected shape of indices to be same as that of the input tensor (",
      self.sizes(), ") but got indices tensor with shape: ", indices.sizes());
  for (int64_t d = 1; d < self.dim(); ++d) {
    TORCH_CHECK(
        self.size(d) > 0, op, "(): Expected input to have non-zero size for non-batch dimensions, but got ",
        self.sizes(), " with dimension ", d, " being empty.");
  }
  for (const int64_t size : output_size) {
    TORCH_CHECK(size >= 0, op, ": output_size must not be negative, got ", output_size);
  }
  check_same_device(op, {&self, &indices});
  return pooled_spec(self, output_size, self.scalar_type());
}

template <class Wide>
bool fits_int64(Wide x) {
  return x >= std::numeric_limits<int64_t>::min() && x <= std::numeric_limits<int64_t>::max();
}

/// pooled_size, by numbers that hold the products of two arguments.
template <class Wide>
int64_t pooled_size_by(int64_t in, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode) {
  const Wide reach = static_cast<Wide>(dilation) * (static_cast<Wide>(kernel) - 1);
  TORCH_CHECK(
      padding <= (reach + 1) / 2, "pad should be at most half of kernel size, but got pad=", padding,
      " and kernel_size=", kernel);
  TORCH_CHECK(
      fits_int64(reach), "pooling: the size of a window overflows: kernel size ", kernel, ", dilation ", dilation);
  const Wide room = static_cast<Wide>(in) - reach - 1 + 2 * static_cast<Wide>(padding) +
      (ceil_mode ? static_cast<Wide>(stride) - 1 : 0);
  Wide out = (room < 0 ? -((-room + stride - 1) / stride) : room / stride) + 1;
  // The last window must begin inside the input or the left padding.
  if (ceil_mode && (out - 1) * stride >= static_cast<Wide>(in) + padding) {
    --out;
  }
  TORCH_CHECK(
      fits_int64(out), "pooling: the number of windows overflows: input ", in, ", pad ", padding, ", stride ", stride);
  return static_cast<int64_t>(out);
}

} // namespace

int64_t pooled_size(int64_t in, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode) {
  TORCH_CHECK(stride != 0, "stride should not be zero");
  TORCH_CHECK(padding >= 0, "pad must be non-negative, but got pad: ", padding);
  // Divisions of 128-bit numbers are slow, and hardly ever needed.
  constexpr int64_t kSmall = int64_t{1} << 30;
  const bool small = in < kSmall && kernel < kSmall && padding < kSmall && stride < kSmall && dilation < kSmall &&
      kernel > -kSmall && stride > -kSmall && dilation > -kSmall;
  return small ? pooled_size_by<int64_t>(in, kernel, padding, stride, dilation, ceil_mode)
               : pooled_size_by<__int128>(in, kernel, padding, stride, dilation, ceil_mode);
}

std::array<TensorSpec, 2> max_pool2d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return with_indices(self, windows(op, 2, self, kernel_size, stride, padding, dilation, ceil_mode));
}

std::array<TensorSpec, 2> max_pool3d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return with_indices(self, windows(op, 3, self, kernel_size, stride, padding, dilation, ceil_mode));
}

TensorSpec max_pool2d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode,
    const TensorBase& indices) {
  const DimVector out = windows(op, 2, self, kernel_size, stride, padding, dilation, ceil_mode);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return like_input(self);
}

TensorSpec max_pool3d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode,
    const TensorBase& indices) {
  const DimVector out = windows(op, 3, self, kernel_size, stride, padding, dilation, ceil_mode);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return like_input(self);
}

TensorSpec avg_pool2d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool,
    std::optional<int64_t> divisor_override) {
  check_divisor(divisor_override);
  return pooled_spec(self, windows(op, 2, self, kernel_size, stride, padding, {1}, ceil_mode), self.scalar_type());
}

TensorSpec avg_pool3d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool,
    std::optional<int64_t> divisor_override) {
  check_divisor(divisor_override);
  return plain(
      pooled_spec(self, windows(op, 3, self, kernel_size, stride, padding, {1}, ceil_mode), self.scalar_type()));
}

TensorSpec avg_pool2d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool,
    std::optional<int64_t> divisor_override) {
  check_divisor(divisor_override);
  check_result(
      op, "grad_output", grad_output, self, windows(op, 2, self, kernel_size, stride, padding, {1}, ceil_mode),
      self.scalar_type());
  return like_input(self);
}

TensorSpec avg_pool3d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    bool ceil_mode,
    bool,
    std::optional<int64_t> divisor_override) {
  check_divisor(divisor_override);
  check_result(
      op, "grad_output", grad_output, self, windows(op, 3, self, kernel_size, stride, padding, {1}, ceil_mode),
      self.scalar_type());
  return plain(like_input(self));
}

bool is_mean_of_maps(const char* op, int64_t dims, const TensorBase& self, IntArrayRef output_size) {
  const DimVector out = adaptive(op, Adaptive::MeanOfMaps, dims, self, output_size);
  return std::all_of(out.begin(), out.end(), [](int64_t size) { return size == 1; });
}

TensorSpec adaptive_avg_pool2d(const char*, const TensorBase& self, IntArrayRef output_size) {
  return pooled_spec(self, adaptive("adaptive_avg_pool2d", Adaptive::Mean, 2, self, output_size), self.scalar_type());
}

TensorSpec adaptive_avg_pool3d(const char*, const TensorBase& self, IntArrayRef output_size) {
  return plain(
      pooled_spec(self, adaptive("adaptive_avg_pool3d", Adaptive::Mean, 3, self, output_size), self.scalar_type()));
}

TensorSpec adaptive_avg_pool2d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self) {
  check_result(op, "grad_output", grad_output, self, spatial_of(op, 2, grad_output, self), self.scalar_type());
  return like_input(self);
}

TensorSpec adaptive_avg_pool3d_backward(const char* op, const TensorBase& grad_output, const TensorBase& self) {
  check_result(op, "grad_output", grad_output, self, spatial_of(op, 3, grad_output, self), self.scalar_type());
  return plain(like_input(self));
}

std::array<TensorSpec, 2> adaptive_max_pool2d(const char* op, const TensorBase& self, IntArrayRef output_size) {
  return with_indices(self, adaptive(op, Adaptive::Max, 2, self, output_size));
}

std::array<TensorSpec, 2> adaptive_max_pool3d(const char* op, const TensorBase& self, IntArrayRef output_size) {
  const auto specs = with_indices(self, adaptive(op, Adaptive::Max, 3, self, output_size));
  return {plain(specs[0]), plain(specs[1])};
}

TensorSpec adaptive_max_pool2d_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices) {
  const DimVector out = spatial_of(op, 2, grad_output, self);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return like_input(self);
}

TensorSpec adaptive_max_pool3d_backward(
    const char* op, const TensorBase& grad_output, const TensorBase& self, const TensorBase& indices) {
  const DimVector out = spatial_of(op, 3, grad_output, self);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return plain(like_input(self));
}

std::array<TensorSpec, 2> fractional_max_pool2d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef output_size,
    const TensorBase& random_samples) {
  const auto specs = with_indices(self, fractional(op, 2, self, kernel_size, output_size, &random_samples));
  return {plain(specs[0]), plain(specs[1])};
}

std::array<TensorSpec, 2> fractional_max_pool3d(
    const char* op,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef output_size,
    const TensorBase& random_samples) {
  const auto specs = with_indices(self, fractional(op, 3, self, kernel_size, output_size, &random_samples));
  return {plain(specs[0]), plain(specs[1])};
}

TensorSpec fractional_max_pool2d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef output_size,
    const TensorBase& indices) {
  const DimVector out = fractional(op, 2, self, kernel_size, output_size, nullptr);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return like_input(self);
}

TensorSpec fractional_max_pool3d_backward(
    const char* op,
    const TensorBase& grad_output,
    const TensorBase& self,
    IntArrayRef kernel_size,
    IntArrayRef output_size,
    const TensorBase& indices) {
  const DimVector out = fractional(op, 3, self, kernel_size, output_size, nullptr);
  check_result(op, "grad_output", grad_output, self, out, self.scalar_type());
  check_result(op, "indices", indices, self, out, kLong);
  return like_input(self);
}

TensorSpec max_unpool2d(const char* op, const TensorBase& self, const TensorBase& indices, IntArrayRef output_size) {
  return unpooled(op, 2, self, indices, output_size);
}

TensorSpec max_unpool3d(
    const char* op,
    const TensorBase& self,
    const TensorBase& indices,
    IntArrayRef output_size,
    IntArrayRef stride,
    IntArrayRef padding) {
  TORCH_CHECK(
      stride.size() == 3,
      "There should be exactly three elements (depth, height, width) in stride, but got: ", stride.size(),
      " elements.");
  TORCH_CHECK(
      padding.size() == 3,
      "There should be exactly three elements (depth, height, width) in padding, but got: ", padding.size(),
      " elements.");
  TORCH_CHECK(
      stride[0] > 0 && stride[1] > 0 && stride[2] > 0, "strides should be greater than zero, but got stride: ", stride);
  return unpooled(op, 3, self, indices, output_size);
}

/// Throw unless an output has the dtype of self, and, for max_unpool3d, is contiguous.
void max_pool3d_out(
    const char* op,
    const TensorBase& self,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    const TensorBase& out,
    const TensorBase& indices) {
  check_out_dtype(op, self, out);
  TORCH_CHECK(
      indices.scalar_type() == kLong, "expected scalar type Long but found ", indices.scalar_type(),
      " for the indices of ", op);
}

/// An output that is resized takes the memory format that the result of the function has.
void format_when_resized(std::initializer_list<const TensorBase*> outs, TensorSpec* specs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    if (specs[i].memory_format != c10::MemoryFormat::ChannelsLast || specs[i].strides) {
      continue;
    }
    if (c10::checked_numel(IntArrayRef(specs[i].sizes)) == 0) {
      continue; // its strides may be beyond 64 bits
    }
    const std::vector<int64_t> strides = c10::get_channels_last_strides_2d(IntArrayRef(specs[i].sizes));
    specs[i].strides.emplace(strides.begin(), strides.end());
  }
}

void max_unpool3d_out(
    const char* op,
    const TensorBase& self,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    const TensorBase& out) {
  check_out_dtype(op, self, out);
  TORCH_CHECK(
      out.is_contiguous(), "output must be contiguous (in ", op, "; got strides ", out.strides(), " for ", out.sizes(),
      ")");
}

} // namespace at::shape
