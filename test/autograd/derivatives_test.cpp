// First and second derivatives against differences of values, in double and complex double, of operators that the
// operator test has no samples for: those that write, views, decompositions, pooling and resampling, and what takes
// several forms.
#include "support.h"

#include <torch/autograd/gradcheck.h>

#include <cmath>
#include <functional>
#include <string>

using namespace autograd_test;
using torch::autograd::gradcheck;
using torch::autograd::GradcheckOptions;
using torch::autograd::gradgradcheck;

namespace {

using Shapes = std::vector<std::vector<int64_t>>;
using Operator = std::function<variable_list(const variable_list&)>;

// Numbers between 0.2 and 1.2, so that no two are equal and none is near a kink at 0.
variable_list inputs_of(const Shapes& shapes, torch::ScalarType dtype) {
  variable_list inputs;
  for (const std::vector<int64_t>& shape : shapes) {
    inputs.push_back((torch::rand(shape, torch::TensorOptions().dtype(dtype)) + 0.2).requires_grad_());
  }
  return inputs;
}

void check(const std::string& name, const Operator& op, const variable_list& inputs, bool second = true) {
  INFO(name << ", " << inputs[0].dtype());
  const auto fault = [&](auto&& run) { return error_of([&] { run(); }); };
  CHECK(fault([&] { gradcheck(op, inputs); }) == "");
  if (second) {
    CHECK(fault([&] { gradgradcheck(op, inputs); }) == "");
  }
}

void real(const std::string& name, const Shapes& shapes, const Operator& op, bool second = true) {
  torch::manual_seed(11);
  check(name, op, inputs_of(shapes, torch::kDouble), second);
}

void both(const std::string& name, const Shapes& shapes, const Operator& op, bool second = true) {
  real(name, shapes, op, second);
  check(name, op, inputs_of(shapes, torch::kComplexDouble), second);
}

// A tensor that may be written to, with the history of `t`.
Tensor own(const Tensor& t) {
  return t * 1;
}

Tensor numbers(std::vector<int64_t> list) {
  return torch::tensor(list);
}

} // namespace

