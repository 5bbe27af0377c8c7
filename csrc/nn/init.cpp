#include <csrc/nn/init.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace torch::nn::init {

namespace {

double fan_for(const Tensor& tensor, FanModeType mode) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return static_cast<double>(std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out);
}

bool warn_if_empty(const Tensor& tensor) {
  const bool empty = tensor.numel() == 0;
  if (empty) {
    TORCH_WARN("Initializing zero-element tensors is a no-op");
  }
  return empty;
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = _calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

double normal_cdf(double x) {
  return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0;
}

// A bound as a value that the tensor's dtype can hold.
double rounded_to(Dtype dtype, double value) {
  return at::scalar_tensor(value, at::TensorOptions().dtype(dtype)).item<double>();
}

void redraw_outside(
    Tensor& tensor, double mean, double std, double low, double high, const std::optional<Generator>& generator) {
  low = rounded_to(tensor.scalar_type(), low);
  high = rounded_to(tensor.scalar_type(), high);
  Tensor result = tensor.normal_(mean, std, generator);
  while (true) {
    const Tensor outside = result.lt(low).logical_or(result.gt(high));
    if (!outside.any().item<bool>()) {
      break;
    }
    result = at::where(outside, at::empty_like(result).normal_(mean, std, generator), result);
  }
  if (!result.is_same(tensor)) {
    tensor.copy_(result);
  }
}

// Von Neumann's rejection under the density's highest point in [low, high].
void keep_by_density(
    Tensor& tensor, double mean, double std, double low, double high, const std::optional<Generator>& generator) {
  const double mode = std::max(low, std::min(mean, high));
  const double log_peak = -0.5 * std::pow((mode - mean) / std, 2);
  // The density falls by a factor of e within some std of its peak, sooner far from the mean: about this part of the
  // draws stays.
  const double kept = std / std::max(1.0, std::abs(mode - mean) / std) / (high - low);
  TORCH_CHECK(
      !(kept < 1e-6), "trunc_normal_: a normal distribution with mean ", mean, " and std ", std,
      " has next to no values in [", low, ", ", high, "]; give a larger std or a narrower interval");
  Tensor candidates = at::empty_like(tensor);
  Tensor accept = at::empty_like(tensor);
  const auto rejected = [&] {
    candidates.sub_(mean).div_(std).pow_(2).mul_(-0.5).sub_(log_peak);
    return accept.uniform_(0, 1, generator).log_().gt(candidates);
  };
  tensor.uniform_(low, high, generator);
  candidates.copy_(tensor);
  Tensor pending = rejected();
  Tensor result = tensor;
  while (pending.any().item<bool>()) {
    candidates.uniform_(low, high, generator);
    result = at::where(pending, candidates, result);
    pending = at::where(pending, rejected(), pending);
  }
  if (!result.is_same(tensor)) {
    tensor.copy_(result);
  }
}

} // namespace

std::tuple<int64_t, int64_t> _calculate_fan_in_and_fan_out(const Tensor& tensor) {
  TORCH_CHECK(
      tensor.dim() >= 2,
      "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions; the tensor has ", tensor.dim());
  int64_t receptive_field = 1;
  for (int64_t dim = 2; dim < tensor.dim(); ++dim) {
    receptive_field *= tensor.size(dim);
  }
  return {tensor.size(1) * receptive_field, tensor.size(0) * receptive_field};
}

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) {
    return 5.0 / 3.0;
  }
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) {
    return std::sqrt(2.0);
  }
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity)) {
    return std::sqrt(2.0 / (1 + param * param));
  }
  return 1.0;
}

Tensor constant_(Tensor tensor, Scalar value) {
  c10::NoGradGuard no_grad;
  return tensor.fill_(value);
}

Tensor ones_(Tensor tensor) {
  return constant_(std::move(tensor), 1);
}

Tensor zeros_(Tensor tensor) {
  c10::NoGradGuard no_grad;
  return tensor.zero_();
}

Tensor eye_(Tensor matrix) {
  TORCH_CHECK(matrix.dim() == 2, "Only tensors with 2 dimensions are supported: eye_ got one of ", matrix.dim());
  c10::NoGradGuard no_grad;
  return matrix.copy_(at::eye(matrix.size(0), matrix.size(1), matrix.options()));
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  TORCH_CHECK(
      tensor.dim() >= 3 && tensor.dim() <= 5,
      "Only tensors with 3, 4, or 5 dimensions are supported: dirac_ got one of ", tensor.dim());
  TORCH_CHECK(
      groups > 0 && tensor.size(0) % groups == 0, "dirac_: dim 0 (size ", tensor.size(0),
      ") must be divisible by groups = ", groups);
  c10::NoGradGuard no_grad;
  tensor.zero_();
  // The middle of the kernel, as a matrix [out, in].
  Tensor middle = tensor;
  while (middle.dim() > 2) {
    middle = middle.select(2, middle.size(2) / 2);
  }
  const int64_t rows = tensor.size(0) / groups;
  for (int64_t group = 0; group < groups; ++group) {
    middle.narrow(0, group * rows, rows).diagonal().fill_(1);
  }
  return tensor;
}

