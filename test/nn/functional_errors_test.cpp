// What functions of torch::nn::functional refuse, and in which words.
#include <catch2/catch.hpp>

#include <torch/nn/functional.h>
#include <torch/torch.h>

#include <limits>

namespace F = torch::nn::functional;
using Catch::Matchers::Contains;

TEST_CASE("losses refuse tensors and options that do not fit", "[nn][functional][errors]") {
  const auto x = torch::rand({4, 5}), y = torch::rand({3, 5});
  CHECK_THROWS_WITH(
      F::binary_cross_entropy(x, y),
      Contains("Using a target size ([3, 5]) that is different to the input size ([4, 5])"));
  CHECK_THROWS_WITH(
      F::binary_cross_entropy_with_logits(x, y),
      Contains("Target size ([3, 5]) must be the same as input size ([4, 5])"));
  CHECK_THROWS_WITH(
      F::nll_loss(x, torch::zeros({3}, torch::kLong)),
      Contains("Expected input batch_size (4) to match target batch_size (3)"));
  CHECK_THROWS_WITH(F::nll_loss(x, torch::zeros({}, torch::kLong)), Contains("Expected input batch_size (4)"));
  CHECK_THROWS_WITH(
      F::nll_loss(torch::rand({}), torch::zeros({}, torch::kLong)), Contains("Expected 2 or more dimensions (got 0)"));
  CHECK_THROWS(F::cross_entropy(x, torch::full({4}, 9, torch::kLong)));
  CHECK_THROWS_WITH(
      F::multi_margin_loss(x, torch::zeros({4}, torch::kLong), F::MultiMarginLossFuncOptions().p(3)),
      Contains("only p == 1 and p == 2 supported"));
  CHECK_THROWS_WITH(
      torch::nn::MultiMarginLoss(torch::nn::MultiMarginLossOptions().p(3)),
      Contains("only p == 1 and p == 2 supported"));
  CHECK_THROWS_WITH(
      F::multi_margin_loss(x, torch::zeros({4}, torch::kLong), F::MultiMarginLossFuncOptions().weight(x)),
      Contains("weight must be one-dimensional"));
  CHECK_THROWS_WITH(
      F::margin_ranking_loss(x, y, torch::ones({1})),
      Contains("margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: [4, 5], "
               "input2: [3, 5], target: [1]"));
  CHECK_THROWS_WITH(
      F::smooth_l1_loss(x, x, F::SmoothL1LossFuncOptions().beta(2), 0.5),
      Contains("expected beta not to be provided in 'options', but got 2"));
  CHECK_THROWS_WITH(
      F::multilabel_soft_margin_loss(torch::rand({}), torch::rand({})), Contains("multilabel_soft_margin_loss"));
}

TEST_CASE("a reduction that an operator does not know is named", "[nn][functional][errors]") {
  const F::KLDivFuncOptions::reduction_t reduction = torch::kBatchMean;
  CHECK_THROWS_WITH(
      torch::enumtype::reduction_get_enum(reduction), Contains("kBatchMean is not a valid value for reduction"));
}

