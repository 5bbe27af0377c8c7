// Programs of random operators, views and writes, the same for the same seed.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <random>
#include <vector>

namespace test {

/// What a program may hold.
struct ProgramOptions {
  int length = 20;
  bool random_numbers = true;
  /// No operators whose derivatives are not finite or of which there is none.
  bool differentiable = false;
};

/// One run of a program over tensors. The choices depend on the seed and on shapes alone.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, ProgramOptions options) : random_(seed), options_(options) {}

  /// Gives some of what it made: fresh tensors, views of one another, inputs and views of inputs.
  std::vector<at::Tensor> run(const std::vector<at::Tensor>& inputs) {
    for (const at::Tensor& input : inputs) {
      // A leaf that requires grad may not be written to.
      add(input.requires_grad() && input.is_leaf() ? input * 1.5 : input);
    }
    for (int i = 0; i < options_.length; ++i) {
      step();
    }
    std::vector<at::Tensor> results;
    const int count = 1 + below(4);
    for (int i = 0; i < count; ++i) {
      results.push_back(i == 0 ? pool_.back().tensor : pick().tensor);
    }
    return results;
  }

 private:
  struct Entry {
    at::Tensor tensor;
    bool is_writable = true; // not where several elements are one
  };

  int below(int n) {
    return static_cast<int>(random_() % static_cast<uint32_t>(n));
  }
  void add(at::Tensor tensor, bool is_writable = true) {
    pool_.push_back({std::move(tensor), is_writable});
  }
  const Entry& pick() {
    // Rather what is new.
    const int size = static_cast<int>(pool_.size());
    return pool_[static_cast<size_t>(below(2) != 0 ? below(size) : size - 1 - below(std::min(size, 6)))];
  }
  double number() {
    return (below(41) - 20) / 8.0;
  }

  /// A tensor of the pool that fits `like` by broadcasting, or one that is made of it.
  at::Tensor fitting(const at::Tensor& like) {
    for (int attempt = 0; attempt < 6; ++attempt) {
      const at::Tensor other = pick().tensor;
      if (other.sizes() == like.sizes() || (other.dim() == 0 && like.dim() > 0)) {
        return other;
      }
    }
    return like.dim() > 0 && like.size(0) > 0 ? like.narrow(0, below(static_cast<int>(like.size(0))), 1) : like.sin();
  }

  void step() {
    const int kind = below(10);
    if (kind < 3) {
      make_view();
    } else if (kind < 6) {
      write();
    } else {
      compute();
    }
  }

  void compute() {
    const at::Tensor x = pick().tensor;
    switch (below(options_.random_numbers ? 16 : 14)) {
      case 0:
        return add(x.sin());
      case 1:
        return add(x.tanh());
      case 2:
        return add(x + number());
      case 3:
        return add(x * fitting(x));
      case 4:
        return add(x - fitting(x));
      case 5:
        return add(at::where(x > 0.25, x, x * number()));
      case 6:
        return add(x.dim() > 0 ? x.sum({below(static_cast<int>(x.dim()))}, below(2) != 0) : x.exp());
      case 7:
        return add(x.dim() > 0 ? x.softmax(-1) : x.sigmoid());
      case 8:
        return add(at::cat({x.reshape({-1}), fitting(x).reshape({-1})}).narrow(0, 0, x.numel()));
      case 9:
        return add(x.dim() == 2 ? x.mm(x.t()).tanh() : x.cos());
      case 10:
        return add(x.clone());
      case 11:
        return add(x.relu());
      case 12:
        return add(at::layer_norm(x.dim() > 0 ? x : x.unsqueeze(0), {x.dim() > 0 ? x.size(-1) : 1}));
      case 13:
        return add(at::zeros_like(x) + number());
      case 14:
        return add(at::dropout(x, 0.5, true));
      default:
        return add(x + at::randn(x.sizes()));
    }
  }

