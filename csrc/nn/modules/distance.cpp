#include <csrc/nn/modules/distance.h>

#include <csrc/nn/functional/distance.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

CosineSimilarityImpl::CosineSimilarityImpl(const CosineSimilarityOptions& options_) : options(options_) {}

void CosineSimilarityImpl::reset() {}

void CosineSimilarityImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CosineSimilarity(dim=" << options.dim() << ", eps=" << options.eps() << ")";
}

Tensor CosineSimilarityImpl::forward(const Tensor& input1, const Tensor& input2) {
  return F::cosine_similarity(input1, input2, options);
}

PairwiseDistanceImpl::PairwiseDistanceImpl(const PairwiseDistanceOptions& options_) : options(options_) {}

void PairwiseDistanceImpl::reset() {}

void PairwiseDistanceImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::PairwiseDistance(p=" << options.p() << ", eps=" << options.eps()
         << ", keepdim=" << options.keepdim() << ")";
}

Tensor PairwiseDistanceImpl::forward(const Tensor& input1, const Tensor& input2) {
  return F::pairwise_distance(input1, input2, options);
}

} // namespace torch::nn
