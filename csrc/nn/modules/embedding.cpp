#include <csrc/nn/modules/embedding.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/embedding.h>
#include <csrc/nn/init.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

namespace {

// padding_idx counted from the front.
std::optional<int64_t> wrap_padding_idx(std::optional<int64_t> padding_idx, int64_t num_embeddings) {
  if (!padding_idx) {
    return std::nullopt;
  }
  TORCH_CHECK(
      num_embeddings > 0 && *padding_idx >= -num_embeddings && *padding_idx < num_embeddings,
      "Padding_idx must be within num_embeddings: it is ", *padding_idx, ", num_embeddings is ", num_embeddings);
  return *padding_idx < 0 ? *padding_idx + num_embeddings : *padding_idx;
}

// The given table, or memory for one.
template <class Options>
Tensor table_for(const Options& options) {
  const std::vector<int64_t> sizes = {options.num_embeddings(), options.embedding_dim()};
  if (!options._weight().defined()) {
    return at::empty(sizes);
  }
  TORCH_CHECK(
      options._weight().sizes() == at::IntArrayRef(sizes),
      "Shape of weight does not match num_embeddings and embedding_dim: weight has sizes ", options._weight().sizes(),
      ", but must have ", at::IntArrayRef(sizes));
  return options._weight();
}

template <class Options>
void print_table(std::ostream& stream, const char* name, const Options& options) {
  stream << "torch::nn::" << name << "(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if constexpr (std::is_same_v<Options, EmbeddingOptions>) {
    if (options.padding_idx()) {
      stream << ", padding_idx=" << *options.padding_idx();
    }
  }
  if (options.max_norm()) {
    stream << ", max_norm=" << *options.max_norm();
  }
  if (options.norm_type() != 2) {
    stream << ", norm_type=" << options.norm_type();
  }
  if (options.scale_grad_by_freq()) {
    stream << ", scale_grad_by_freq=" << std::boolalpha << options.scale_grad_by_freq();
  }
  if (options.sparse()) {
    stream << ", sparse=" << std::boolalpha << options.sparse();
  }
}

void check_pretrained(const Tensor& embeddings) {
  TORCH_CHECK(
      embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional, but has sizes ",
      embeddings.sizes());
}

} // namespace

EmbeddingImpl::EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) {
  EmbeddingImpl::reset();
}

void EmbeddingImpl::reset() {
  options.padding_idx(wrap_padding_idx(options.padding_idx(), options.num_embeddings()));
  weight = register_parameter("weight", table_for(options));
  if (!options._weight().defined()) {
    reset_parameters();
  }
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (options.padding_idx()) {
    c10::NoGradGuard no_grad;
    weight.select(0, *options.padding_idx()).zero_();
  }
}

void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  print_table(stream, "Embedding", options);
  stream << ")";
}

Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return F::embedding(
      indices, weight,
      F::EmbeddingFuncOptions()
          .padding_idx(options.padding_idx())
          .max_norm(options.max_norm())
          .norm_type(options.norm_type())
          .scale_grad_by_freq(options.scale_grad_by_freq())
          .sparse(options.sparse()));
}

Embedding Embedding::from_pretrained(const torch::Tensor& embeddings, const EmbeddingFromPretrainedOptions& options) {
  check_pretrained(embeddings);
  Embedding embedding(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                          ._weight(embeddings)
                          .padding_idx(options.padding_idx())
                          .max_norm(options.max_norm())
                          .norm_type(options.norm_type())
                          .scale_grad_by_freq(options.scale_grad_by_freq())
                          .sparse(options.sparse()));
  embedding->weight.set_requires_grad(!options.freeze());
  return embedding;
}

EmbeddingBagImpl::EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
}

void EmbeddingBagImpl::reset() {
  options.padding_idx(wrap_padding_idx(options.padding_idx(), options.num_embeddings()));
  weight = register_parameter("weight", table_for(options));
  if (!options._weight().defined()) {
    reset_parameters();
  }
}

void EmbeddingBagImpl::reset_parameters() {
  init::normal_(weight);
}

void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  print_table(stream, "EmbeddingBag", options);
  if (!std::holds_alternative<enumtype::kMean>(options.mode())) {
    stream << ", mode=" << enumtype::get_enum_name(options.mode());
  }
  if (options.include_last_offset()) {
    stream << ", include_last_offset=" << std::boolalpha << options.include_last_offset();
  }
  if (options.padding_idx()) {
    stream << ", padding_idx=" << *options.padding_idx();
  }
  stream << ")";
}

Tensor EmbeddingBagImpl::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return F::embedding_bag(
      input, weight,
      F::EmbeddingBagFuncOptions()
          .offsets(offsets)
          .max_norm(options.max_norm())
          .norm_type(options.norm_type())
          .scale_grad_by_freq(options.scale_grad_by_freq())
          .mode(options.mode())
          .sparse(options.sparse())
          .per_sample_weights(per_sample_weights)
          .include_last_offset(options.include_last_offset())
          .padding_idx(options.padding_idx()));
}

EmbeddingBag EmbeddingBag::from_pretrained(
    const torch::Tensor& embeddings, const EmbeddingBagFromPretrainedOptions& options) {
  check_pretrained(embeddings);
  EmbeddingBag bag(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(options.max_norm())
                       .norm_type(options.norm_type())
                       .scale_grad_by_freq(options.scale_grad_by_freq())
                       .mode(options.mode())
                       .sparse(options.sparse())
                       .include_last_offset(options.include_last_offset())
                       .padding_idx(options.padding_idx()));
  bag->weight.set_requires_grad(!options.freeze());
  return bag;
}

Module::DefaultArgs EmbeddingBagImpl::_forward_default_args() {
  return {{1, AnyValue(Tensor())}, {2, AnyValue(Tensor())}};
}

} // namespace torch::nn
