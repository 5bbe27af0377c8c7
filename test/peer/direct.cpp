// Functions that Python calls only behind checks of its own, called directly: operands of different shapes, defaults,
// lists of one number for all dimensions, batches left out.
#include <c10/util/accumulate.h>
#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "report.h"

using torch::Tensor;

namespace {

Tensor wave(at::IntArrayRef sizes, double phase = 0) {
  return (torch::arange(c10::multiply_integers(sizes), torch::kDouble) * 0.7 + phase).sin().view(sizes);
}

/// The result and the gradients of what the call needs, or that it throws.
void call(
    const std::string& name,
    const std::vector<Tensor>& operands,
    const std::function<Tensor(const std::vector<Tensor>&)>& function) {
  std::vector<Tensor> leaves;
  for (const Tensor& operand : operands) {
    leaves.push_back(operand.detach().clone().requires_grad_(operand.is_floating_point()));
  }
  Tensor result;
  try {
    result = function(leaves);
    report::close(name, result);
  } catch (const std::exception&) {
    report::exact(name, "an error");
    return;
  }
  if (!result.requires_grad()) {
    return;
  }
  try {
    result.pow(2).sum().backward();
  } catch (const std::exception&) {
    report::exact(name + " backward", "an error");
    return;
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].grad().defined()) {
      report::close(name + " grad " + std::to_string(i), leaves[i].grad());
    }
  }
}

void losses_of_pairs() {
  const std::vector<std::pair<std::string, std::function<Tensor(const Tensor&, const Tensor&, int64_t)>>> losses = {
      {"mse_loss", [](auto& x, auto& y, int64_t r) { return torch::mse_loss(x, y, r); }},
      {"l1_loss", [](auto& x, auto& y, int64_t r) { return torch::l1_loss(x, y, r); }},
      {"smooth_l1_loss", [](auto& x, auto& y, int64_t r) { return torch::smooth_l1_loss(x, y, r, 0.3); }},
      {"huber_loss", [](auto& x, auto& y, int64_t r) { return torch::huber_loss(x, y, r, 0.3); }},
      {"soft_margin_loss", [](auto& x, auto& y, int64_t r) { return torch::soft_margin_loss(x, y, r); }},
      {"kl_div", [](auto& x, auto& y, int64_t r) { return torch::kl_div(x, y, r, true); }},
      {"hinge_embedding_loss", [](auto& x, auto& y, int64_t r) { return torch::hinge_embedding_loss(x, y, 1.0, r); }},
      {"poisson_nll_loss",
       [](auto& x, auto& y, int64_t r) { return torch::poisson_nll_loss(x, y, true, false, 1e-8, r); }},
      {"with_logits",
       [](auto& x, auto& y, int64_t r) { return torch::binary_cross_entropy_with_logits(x, y, {}, {}, r); }},
  };
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes = {
      {{4, 1}, {4}}, {{4}, {4, 1}}, {{4, 3}, {3}}, {{1}, {5}}, {{}, {2, 2}}, {{2, 0}, {1}}, {{4}, {3}}};
  for (const auto& [name, loss] : losses) {
    for (const auto& [left, right] : shapes) {
      // libtorch has no derivative where scores are broadcast to the targets.
      if (name == "with_logits" && left.size() <= right.size() &&
          c10::multiply_integers(left) < c10::multiply_integers(right)) {
        continue;
      }
      for (const int64_t reduction : {at::Reduction::None, at::Reduction::Mean, at::Reduction::Sum}) {
        std::ostringstream text;
        text << name << ' ' << at::IntArrayRef(left) << ' ' << at::IntArrayRef(right) << ' ' << reduction;
        call(text.str(), {wave(left), wave(right, 1)}, [&, loss = loss](auto& t) {
          return loss(t[0], t[1], reduction);
        });
      }
    }
  }
}