TEST_CASE("derivatives of operators that write", "[autograd][derivatives]") {
  const Tensor mask = torch::tensor({true, false, true});
  both("copy_", {{2, 3}, {3}}, [](auto& v) { return variable_list{own(v[0]).copy_(v[1])}; });
  both("fill_", {{2, 3}, {}}, [](auto& v) { return variable_list{own(v[0]).fill_(v[1])}; });
  both("fill", {{2, 3}, {}}, [](auto& v) { return variable_list{at::fill(v[0], v[1])}; });
  both("zero_", {{2}}, [](auto& v) { return variable_list{own(v[0]).zero_() + v[0]}; });
  both("tril_", {{3, 3}}, [](auto& v) { return variable_list{own(v[0]).tril_(-1)}; });
  both("triu_", {{2, 3}}, [](auto& v) { return variable_list{own(v[0]).triu_(1)}; });
  both("masked_fill", {{2, 3}, {}}, [&](auto& v) { return variable_list{v[0].masked_fill(mask, v[1])}; });
  both("masked_fill_", {{2, 3}, {}}, [&](auto& v) { return variable_list{own(v[0]).masked_fill_(mask, v[1])}; });
  both("masked_scatter", {{2, 3}, {5}}, [&](auto& v) { return variable_list{v[0].masked_scatter(mask, v[1])}; });
  both("masked_scatter_", {{2, 3}, {5}}, [&](auto& v) { return variable_list{own(v[0]).masked_scatter_(mask, v[1])}; });
  both("index_put_", {{3, 2}, {2, 2}}, [](auto& v) {
    return variable_list{own(v[0]).index_put_({numbers({2, 0})}, v[1])};
  });
  both("index_put_ that adds", {{3, 2}, {2}}, [](auto& v) {
    return variable_list{own(v[0]).index_put_({numbers({1, 1, 0})}, v[1], /*accumulate=*/true)};
  });
  both("index_copy", {{3, 2}, {2, 2}}, [](auto& v) {
    return variable_list{v[0].index_copy(0, numbers({2, 1}), v[1])};
  });
  both("index_fill", {{3, 2}, {}}, [](auto& v) { return variable_list{v[0].index_fill(0, numbers({2, 0}), v[1])}; });
  both("index_fill by a number", {{3, 2}}, [](auto& v) { return variable_list{v[0].index_fill(1, numbers({1}), 3)}; });
  both("index_fill_", {{3, 2}, {}}, [](auto& v) {
    return variable_list{own(v[0]).index_fill_(0, numbers({2, 0}), v[1])};
  });
  both("put_", {{2, 3}, {2}}, [](auto& v) { return variable_list{own(v[0]).put_(numbers({5, 0}), v[1])}; });
  both("put_ that adds", {{2, 3}, {3}}, [](auto& v) {
    return variable_list{own(v[0]).put_(numbers({4, 0, 4}), v[1], /*accumulate=*/true)};
  });
  both("take", {{2, 3}}, [](auto& v) { return variable_list{v[0].take(numbers({5, 0, 0}))}; });
  both("a view that is written to", {{3, 2}, {2}}, [](auto& v) {
    Tensor base = own(v[0]);
    base.select(0, 1).mul_(v[1]).add_(base.select(0, 2));
    base.t().slice(0, 1).pow_(2);
    return variable_list{base};
  });
  both("real parts that are written to", {{2, 2}}, [](auto& v) {
    Tensor base = v[0].is_complex() ? own(v[0]) : torch::complex(v[0], v[0] * v[0]);
    torch::view_as_real(base).select(-1, 1).mul_(3).add_(torch::view_as_real(base).select(-1, 0));
    return variable_list{base};
  });
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    const bool twice =
        std::string(reduce) != "prod"; // PyTorch has its second derivative by backward alone, by zeros not
    for (const bool include_self : {true, false}) {
      real(
          std::string("scatter_reduce ") + reduce, {{4}, {5}},
          [&](auto& v) {
            return variable_list{v[0].scatter_reduce(0, numbers({0, 1, 1, 3, 0}), v[1], reduce, include_self)};
          },
          twice);
      if (std::string(reduce) != "sum") {
        real(
            std::string("index_reduce ") + reduce, {{4, 2}, {3, 2}},
            [&](auto& v) {
              return variable_list{v[0].index_reduce(0, numbers({0, 1, 1}), v[1], reduce, include_self)};
            },
            twice);
      }
    }
  }
}

