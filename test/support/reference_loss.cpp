// Losses, and activations that are made of other operators.
#include <cmath>

#include "test/support/reference_array.h"

namespace test {

namespace {

constexpr int64_t kMean = 1;
constexpr int64_t kSum = 2;

Tensors reduced(const Array& losses, int64_t reduction) {
  if (reduction != kMean && reduction != kSum) {
    return {losses.tensor()};
  }
  Array out{Shape{}};
  for (const Complex value : losses.values) {
    out.values[0] += value;
  }
  if (reduction == kMean) {
    out.values[0] /= static_cast<double>(losses.values.size());
  }
  return {out.tensor()};
}

/// f(self, target) of each pair of elements, reduced as the argument at `position` says.
Tensors pairwise(const Stack& args, size_t position, const std::function<double(double, double)>& f) {
  Array losses(args.at(0));
  const Array target(args.at(1));
  for (size_t i = 0; i < losses.values.size(); ++i) {
    losses.values[i] = f(losses.values[i].real(), target.values[i].real());
  }
  return reduced(losses, args.at(position).toInt());
}

Tensors l1_loss(const Stack& args) {
  return pairwise(args, 2, [](double x, double y) { return std::abs(x - y); });
}

Tensors smooth_l1_loss(const Stack& args) {
  const double beta = args.at(3).toDouble();
  return pairwise(args, 2, [beta](double x, double y) {
    const double d = std::abs(x - y);
    return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
  });
}

Tensors huber_loss(const Stack& args) {
  const double delta = args.at(3).toDouble();
  return pairwise(args, 2, [delta](double x, double y) {
    const double d = std::abs(x - y);
    return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
  });
}

Tensors soft_margin_loss(const Stack& args) {
  return pairwise(args, 2, [](double x, double y) { return std::log(1 + std::exp(-x * y)); });
}

bool given(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined();
}

/// binary_cross_entropy(self, target, weight, reduction)
Tensors binary_cross_entropy(const Stack& args) {
  Array losses(args.at(0));
  const Array target(args.at(1));
  for (size_t i = 0; i < losses.values.size(); ++i) {
    const double p = losses.values[i].real(), y = target.values[i].real();
    losses.values[i] = -y * std::log(p) - (1 - y) * std::log(1 - p);
    if (given(args.at(2))) {
      losses.values[i] *= Array(args[2]).values[i];
    }
  }
  return reduced(losses, args.at(3).toInt());
}

/// binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)
Tensors binary_cross_entropy_with_logits(const Stack& args) {
  Array losses(args.at(0));
  const Array target(args.at(1));
  for (size_t i = 0; i < losses.values.size(); ++i) {
    const double p = 1 / (1 + std::exp(-losses.values[i].real())), y = target.values[i].real();
    const double positive = given(args.at(3)) ? Array(args[3]).values[i].real() : 1;
    losses.values[i] = -positive * y * std::log(p) - (1 - y) * std::log(1 - p);
    if (given(args.at(2))) {
      losses.values[i] *= Array(args[2]).values[i];
    }
  }
  return reduced(losses, args.at(4).toInt());
}

/// kl_div(self, target, reduction, *, log_target)
Tensors kl_div(const Stack& args) {
  const bool log_target = args.at(3).toBool();
  return pairwise(
      args, 2, [log_target](double x, double y) { return log_target ? std::exp(y) * (y - x) : y * (std::log(y) - x); });
}

/// poisson_nll_loss(input, target, log_input, full, eps, reduction), without the constant terms of `full`
Tensors poisson_nll_loss(const Stack& args) {
  const bool log_input = args.at(2).toBool();
  const double eps = args.at(4).toDouble();
  return pairwise(
      args, 5, [=](double x, double y) { return log_input ? std::exp(x) - y * x : x - y * std::log(x + eps); });
}

/// hinge_embedding_loss(self, target, margin, reduction) of targets 1 and -1
Tensors hinge_embedding_loss(const Stack& args) {
  const double margin = args.at(2).toDouble();
  return pairwise(args, 3, [margin](double x, double y) { return y > 0 ? x : std::max(0.0, margin - x); });
}

/// margin_ranking_loss(input1, input2, target, margin, reduction)
Tensors margin_ranking_loss(const Stack& args) {
  Array losses(args.at(0));
  const Array other(args.at(1)), target(args.at(2));
  for (size_t i = 0; i < losses.values.size(); ++i) {
    losses.values[i] =
        std::max(0.0, (-target.values[i] * (losses.values[i] - other.values[i])).real() + args.at(3).toDouble());
  }
  return reduced(losses, args.at(4).toInt());
}

/// multi_margin_loss(self [R, C], target [R], p, margin, weight, reduction)
Tensors multi_margin_loss(const Stack& args) {
  const Array x(args.at(0)), target(args.at(1));
  Array losses(Shape{x.sizes[0]});
  for (int64_t row = 0; row < x.sizes[0]; ++row) {
    const auto chosen = static_cast<int64_t>(target.at({row}).real());
    const double weight = given(args.at(4)) ? Array(args[4]).at({chosen}).real() : 1;
    for (int64_t c = 0; c < x.sizes[1]; ++c) {
      if (c == chosen) {
        continue;
      }
      const double gap = args.at(3).toScalar().toDouble() - x.at({row, chosen}).real() + x.at({row, c}).real();
      losses.at({row}) +=
          weight * std::pow(std::max(0.0, gap), args.at(2).toScalar().toDouble()) / static_cast<double>(x.sizes[1]);
    }
  }
  return reduced(losses, args.at(5).toInt());
}

/// multilabel_margin_loss(self [R, C], target [R, C], reduction)
Tensors multilabel_margin_loss(const Stack& args) {
  const Array x(args.at(0)), target(args.at(1));
  Array losses(Shape{x.sizes[0]});
  for (int64_t row = 0; row < x.sizes[0]; ++row) {
    std::vector<int64_t> labels;
    for (int64_t k = 0; k < x.sizes[1] && target.at({row, k}).real() >= 0; ++k) {
      labels.push_back(static_cast<int64_t>(target.at({row, k}).real()));
    }
    for (const int64_t label : labels) {
      for (int64_t c = 0; c < x.sizes[1]; ++c) {
        if (std::find(labels.begin(), labels.end(), c) == labels.end()) {
          losses.at({row}) +=
              std::max(0.0, 1 - (x.at({row, label}) - x.at({row, c})).real()) / static_cast<double>(x.sizes[1]);
        }
      }
    }
  }
  return reduced(losses, args.at(2).toInt());
}

// ---- activations --------------------------------------------------------------

template <class F>
Tensors elementwise(const Stack& args, F f) {
  Array self(args.at(0));
  for (Complex& value : self.values) {
    value = f(value.real());
  }
  return {self.tensor()};
}

Tensors log_sigmoid(const Stack& args) {
  return elementwise(args, [](double x) { return -std::log(1 + std::exp(-x)); });
}

Tensors celu(const Stack& args) {
  const double alpha = args.at(1).toScalar().toDouble();
  return elementwise(args, [alpha](double x) { return x > 0 ? x : alpha * (std::exp(x / alpha) - 1); });
}

Tensors selu(const Stack& args) {
  constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  return elementwise(args, [](double x) { return kScale * (x > 0 ? x : kAlpha * (std::exp(x) - 1)); });
}

Tensors relu6(const Stack& args) {
  return elementwise(args, [](double x) { return std::min(std::max(x, 0.0), 6.0); });
}

/// prelu(self [R, C, ...], weight [C] or [1])
Tensors prelu(const Stack& args) {
  Array self(args.at(0));
  const Array weight(args.at(1));
  for_each_index(self.sizes, [&](const Shape& index) {
    const Complex slope = weight.values.size() == 1 ? weight.values[0] : weight.at({index.at(1)});
    if (!(self.at(index).real() > 0)) {
      self.at(index) *= slope;
    }
  });
  return {self.tensor()};
}

} // namespace

const References& loss_references() {
  static const References references = {
      {"l1_loss", l1_loss},
      {"smooth_l1_loss", smooth_l1_loss},
      {"huber_loss", huber_loss},
      {"soft_margin_loss", soft_margin_loss},
      {"binary_cross_entropy", binary_cross_entropy},
      {"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
      {"kl_div", kl_div},
      {"poisson_nll_loss", poisson_nll_loss},
      {"hinge_embedding_loss", hinge_embedding_loss},
      {"margin_ranking_loss", margin_ranking_loss},
      {"multi_margin_loss", multi_margin_loss},
      {"multilabel_margin_loss", multilabel_margin_loss},
      {"log_sigmoid", log_sigmoid},
      {"celu", celu},
      {"selu", selu},
      {"relu6", relu6},
      {"prelu", prelu}};
  return references;
}

} // namespace test
