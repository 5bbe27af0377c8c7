#include <csrc/nn/options/fold.h>

namespace torch::nn {

FoldOptions::FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size)
    : output_size_(output_size), kernel_size_(kernel_size) {}

UnfoldOptions::UnfoldOptions(ExpandingArray<2> kernel_size) : kernel_size_(kernel_size) {}

} // namespace torch::nn