void losses_of_classes() {
  const Tensor scores = wave({3, 5}), classes = torch::tensor({1, 0, 4});
  call("nll", {scores}, [&](auto& t) { return torch::nll_loss(t[0], classes); });
  call("nll one", {wave({5})}, [&](auto& t) { return torch::nll_loss(t[0], torch::tensor(2)); });
  call("nll column", {scores}, [&](auto& t) { return torch::nll_loss(t[0], classes.unsqueeze(1)); });
  call("nll all ignored", {scores}, [&](auto& t) { return torch::nll_loss(t[0], torch::full({3}, -100)); });
  call("nll int", {scores}, [&](auto& t) { return torch::nll_loss(t[0], classes.to(torch::kInt)); });
  call("nll bytes", {scores}, [&](auto& t) { return torch::nll_loss(t[0], classes.to(torch::kByte)); });
  call("nll2d", {wave({2, 5, 2, 3})}, [&](auto& t) {
    return torch::nll_loss2d(t[0], torch::ones({2, 2, 3}, torch::kLong), {}, at::Reduction::None);
  });
  call("cross entropy", {scores}, [&](auto& t) { return torch::cross_entropy_loss(t[0], classes); });
  call("cross entropy one", {wave({5})}, [&](auto& t) { return torch::cross_entropy_loss(t[0], torch::tensor(2)); });
  call("cross entropy shares", {scores, wave({3, 5}, 1).softmax(1)}, [&](auto& t) {
    return torch::cross_entropy_loss(t[0], t[1], {}, at::Reduction::Mean, -100, 0.1);
  });
  call("multi margin", {scores}, [&](auto& t) { return torch::multi_margin_loss(t[0], classes, 2, 0.5); });
  call("multi margin one", {wave({5})}, [&](auto& t) { return torch::multi_margin_loss(t[0], torch::tensor({2})); });
  call("multilabel margin", {wave({4})}, [&](auto& t) {
    return torch::multilabel_margin_loss(t[0], torch::tensor({3, 0, -1, 1}));
  });
  call("ranking", {wave({4}), wave({4}, 1)}, [&](auto& t) {
    return torch::margin_ranking_loss(t[0], t[1], torch::ones({4}, torch::kDouble), 0.3);
  });
  call("triplet", {wave({3, 4}), wave({3, 4}, 1), wave({1, 4}, 2)}, [&](auto& t) {
    return torch::triplet_margin_loss(t[0], t[1], t[2], 1.0, 2, 1e-6, true);
  });
  call("cosine", {wave({3, 4}), wave({3, 4}, 1)}, [&](auto& t) {
    return torch::cosine_embedding_loss(t[0], t[1], torch::tensor({1, -1, 1}), 0.2);
  });
  call("cosine one", {wave({4}), wave({4}, 1)}, [&](auto& t) {
    return torch::cosine_embedding_loss(t[0], t[1], torch::tensor(1));
  });
  call("similar", {wave({3, 4}), wave({4}, 1)}, [&](auto& t) { return torch::cosine_similarity(t[0], t[1], 1); });
  call("distance", {wave({3, 4}), wave({4}, 1)}, [&](auto& t) {
    return torch::pairwise_distance(t[0], t[1], 3, 1e-6, true);
  });
  const Tensor log_p = wave({6, 2, 4}).log_softmax(-1);
  call("ctc lists", {log_p}, [&](auto& t) {
    return torch::ctc_loss(
        t[0], torch::tensor({1, 2, 3, 1}), at::IntArrayRef{6, 5}, at::IntArrayRef{3, 1}, 0, at::Reduction::Sum);
  });
  call("ctc table", {log_p}, [&](auto& t) {
    return torch::ctc_loss(t[0], torch::tensor({{1, 2}, {3, 3}}), torch::tensor({6, 6}), torch::tensor({2, 2}));
  });
}