  void make_view() {
    const Entry entry = pick();
    const at::Tensor& x = entry.tensor;
    const int dims = static_cast<int>(x.dim());
    if (dims == 0) {
      return add(below(2) != 0 ? x.unsqueeze(0) : x.view({1, 1}), entry.is_writable);
    }
    const int dim = below(dims), size = static_cast<int>(x.size(dim));
    switch (below(14)) {
      case 0:
        return add(size > 0 ? x.select(dim, below(size)) : x.unsqueeze(dim), entry.is_writable);
      case 1:
        return add(x.slice(dim, below(size + 1) / 2, size, 1 + below(2)), entry.is_writable);
      case 2:
        return add(x.transpose(dim, below(dims)), entry.is_writable);
      case 3:
        return add(x.unsqueeze(below(dims + 1)), entry.is_writable);
      case 4:
        return add(x.squeeze(), entry.is_writable);
      case 5:
        return add(x.reshape({-1}), entry.is_writable);
      case 6:
        return add(x.is_contiguous() ? x.view({1, -1}) : x.permute(reversed(dims)), entry.is_writable);
      case 7:
        return add(dims >= 2 ? x.diagonal(below(2), 0, 1) : x.view_as(x), entry.is_writable);
      case 8:
        return add(x.unsqueeze(0).expand(prepended(2, x)), false);
      case 9: {
        const auto parts = x.chunk(2, dim);
        // Parts of one call may not be written to while gradients are recorded.
        return add(
            parts[static_cast<size_t>(below(static_cast<int>(parts.size())))],
            entry.is_writable && !options_.differentiable);
      }
      case 10:
        return size > 0
            ? add(x.unbind(dim)[static_cast<size_t>(below(size))], entry.is_writable && !options_.differentiable)
            : add(x.alias(), entry.is_writable);
      case 11:
        return add(options_.differentiable ? x.alias() : x.detach(), entry.is_writable);
      case 12:
        return add(size >= 2 ? x.unfold(dim, 2, 2) : x.narrow(dim, 0, size), entry.is_writable);
      default:
        return add(x.movedim(dim, 0), entry.is_writable);
    }
  }

  void write() {
    Entry entry = pick();
    for (int attempt = 0; attempt < 5 && !entry.is_writable; ++attempt) {
      entry = pick();
    }
    if (!entry.is_writable) {
      return compute();
    }
    const at::Tensor x = entry.tensor;
    switch (below(options_.random_numbers ? 18 : 15)) {
      case 0:
        x.add_(number());
        break;
      case 1:
        x.mul_(0.5);
        break;
      case 2:
        x.sin_();
        break;
      case 3:
        x.copy_(fitting(x).clone());
        break;
      case 4:
        x.add_(fitting(x).clone(), number());
        break;
      case 5:
        x.zero_();
        break;
      case 6:
        x.fill_(number());
        break;
      case 7:
        x.masked_fill_(x.detach() > 0.5, number());
        break;
      case 8:
        x.tanh_();
        break;
      case 9:
        x.mul_(fitting(x).clone());
        break;
      case 10:
        x.clamp_(-1.5, 1.5);
        break;
      case 11:
        if (x.dim() > 0 && x.size(0) > 0) {
          x.index_fill_(0, at::zeros({1}, at::kLong), number());
        }
        break;
      case 12:
        if (x.dim() > 0 && x.size(0) > 0) {
          x.index_put_({at::zeros({2}, at::kLong)}, at::ones({}), true);
        }
        break;
      case 13:
        x.lerp_(fitting(x).clone(), 0.25);
        break;
      case 14:
        x.relu_();
        break;
      case 15:
        x.normal_(0, 1);
        break;
      case 16:
        x.bernoulli_(0.5);
        break;
      default:
        x.uniform_(-1, 1);
        break;
    }
    if (below(4) == 0) {
      add(x, true);
    }
  }

  static std::vector<int64_t> reversed(int dims) {
    std::vector<int64_t> order;
    for (int i = dims - 1; i >= 0; --i) {
      order.push_back(i);
    }
    return order;
  }
  static std::vector<int64_t> prepended(int64_t first, const at::Tensor& x) {
    std::vector<int64_t> sizes{first};
    sizes.insert(sizes.end(), x.sizes().begin(), x.sizes().end());
    return sizes;
  }

  std::mt19937 random_;
  const ProgramOptions options_;
  std::vector<Entry> pool_;
};

/// Inputs for programs: dense, transposed, with gaps, and views of one another.
inline std::vector<at::Tensor> program_inputs(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); };
  std::vector<at::Tensor> inputs;
  const int64_t rows = 1 + below(4), columns = 1 + below(5);
  inputs.push_back(at::randn({rows, columns}));
  inputs.push_back(
      below(2) != 0 ? at::randn({columns, rows}).t() : at::randn({rows, 2 * columns}).slice(1, 0, 2 * columns, 2));
  inputs.push_back(at::randn({2, rows, columns}));
  if (below(4) == 0) {
    inputs.push_back(inputs[0]);
  }
  return inputs;
}

/// Copies with the strides, and with what shares memory sharing it.
inline std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t j = 0;
    while (!tensors[j].is_same(tensors[i])) {
      ++j;
    }
    if (j < i) {
      copies.push_back(copies[j]);
      continue;
    }
    copies.push_back(at::empty_strided(tensors[i].sizes(), tensors[i].strides(), tensors[i].options()));
    copies.back().copy_(tensors[i]);
  }
  return copies;
}

} // namespace test
