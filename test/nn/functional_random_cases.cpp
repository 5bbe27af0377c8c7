#include "functional_cases.h"

namespace cases {

namespace {

/// Draws from the same state of the generator each time.
template <class Call>
void drawn(Cases& out, const std::string& name, const Tensor& x, Call call) {
  differentiable(
      out, name,
      [&](const Tensor& t) {
        torch::manual_seed(7);
        return call(t);
      },
      x);
}

} // namespace

Cases random_cases() {
  Cases out;
  const Tensor x = wave({2, 6, 5, 4}), x3 = wave({2, 4, 3, 2, 2});
  drawn(out, "dropout", x, [](auto t) { return F::dropout(t, F::DropoutFuncOptions().p(0.3)); });
  drawn(out, "dropout none", x, [](auto t) { return F::dropout(t, F::DropoutFuncOptions().p(0.3).training(false)); });
  drawn(out, "dropout inplace", x, [](auto t) {
    Tensor copy = t.clone();
    F::dropout(copy, F::DropoutFuncOptions().p(0.6).inplace(true));
    return copy;
  });
  drawn(out, "dropout2d", x, [](auto t) { return F::dropout2d(t); });
  drawn(out, "dropout2d one sample", wave({6, 5, 4}), [](auto t) { return F::dropout2d(t); });
  drawn(out, "dropout2d inplace", wave({6, 5, 4}), [](auto t) {
    Tensor copy = t.clone();
    F::dropout2d(copy, F::Dropout2dFuncOptions().inplace(true));
    return copy;
  });
  drawn(out, "dropout3d", x3, [](auto t) { return F::dropout3d(t, F::Dropout3dFuncOptions().p(0.4)); });
  drawn(out, "alpha_dropout", x, [](auto t) {
    return F::alpha_dropout(t, F::AlphaDropoutFuncOptions().p(0.3).training(true));
  });
  drawn(out, "alpha_dropout default", x, [](auto t) { return F::alpha_dropout(t); });
  drawn(out, "feature_alpha_dropout", x, [](auto t) {
    return F::feature_alpha_dropout(t, F::FeatureAlphaDropoutFuncOptions().training(true));
  });
  drawn(out, "rrelu training", x, [](auto t) { return F::rrelu(t, F::RReLUFuncOptions().training(true)); });
  drawn(out, "gumbel_softmax", x, [](auto t) { return F::gumbel_softmax(t, F::GumbelSoftmaxFuncOptions().tau(0.7)); });
  drawn(out, "gumbel_softmax hard", x, [](auto t) {
    return F::gumbel_softmax(t, F::GumbelSoftmaxFuncOptions().hard(true).dim(1));
  });
  drawn(out, "fractional_max_pool2d drawn", x, [](auto t) {
    return F::fractional_max_pool2d(
        t, F::FractionalMaxPool2dFuncOptions(2).output_size(torch::ExpandingArray<2>({3, 2})));
  });
  drawn(out, "fractional_max_pool3d drawn", wave({4, 5, 6, 7}), [](auto t) {
    return F::fractional_max_pool3d(
        t, F::FractionalMaxPool3dFuncOptions(2).output_ratio(torch::ExpandingArray<3, double>(0.5)));
  });
  const Tensor sequence = wave({4, 2, 6});
  for (const bool weights : {true, false}) {
    const auto options = F::MultiheadAttentionForwardFuncOptions(
                             6, 2, wave({18, 6}, 1), wave({18}, 2), {}, {}, false, 0.4, wave({6, 6}, 3), wave({6}, 4))
                             .need_weights(weights);
    drawn(out, weights ? "attention dropout" : "attention dropout fused", sequence, [&](auto t) {
      return std::get<0>(F::multi_head_attention_forward(t, t, t, options));
    });
  }
  return out;
}

} // namespace cases