TEST_CASE("derivatives of views and of what moves elements", "[autograd][derivatives]") {
  both("transpose", {{2, 3}}, [](auto& v) { return variable_list{v[0].transpose(0, 1)}; });
  both("t_", {{2, 3}}, [](auto& v) { return variable_list{own(v[0]).t_()}; });
  both("transpose_", {{2, 3, 1}}, [](auto& v) { return variable_list{own(v[0]).transpose_(0, 2)}; });
  both("squeeze_", {{2, 1, 1}}, [](auto& v) { return variable_list{own(v[0]).squeeze_(), own(v[0]).squeeze_(1)}; });
  both("unsqueeze_", {{2}}, [](auto& v) { return variable_list{own(v[0]).unsqueeze_(0)}; });
  both("select and slice", {{3, 4}}, [](auto& v) { return variable_list{v[0].select(1, 2), v[0].slice(1, 0, 4, 3)}; });
  both("split", {{3, 2}}, [](auto& v) { return variable_list(v[0].split(2)); });
  both("unsafe_split", {{3, 2}}, [](auto& v) { return variable_list(v[0].unsafe_split(2)); });
  both("split_with_sizes", {{3, 2}}, [](auto& v) { return variable_list(v[0].unsafe_split_with_sizes({1, 2})); });
  both("unbind", {{3, 2}}, [](auto& v) { return variable_list(v[0].unbind(1)); });
  both("unfold", {{5, 2}}, [](auto& v) { return variable_list{v[0].unfold(0, 3, 1)}; });
  both("as_strided", {{6}}, [](auto& v) { return variable_list{own(v[0]).as_strided({2, 2}, {1, 2}, 1)}; });
  both("diagonal", {{3, 4}}, [](auto& v) { return variable_list{v[0].diagonal(1), v[0].diag_embed(1).sum(0)}; });
  both("view_as_real", {{2, 2}}, [](auto& v) {
    return variable_list{v[0].is_complex() ? torch::view_as_real(v[0]) : torch::view_as_complex(own(v[0]))};
  });
  both("conj and neg", {{2}}, [](auto& v) {
    return variable_list{at::_conj(v[0]) * v[0], at::_neg_view(v[0]) * v[0]};
  });
  both("repeat", {{2, 3}}, [](auto& v) { return variable_list{v[0].repeat({2, 1, 2})}; });
  both("flip and roll", {{2, 3}}, [](auto& v) { return variable_list{v[0].flip({0, 1}), v[0].roll({1, 2}, {0, 1})}; });
  both("trace", {{3, 2}}, [](auto& v) { return variable_list{v[0].trace()}; });
  both("_to_copy", {{2, 2}}, [](auto& v) { return variable_list{at::_to_copy(v[0], torch::kComplexDouble)}; });
}

TEST_CASE("derivatives of matrix operators", "[autograd][derivatives][linalg]") {
  both("addbmm", {{2, 2}, {2, 2, 3}, {2, 3, 2}}, [](auto& v) {
    return variable_list{at::addbmm(v[0], v[1], v[2], 2, 3)};
  });
  both("addbmm_", {{2, 2}, {2, 2, 3}, {2, 3, 2}}, [](auto& v) { return variable_list{own(v[0]).addbmm_(v[1], v[2])}; });
  both("addr", {{2, 3}, {2}, {3}}, [](auto& v) { return variable_list{at::addr(v[0], v[1], v[2], 2, 3)}; });
  const auto regular = [](const Tensor& t) { return t + 2 * torch::eye(3, t.options().requires_grad(false)); };
  both("slogdet", {{3, 3}}, [&](auto& v) { return variable_list{std::get<1>(at::linalg_slogdet(regular(v[0])))}; });
  both("det and inverse", {{3, 3}}, [&](auto& v) {
    return variable_list{at::linalg_det(v[0]), regular(v[0]).inverse()};
  });
  both("singular values", {{3, 2}}, [](auto& v) { return variable_list{at::linalg_svdvals(v[0])}; });
  // Singular vectors have a phase that nothing determines.
  both("singular vectors", {{3, 2}}, [](auto& v) {
    const auto [u, s, vh] = at::linalg_svd(v[0], /*full_matrices=*/false);
    return variable_list{u.abs(), s, vh.abs(), u.matmul(vh)};
  });
  both("eigenvalues", {{3, 3}}, [](auto& v) { return variable_list{at::linalg_eigvals(v[0])}; });
  both("eigenvectors", {{3, 3}}, [](auto& v) { return variable_list{std::get<1>(at::linalg_eig(v[0])).abs()}; });
  both("lu_unpack", {{3, 3}}, [&](auto& v) {
    const auto [lu, pivots] = at::linalg_lu_factor(regular(v[0]));
    const auto [p, l, u] = at::lu_unpack(lu, pivots);
    return variable_list{l, u};
  });
  const auto definite = [&](const Tensor& t) { return regular(t.matmul(t.mH())); };
  both("cholesky", {{3, 3}}, [&](auto& v) { return variable_list{at::linalg_cholesky(definite(v[0]))}; });
  both("cholesky_inverse", {{3, 3}}, [&](auto& v) {
    return variable_list{at::cholesky_inverse(at::linalg_cholesky(definite(v[0])))};
  });
  both("cholesky_solve", {{3, 3}, {3, 2}}, [&](auto& v) {
    return variable_list{at::cholesky_solve(v[1], at::linalg_cholesky(definite(v[0])))};
  });
  both("eigenvalues of definite matrices", {{3, 3}}, [&](auto& v) {
    const auto [values, vectors] = at::linalg_eigh(definite(v[0]));
    return variable_list{values, vectors.abs(), at::linalg_eigvalsh(definite(v[0]))};
  });
  both("qr", {{3, 2}}, [](auto& v) {
    const auto [q, r] = at::linalg_qr(v[0]);
    return variable_list{q.abs(), r.abs()};
  });
  both("lu_solve", {{3, 3}, {3, 2}}, [&](auto& v) {
    const auto [lu, pivots] = at::linalg_lu_factor(regular(v[0]));
    return variable_list{at::linalg_lu_solve(lu, pivots, v[1])};
  });
  both("matrix_exp", {{2, 2}}, [](auto& v) { return variable_list{at::linalg_matrix_exp(v[0])}; });
  both("pinv", {{3, 2}}, [](auto& v) { return variable_list{at::linalg_pinv(v[0])}; });
  both("lstsq", {{3, 2}, {3, 1}}, [](auto& v) { return variable_list{std::get<0>(at::linalg_lstsq(v[0], v[1]))}; });
  both("norms", {{2, 3}}, [](auto& v) {
    return variable_list{at::linalg_matrix_norm(v[0], "nuc"), at::linalg_vector_norm(v[0], 3), v[0].norm(1)};
  });
}

