#include "functional_cases.h"

namespace cases {

namespace {

void norms(Cases& out) {
  const Tensor x = wave({4, 6, 5});
  const Tensor mean = wave({6}, 1), var = fractions({6}, 2), weight = wave({6}, 3), bias = wave({6}, 4);
  differentiable(
      out, "batch_norm", [&](const Tensor& t) { return F::batch_norm(t, mean, var); }, x);
  const auto affine = F::BatchNormFuncOptions().weight(weight).bias(bias).momentum(0.3).eps(1e-3);
  differentiable(
      out, "batch_norm affine", [&](const Tensor& t) { return F::batch_norm(t, mean, var, affine); }, x);
  const Tensor running_mean = mean.clone(), running_var = var.clone();
  differentiable(
      out, "batch_norm training",
      [&](const Tensor& t) {
        return F::batch_norm(t, running_mean, running_var, F::BatchNormFuncOptions(affine).training(true));
      },
      x);
  out.push_back({"batch_norm running_mean", running_mean});
  out.push_back({"batch_norm running_var", running_var});
  differentiable(
      out, "batch_norm without statistics",
      [&](const Tensor& t) { return F::batch_norm(t, {}, {}, F::BatchNormFuncOptions().training(true)); },
      wave({4, 6}));

  differentiable(
      out, "instance_norm", [&](const Tensor& t) { return F::instance_norm(t); }, x);
  const auto instance = F::InstanceNormFuncOptions()
                            .running_mean(mean.clone())
                            .running_var(var.clone())
                            .weight(weight)
                            .bias(bias)
                            .momentum(0.2);
  differentiable(
      out, "instance_norm affine", [&](const Tensor& t) { return F::instance_norm(t, instance); }, x);
  out.push_back({"instance_norm running_mean", instance.running_mean()});
  out.push_back({"instance_norm running_var", instance.running_var()});
  differentiable(
      out, "instance_norm running",
      [&](const Tensor& t) { return F::instance_norm(t, F::InstanceNormFuncOptions(instance).use_input_stats(false)); },
      x);

  differentiable(
      out, "layer_norm",
      [](const Tensor& t) {
        return F::layer_norm(t, F::LayerNormFuncOptions({6, 5}).eps(2e-5));
      },
      x);
  differentiable(
      out, "layer_norm affine",
      [](const Tensor& t) {
        return F::layer_norm(t, F::LayerNormFuncOptions({5}).weight(wave({5}, 1)).bias(wave({5}, 2)));
      },
      x);
  differentiable(
      out, "group_norm", [](const Tensor& t) { return F::group_norm(t, F::GroupNormFuncOptions(2).eps(2e-5)); }, x);
  differentiable(
      out, "group_norm affine",
      [&](const Tensor& t) { return F::group_norm(t, F::GroupNormFuncOptions(3).weight(weight).bias(bias)); }, x);
  differentiable(
      out, "local_response_norm",
      [](const Tensor& t) { return F::local_response_norm(t, F::LocalResponseNormFuncOptions(2)); }, x);
  differentiable(
      out, "local_response_norm 5",
      [](const Tensor& t) {
        return F::local_response_norm(t, F::LocalResponseNormFuncOptions(5).alpha(0.3).beta(0.6).k(1.5));
      },
      wave({2, 7, 3, 2}));
  differentiable(
      out, "local_response_norm 5D",
      [](const Tensor& t) { return F::local_response_norm(t, F::LocalResponseNormFuncOptions(3).alpha(0.3)); },
      wave({2, 4, 2, 3, 2}));
  differentiable(
      out, "normalize", [](const Tensor& t) { return F::normalize(t); }, x);
  differentiable(
      out, "normalize 1", [](const Tensor& t) { return F::normalize(t, F::NormalizeFuncOptions().p(1).dim(-1)); }, x);
  Tensor into = torch::empty({4, 6, 5}, torch::kDouble);
  F::normalize(x, F::NormalizeFuncOptions().p(3).out(into));
  out.push_back({"normalize out", into});
}

void convolutions(Cases& out) {
  const Tensor x1 = wave({2, 4, 9}), x2 = wave({2, 4, 6, 7}), x3 = wave({2, 4, 4, 5, 3});
  const Tensor w1 = wave({6, 4, 3}, 1), w2 = wave({6, 4, 3, 2}, 1), w3 = wave({6, 4, 2, 3, 2}, 1), bias = wave({6}, 2);
  differentiable(
      out, "conv1d", [&](const Tensor& t) { return F::conv1d(t, w1); }, x1);
  differentiable(
      out, "conv1d options",
      [&](const Tensor& t) {
        return F::conv1d(t, w1, F::Conv1dFuncOptions().bias(bias).stride(2).padding(3).dilation(2));
      },
      x1);
  differentiable(
      out, "conv1d same",
      [&](const Tensor& t) { return F::conv1d(t, w1, F::Conv1dFuncOptions().padding(torch::kSame)); }, x1);
  differentiable(
      out, "conv1d valid",
      [&](const Tensor& t) { return F::conv1d(t, w1, F::Conv1dFuncOptions().padding(torch::kValid)); }, x1);
  differentiable(
      out, "conv1d one sample", [&](const Tensor& t) { return F::conv1d(t, w1); }, wave({4, 9}));
  differentiable(
      out, "conv2d", [&](const Tensor& t) { return F::conv2d(t, w2); }, x2);
  differentiable(
      out, "conv2d options",
      [&](const Tensor& t) {
        return F::conv2d(t, w2, F::Conv2dFuncOptions().bias(bias).stride({2, 1}).padding({1, 2}).dilation({1, 2}));
      },
      x2);
  differentiable(
      out, "conv2d same",
      [&](const Tensor& t) { return F::conv2d(t, w2, F::Conv2dFuncOptions().padding(torch::kSame)); }, x2);
  differentiable(
      out, "conv2d groups",
      [&](const Tensor& t) {
        return F::conv2d(t, wave({6, 2, 3, 2}), F::Conv2dFuncOptions().groups(2));
      },
      x2);
  differentiable(
      out, "conv2d weight", [&](const Tensor& t) { return F::conv2d(x2, t); }, w2);
  differentiable(
      out, "conv3d", [&](const Tensor& t) { return F::conv3d(t, w3); }, x3);
  differentiable(
      out, "conv3d options",
      [&](const Tensor& t) {
        return F::conv3d(t, w3, F::Conv3dFuncOptions().bias(bias).padding({1, 0, 2}));
      },
      x3);
  differentiable(
      out, "conv3d same",
      [&](const Tensor& t) { return F::conv3d(t, w3, F::Conv3dFuncOptions().padding(torch::kSame)); }, x3);
  const Tensor t1 = wave({4, 3, 3}, 1), t2 = wave({4, 3, 3, 2}, 1), t3 = wave({4, 3, 2, 3, 2}, 1), tbias = wave({3}, 2);
  differentiable(
      out, "conv_transpose1d", [&](const Tensor& t) { return F::conv_transpose1d(t, t1); }, x1);
  differentiable(
      out, "conv_transpose1d options",
      [&](const Tensor& t) {
        return F::conv_transpose1d(
            t, t1, F::ConvTranspose1dFuncOptions().bias(tbias).stride(3).padding(1).output_padding(2).dilation(2));
      },
      x1);
  differentiable(
      out, "conv_transpose2d", [&](const Tensor& t) { return F::conv_transpose2d(t, t2); }, x2);
  differentiable(
      out, "conv_transpose2d options",
      [&](const Tensor& t) {
        return F::conv_transpose2d(
            t, t2, F::ConvTranspose2dFuncOptions().bias(tbias).stride({2, 3}).padding({1, 0}).output_padding({1, 2}));
      },
      x2);
  differentiable(
      out, "conv_transpose2d groups",
      [&](const Tensor& t) { return F::conv_transpose2d(t, t2, F::ConvTranspose2dFuncOptions().groups(2)); }, x2);
  differentiable(
      out, "conv_transpose3d",
      [&](const Tensor& t) {
        return F::conv_transpose3d(t, t3, F::ConvTranspose3dFuncOptions().bias(tbias).stride({2, 1, 1}));
      },
      x3);
}

void embeddings(Cases& out) {
  const Tensor table = wave({7, 3});
  const Tensor rows = indices({4, 5}, 7);
  differentiable(
      out, "embedding", [&](const Tensor& t) { return F::embedding(rows, t); }, table);
  differentiable(
      out, "embedding padding",
      [&](const Tensor& t) { return F::embedding(rows, t, F::EmbeddingFuncOptions().padding_idx(2)); }, table);
  differentiable(
      out, "embedding padding -1",
      [&](const Tensor& t) { return F::embedding(rows, t, F::EmbeddingFuncOptions().padding_idx(-1)); }, table);
  differentiable(
      out, "embedding freq",
      [&](const Tensor& t) {
        return F::embedding(indices({9}, 4), t, F::EmbeddingFuncOptions().scale_grad_by_freq(true));
      },
      table);
  const Tensor limited = table.clone();
  out.push_back(
      {"embedding max_norm",
       F::embedding(indices({3}, 5), limited, F::EmbeddingFuncOptions().max_norm(1.).norm_type(3.))});
  out.push_back({"embedding max_norm table", limited});
  const Tensor flat = indices({9}, 7), offsets = torch::tensor({0, 2, 2, 7}, torch::kLong);
  const std::vector<std::pair<const char*, torch::nn::EmbeddingBagMode>> modes = {
      {"sum", torch::kSum}, {"mean", torch::kMean}, {"max", torch::kMax}};
  for (const auto& [name, mode] : modes) {
    const torch::nn::EmbeddingBagMode chosen = mode;
    differentiable(
        out, std::string("embedding_bag 2D ") + name,
        [&](const Tensor& t) { return F::embedding_bag(rows, t, F::EmbeddingBagFuncOptions().mode(chosen)); }, table);
    differentiable(
        out, std::string("embedding_bag 1D ") + name,
        [&](const Tensor& t) {
          return F::embedding_bag(flat, t, F::EmbeddingBagFuncOptions().offsets(offsets).mode(chosen));
        },
        table);
    differentiable(
        out, std::string("embedding_bag padding ") + name,
        [&](const Tensor& t) {
          return F::embedding_bag(flat, t, F::EmbeddingBagFuncOptions().offsets(offsets).mode(chosen).padding_idx(3));
        },
        table);
  }
  const Tensor last = torch::tensor({0, 2, 5, 9}, torch::kLong);
  differentiable(
      out, "embedding_bag last offset",
      [&](const Tensor& t) {
        return F::embedding_bag(flat, t, F::EmbeddingBagFuncOptions().offsets(last).include_last_offset(true));
      },
      table);
  differentiable(
      out, "embedding_bag weights",
      [&](const Tensor& t) {
        return F::embedding_bag(rows, table, F::EmbeddingBagFuncOptions().mode(torch::kSum).per_sample_weights(t));
      },
      wave({4, 5}, 2));
  const Tensor bag_limited = table.clone();
  out.push_back(
      {"embedding_bag max_norm", F::embedding_bag(rows, bag_limited, F::EmbeddingBagFuncOptions().max_norm(0.75))});
  out.push_back({"embedding_bag max_norm table", bag_limited});
  out.push_back({"one_hot", F::one_hot(indices({2, 3}, 4))});
  out.push_back({"one_hot 6", F::one_hot(indices({2, 3}, 4), 6)});
}

} // namespace

Cases layer_cases() {
  Cases out;
  norms(out);
  convolutions(out);
  embeddings(out);
  const Tensor x = wave({3, 4, 5});
  differentiable(
      out, "linear",
      [](const Tensor& t) {
        return F::linear(t, wave({6, 5}, 1));
      },
      x);
  differentiable(
      out, "linear bias",
      [](const Tensor& t) {
        return F::linear(t, wave({6, 5}, 1), wave({6}, 2));
      },
      x);
  differentiable(
      out, "linear 2D",
      [](const Tensor& t) {
        return F::linear(t, wave({6, 5}, 1), wave({6}, 2));
      },
      wave({4, 5}));
  differentiable(
      out, "linear 1D",
      [](const Tensor& t) {
        return F::linear(t, wave({6, 5}, 1), wave({6}, 2));
      },
      wave({5}));
  differentiable(
      out, "bilinear",
      [&](const Tensor& t) {
        return F::bilinear(x, t, wave({2, 5, 3}, 1), wave({2}, 2));
      },
      wave({3, 4, 3}, 3));
  differentiable(
      out, "bilinear without bias",
      [&](const Tensor& t) {
        return F::bilinear(x, t, wave({2, 5, 3}, 1));
      },
      wave({3, 4, 3}, 3));
  const Tensor y = wave({3, 4, 5}, 2);
  differentiable(
      out, "cosine_similarity", [&](const Tensor& t) { return F::cosine_similarity(t, y); }, x);
  differentiable(
      out, "cosine_similarity 0",
      [&](const Tensor& t) { return F::cosine_similarity(t, y, F::CosineSimilarityFuncOptions().dim(0).eps(0.3)); }, x);
  differentiable(
      out, "pairwise_distance", [&](const Tensor& t) { return F::pairwise_distance(t, y); }, x);
  differentiable(
      out, "pairwise_distance 1",
      [&](const Tensor& t) {
        return F::pairwise_distance(t, y, F::PairwiseDistanceFuncOptions().p(1).eps(0.1).keepdim(true));
      },
      x);
  differentiable(
      out, "pdist", [](const Tensor& t) { return F::pdist(t); }, wave({5, 4}));
  differentiable(
      out, "pdist 1.5", [](const Tensor& t) { return F::pdist(t, 1.5); }, wave({5, 4}));
  return out;
}

} // namespace cases
