// What the cases of fuzz_modules draw: numbers that options take in earnest, and among them those that nobody would
// write.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/fuzz/random.h"

namespace fuzz::modules {

/// A case: it may do anything that a program could, and throws c10::Error at worst.
struct Case {
  std::string name;
  std::function<void(Random&)> run;
};
void add_layers(std::vector<Case>& cases);
void add_functions(std::vector<Case>& cases);
void add_training(std::vector<Case>& cases);
void add_values(std::vector<Case>& cases);

inline bool flag(Random& r) {
  return r.chance(50);
}
inline int64_t odd_integer(Random& r) {
  constexpr int64_t kOdd[] = {
      0,
      -1,
      -2,
      100,
      int64_t{1} << 20,
      int64_t{1} << 31,
      int64_t{1} << 40,
      int64_t{1} << 62,
      std::numeric_limits<int64_t>::max(),
      std::numeric_limits<int64_t>::min()};
  return r.pick(kOdd);
}
/// A size: mostly 1 to 6.
inline int64_t size(Random& r) {
  return r.chance(95) ? r.between(1, 6) : odd_integer(r);
}
/// A padding, a dimension, a place: mostly 0 to 2.
inline int64_t small(Random& r) {
  return r.chance(92) ? r.between(0, 2) : odd_integer(r);
}
inline double number(Random& r) {
  constexpr double kOdd[] = {
      0.0,
      -0.0,
      1.0,
      -1.0,
      2.0,
      1e-300,
      1e300,
      1e19,
      std::numeric_limits<double>::infinity(),
      -std::numeric_limits<double>::infinity(),
      std::numeric_limits<double>::quiet_NaN()};
  return r.chance(75) ? r.uniform(0, 1) : r.pick(kOdd);
}
inline std::vector<int64_t> sizes(Random& r, int64_t most = 3) {
  std::vector<int64_t> result(r.below(static_cast<size_t>(most) + 1));
  for (int64_t& n : result) {
    n = size(r);
  }
  return result;
}
template <size_t D>
torch::ExpandingArray<D> array(Random& r, int64_t (*draw)(Random&)) {
  std::array<int64_t, D> result;
  const int64_t same = draw(r);
  for (int64_t& n : result) {
    n = r.chance(80) ? same : draw(r);
  }
  return result;
}
template <class T>
std::optional<T> maybe(Random& r, T value) {
  return flag(r) ? std::optional<T>(std::move(value)) : std::nullopt;
}

inline torch::Dtype dtype(Random& r) {
  constexpr torch::Dtype kOthers[] = {torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong,
                                      torch::kInt,    torch::kByte, torch::kBool,     torch::kComplexFloat};
  return r.chance(85) ? torch::kFloat : r.pick(kOthers);
}
/// Values of these sizes, now and then placed oddly, with NaN among them, or without data.
inline torch::Tensor tensor_of(Random& r, std::vector<int64_t> sizes, torch::Dtype type) {
  torch::Tensor result = torch::empty(sizes, torch::kFloat).uniform_(-2, 2).to(type);
  if (r.chance(10) && result.dim() >= 2) {
    result = result.transpose(0, -1).contiguous().transpose(0, -1);
  }
  if (r.chance(4) && result.dim() >= 1) {
    result = result.select(0, 0).expand_as(result);
  }
  if (r.chance(3) && result.is_floating_point()) {
    result.view_as(result).fill_(std::numeric_limits<double>::quiet_NaN());
  }
  if (r.chance(2)) {
    result = result.to(torch::kMeta);
  }
  if (flag(r) && (result.is_floating_point() || result.is_complex())) {
    result.requires_grad_();
  }
  return result;
}
/// A tensor of `dims` dimensions (of any number now and then), with `channels` at dimension 1 or the last where it is
/// asked for.
inline torch::Tensor input(Random& r, int64_t dims, std::optional<int64_t> channels = {}, int64_t channel_dim = 1) {
  if (r.chance(1)) {
    return {};
  }
  if (r.chance(6)) {
    dims = r.between(0, 6);
  }
  std::vector<int64_t> shape(dims);
  for (int64_t& n : shape) {
    n = r.chance(96) ? r.between(1, 9) : 0;
  }
  if (channel_dim < 0) {
    channel_dim += dims;
  }
  if (channels && channel_dim >= 0 && channel_dim < dims && r.chance(92) && *channels >= 0 && *channels < 100) {
    shape[channel_dim] = *channels;
  }
  return tensor_of(r, shape, dtype(r));
}
/// Positions below `limit`, with others among them now and then.
inline torch::Tensor positions(Random& r, std::vector<int64_t> sizes, int64_t limit) {
  torch::Tensor result =
      torch::randint(limit > 0 && limit < (int64_t{1} << 40) ? limit : 1, sizes, flag(r) ? torch::kLong : torch::kInt);
  if (r.chance(8) && result.numel() > 0) {
    result.view({-1})[0] = odd_integer(r) % 1000000;
  }
  return r.chance(90) ? result.to(torch::kLong) : result;
}

/// Goes back through what came out, as training would.
inline void differentiate(const torch::Tensor& result) {
  if (result.defined() && result.requires_grad()) {
    (result.is_complex() ? torch::real(result) : result).sum().backward();
  }
}
template <class... Ts>
void differentiate(const std::tuple<Ts...>& results) {
  differentiate(std::get<0>(results));
}

} // namespace fuzz::modules
