// Distances between rows, and their gradients, for any norm.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/parallel/Parallel.h>

#include <c10/util/DimVector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

/// The kinds of norm: each sums up its own function of a difference.
enum class Norm { Zero, One, Two, Infinity, Other };

Norm norm_of(double p) {
  return p == 0 ? Norm::Zero : p == 1 ? Norm::One : p == 2 ? Norm::Two : std::isinf(p) ? Norm::Infinity : Norm::Other;
}

template <class T>
T distance(Norm norm, double p, const T* a, const T* b, int64_t n) {
  T sum = 0;
  switch (norm) {
    case Norm::Zero:
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < n; ++i) {
        const T difference = a[i] - b[i];
        sum += difference != difference ? difference : T(difference != 0);
      }
      return sum;
    case Norm::One:
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < n; ++i) {
        sum += std::abs(a[i] - b[i]);
      }
      return sum;
    case Norm::Two:
#pragma omp simd reduction(+ : sum)
      for (int64_t i = 0; i < n; ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
      }
      return std::sqrt(sum);
    case Norm::Infinity:
      for (int64_t i = 0; i < n; ++i) {
        const T size = std::abs(a[i] - b[i]);
        sum = size > sum || std::isnan(size) ? size : sum;
      }
      return sum;
    case Norm::Other:
      for (int64_t i = 0; i < n; ++i) {
        sum += std::pow(std::abs(a[i] - b[i]), T(p));
      }
      return std::pow(sum, T(1 / p));
  }
  return sum;
}

/// to += grad * d distance / d a
template <class T>
void add_gradient(Norm norm, double p, T grad, T dist, const T* a, const T* b, int64_t n, T* to) {
  const auto sign = [](T x) { return T(x > 0) - T(x < 0); };
  switch (norm) {
    case Norm::Zero:
      return;
    case Norm::One:
      for (int64_t i = 0; i < n; ++i) {
        to[i] += grad * sign(a[i] - b[i]);
      }
      return;
    case Norm::Two: {
      const T factor = dist == 0 ? T(0) : grad / dist;
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) {
        to[i] += factor * (a[i] - b[i]);
      }
      return;
    }
    case Norm::Infinity:
      for (int64_t i = 0; i < n; ++i) {
        const T difference = a[i] - b[i];
        to[i] += std::abs(difference) == dist ? grad * sign(difference) : T(0);
      }
      return;
    case Norm::Other: {
      const T factor = dist == 0 ? T(0) : grad / std::pow(dist, T(p - 1));
      for (int64_t i = 0; i < n; ++i) {
        const T difference = a[i] - b[i];
        // For p below one the slope at zero is infinite, and none is given.
        to[i] += difference == 0 ? T(0) : factor * sign(difference) * std::pow(std::abs(difference), T(p - 1));
      }
      return;
    }
  }
}

/// Where each matrix of `t` begins when t, contiguous, is read as if expanded to `batch`.
class Matrices {
 public:
  Matrices(const TensorBase& t, IntArrayRef batch) : batch_(batch.begin(), batch.end()) {
    const int64_t missing = static_cast<int64_t>(batch.size()) - (t.dim() - 2);
    for (int64_t d = 0; d < static_cast<int64_t>(batch.size()); ++d) {
      strides_.push_back(d < missing || t.size(d - missing) == 1 ? 0 : t.stride(d - missing));
    }
  }
  int64_t offset(int64_t index) const {
    int64_t at = 0;
    for (int64_t d = static_cast<int64_t>(batch_.size()) - 1; d >= 0; --d) {
      at += index % batch_[d] * strides_[d];
      index /= batch_[d];
    }
    return at;
  }

 private:
  c10::DimVector batch_, strides_;
};

int64_t grain(int64_t work) {
  return std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work));
}

} // namespace

void cdist_forward_kernel(
    const TensorBase& x1, const TensorBase& x2, double p, std::optional<int64_t>, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const TensorBase a = x1.contiguous(), b = x2.contiguous();
  const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
  const Matrices a_matrices(a, batch), b_matrices(b, batch), out_matrices(out, batch);
  const int64_t rows = x1.size(-2), others = x2.size(-2), cols = x1.size(-1);
  const Norm norm = norm_of(p);
  dispatch("cdist", out.scalar_type(), kFloatDouble, [&]<class T> {
    at::parallel_for(0, out.numel() / others, grain(others * cols), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / rows, row = i % rows;
        const T* from = a.const_data_ptr<T>() + a_matrices.offset(matrix) + row * cols;
        const T* other = b.const_data_ptr<T>() + b_matrices.offset(matrix);
        T* to = out.mutable_data_ptr<T>() + out_matrices.offset(matrix) + row * out.stride(-2);
        for (int64_t j = 0; j < others; ++j) {
          to[j * out.stride(-1)] = distance(norm, p, from, other + j * cols, cols);
        }
      }
    });
  });
}

