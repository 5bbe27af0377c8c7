// Operators under the names that libraries on GPUs have for them: the same numbers as the operators that programs call.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/random.h>
#include <aten/core/tensor_literal.h>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using at::Tensor;

bool close(const Tensor& got, const Tensor& want, double tolerance = 1e-9) {
  return got.sizes() == want.sizes() && at::allclose(got.to(at::kDouble), want.to(at::kDouble), tolerance, tolerance);
}

} // namespace

TEST_CASE("batch norm in steps over two processes is batch norm over both", "[aten][norm]") {
  at::manual_seed(3);
  for (const auto dtype : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16}) {
    const double tolerance = dtype == at::kDouble ? 1e-9 : dtype == at::kFloat ? 1e-4 : 5e-2;
    const double eps = 1e-3;
    const auto wide = dtype == at::kDouble ? at::kDouble : at::kFloat;
    const Tensor x = at::randn({5, 3, 2, 4}, at::kDouble).to(dtype),
                 grad = at::randn({5, 3, 2, 4}, at::kDouble).to(dtype);
    const Tensor weight = at::rand({3}, at::kDouble).to(wide), bias = at::rand({3}, at::kDouble).to(wide);
    Tensor run_mean = at::zeros({3}, wide), run_var = at::ones({3}, wide);
    const Tensor want_mean = run_mean.clone(), want_var = run_var.clone();
    const auto [want, save_mean, save_invstd] =
        at::native_batch_norm(x, weight, bias, want_mean, want_var, true, 0.1, eps);
    const auto [want_x, want_weight, want_bias] = at::native_batch_norm_backward(
        grad, x, weight, want_mean, want_var, save_mean, save_invstd, true, eps, {true, true, true});

    const std::vector<Tensor> parts = {x.slice(0, 0, 2), x.slice(0, 2)},
                              grads = {grad.slice(0, 0, 2), grad.slice(0, 2)};
    std::vector<Tensor> means, invstds;
    for (const Tensor& part : parts) {
      const auto [mean, invstd] = at::batch_norm_stats(part, eps);
      CHECK(mean.scalar_type() == wide);
      means.push_back(mean);
      invstds.push_back(invstd);
    }
    const Tensor counts = at::tensor({16, 24}).to(at::kInt);
    const auto [mean, invstd] = at::batch_norm_gather_stats_with_counts(
        x, at::stack(means), at::stack(invstds), run_mean, run_var, 0.1, eps, counts.to(wide));
    CHECK(close(mean, save_mean, tolerance));
    CHECK(close(invstd, save_invstd, tolerance));
    CHECK(close(run_mean, want_mean, tolerance));
    CHECK(close(run_var, want_var, tolerance));

    Tensor sum_dy, sum_dy_xmu, grad_weight, grad_bias;
    for (size_t i = 0; i < 2; ++i) {
      CHECK(close(
          at::batch_norm_elemt(parts[i], weight, bias, mean, invstd, eps),
          i == 0 ? want.slice(0, 0, 2) : want.slice(0, 2), tolerance));
      const auto [dy, dy_xmu, dw, db] =
          at::batch_norm_backward_reduce(grads[i], parts[i], mean, invstd, weight, true, true, true);
      sum_dy = i == 0 ? dy : sum_dy + dy;
      sum_dy_xmu = i == 0 ? dy_xmu : sum_dy_xmu + dy_xmu;
      grad_weight = i == 0 ? dw : grad_weight + dw;
      grad_bias = i == 0 ? db : grad_bias + db;
    }
    CHECK(close(grad_weight, want_weight, 10 * tolerance));
    CHECK(close(grad_bias, want_bias, 10 * tolerance));
    for (size_t i = 0; i < 2; ++i) {
      const Tensor dx =
          at::batch_norm_backward_elemt(grads[i], parts[i], mean, invstd, weight, sum_dy, sum_dy_xmu, counts);
      CHECK(dx.scalar_type() == dtype);
      CHECK(close(dx, i == 0 ? want_x.slice(0, 0, 2) : want_x.slice(0, 2), 10 * tolerance));
    }
  }
  // Equal counts, and nothing asked for.
  const Tensor x = at::randn({4, 2}, at::kDouble);
  const auto [m0, s0] = at::batch_norm_stats(x.slice(0, 0, 2), 1e-5);
  const auto [m1, s1] = at::batch_norm_stats(x.slice(0, 2), 1e-5);
  const auto [mean, invstd] =
      at::batch_norm_gather_stats(x, at::stack({m0, m1}), at::stack({s0, s1}), {}, {}, 0.1, 1e-5, 2);
  CHECK(close(mean, x.mean(0)));
  CHECK(close(invstd, (x.var(0, false) + 1e-5).rsqrt()));
  const auto [a, b, c, d] = at::batch_norm_backward_reduce(x, x, mean, invstd, {}, false, false, true);
  CHECK((!a.defined() && !b.defined() && !c.defined() && d.defined()));
}