TEST_CASE("derivatives of elementwise operators", "[autograd][derivatives]") {
  real("clamp", {{2, 3}}, [](auto& v) { return variable_list{(v[0] * v[0]).clamp(0.3, 1.1)}; });
  real("clamp by tensors", {{2, 3}, {3}, {2, 1}}, [](auto& v) {
    return variable_list{at::clamp(v[0] * 2, v[1], v[2] + 1)};
  });
  real("division that rounds", {{2, 3}, {3}}, [](auto& v) {
    return variable_list{
        at::div(v[0] * 5, v[1], "floor") * v[0], at::div(v[0] * 5, v[1], "trunc") * v[1], v[0].remainder(v[1]),
        v[0].fmod(v[1])};
  });
  both("angle", {{2, 3}}, [](auto& v) { return variable_list{v[0].angle() * v[0]}; });
  both("abs and sgn", {{2, 3}}, [](auto& v) { return variable_list{v[0].abs(), v[0].sgn()}; });
  both("powers", {{2}, {2}}, [](auto& v) { return variable_list{v[0].pow(v[1]), v[0].pow(3), torch::pow(2.5, v[1])}; });
  both("var_mean", {{3, 4}}, [](auto& v) {
    const auto [var, mean] = at::var_mean(v[0], {1}, 1);
    return variable_list{var, mean};
  });
  both("std_mean", {{3, 4}}, [](auto& v) {
    const auto [std, mean] = at::std_mean(v[0], {0}, 0);
    return variable_list{std, mean};
  });
  both("products with zeros", {{2, 3}}, [](auto& v) {
    const Tensor holes = torch::tensor({{1., 0., 1.}, {0., 1., 0.}}, doubles());
    return variable_list{(v[0] * holes).prod(), (v[0] * holes).prod(1), (v[0] * holes).cumprod(1)};
  });
  real("polygamma_", {{3}}, [](auto& v) { return variable_list{(v[0] + 1).polygamma_(2)}; });
  real("rrelu", {{3}}, [](auto& v) { return variable_list{at::rrelu(v[0] - 0.7, 0.1, 0.3, /*training=*/false)}; });
}