TEST_CASE("interpolate refuses options that contradict the input", "[nn][functional][errors]") {
  using Options = F::InterpolateFuncOptions;
  const auto x1 = torch::rand({2, 3, 4}), x2 = torch::rand({2, 3, 4, 5}), x3 = torch::rand({1, 2, 3, 4, 5});
  const std::vector<int64_t> two = {2, 2};
  CHECK_THROWS_WITH(F::interpolate(x2), Contains("either size or scale_factor should be defined"));
  CHECK_THROWS_WITH(
      F::interpolate(x2, Options().size(two).scale_factor(std::vector<double>{1, 1})),
      Contains("only one of size or scale_factor should be defined"));
  CHECK_THROWS_WITH(
      F::interpolate(x1, Options().scale_factor(std::vector<double>{3, 2})),
      Contains("scale_factor shape must match input shape. Input is 1D, scale_factor size is [3, 2]"));
  CHECK_THROWS_WITH(
      F::interpolate(x3, Options().size(two)), Contains("size shape must match input shape. Input is 3D"));
  CHECK_THROWS_WITH(
      F::interpolate(torch::rand({3, 4}), Options().size(two)),
      Contains("Input Error: Only 3D, 4D and 5D input Tensors supported (got 2D) for the modes: nearest | linear | "
               "bilinear | bicubic | trilinear (got kNearest)"));
  CHECK_THROWS_WITH(
      F::interpolate(x2, Options().size(two).align_corners(false)),
      Contains("align_corners option can only be set with the interpolating modes"));
  CHECK_THROWS_WITH(
      F::interpolate(x2, Options().size(two).antialias(true)),
      Contains("Anti-alias option is only supported for bilinear and bicubic modes"));
  CHECK_THROWS_WITH(
      F::interpolate(x1, Options().size(two).mode(torch::kBilinear)),
      Contains("Got 3D input, but bilinear mode needs 4D input"));
  CHECK_THROWS_WITH(
      F::interpolate(x1, Options().size(two).mode(torch::kTrilinear)),
      Contains("Got 3D input, but trilinear mode needs 5D input"));
  CHECK_THROWS_WITH(
      F::interpolate(x2, Options().size(two).mode(torch::kLinear)),
      Contains("Got 4D input, but linear mode needs 3D input"));
  CHECK_THROWS_WITH(
      F::interpolate(x3, Options().size(two).mode(torch::kBilinear)),
      Contains("Got 5D input, but bilinear mode needs 4D input"));
  CHECK_THROWS_WITH(
      F::interpolate(x1, Options().scale_factor(std::vector<double>{std::numeric_limits<double>::infinity()})),
      Contains("scale_factor must be a finite number"));
}

TEST_CASE("sizes and probabilities out of range are refused", "[nn][functional][errors]") {
  const auto x = torch::rand({2, 3, 4, 4});
  CHECK_THROWS_WITH(torch::ExpandingArray<2>({1, 2, 3}), Contains("Expected 2 values, but instead got 3"));
  CHECK_THROWS_WITH(
      F::dropout(x, F::DropoutFuncOptions().p(1.5)),
      Contains("dropout probability has to be between 0 and 1, but got 1.5"));
  CHECK_THROWS_WITH(
      F::dropout2d(x, F::DropoutFuncOptions().p(-1)),
      Contains("dropout probability has to be between 0 and 1, but got -1"));
  CHECK_THROWS_WITH(
      F::alpha_dropout(x, F::AlphaDropoutFuncOptions().p(2)),
      Contains("dropout probability has to be between 0 and 1"));
  CHECK_THROWS_WITH(
      F::batch_norm(torch::rand({3}), {}, {}), Contains("Expected at least 2 input dimensions, but got 1"));
  CHECK_THROWS_WITH(
      F::batch_norm(torch::rand({1, 3}), {}, {}, F::BatchNormFuncOptions().training(true)),
      Contains("Expected more than 1 value per channel when training, got input size [1, 3]"));
  CHECK_THROWS_WITH(
      F::glu(torch::rand({})), Contains("glu does not support scalars because halving size must be even"));
  CHECK_THROWS_WITH(
      F::fold(x, F::FoldFuncOptions(4, 2)),
      Contains("Input Error: Only unbatched (2D) or batched (3D) input Tensors are supported (got 4D)"));
  CHECK_THROWS_WITH(
      F::unfold(torch::rand({2, 2}), F::UnfoldFuncOptions(2)),
      Contains("Input Error: Only 4D input Tensors are supported"));
  CHECK_THROWS_WITH(
      F::local_response_norm(torch::rand({2, 3}), 2),
      Contains("Expected 3D or higher dimensionality input (got 2 dimensions)"));
  CHECK_THROWS_WITH(F::local_response_norm(x, 0), Contains("size must be positive"));
  CHECK_THROWS(F::pixel_shuffle(x, 2));
  CHECK_THROWS(F::pad(x, F::PadFuncOptions({9, 9}).mode(torch::kReflect)));
  CHECK_THROWS(F::pad(x, F::PadFuncOptions({1})));
}

