#include <csrc/nn/options/padding.h>

#include <utility>

namespace torch::nn::functional {

PadFuncOptions::PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}

} // namespace torch::nn::functional