TEST_CASE("derivatives of layers", "[autograd][derivatives][nn]") {
  real("glu", {{2, 4}}, [](auto& v) { return variable_list{at::glu(v[0], 1)}; });
  real("log_sigmoid", {{3}}, [](auto& v) { return variable_list{at::log_sigmoid(v[0] - 0.7)}; });
  real("prelu", {{2, 3}, {3}}, [](auto& v) { return variable_list{at::prelu(v[0] - 0.7, v[1])}; });
  real("group_norm", {{2, 4, 2}, {4}, {4}}, [](auto& v) { return variable_list{at::group_norm(v[0], 2, v[1], v[2])}; });
  real("layer_norm", {{2, 3}, {3}, {3}}, [](auto& v) { return variable_list{at::layer_norm(v[0], {3}, v[1], v[2])}; });
  for (const bool training : {true, false}) {
    real("batch_norm", {{3, 2, 2}, {2}, {2}}, [&](auto& v) {
      const Tensor mean = filled({2}, 0.5), var = filled({2}, 0.3);
      return variable_list{at::batch_norm(v[0], v[1], v[2], mean, var, training, 0.1, 1e-3, false)};
    });
  }
  real("_weight_norm", {{3, 2}, {3, 1}}, [](auto& v) { return variable_list{at::_weight_norm(v[0], v[1], 0)}; });
  real(
      "_masked_softmax", {{2, 3}},
      [](auto& v) {
        return variable_list{
            at::_masked_softmax(v[0], torch::tensor({{false, true, false}, {true, false, false}}), 1, 2)};
      },
      /*second=*/false);
  real("softmax", {{2, 3}}, [](auto& v) { return variable_list{v[0].softmax(1), v[0].log_softmax(0)}; });
  real("embedding", {{3, 2}}, [](auto& v) { return variable_list{at::embedding(v[0], numbers({2, 0, 2}))}; });
  real("attention", {{1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 2}}, [](auto& v) {
    return variable_list{at::scaled_dot_product_attention(v[0], v[1], v[2], {}, 0.0, true)};
  });
  real("convolution", {{1, 2, 4}, {2, 1, 2}, {2}}, [](auto& v) {
    return variable_list{at::conv1d(v[0], v[1], v[2], 2, 1, 2, 2)};
  });
  real("transposed convolution", {{1, 2, 3}, {2, 1, 2}, {2}}, [](auto& v) {
    return variable_list{at::conv_transpose1d(v[0], v[1], v[2], 2, 1, 1, 2)};
  });
  const Tensor classes = numbers({2, 0});
  real("losses", {{2, 3}, {2, 3}}, [&](auto& v) {
    return variable_list{
        at::mse_loss(v[0], v[1]),
        at::smooth_l1_loss(v[0], v[1] * 3),
        at::huber_loss(v[0], v[1] * 3),
        at::binary_cross_entropy(v[0] / 2, v[1] / 2),
        at::kl_div(v[0], v[1]),
        at::cross_entropy_loss(v[0], classes),
        at::multi_margin_loss(v[0], classes),
        at::soft_margin_loss(v[0], v[1].sign().detach())};
  });
  real("multilabel_margin_loss", {{2, 3}}, [](auto& v) {
    return variable_list{at::multilabel_margin_loss(v[0], torch::tensor({{2, -1, 0}, {0, 1, -1}}))};
  });
  real("nll_loss of images", {{1, 3, 2, 1}}, [](auto& v) {
    return variable_list{at::nll_loss2d(v[0].log(), torch::tensor({{{2}, {0}}}), values({1, 2, 3}))};
  });
  real(
      "ctc_loss", {{4, 1, 3}},
      [](auto& v) {
        return variable_list{at::ctc_loss(v[0].log_softmax(2), torch::tensor({{1, 2}}), {4}, {2})};
      },
      /*second=*/false);
  const Tensor bags = numbers({0, 2});
  for (const int64_t mode : {0, 1, 2}) {
    real(
        "embedding_bag", {{3, 2}, {3}},
        [&](auto& v) {
          const std::optional<Tensor> weights = mode == 0 ? std::optional<Tensor>(v[1]) : std::nullopt;
          return variable_list{
              std::get<0>(at::embedding_bag(v[0], numbers({2, 0, 1}), bags, false, mode, false, weights)) + v[1][0]};
        },
        /*second=*/false);
  }
  const Shapes recurrent{{2, 1, 2}, {1, 1, 2}, {8, 2}, {8, 2}, {8}, {8}, {1, 1, 2}};
  real("lstm", recurrent, [](auto& v) {
    const auto [y, h, c] = at::lstm(v[0], {v[1], v[6]}, {v[2], v[3], v[4], v[5]}, true, 1, 0.0, true, false, false);
    return variable_list{y, h, c};
  });
  real("lstm_cell", recurrent, [](auto& v) {
    const auto [h, c] = at::lstm_cell(v[0][0], {v[1][0], v[6][0]}, v[2], v[3], v[4], v[5]);
    return variable_list{h, c};
  });
  real("gru", {{2, 1, 2}, {1, 1, 2}, {6, 2}, {6, 2}, {6}, {6}}, [](auto& v) {
    const auto [y, h] = at::gru(v[0], v[1], {v[2], v[3], v[4], v[5]}, true, 1, 0.0, true, false, false);
    return variable_list{y, h, at::gru_cell(v[0][0], v[1][0], v[2], v[3], v[4], v[5])};
  });
  real("rnn", {{2, 1, 2}, {1, 1, 2}, {2, 2}, {2, 2}, {2}, {2}}, [](auto& v) {
    const auto [y, h] = at::rnn_tanh(v[0], v[1], {v[2], v[3], v[4], v[5]}, true, 1, 0.0, true, false, false);
    return variable_list{y, h, at::rnn_relu_cell(v[0][0], v[1][0], v[2], v[3], v[4], v[5])};
  });
  real("packed sequences", {{3, 2, 2}}, [](auto& v) {
    return variable_list{std::get<0>(at::_pack_padded_sequence(v[0], numbers({3, 1}), false))};
  });
}