TEST_CASE("poolings refuse sizes that do not fit", "[nn][functional][errors]") {
  const auto x = torch::rand({2, 3, 4, 4});
  const auto pooled = F::max_pool2d_with_indices(x, F::MaxPool2dFuncOptions(2));
  const auto unpool = [&](std::vector<int64_t> size) {
    return F::max_unpool2d(std::get<0>(pooled), std::get<1>(pooled), F::MaxUnpool2dFuncOptions(2).output_size(size));
  };
  CHECK_THROWS_WITH(
      unpool({4}), Contains("output_size should be a sequence containing 2 or 4 elements, but it has a length of '1'"));
  CHECK_THROWS_WITH(unpool({9, 4}), Contains("invalid output_size [9, 4] (dim 0 must be between 2 and 6)"));
  CHECK(unpool({5, 4}).sizes() == torch::IntArrayRef({2, 3, 5, 4}));
  CHECK_THROWS_WITH(
      F::fractional_max_pool2d(x, F::FractionalMaxPool2dFuncOptions(2)),
      Contains("fractional_max_pool2d requires specifying either an output_size or an output_ratio"));
  CHECK_THROWS_WITH(
      F::fractional_max_pool3d(x[0][0], F::FractionalMaxPool3dFuncOptions(2).output_size(2)),
      Contains("fractional_max_pool3d"));
  CHECK_THROWS_WITH(
      F::adaptive_avg_pool2d(x[0][0], F::AdaptiveAvgPool2dFuncOptions(2)), Contains("adaptive_avg_pool2d"));
  CHECK_THROWS_WITH(
      F::max_unpool1d(torch::rand({2}), torch::zeros({2}, torch::kLong), F::MaxUnpool1dFuncOptions(2)),
      Contains("max_unpool1d"));
}

TEST_CASE("embeddings refuse bags and rows that do not fit", "[nn][functional][errors]") {
  using Bag = F::EmbeddingBagFuncOptions;
  const auto table = torch::rand({5, 3});
  const auto flat = torch::zeros({4}, torch::kLong), rows = torch::zeros({2, 2}, torch::kLong),
             offsets = torch::zeros({1}, torch::kLong);
  CHECK_THROWS_WITH(
      F::embedding(flat, table, F::EmbeddingFuncOptions().padding_idx(5)),
      Contains("Padding_idx must be within num_embeddings"));
  CHECK_THROWS_WITH(
      F::embedding(flat, table, F::EmbeddingFuncOptions().padding_idx(-6)),
      Contains("Padding_idx must be within num_embeddings"));
  CHECK_THROWS(F::embedding(flat + 5, table));
  CHECK_THROWS_WITH(F::embedding_bag(flat, table), Contains("offsets has to be a 1D Tensor but got null"));
  CHECK_THROWS_WITH(F::embedding_bag(flat, table, Bag().offsets(rows)), Contains("offsets has to be a 1D Tensor"));
  CHECK_THROWS_WITH(
      F::embedding_bag(rows, table, Bag().offsets(offsets)), Contains("If input is 2D, then offsets has to be null"));
  CHECK_THROWS_WITH(
      F::embedding_bag(torch::zeros({1, 1, 1}, torch::kLong), table),
      Contains("input has to be 1D or 2D Tensor, but got Tensor of dimension 3"));
  CHECK_THROWS_WITH(
      F::embedding_bag(rows, table, Bag().per_sample_weights(flat)),
      Contains("If per_sample_weights ([4]) is not null, then it must have the same shape as the input ([2, 2])"));
  CHECK_THROWS_WITH(
      F::embedding_bag(rows, table, Bag().per_sample_weights(torch::rand({2, 2}))),
      Contains("only supported for mode='kSum' (got mode='kMean')"));
  CHECK_THROWS_WITH(
      F::embedding_bag(rows, table, Bag().mode(torch::kMax).sparse(true)),
      Contains("max mode does not support sparse weights"));
  CHECK_THROWS_WITH(
      F::embedding_bag(rows, table, Bag().mode(torch::kMax).scale_grad_by_freq(true)),
      Contains("max mode does not support scaling the gradient by the frequency"));
}