void windows() {
  const Tensor line = wave({2, 3, 8}), image = wave({2, 3, 7, 8}), block = wave({1, 2, 5, 6, 4});
  call("conv1d", {line, wave({4, 3, 3}, 1), wave({4}, 2)}, [](auto& t) {
    return torch::conv1d(t[0], t[1], t[2], 2, 1, 1);
  });
  call("conv1d one", {line[0], wave({4, 3, 3}, 1)}, [](auto& t) { return torch::conv1d(t[0], t[1], {}, 1, "same"); });
  call("conv2d", {image, wave({6, 1, 3, 2}, 1)}, [](auto& t) {
    return torch::conv2d(t[0], t[1], {}, {1, 2}, 1, 2, 3);
  });
  call("conv2d one", {image[0], wave({2, 3, 3, 3}, 1), wave({2})}, [](auto& t) {
    return torch::conv2d(t[0], t[1], t[2]);
  });
  call("conv3d", {block, wave({2, 2, 2, 3, 2}, 1)}, [](auto& t) { return torch::conv3d(t[0], t[1], {}, 1, "valid"); });
  call("transposed", {image, wave({3, 2, 3, 3}, 1)}, [](auto& t) {
    return torch::conv_transpose2d(t[0], t[1], {}, 2, 1, 1, 1, 2);
  });
  call("convolution", {line, wave({3, 2, 3}, 1)}, [](auto& t) {
    return torch::convolution(t[0], t[1], {}, {2}, {1}, {1}, true, {1}, 1);
  });
  call("conv_tbc", {wave({5, 2, 3}), wave({3, 3, 4}, 1), wave({4})}, [](auto& t) {
    return torch::conv_tbc(t[0], t[1], t[2], 1);
  });
  call("max 1", {line}, [](auto& t) { return torch::max_pool1d(t[0], 3); });
  call("max 2", {image}, [](auto& t) { return torch::max_pool2d(t[0], {3, 2}, {}, {1, 1}, 1, true); });
  call("max 2 with", {image}, [](auto& t) { return std::get<0>(torch::max_pool2d_with_indices(t[0], 3, {}, 1)); });
  call("max 3", {block}, [](auto& t) { return torch::max_pool3d(t[0], 2, 1, 0, 2); });
  call("average 1", {line}, [](auto& t) { return torch::avg_pool1d(t[0], 3, {}, 1); });
  call("average 2", {image[0]}, [](auto& t) { return torch::avg_pool2d(t[0], {3}, {2}, {1}, true, false); });
  call("average 3", {block}, [](auto& t) { return torch::avg_pool3d(t[0], {2}, {}, {1}, false, true, 5); });
  call("adaptive", {image}, [](auto& t) { return torch::adaptive_avg_pool2d(t[0], {3, 5}); });
  call("adaptive max", {line}, [](auto& t) { return std::get<0>(torch::adaptive_max_pool1d(t[0], 3)); });
  call("unfold", {image}, [](auto& t) { return torch::im2col(t[0], {3, 2}, {1, 1}, {1, 0}, {2, 1}); });
  call("fold", {wave({2, 12, 9})}, [](auto& t) { return torch::col2im(t[0], {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}); });
  call("nearest", {line}, [](auto& t) { return torch::upsample_nearest1d(t[0], at::IntArrayRef{5}); });
  call("bilinear", {image}, [](auto& t) { return torch::upsample_bilinear2d(t[0], at::IntArrayRef{9, 5}, true); });
  call("bilinear scale", {image}, [](auto& t) {
    return torch::upsample_bilinear2d(t[0], at::IntArrayRef{10, 12}, false, 1.5, 1.5);
  });
  call("bicubic", {image}, [](auto& t) { return torch::upsample_bicubic2d(t[0], at::IntArrayRef{9, 5}, false); });
  call("smooth", {image}, [](auto& t) { return torch::_upsample_bilinear2d_aa(t[0], at::IntArrayRef{3, 4}, false); });
  call("grid", {image, wave({2, 4, 3, 2}, 1)}, [](auto& t) { return torch::grid_sampler(t[0], t[1], 0, 1, false); });
  call("affine", {wave({2, 2, 3})}, [](auto& t) { return torch::affine_grid_generator(t[0], {2, 1, 3, 4}, true); });
  call("reflect", {line}, [](auto& t) { return torch::reflection_pad1d(t[0], {2, 1}); });
  call("replicate", {image}, [](auto& t) { return torch::replication_pad2d(t[0], {2, 1, 0, 3}); });
  call("constant", {image}, [](auto& t) { return torch::constant_pad_nd(t[0], {1, -2, 0, 1}, 0.5); });
  call("circular", {line}, [](auto& t) { return torch::pad(t[0], {2, 3}, "circular"); });
  call("shuffle", {wave({1, 8, 2, 3})}, [](auto& t) { return torch::pixel_shuffle(t[0], 2); });
}