TEST_CASE("derivatives of pooling and resampling", "[autograd][derivatives][nn]") {
  real("adaptive_avg_pool3d", {{1, 3, 2, 3}}, [](auto& v) {
    return variable_list{at::adaptive_avg_pool3d(v[0], {2, 1, 2})};
  });
  real("adaptive_max_pool3d", {{1, 3, 2, 3}}, [](auto& v) {
    return variable_list{std::get<0>(at::adaptive_max_pool3d(v[0], {2, 1, 2}))};
  });
  real("avg_pool3d", {{1, 3, 2, 3}}, [](auto& v) { return variable_list{at::avg_pool3d(v[0], 2, 1)}; });
  real("max_pool3d", {{1, 3, 2, 3}}, [](auto& v) {
    return variable_list{std::get<0>(at::max_pool3d_with_indices(v[0], 2, 1))};
  });
  real("fractional_max_pool3d", {{1, 1, 4, 4, 4}}, [](auto& v) {
    return variable_list{std::get<0>(at::fractional_max_pool3d(v[0], {2, 2, 2}, {2, 2, 2}, filled({1, 1, 3}, 0.4)))};
  });
  real("max_unpool2d", {{1, 1, 4, 4}}, [](auto& v) {
    const auto [pooled, indices] = at::max_pool2d_with_indices(v[0], 2);
    return variable_list{at::max_unpool2d(pooled, indices, {4, 4})};
  });
  real("max_unpool3d", {{1, 1, 2, 2, 4}}, [](auto& v) {
    const auto [pooled, indices] = at::max_pool3d_with_indices(v[0], 2);
    return variable_list{at::max_unpool3d(pooled, indices, {2, 2, 4}, {2, 2, 2}, {0, 0, 0})};
  });
  real("nearest", {{1, 1, 3}}, [](auto& v) {
    return variable_list{at::upsample_nearest1d(v[0], 5), at::_upsample_nearest_exact1d(v[0], 5)};
  });
  real("nearest in space", {{1, 1, 2, 3, 2}}, [](auto& v) {
    return variable_list{at::upsample_nearest3d(v[0], {3, 4, 1}), at::_upsample_nearest_exact3d(v[0], {3, 4, 1})};
  });
  real("linear", {{1, 1, 3}}, [](auto& v) { return variable_list{at::upsample_linear1d(v[0], 5, false)}; });
  real("bilinear and bicubic", {{1, 1, 3, 2}}, [](auto& v) {
    return variable_list{
        at::upsample_bilinear2d(v[0], {2, 4}, true), at::upsample_bicubic2d(v[0], {2, 4}, false),
        at::_upsample_bilinear2d_aa(v[0], {2, 1}, false), at::_upsample_bicubic2d_aa(v[0], {2, 1}, false)};
  });
  real("trilinear", {{1, 1, 2, 3, 2}}, [](auto& v) {
    return variable_list{at::upsample_trilinear3d(v[0], {3, 2, 3}, false)};
  });
  real("grids", {{1, 2, 3}, {1, 3, 4}}, [](auto& v) {
    return variable_list{
        at::affine_grid_generator(v[0], {1, 1, 2, 3}, false), at::affine_grid_generator(v[1], {1, 1, 2, 2, 2}, true)};
  });
  real(
      "grid_sampler_2d", {{1, 1, 3, 3}, {1, 2, 2, 2}},
      [](auto& v) {
        return variable_list{
            at::grid_sampler_2d(v[0], v[1] - 0.7, 0, 0, false), at::grid_sampler_2d(v[0], v[1] - 0.7, 2, 1, true)};
      },
      /*second=*/false);
  real(
      "grid_sampler_3d", {{1, 1, 2, 3, 2}, {1, 1, 2, 2, 3}},
      [](auto& v) { return variable_list{at::grid_sampler_3d(v[0], v[1] - 0.7, 0, 1, false)}; }, /*second=*/false);
}