TEST_CASE("convolutions and batch norm under cuDNN's names", "[aten][conv]") {
  at::manual_seed(4);
  const Tensor x = at::randn({2, 4, 6, 5}, at::kDouble), w = at::randn({6, 2, 3, 2}, at::kDouble),
               bias = at::randn({6}, at::kDouble);
  const Tensor want = at::conv2d(x, w, {}, {2, 1}, {1, 0}, {1, 1}, 2), biased = want + bias.view({6, 1, 1});
  CHECK(close(at::cudnn_convolution(x, w, {1, 0}, {2, 1}, {1, 1}, 2, false, false, true), want));
  CHECK(close(at::cudnn_convolution_relu(x, w, bias, {2, 1}, {1, 0}, {1, 1}, 2), biased.relu()));
  const Tensor z = at::randn(want.sizes(), at::kDouble);
  CHECK(
      close(at::cudnn_convolution_add_relu(x, w, z, 0.5, bias, {2, 1}, {1, 0}, {1, 1}, 2), (biased + 0.5 * z).relu()));
  CHECK(close(at::cudnn_convolution_add_relu(x, w, z, {}, {}, {2, 1}, {1, 0}, {1, 1}, 2), (want + z).relu()));
  const Tensor back = at::randn({4, 3, 3, 2}, at::kDouble);
  CHECK(close(
      at::cudnn_convolution_transpose(x, back, {1, 0}, {1, 0}, {2, 1}, {1, 1}, 2, false, true, false),
      at::conv_transpose2d(x, back, {}, {2, 1}, {1, 0}, {1, 0}, 2, {1, 1})));
  const Tensor deep = at::randn({8, 1, 3, 2}, at::kDouble), eight = at::randn({8}, at::kDouble);
  CHECK(close(
      at::_conv_depthwise2d(x, deep, {3, 2}, eight, {1, 2}, {1, 1}, {2, 1}),
      at::conv2d(x, deep, eight, {1, 2}, {1, 1}, {2, 1}, 4)));
  CHECK(close(
      at::_conv_depthwise2d(x[0], deep, {3, 2}, {}, {1, 1}, {0, 0}, {1, 1}),
      at::conv2d(x[0], deep, {}, {1, 1}, at::IntArrayRef({0, 0}), {1, 1}, 4)));
  const Tensor solid = at::randn({1, 3, 4, 5, 4}, at::kDouble), cube = at::randn({3, 1, 2, 2, 2}, at::kDouble);
  CHECK(close(
      at::conv_depthwise3d(solid, cube, {2, 2, 2}, {}, {1, 1, 1}, {1, 0, 1}, {1, 2, 1}),
      at::conv3d(solid, cube, {}, {1, 1, 1}, {1, 0, 1}, {1, 2, 1}, 3)));

  const Tensor four = at::rand({4}, at::kDouble), mean = at::zeros({4}, at::kDouble), var = at::ones({4}, at::kDouble),
               g = at::randn(x.sizes(), at::kDouble);
  const auto [out, save_mean, save_var, reserve] =
      at::cudnn_batch_norm(x, four, four, mean.clone(), var.clone(), true, 0.2, 1e-4);
  const auto [native, native_mean, native_invstd] = at::native_batch_norm(x, four, four, mean, var, true, 0.2, 1e-4);
  CHECK((close(out, native) && close(save_mean, native_mean) && close(save_var, native_invstd)));
  CHECK((reserve.numel() == 0 && reserve.scalar_type() == at::kByte));
  const auto [dx, dw, db] = at::cudnn_batch_norm_backward(x, g, four, mean, var, save_mean, save_var, 1e-4, reserve);
  const auto [nx, nw, nb] =
      at::native_batch_norm_backward(g, x, four, mean, var, save_mean, save_var, true, 1e-4, {true, true, true});
  CHECK((close(dx, nx) && close(dw, nw) && close(db, nb)));
}