void layers() {
  const Tensor x = wave({4, 6, 3}), weight = wave({6}, 1), bias = wave({6}, 2);
  for (const bool training : {true, false}) {
    const Tensor mean = wave({6}, 3), spread = wave({6}, 4).exp();
    call("batch norm", {x, weight, bias}, [&](auto& t) {
      return torch::batch_norm(t[0], t[1], t[2], mean, spread, training, 0.3, 1e-5, false);
    });
    report::close("mean", mean);
    report::close("spread", spread);
  }
  call("batch norm bare", {x}, [](auto& t) { return torch::batch_norm(t[0], {}, {}, {}, {}, true, 0.1, 1e-5, true); });
  call("instance norm", {x, weight, bias}, [](auto& t) {
    return torch::instance_norm(t[0], t[1], t[2], {}, {}, true, 0.1, 1e-5, false);
  });
  call("layer norm", {x, wave({6, 3}, 1)}, [](auto& t) { return torch::layer_norm(t[0], {6, 3}, t[1]); });
  call(
      "native layer norm", {x}, [](auto& t) { return std::get<1>(torch::native_layer_norm(t[0], {3}, {}, {}, 1e-3)); });
  call("group norm", {x, weight, bias}, [](auto& t) { return torch::group_norm(t[0], 3, t[1], t[2]); });
  call("linear one", {wave({3}), wave({2, 3}, 1), wave({2}, 2)}, [](auto& t) {
    return torch::linear(t[0], t[1], t[2]);
  });
  call("linear many", {wave({2, 2, 3}), wave({4, 3}, 1)}, [](auto& t) { return torch::linear(t[0], t[1]); });
  call("linear to one", {wave({2, 3}), wave({3}, 1)}, [](auto& t) { return torch::linear(t[0], t[1]); });
  call("bilinear", {wave({2, 3}), wave({2, 4}, 1), wave({5, 3, 4}, 2)}, [](auto& t) {
    return torch::bilinear(t[0], t[1], t[2], {});
  });
  call("embedding", {wave({7, 3})}, [](auto& t) { return torch::embedding(t[0], torch::tensor({{1, 2}, {2, 6}}), 2); });
  call("bag", {wave({7, 3})}, [](auto& t) {
    return std::get<0>(torch::embedding_bag(t[0], torch::tensor({1, 2, 4, 6}), torch::tensor({0, 3, 3}), false, 1));
  });
  call("prelu", {x, wave({6}, 1)}, [](auto& t) { return torch::prelu(t[0], t[1]); });
  call("prelu one", {x, wave({1}, 1)}, [](auto& t) { return torch::prelu(t[0], t[1]); });
  call("glu", {x}, [](auto& t) { return torch::glu(t[0], 1); });
  call("softmax of a number", {wave({})}, [](auto& t) { return torch::softmax(t[0], 0); });
  call("rrelu", {x}, [](auto& t) { return torch::rrelu(t[0]); });
  call("attention", {wave({2, 2, 5, 4}), wave({2, 2, 3, 4}, 1), wave({2, 2, 3, 6}, 2)}, [](auto& t) {
    return torch::scaled_dot_product_attention(t[0], t[1], t[2]);
  });
  torch::manual_seed(3);
  call("dropout", {x}, [](auto& t) { return torch::dropout(t[0], 0.3, true); });
  call("feature dropout", {x}, [](auto& t) { return torch::feature_dropout(t[0], 0.3, true); });
  call("alpha dropout", {x}, [](auto& t) { return torch::alpha_dropout(t[0], 0.3, true); });
  call("dropout all", {x}, [](auto& t) { return torch::dropout(t[0], 1.0, true); });
}

void recurrent() {
  const Tensor x = wave({5, 2, 3}), h = wave({2, 2, 4}, 1), c = wave({2, 2, 4}, 2);
  const auto weights = [](int64_t gates, int64_t input) {
    return std::vector<Tensor>{
        wave({gates * 4, input}, 3), wave({gates * 4, 4}, 4), wave({gates * 4}, 5), wave({gates * 4}, 6)};
  };
  std::vector<Tensor> four = weights(4, 3), three = weights(3, 3), one = weights(1, 3);
  for (const Tensor& weight : weights(4, 8)) {
    four.push_back(weight);
  }
  for (std::vector<Tensor>* all : {&three, &one}) {
    const std::vector<Tensor> upper = weights(all == &three ? 3 : 1, 4);
    all->insert(all->end(), upper.begin(), upper.end());
  }
  const std::vector<Tensor> first(four.begin(), four.begin() + 4);
  call("lstm", {x, h.slice(0, 0, 1), c.slice(0, 0, 1)}, [&](auto& t) {
    return std::get<1>(torch::lstm(t[0], {t[1], t[2]}, first, true, 1, 0.0, false, false, false));
  });
  call("gru", {x, h}, [&](auto& t) {
    return std::get<0>(torch::gru(t[0], t[1], three, true, 2, 0.0, false, false, false));
  });
  call("rnn", {x.transpose(0, 1).contiguous(), h}, [&](auto& t) {
    return std::get<0>(torch::rnn_relu(t[0], t[1], one, true, 2, 0.0, false, false, true));
  });
  call("lstm cell", {x[0], h[0], c[0]}, [&](auto& t) {
    return std::get<1>(torch::lstm_cell(t[0], {t[1], t[2]}, four[0], four[1], four[2], four[3]));
  });
  call("gru cell", {x[0], h[0]}, [&](auto& t) { return torch::gru_cell(t[0], t[1], three[0], three[1]); });
  call("rnn cell", {x[0], h[0]}, [&](auto& t) {
    return torch::rnn_tanh_cell(t[0], t[1], one[0], one[1], one[2], one[3]);
  });
}