TEST_CASE("gradients of recurrent layers see negated weights and gradients", "[derivatives]") {
  for (const int64_t gates : {4, 3, 1}) {
    const at::Tensor x = at::randn({6, 2, 3}, at::kDouble).requires_grad_(), h = at::randn({1, 2, 4}, at::kDouble);
    const at::Tensor w_ih = at::randn({gates * 4, 3}, at::kDouble), w_hh = at::randn({gates * 4, 4}, at::kDouble);
    const at::Tensor grad = at::randn({6, 2, 4}, at::kDouble);
    const auto gradient = [&](const at::Tensor& weight, const at::Tensor& incoming) {
      const std::vector<at::Tensor> params = {w_ih, weight};
      at::Tensor out;
      if (gates == 4) {
        out = std::get<0>(at::lstm(x, {h, h}, params, false, 1, 0.0, true, false, false));
      }
      if (gates == 3) {
        out = std::get<0>(at::gru(x, h, params, false, 1, 0.0, true, false, false));
      }
      if (gates == 1) {
        out = std::get<0>(at::rnn_tanh(x, h, params, false, 1, 0.0, true, false, false));
      }
      return torch::autograd::grad({out}, {x}, {incoming})[0];
    };
    const at::Tensor want = gradient(w_hh, grad);
    INFO(gates << " gates");
    CHECK(gradient(at::_neg_view(w_hh.neg()), grad).allclose(want, 1e-12));
    CHECK(gradient(w_hh, at::_neg_view(grad.neg())).allclose(want, 1e-12));
  }
}

TEST_CASE("adding or copying a single complex half has a gradient", "[derivatives]") {
  const at::Tensor self = at::ones({}, at::kComplexHalf), index = at::zeros({1}, at::kLong);
  const at::Tensor source = at::ones({}, at::kComplexHalf).requires_grad_();
  for (const at::Tensor& result : {self.index_add(0, index, source), self.index_copy(0, index, source)}) {
    const auto grads = torch::autograd::grad({result}, {source}, {at::ones({}, at::kComplexHalf)});
    CHECK(grads.at(0).dim() == 0);
    CHECK(grads.at(0).scalar_type() == at::kComplexHalf);
  }
}

