#include "functional_cases.h"

namespace cases {

namespace {

/// The same case with and without the in-place option, which writes to a copy that is not a leaf.
template <class Options, class Call>
void both(Cases& out, const std::string& name, Options options, Call call) {
  const Tensor x = wave({3, 4, 5});
  differentiable(
      out, name, [&](const Tensor& t) { return call(t, options); }, x);
  options.inplace(true);
  differentiable(
      out, name + " inplace",
      [&](const Tensor& t) {
        Tensor copy = t.clone();
        call(copy, options);
        return copy;
      },
      x);
}

} // namespace

Cases activation_cases() {
  Cases out;
  const Tensor x = wave({3, 4, 5});
  both(out, "elu", F::ELUFuncOptions(), [](auto t, auto o) { return F::elu(t, o); });
  both(out, "elu 0.4", F::ELUFuncOptions().alpha(0.4), [](auto t, auto o) { return F::elu(t, o); });
  both(out, "selu", F::SELUFuncOptions(), [](auto t, auto o) { return F::selu(t, o); });
  both(out, "celu", F::CELUFuncOptions().alpha(0.5), [](auto t, auto o) { return F::celu(t, o); });
  both(out, "hardtanh", F::HardtanhFuncOptions().min_val(-0.3).max_val(1.1), [](auto t, auto o) {
    return F::hardtanh(t, o);
  });
  both(out, "relu", F::ReLUFuncOptions(), [](auto t, auto o) { return F::relu(t, o); });
  both(out, "relu6", F::ReLU6FuncOptions(), [](auto t, auto o) { return F::relu6(t * 4, o); });
  both(out, "leaky_relu", F::LeakyReLUFuncOptions().negative_slope(0.42), [](auto t, auto o) {
    return F::leaky_relu(t, o);
  });
  both(out, "rrelu", F::RReLUFuncOptions().lower(0.1).upper(0.7), [](auto t, auto o) { return F::rrelu(t, o); });
  both(out, "threshold", F::ThresholdFuncOptions(0.5, 20.5), [](auto t, auto o) { return F::threshold(t, o); });

  differentiable(
      out, "hardshrink", [](const Tensor& t) { return F::hardshrink(t, 0.9); }, x);
  differentiable(
      out, "softshrink", [](const Tensor& t) { return F::softshrink(t, 0.6); }, x);
  differentiable(
      out, "tanhshrink", [](const Tensor& t) { return F::tanhshrink(t); }, x);
  differentiable(
      out, "softsign", [](const Tensor& t) { return F::softsign(t); }, x);
  differentiable(
      out, "logsigmoid", [](const Tensor& t) { return F::logsigmoid(t); }, x);
  differentiable(
      out, "silu", [](const Tensor& t) { return F::silu(t); }, x);
  differentiable(
      out, "mish", [](const Tensor& t) { return F::mish(t); }, x);
  differentiable(
      out, "gelu", [](const Tensor& t) { return F::gelu(t); }, x);
  differentiable(
      out, "gelu tanh", [](const Tensor& t) { return F::gelu(t, F::GELUFuncOptions().approximate("tanh")); }, x);
  differentiable(
      out, "glu", [](const Tensor& t) { return F::glu(t, 1); }, x);
  differentiable(
      out, "softplus",
      [](const Tensor& t) { return F::softplus(t, F::SoftplusFuncOptions().beta(0.5).threshold(0.6)); }, x);
  differentiable(
      out, "prelu", [](const Tensor& t) { return F::prelu(t, wave({4}, 1)); }, x);
  differentiable(
      out, "prelu weight", [&](const Tensor& t) { return F::prelu(x, t); }, wave({1}, 1));

  for (const int64_t dim : {0, 1, -1}) {
    const std::string at = " " + std::to_string(dim);
    differentiable(
        out, "softmax" + at, [&](const Tensor& t) { return F::softmax(t, dim); }, x);
    differentiable(
        out, "softmin" + at, [&](const Tensor& t) { return F::softmin(t, dim); }, x);
    differentiable(
        out, "log_softmax" + at, [&](const Tensor& t) { return F::log_softmax(t, dim); }, x);
  }
  out.push_back({"softmax dtype", F::softmax(x.to(torch::kFloat), F::SoftmaxFuncOptions(1).dtype(torch::kDouble))});
  out.push_back({"softmin dtype", F::softmin(indices({3, 4}, 5), F::SoftminFuncOptions(1).dtype(torch::kDouble))});
  out.push_back(
      {"log_softmax dtype", F::log_softmax(indices({3, 4}, 5), F::LogSoftmaxFuncOptions(0).dtype(torch::kDouble))});
  return out;
}

} // namespace cases
