#include <csrc/nn/functional/padding.h>

#include <optional>
#include <string_view>

namespace torch::nn::functional {
namespace {

std::string_view mode_name(const PadFuncOptions::mode_t& mode) {
  constexpr std::string_view kNames[] = {"constant", "reflect", "replicate", "circular"};
  return kNames[mode.index()];
}

} // namespace

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  // A value is an error in the other modes.
  const auto value = options.value() == 0 ? std::nullopt : std::optional<double>(options.value());
  return at::pad(input, options.pad(), mode_name(options.mode()), value);
}

} // namespace torch::nn::functional