TEST_CASE("determinants of empty matrices and of single numbers have gradients", "[derivatives]") {
  const auto gradient = [](const at::Tensor& A, bool create_graph) {
    const at::Tensor det = at::linalg_det(A);
    return torch::autograd::grad({det}, {A}, {at::ones_like(det)}, std::nullopt, create_graph)[0];
  };
  const at::Tensor empty = at::ones({3, 0, 0}, at::kDouble).requires_grad_();
  CHECK(gradient(empty, false).sizes() == empty.sizes());
  const at::Tensor number = at::zeros({2, 1, 1}, at::kDouble).requires_grad_();
  const at::Tensor slope = gradient(number, true);
  CHECK(slope.equal(at::ones({2, 1, 1}, at::kDouble)));
  CHECK_FALSE(slope.requires_grad()); // it does not depend on the number
}

TEST_CASE("a value at a bound of clamp has PyTorch's gradient", "[derivatives]") {
  const double nan = std::nan("");
  const auto gradients = [](const std::vector<at::Tensor>& given, const auto& f) {
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& tensor : given) {
      leaves.push_back(tensor.clone().requires_grad_());
    }
    return torch::autograd::grad({f(leaves).sum()}, leaves);
  };
  const auto row = [](std::vector<double> numbers) { return at::tensor(numbers, at::kDouble); };
  const at::Tensor x = row({-2, -1, 0, 1, 2, nan}), low = at::full({6}, -1.0, at::kDouble), high = -low;
  CHECK(gradients({x}, [](const auto& v) { return v[0].clamp(-1, 1); })[0].equal(row({0, 0, 1, 0, 0, 0})));
  CHECK(gradients({x}, [](const auto& v) { return v[0].clamp(-1, {}); })[0].equal(row({0, 0, 1, 1, 1, 0})));
  CHECK(gradients({x}, [](const auto& v) { return v[0].clamp({}, 1); })[0].equal(row({1, 1, 1, 0, 0, 0})));
  const auto both = [](const auto& v) { return at::clamp(v[0], v[1], v[2]); };
  const auto of_both = gradients({x, low, high}, both);
  CHECK(of_both[0].equal(row({0, 0.5, 1, 0.5, 0, 1})));
  CHECK(of_both[1].equal(row({1, 0.5, 0, 0, 0, 0})));
  CHECK(of_both[2].equal(row({0, 0, 0, 0.5, 1, 0})));
  const auto crossed = gradients({row({-1, 0, 1}), high.slice(0, 0, 3), low.slice(0, 0, 3)}, both);
  CHECK(crossed[0].equal(row({0, 0, 0})));
  CHECK(crossed[1].equal(row({0, 0, 0})));
  CHECK(crossed[2].equal(row({1, 1, 1})));
  const at::Tensor one = at::ones({3}, at::kDouble);
  const auto equal = gradients({row({0, 1, 2}), one, one}, both);
  CHECK(equal[0].equal(row({0, 1, 0})));
  CHECK(equal[1].equal(row({1, 0, 0})));
  CHECK(equal[2].equal(row({0, 0, 1})));
  const auto of_min = gradients({x, low}, [](const auto& v) { return at::clamp(v[0], v[1]); });
  CHECK(of_min[0].equal(row({0, 0.5, 1, 1, 1, 1})));
  CHECK(of_min[1].equal(row({1, 0.5, 0, 0, 0, 1})));
  const auto of_max =
      gradients({x, high}, [](const auto& v) { return at::clamp(v[0], std::optional<at::Tensor>(), v[1]); });
  CHECK(of_max[0].equal(row({1, 1, 1, 0.5, 0, 1})));
  CHECK(of_max[1].equal(row({0, 0, 0, 0.5, 1, 1})));
}