Tensor uniform_(Tensor tensor, double low, double high, const std::optional<Generator>& generator) {
  c10::NoGradGuard no_grad;
  return tensor.uniform_(low, high, generator);
}

Tensor normal_(Tensor tensor, double mean, double std, const std::optional<Generator>& generator) {
  c10::NoGradGuard no_grad;
  return tensor.normal_(mean, std, generator);
}

Tensor trunc_normal_(
    Tensor tensor, double mean, double std, double low, double high, const std::optional<Generator>& generator) {
  TORCH_CHECK(
      std > 0 && low < high, "trunc_normal_: std must be positive and low < high; got std = ", std, ", low = ", low,
      ", high = ", high);
  if (tensor.is_meta()) {
    return tensor;
  }
  if (mean < low - 2 * std || mean > high + 2 * std) {
    TORCH_WARN(
        "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.");
  }
  c10::NoGradGuard no_grad;
  // Below this chance of a value inside, drawing again costs too much. The bound is PyTorch's, for the same stream.
  if (normal_cdf((high - mean) / std) - normal_cdf((low - mean) / std) > 0.3) {
    redraw_outside(tensor, mean, std, low, high, generator);
  } else {
    keep_by_density(tensor, mean, std, low, high, generator);
  }
  return tensor;
}

Tensor orthogonal_(Tensor tensor, double gain, const std::optional<Generator>& generator) {
  TORCH_CHECK(
      tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported: orthogonal_ got one of ", tensor.dim());
  if (tensor.numel() == 0 || tensor.is_meta()) {
    return tensor;
  }
  c10::NoGradGuard no_grad;
  const int64_t rows = tensor.size(0);
  const int64_t cols = tensor.numel() / rows;
  Tensor random = at::empty({rows, cols}, tensor.options().requires_grad(false)).normal_(0, 1, generator);
  if (rows < cols) {
    random.t_();
  }
  auto [q, r] = at::linalg_qr(random);
  // With a positive diagonal of R the factorization is unique, and Q uniform.
  q.mul_(at::diag(r).sign());
  if (rows < cols) {
    q.t_();
  }
  tensor.copy_(q.reshape(tensor.sizes()));
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std, const std::optional<Generator>& generator) {
  TORCH_CHECK(tensor.dim() == 2, "Only tensors with 2 dimensions are supported: sparse_ got one of ", tensor.dim());
  TORCH_CHECK(sparsity >= 0 && sparsity <= 1, "sparse_: sparsity must be in [0, 1], but is ", sparsity);
  if (tensor.is_meta()) {
    return tensor;
  }
  c10::NoGradGuard no_grad;
  const int64_t rows = tensor.size(0);
  const auto num_zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  tensor.normal_(0, std, generator);
  for (int64_t col = 0; col < tensor.size(1); ++col) {
    const Tensor zeroed = at::randperm(rows, at::kLong).narrow(0, 0, num_zeros).to(tensor.device());
    tensor.select(1, col).index_fill_(0, zeroed, 0);
  }
  return tensor;
}

Tensor xavier_normal_(Tensor tensor, double gain, const std::optional<Generator>& generator) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std, generator);
}

Tensor xavier_uniform_(Tensor tensor, double gain, const std::optional<Generator>& generator) {
  // U(-bound, bound) has standard deviation bound / sqrt(3).
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound, generator);
}

Tensor kaiming_normal_(
    Tensor tensor,
    double a,
    FanModeType mode,
    NonlinearityType nonlinearity,
    const std::optional<Generator>& generator) {
  if (warn_if_empty(tensor)) {
    return tensor;
  }
  const double std = calculate_gain(nonlinearity, a) / std::sqrt(fan_for(tensor, mode));
  return normal_(std::move(tensor), 0, std, generator);
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_normal_(std::move(tensor), a, mode, torch::kLeakyReLU);
}

Tensor kaiming_normal_(Tensor tensor, double a) {
  return kaiming_normal_(std::move(tensor), a, torch::kFanIn);
}

Tensor kaiming_uniform_(
    Tensor tensor,
    double a,
    FanModeType mode,
    NonlinearityType nonlinearity,
    const std::optional<Generator>& generator) {
  if (warn_if_empty(tensor)) {
    return tensor;
  }
  const double bound = std::sqrt(3.0) * (calculate_gain(nonlinearity, a) / std::sqrt(fan_for(tensor, mode)));
  return uniform_(std::move(tensor), -bound, bound, generator);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode) {
  return kaiming_uniform_(std::move(tensor), a, mode, torch::kLeakyReLU);
}

Tensor kaiming_uniform_(Tensor tensor, double a) {
  return kaiming_uniform_(std::move(tensor), a, torch::kFanIn);
}

} // namespace torch::nn::init
