#include <csrc/nn/modules/upsampling.h>

#include <csrc/nn/functional/upsampling.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

UpsampleImpl::UpsampleImpl(UpsampleOptions options_) : options(std::move(options_)) {}

void UpsampleImpl::reset() {}

void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor()) {
    stream << "scale_factor=" << at::ArrayRef<double>(*options.scale_factor());
  } else if (options.size()) {
    stream << "size=" << at::IntArrayRef(*options.size());
  }
  stream << ", mode=" << enumtype::get_enum_name(options.mode()) << ")";
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  F::InterpolateFuncOptions::mode_t mode;
  std::visit([&mode](const auto& choice) { mode = choice; }, options.mode());
  return F::interpolate(
      input,
      F::InterpolateFuncOptions()
          .size(options.size())
          .scale_factor(options.scale_factor())
          .mode(mode)
          .align_corners(options.align_corners()));
}

} // namespace torch::nn