void signals() {
  const Tensor x = wave({2, 40});
  call("stft", {x}, [](auto& t) {
    return torch::view_as_real(torch::stft(t[0], 16, 4, 16, torch::hann_window(16, torch::kDouble), false, true, true));
  });
  call("stft centred", {x}, [](auto& t) {
    return torch::view_as_real(
        torch::stft(t[0], 16, 4, 12, torch::hamming_window(12, torch::kDouble), true, "reflect", false, true, true));
  });
  call("istft", {wave({2, 9, 11, 2})}, [](auto& t) {
    return torch::istft(torch::view_as_complex(t[0].contiguous()), 16, 4, 16, torch::hann_window(16, torch::kDouble));
  });
  call("cdist", {wave({3, 4}), wave({2, 5, 4}, 1)}, [](auto& t) { return torch::cdist(t[0], t[1], 1.5); });
  call("pdist", {wave({4, 3})}, [](auto& t) { return torch::pdist(t[0], 2); });
  call("where", {wave({3, 1}), wave({4}, 1)}, [](auto& t) { return torch::where(t[0] > t[1], t[0], t[1]); });
  call("where number", {wave({3})}, [](auto& t) { return torch::where(t[0] > 0, t[0], 0.5); });
  call("renorm", {wave({3, 4})}, [](auto& t) { return torch::renorm(t[0], 2, 0, 0.7); });
  call("std", {wave({3, 4})}, [](auto& t) { return torch::std(t[0], {0, 1}, /*unbiased=*/false, /*keepdim=*/true); });
  call("norm", {wave({3, 4})}, [](auto& t) { return torch::norm(t[0], 3, {1}, true); });
  call("norm all", {wave({3, 4})}, [](auto& t) { return t[0].norm(); });
  call("logsumexp", {wave({3, 4})}, [](auto& t) { return torch::logsumexp(t[0], {0, 1}); });
  call("addmm", {wave({4}), wave({3, 2}), wave({2, 4}, 1)}, [](auto& t) {
    return torch::addmm(t[0], t[1], t[2], 0.5, 2);
  });
  call("einsum", {wave({2, 3, 4}), wave({4, 5}, 1)}, [](auto& t) {
    return torch::einsum("b i j, j k -> b k i", {t[0], t[1]});
  });
  call("take_along", {wave({3, 4})}, [](auto& t) {
    return torch::take_along_dim(t[0], t[0].argsort(int64_t{1}, false), 1);
  });
  call("scatter_reduce", {wave({3, 4}), wave({2, 4}, 1)}, [](auto& t) {
    return torch::scatter_reduce(t[0], 0, torch::tensor({{0, 1, 2, 0}, {1, 1, 0, 2}}), t[1], "amax");
  });
  call("index_add", {wave({3, 4}), wave({2, 4}, 1)}, [](auto& t) {
    return torch::index_add(t[0], 0, torch::tensor({2, 2}), t[1], 0.5);
  });
  call("clip", {wave({3, 4}), wave({4}, 1)}, [](auto& t) { return torch::clamp(t[0], {}, t[1]); });
  call("lerp", {wave({3}), wave({3}, 1), wave({2, 3}, 2)}, [](auto& t) { return torch::lerp(t[0], t[1], t[2]); });
  call("meshgrid", {wave({3}), wave({2}, 1)}, [](auto& t) { return torch::meshgrid({t[0], t[1]}, "ij")[1] * 2; });
}

} // namespace

int main() {
  losses_of_pairs();
  losses_of_classes();
  windows();
  layers();
  recurrent();
  signals();
  return 0;
}
