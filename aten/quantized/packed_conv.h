#pragma once
// Weights of quantized convolutions, as objects that programs hold and archives keep.

#include <aten/library/custom_class.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/image_columns.h>
#include <aten/quantized/integer_matrix.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native::onednn {
class QuantizedConvolution;
}

namespace at::quantized {

/// The geometry of a convolution, in the order of the weight's dimensions.
struct ConvOptions {
  std::vector<int64_t> stride, padding, output_padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
};

/// The weight, bias and geometry of a convolution over two or three dimensions. One over one dimension has an extent of
/// 1 in front.
class TORCH_API ConvPackedParams : public torch::CustomClassHolder {
 public:
  /// (version, numbers, tensors), as archives have it.
  using State = std::tuple<std::string, std::vector<Tensor>, std::vector<std::optional<Tensor>>>;

  /// `weight` is qint8 [outputs, inputs / groups, kernel...], or [inputs, outputs / groups, kernel...] of a transposed
  /// convolution. Throws if anything does not fit.
  ConvPackedParams(int64_t spatial_dims, Tensor weight, std::optional<Tensor> bias, ConvOptions options);
  ~ConvPackedParams() override;

  /// input: quint8 [batch, channels, spatial...]; the result is in channels-last order.
  Tensor apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const;
  /// The same with `accumulated`, a quantized tensor of the result's sizes, added before relu.
  Tensor apply_add(const Tensor& input, const Tensor& accumulated, double scale, int64_t zero_point, bool relu) const;
  /// input: float32, rounded to 8 bits, or 7, for the call. The result is float32, in steps of the input's scale.
  Tensor apply_dynamic(const Tensor& input, bool reduce_range) const;
  /// input: quint8. Sums of the integers, each minus its zero point, as float32 in channels-last order.
  Tensor sums(const Tensor& input) const;
  State state() const;

  const Tensor& weight() const {
    return weight_;
  }
  const std::optional<Tensor>& bias() const {
    return bias_;
  }
  const ConvOptions& options() const {
    return options_;
  }

 protected:
  /// The members of a state, for a constructor.
  static std::tuple<Tensor, std::optional<Tensor>, ConvOptions> parse_state(int64_t spatial_dims, const State& state);

 private:
  using Axes = std::array<ImageAxis, 3>;
  Axes axes_for(const Tensor& input) const;
  /// Made when a call first needs them.
  const std::vector<IntegerMatrix>& matrices() const;
  /// The result by oneDNN, undefined if it has no kernel.
  Tensor apply_onednn(const Tensor& input, const Axes& axes, double scale, int64_t zero_point, bool relu) const;
  /// Calls finish(matrix, sums, bias, first output) for each group: it puts rows of results where they belong.
  template <class Finish>
  void for_each_group(const Tensor& input, const Axes& axes, const Finish& finish) const;
  /// A matrix of results as images.
  Tensor as_images(const Tensor& rows, int64_t batch, const Axes& axes) const;
  /// Images of the float32 rows that f(matrix, sums, bias) gives for each group.
  template <class F>
  Tensor float_images(const Tensor& input, const Axes& axes, const F& f) const;
  Tensor apply_in_float(const Tensor& input, const Axes& axes) const;

  int64_t spatial_dims_;
  Tensor weight_;
  std::optional<Tensor> bias_;
  ConvOptions options_;
  int64_t inputs_, outputs_;
  /// int8 [groups, outputs of a group, depth, height, width, inputs of a group].
  Tensor taps_;
  /// Of each output, or of all.
  Tensor scales_, zero_points_;
  /// Null where its sums would not be exact, or the weight has zero points.
  std::unique_ptr<native::onednn::QuantizedConvolution> onednn_;
  mutable std::once_flag packed_once_;
  mutable std::vector<IntegerMatrix> matrices_; // of each group, see matrices
};

/// ConvPackedParams with the name of its class in archives: "quantized.Conv2dPackedParamsBase".
template <int64_t kSpatialDims>
class ConvNdPackedParams : public ConvPackedParams {
 public:
  ConvNdPackedParams(Tensor weight, std::optional<Tensor> bias, ConvOptions options)
      : ConvPackedParams(kSpatialDims, std::move(weight), std::move(bias), std::move(options)) {}

  static c10::intrusive_ptr<ConvNdPackedParams> from_state(const State& state) {
    auto [weight, bias, options] = parse_state(kSpatialDims, state);
    return c10::make_intrusive<ConvNdPackedParams>(std::move(weight), std::move(bias), std::move(options));
  }
};
using Conv2dPackedParams = ConvNdPackedParams<2>;
using Conv3dPackedParams = ConvNdPackedParams<3>;

} // namespace at::quantized