void cdist_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& x1,
    const TensorBase& x2,
    double p,
    const TensorBase& cdist,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const TensorBase a = x1.contiguous(), b = x2.contiguous();
  const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
  const Matrices a_matrices(a, batch), b_matrices(b, batch), out_matrices(out, batch), grads(grad_output, batch),
      dists(cdist, batch);
  const int64_t rows = x1.size(-2), others = x2.size(-2), cols = x1.size(-1);
  const Norm norm = norm_of(p);
  dispatch("cdist_backward", out.scalar_type(), kFloatDouble, [&]<class T> {
    at::parallel_for(0, out.numel() / cols, grain(others * cols), [&](int64_t begin, int64_t end) {
      std::vector<T> sum(cols);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / rows, row = i % rows;
        const T* from = a.const_data_ptr<T>() + a_matrices.offset(matrix) + row * cols;
        const T* other = b.const_data_ptr<T>() + b_matrices.offset(matrix);
        const T* grad = grad_output.const_data_ptr<T>() + grads.offset(matrix) + row * grad_output.stride(-2);
        const T* dist = cdist.const_data_ptr<T>() + dists.offset(matrix) + row * cdist.stride(-2);
        std::fill(sum.begin(), sum.end(), T(0));
        for (int64_t j = 0; j < others; ++j) {
          add_gradient(
              norm, p, grad[j * grad_output.stride(-1)], dist[j * cdist.stride(-1)], from, other + j * cols, cols,
              sum.data());
        }
        T* to = out.mutable_data_ptr<T>() + out_matrices.offset(matrix) + row * out.stride(-2);
        for (int64_t c = 0; c < cols; ++c) {
          to[c * out.stride(-1)] = sum[c];
        }
      }
    });
  });
}

void pdist_forward_kernel(const TensorBase& self, double p, const TensorBase& out) {
  const TensorBase a = self.contiguous();
  const int64_t n = self.size(0), cols = self.size(1);
  const Norm norm = norm_of(p);
  dispatch("pdist", out.scalar_type(), kFloatDouble, [&]<class T> {
    const T* from = a.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    at::parallel_for(0, n, grain(n * cols / 2), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t at = i * n - i * (i + 1) / 2;
        for (int64_t j = i + 1; j < n; ++j, ++at) {
          to[at * out.stride(0)] = distance(norm, p, from + i * cols, from + j * cols, cols);
        }
      }
    });
  });
}

void pdist_backward_kernel(
    const TensorBase& grad_output, const TensorBase& self, double p, const TensorBase& pdist, const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  const TensorBase a = self.contiguous();
  const int64_t n = self.size(0), cols = self.size(1);
  const Norm norm = norm_of(p);
  dispatch("pdist_backward", out.scalar_type(), kFloatDouble, [&]<class T> {
    const T* from = a.const_data_ptr<T>();
    const T* grad = grad_output.const_data_ptr<T>();
    const T* dist = pdist.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    // Each row looks at all others, so that no two threads write to one.
    at::parallel_for(0, n, grain(n * cols), [&](int64_t begin, int64_t end) {
      std::vector<T> sum(cols);
      for (int64_t i = begin; i < end; ++i) {
        std::fill(sum.begin(), sum.end(), T(0));
        for (int64_t j = 0; j < n; ++j) {
          if (i == j) {
            continue;
          }
          const int64_t first = std::min(i, j), second = std::max(i, j);
          const int64_t at = first * n - first * (first + 1) / 2 + second - first - 1;
          add_gradient(
              norm, p, grad[at * grad_output.stride(0)], dist[at * pdist.stride(0)], from + i * cols, from + j * cols,
              cols, sum.data());
        }
        for (int64_t c = 0; c < cols; ++c) {
          to[i * out.stride(0) + c * out.stride(1)] = sum[c];
        }
      }
    });
  });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