TEST_CASE("affine_grid and grid_sample refuse sizes that do not fit", "[nn][functional][errors]") {
  const auto theta = torch::rand({2, 2, 3});
  CHECK_THROWS_WITH(
      F::affine_grid(theta.to(torch::kLong), {2, 3, 4, 4}), Contains("Expected theta to have floating point type"));
  CHECK_THROWS_WITH(
      F::affine_grid(theta, {2, 3, 4}),
      Contains("affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size [2, "
               "3, 4]"));
  CHECK_THROWS_WITH(
      F::affine_grid(theta, {2, 3, 4, 4, 4}),
      Contains("Expected a batch of 3D affine matrices of shape Nx3x4 for size [2, 3, 4, 4, 4]. Got [2, 2, 3]"));
  CHECK_THROWS_WITH(
      F::affine_grid(theta, {2, 3, 0, 4}), Contains("Expected non-zero, positive output size. Got [2, 3, 0, 4]"));
  CHECK_THROWS(F::grid_sample(torch::rand({2, 3, 4, 4}), torch::rand({2, 4, 4, 3})));
}

TEST_CASE("multi-head attention refuses sizes that do not fit", "[nn][functional][errors]") {
  const auto options = [](int64_t heads) {
    return F::MultiheadAttentionForwardFuncOptions(
        6, heads, torch::rand({18, 6}), torch::rand({18}), {}, {}, false, 0.0, torch::rand({6, 6}), torch::rand({6}));
  };
  const auto x = torch::rand({4, 2, 6}), other = torch::rand({5, 2, 6});
  const auto run = [&](const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const F::MultiheadAttentionForwardFuncOptions& o) {
    return F::multi_head_attention_forward(q, k, v, o);
  };
  CHECK_THROWS_WITH(run(x[0], x, x, options(2)), Contains("must have three dimensions"));
  CHECK_THROWS_WITH(
      run(torch::rand({4, 2, 5}), x, x, options(2)), Contains("was expecting embedding dimension of 6, but got 5"));
  CHECK_THROWS_WITH(run(x, x, other, options(2)), Contains("query is [4, 2, 6], key [4, 2, 6], value [5, 2, 6]"));
  CHECK_THROWS_WITH(run(x, x, x, options(4)), Contains("embed_dim must be divisible by num_heads"));
  CHECK_THROWS_WITH(run(x, x, x, options(0)), Contains("num_heads must be greater than 0"));
  CHECK_THROWS_WITH(
      run(x, x, x, options(2).in_proj_weight(torch::rand({6, 6}))), Contains("in_proj_weight must be [18, 6]"));
  CHECK_THROWS_WITH(run(x, x, x, options(2).use_separate_proj_weight(true)), Contains("q_proj_weight must be [6, 6]"));
  CHECK_THROWS_WITH(
      run(x, x, x, options(2).attn_mask(torch::rand({4, 5}))),
      Contains("The shape of the attn_mask is [4, 5], but should be [4, 4]"));
  CHECK_THROWS_WITH(
      run(x, x, x, options(2).key_padding_mask(torch::zeros({4, 2}, torch::kBool))),
      Contains("key_padding_mask must be [2, 4]"));
  CHECK_THROWS_WITH(
      run(x, x, x, options(2).bias_k(torch::rand({1, 1, 6}))), Contains("bias_k and bias_v must be given together"));
  CHECK_THROWS_WITH(
      run(x, x, x, options(2).static_k(torch::rand({3, 4, 3}))),
      Contains("static_k must be [batch * heads, time, features of a head] = [4, any, 3]"));
  CHECK_THROWS_WITH(run(x, x, x, options(2).static_k(torch::rand({4, 7, 3}))), Contains("got 7 keys and 4 values"));
}
