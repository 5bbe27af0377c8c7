#include <csrc/nn/options/linear.h>

#include <utility>

namespace torch::nn {

LinearOptions::LinearOptions(int64_t in_features, int64_t out_features)
    : in_features_(in_features), out_features_(out_features) {}

UnflattenOptions::UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}

BilinearOptions::BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
    : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}

} // namespace torch::nn
