// Llama 3's stretching: frequencies whose wavelength exceeds the context of training are divided by `factor`, those far
// below are left alone, between them is a ramp. YaRN (arXiv 2309.00071) does the same by the number of turns that a
// frequency makes within that context.
#include <csrc/llm/rotary.h>

#include <csrc/llm/cpu/attention_rows.h>
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace torch::llm {

namespace {

constexpr double kPi = 3.14159265358979323846;

double stretch_llama3(double frequency, const RopeConfig& config) {
  const auto context = static_cast<double>(config.original_max_position);
  const double wavelength = 2 * kPi / frequency;
  if (wavelength > context / config.low_freq_factor) {
    return frequency / config.factor;
  }
  if (wavelength < context / config.high_freq_factor) {
    return frequency;
  }
  const double share =
      (context / wavelength - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor);
  return (1 - share) * frequency / config.factor + share * frequency;
}

double stretch_yarn(double frequency, int64_t pair, const RopeConfig& config) {
  const auto dim = static_cast<double>(config.dim);
  // The pair that makes so many turns within the context of training.
  const auto pair_of = [&](double turns) {
    return dim * std::log(static_cast<double>(config.original_max_position) / (turns * 2 * kPi)) /
        (2 * std::log(config.theta));
  };
  double low = pair_of(config.beta_fast), high = pair_of(config.beta_slow);
  if (config.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  high = low == high ? high + 0.001 : high;
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency / config.factor * ramp + frequency * (1 - ramp);
}

double frequency_of(int64_t pair, const RopeConfig& config, const std::vector<double>& factors) {
  const double exponent = 2 * static_cast<double>(pair) / static_cast<double>(config.dim);
  const double factor = factors.empty() ? 1 : factors[static_cast<size_t>(pair)];
  const double frequency = std::pow(config.theta, -exponent) / factor;
  switch (config.scaling) {
    case RopeScaling::Linear:
      return frequency / config.factor;
    case RopeScaling::Llama3:
      return stretch_llama3(frequency, config);
    case RopeScaling::Yarn:
      return stretch_yarn(frequency, pair, config);
    case RopeScaling::None:
    case RopeScaling::LongRope:
      break;
  }
  return frequency;
}

at::Tensor frequencies_of(const RopeConfig& config, const std::vector<double>& factors) {
  at::Tensor result = at::empty({config.dim / 2}, at::kFloat);
  float* const values = result.mutable_data_ptr<float>();
  for (int64_t pair = 0; pair < config.dim / 2; ++pair) {
    values[pair] = static_cast<float>(frequency_of(pair, config, factors));
  }
  return result;
}

} // namespace

Rotary::Rotary(const RopeConfig& config)
    : dim_(config.dim),
      attention_factor_(config.attention_factor),
      original_max_position_(config.original_max_position),
      frequencies_(frequencies_of(config, config.frequency_factors)) {
  if (!config.long_factors.empty()) {
    long_frequencies_ = frequencies_of(config, config.long_factors);
  }
}

Rotary::Turn Rotary::angles(const at::Tensor& positions, const at::Tensor& reaches) const {
  const at::Tensor places = positions.to(at::kFloat).unsqueeze(1);
  at::Tensor turned = places * frequencies_;
  if (long_frequencies_.defined()) {
    turned = at::where(reaches.unsqueeze(1).gt(original_max_position_), places * long_frequencies_, turned);
  }
  return {turned.cos().mul_(attention_factor_), turned.sin().mul_(attention_factor_)};
}

at::Tensor Rotary::apply(const at::Tensor& x, const Turn& turn) const {
  at::Tensor wide = x.to(at::kFloat);
  wide = wide.stride(2) == 1 ? wide : wide.contiguous();
  const HeadRows rows{wide.mutable_data_ptr<float>(), wide.size(0), wide.size(1), wide.stride(0), wide.stride(1)};
  row_kernels().turn(rows, turn.cos.const_data_ptr<float>(), turn.sin.const_data_ptr<float>(), dim_ / 2);
  return wide.to(x.scalar_type());
}

} // namespace torch::llm
