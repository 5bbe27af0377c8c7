// Where functions take more than libtorch's: as PyTorch's Python side does, or where libtorch's own is at fault.
#include <catch2/catch.hpp>

#include "functional_cases.h"

using cases::wave;
using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

F::MultiheadAttentionForwardFuncOptions attention_options() {
  return F::MultiheadAttentionForwardFuncOptions(
      6, 2, wave({18, 6}, 1), wave({18}, 2), {}, {}, false, 0.0, wave({6, 6}, 3), wave({6}, 4));
}

Tensor attend(const Tensor& x, const F::MultiheadAttentionForwardFuncOptions& options) {
  return std::get<0>(F::multi_head_attention_forward(x, x, x, options));
}

} // namespace

TEST_CASE("attention takes masks of bool and for each head", "[nn][functional]") {
  const Tensor x = wave({4, 3, 6});
  const Tensor forbidden = torch::ones({4, 4}, torch::kBool).triu(1);
  const Tensor terms =
      torch::zeros({4, 4}, torch::kDouble).masked_fill(forbidden, -std::numeric_limits<double>::infinity());
  for (const bool weights : {true, false}) {
    const auto options = attention_options().need_weights(weights);
    const Tensor expected = attend(x, F::MultiheadAttentionForwardFuncOptions(options).attn_mask(terms));
    CHECK(torch::allclose(attend(x, F::MultiheadAttentionForwardFuncOptions(options).attn_mask(forbidden)), expected));
    const Tensor each = terms.expand({3 * 2, 4, 4}).clone();
    CHECK(torch::allclose(attend(x, F::MultiheadAttentionForwardFuncOptions(options).attn_mask(each)), expected));
    each[5].zero_();
    const Tensor changed = attend(x, F::MultiheadAttentionForwardFuncOptions(options).attn_mask(each));
    CHECK(torch::allclose(changed.narrow(1, 0, 2), expected.narrow(1, 0, 2)));
    CHECK_FALSE(torch::allclose(changed.select(1, 2), expected.select(1, 2)));
  }
}

TEST_CASE("attention adds a padding mask that is not of bool", "[nn][functional]") {
  const Tensor x = wave({4, 2, 6});
  const Tensor padding = torch::tensor({0, 0, 0, 1, 0, 0, 0, 0}, torch::kBool).view({2, 4});
  const Tensor terms =
      torch::zeros({2, 4}, torch::kDouble).masked_fill(padding, -std::numeric_limits<double>::infinity());
  const Tensor expected = attend(x, attention_options().key_padding_mask(padding));
  CHECK(torch::allclose(attend(x, attention_options().key_padding_mask(terms)), expected));
  CHECK(torch::allclose(attend(x, attention_options().key_padding_mask(padding.to(torch::kByte))), expected));
  CHECK(torch::allclose(attend(x, attention_options().key_padding_mask(terms).need_weights(false)), expected));
}

TEST_CASE("scaled_dot_product_attention is softmax(q k^T scale + mask) v", "[nn][functional]") {
  const Tensor q = wave({2, 3, 4, 5}), k = wave({2, 3, 6, 5}, 1), v = wave({2, 3, 6, 7}, 2);
  const auto plain = [&](const Tensor& scores) { return torch::matmul(torch::softmax(scores, -1), v); };
  const Tensor scores = torch::matmul(q, k.transpose(-2, -1));
  CHECK(torch::allclose(F::scaled_dot_product_attention(q, k, v), plain(scores / std::sqrt(5.0))));
  const Tensor allowed = torch::ones({4, 6}, torch::kBool).tril();
  const Tensor masked = (scores * 0.3).masked_fill(allowed.logical_not(), -std::numeric_limits<double>::infinity());
  CHECK(torch::allclose(F::scaled_dot_product_attention(q, k, v, allowed, 0.0, false, 0.3), plain(masked)));
  CHECK(torch::allclose(F::scaled_dot_product_attention(q, k, v, std::nullopt, 0.0, true, 0.3), plain(masked)));
}

TEST_CASE("rms_norm divides by the root mean square", "[nn][functional]") {
  const Tensor x = wave({3, 4, 5}), weight = wave({5}, 1);
  const Tensor expected = x / (x.pow(2).mean({-1}, true) + 0.1).sqrt() * weight;
  CHECK(torch::allclose(F::rms_norm(x, F::RMSNormFuncOptions({5}).weight(weight).eps(0.1)), expected));
  CHECK(torch::allclose(F::rms_norm(x, F::RMSNormFuncOptions({4, 5})), x / x.pow(2).mean({1, 2}, true).sqrt()));
}

TEST_CASE("a window wider than all channels sums what there is", "[nn][modules]") {
  const Tensor x = wave({2, 3, 2, 2});
  constexpr int64_t kWide = int64_t{1} << 40;
  torch::nn::CrossMapLRN2d normalize(
      torch::nn::CrossMapLRN2dOptions(kWide).alpha(static_cast<double>(kWide)).beta(0.5).k(1));
  CHECK(torch::allclose(normalize(x), x / (1 + x.square().sum(1, true)).sqrt()));
}

TEST_CASE("functions take a single sample", "[nn][functional]") {
  const Tensor image = wave({3, 5, 6});
  const auto patches = F::UnfoldFuncOptions(2);
  CHECK(torch::equal(F::unfold(image, patches), F::unfold(image.unsqueeze(0), patches).squeeze(0)));
  const Tensor scores = wave({5});
  const Tensor target = torch::tensor(3, torch::kLong);
  CHECK(torch::equal(F::nll_loss(scores, target), -scores[3]));
  CHECK(torch::allclose(F::cross_entropy(scores, target), scores.logsumexp(0) - scores[3]));
}

TEST_CASE("max_unpool takes the sizes of the pooled dimensions alone", "[nn][functional]") {
  const Tensor x = wave({2, 3, 5, 7});
  const auto pooled = F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2));
  const auto unpool = [&](std::vector<int64_t> size) {
    return F::max_unpool2d(std::get<0>(pooled), std::get<1>(pooled), F::MaxUnpool2dFuncOptions(2).output_size(size));
  };
  CHECK(torch::equal(unpool({5, 7}), unpool({2, 3, 5, 7})));
}

TEST_CASE("functions take inputs without elements", "[nn][functional]") {
  CHECK(
      F::batch_norm(torch::rand({0, 3}), {}, {}, F::BatchNormFuncOptions().training(true)).sizes() ==
      torch::IntArrayRef({0, 3}));
  CHECK(F::local_response_norm(torch::rand({0, 3, 4}), 2).sizes() == torch::IntArrayRef({0, 3, 4}));
  CHECK(F::embedding_bag(torch::zeros({2, 0}, torch::kLong), torch::rand({4, 3})).equal(torch::zeros({2, 3})));
  CHECK(F::linear(torch::rand({0, 4}), torch::rand({2, 4})).sizes() == torch::IntArrayRef({0, 2}));
}
