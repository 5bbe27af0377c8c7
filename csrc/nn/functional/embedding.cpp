#include <csrc/nn/functional/embedding.h>

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

namespace torch::nn::functional {
namespace {

/// Scales down the rows that are looked up, where a norm is given.
void limit_norms(Tensor weight, const Tensor& input, std::optional<double> max_norm, double norm_type) {
  if (max_norm.has_value()) {
    const c10::NoGradGuard no_grad;
    at::embedding_renorm_(weight, input.contiguous(), *max_norm, norm_type);
  }
}

/// From 0 on; -1 where there is none.
int64_t padding_row(std::optional<int64_t> padding_idx, int64_t num_embeddings) {
  if (!padding_idx.has_value()) {
    return -1;
  }
  TORCH_CHECK(
      -num_embeddings <= *padding_idx && *padding_idx < num_embeddings,
      "Padding_idx must be within num_embeddings: got ", *padding_idx, " for ", num_embeddings, " rows");
  return *padding_idx < 0 ? *padding_idx + num_embeddings : *padding_idx;
}

void check_bags(const Tensor& input, const EmbeddingBagFuncOptions& options) {
  const Tensor& offsets = options.offsets();
  const Tensor& weights = options.per_sample_weights();
  TORCH_CHECK(
      !weights.defined() || weights.sizes() == input.sizes(), "embedding_bag: If per_sample_weights (",
      weights.defined() ? weights.sizes() : IntArrayRef(),
      ") is not null, then it must have the same shape as the input (", input.sizes(), ")");
  TORCH_CHECK(
      input.dim() == 1 || input.dim() == 2, "input has to be 1D or 2D Tensor, but got Tensor of dimension ",
      input.dim());
  TORCH_CHECK(
      input.dim() == 1 || !offsets.defined(),
      "If input is 2D, then offsets has to be null, as its rows are the bags; but offsets were given");
  TORCH_CHECK(
      input.dim() == 2 || offsets.defined(),
      "offsets has to be a 1D Tensor but got null; give the first index of each bag of a 1D input");
  TORCH_CHECK(
      !offsets.defined() || offsets.dim() == 1, "offsets has to be a 1D Tensor, but got ", offsets.dim(),
      " dimensions");
  if (std::holds_alternative<enumtype::kMax>(options.mode())) {
    TORCH_CHECK(
        !options.scale_grad_by_freq(),
        "max mode does not support scaling the gradient by the frequency; take kSum or kMean");
    TORCH_CHECK(!options.sparse(), "max mode does not support sparse weights; take kSum or kMean");
  }
  TORCH_CHECK(
      !weights.defined() || std::holds_alternative<enumtype::kSum>(options.mode()),
      "embedding_bag: per_sample_weights was not null. per_sample_weights is only supported for mode='kSum' (got "
      "mode='",
      enumtype::get_enum_name(options.mode()), "')");
}

int64_t mode_number(const EmbeddingBagMode& mode) {
  if (std::holds_alternative<enumtype::kSum>(mode)) {
    return 0;
  }
  return std::holds_alternative<enumtype::kMean>(mode) ? 1 : 2;
}

} // namespace

Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return at::one_hot(tensor, num_classes);
}

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  const int64_t padding_idx = padding_row(options.padding_idx(), weight.size(0));
  limit_norms(weight, input, options.max_norm(), options.norm_type());
  return at::embedding(weight, input, padding_idx, options.scale_grad_by_freq(), options.sparse());
}

Tensor embedding_bag(const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options) {
  check_bags(input, options);
  Tensor indices = input, offsets = options.offsets(), weights = options.per_sample_weights();
  if (input.dim() == 2) {
    offsets = at::arange(input.size(0), input.options().dtype(kLong)) * input.size(1);
    indices = input.reshape(-1);
    weights = weights.defined() ? weights.reshape(-1) : weights;
  }
  limit_norms(weight, indices, options.max_norm(), options.norm_type());
  return std::get<0>(at::embedding_bag(
      weight, indices, offsets, options.scale_grad_by_freq(), mode_number(options.mode()), options.sparse(), weights,
      options.include_last_offset(), options.padding_idx()));
}

} // namespace torch::nn::functional