TEST_CASE("attention for sequences of several lengths is for CUDA alone", "[aten][attention]") {
  const Tensor t = at::ones({1, 2, 3, 8}, at::kHalf);
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH((at::_flash_attention_forward(t, t, t, {}, {}, 2, 2, 0.0, false, false)), Contains("CUDA"));
  CHECK_THROWS_WITH((at::_efficient_attention_forward(t, t, t, {}, {}, {}, {}, {}, 0.0, 0)), Contains("CUDA"));
}

TEST_CASE(
    "attention on parts of one tensor lies as they do, so that heads are joined without a copy", "[aten][attention]") {
  const Tensor all = at::randn({2, 5, 3 * 4 * 8});
  const auto parts = all.split(4 * 8, 2);
  const auto heads = [&](size_t i) { return parts[i].view({2, 5, 4, 8}).transpose(1, 2); };
  const Tensor out = at::scaled_dot_product_attention(heads(0), heads(1), heads(2));
  CHECK(out.transpose(1, 2).is_contiguous());
  CHECK(close(
      out, at::scaled_dot_product_attention(heads(0).contiguous(), heads(1).contiguous(), heads(2).contiguous())));
}

TEST_CASE("flash attention and its gradients are those of attention", "[aten][attention]") {
  at::manual_seed(5);
  const Tensor q = at::randn({2, 4, 3, 8}, at::kDouble), k = at::randn({2, 4, 5, 8}, at::kDouble),
               v = at::randn({2, 4, 5, 8}, at::kDouble);
  for (const bool causal : {false, true}) {
    const auto [out, logsumexp, cum_q, cum_k, max_q, max_k, seed, offset, mask] =
        at::_scaled_dot_product_flash_attention(q, k, v, 0.0, causal, false, 0.3);
    CHECK(close(out, at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal, 0.3)));
    CHECK((!cum_q.defined() && !cum_k.defined() && max_q == 3 && max_k == 5 && mask.numel() == 0));
    const Tensor g = at::randn(out.sizes(), at::kDouble);
    const auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_backward(
        g, q, k, v, out, logsumexp, cum_q, cum_k, max_q, max_k, 0.0, causal, seed, offset, 0.3);
    const auto [wq, wk, wv, none] = at::_scaled_dot_product_efficient_attention_backward(
        g, q, k, v, Tensor(), out, logsumexp, seed, offset, 0.0, {true, true, true, false}, causal, 0.3);
    CHECK((close(dq, wq) && close(dk, wk) && close(dv, wv)));
    const auto [cudnn, sums, starts_q, starts_k, longest_q, longest_k, cudnn_seed, cudnn_offset, cudnn_mask] =
        at::_scaled_dot_product_cudnn_attention(q, k, v, {}, true, 0.0, causal, false, 0.3);
    CHECK(
        (close(cudnn, out) && close(sums.squeeze(-1), logsumexp) && sums.dim() == 4 && longest_q == 3 &&
         longest_k == 5));
    const auto [cq, ck, cv] = at::_scaled_dot_product_cudnn_attention_backward(
        g, q, k, v, cudnn, sums, cudnn_seed, cudnn_offset, Tensor(), starts_q, starts_k, 3, 5, 0.0, causal, 0.3);
    CHECK((close(cq, wq) && close(ck, wk) && close(cv, wv)));
    // By differences along one direction.
    const Tensor d = at::randn(q.sizes(), at::kDouble);
    const auto loss = [&](double h) {
      return (at::scaled_dot_product_attention(q + d * h, k, v, {}, 0.0, causal, 0.3) * g).sum().item<double>();
    };
    CHECK((dq * d).sum().item<double>() == Approx((loss(1e-6) - loss(-1e-6)) / 2e-6).epsilon(1e-5));
  }
}
