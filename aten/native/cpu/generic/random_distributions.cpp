// Samplers of the gamma, binomial and Dirichlet distributions.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/cpu/generic/random_draws.h>
#include <aten/native/random/distributions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace at::native {

namespace {

/// The stream of a call. Numbers are drawn in double, whatever the samples' dtype.
class Draws {
 public:
  explicit Draws(const OptGenerator& generator) : generator_(generator) {}
  double uniform() {
    return uniform_sample(*generator_, 0.0, 1.0);
  }
  double normal() {
    return normal_sample(*generator_, 0.0, 1.0);
  }

 private:
  LockedGenerator generator_;
};

template <class T>
T at_least_tiny(double value) {
  return static_cast<T>(std::max(static_cast<double>(std::numeric_limits<T>::min()), value));
}

} // namespace

Tensor standard_gamma_cpu(const Tensor& self, std::optional<Generator> generator) {
  const Tensor alphas = self.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  dispatch("gamma", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* alpha = alphas.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    Draws draws(generator);
    for (int64_t i = 0; i < alphas.numel(); ++i) {
      to[i] = at_least_tiny<T>(gamma_sample<double>(draws, static_cast<double>(alpha[i])));
    }
  });
  return result;
}

Tensor binomial_cpu(const Tensor& count, const Tensor& prob, std::optional<Generator> generator) {
  const std::vector<int64_t> sizes = at::infer_size(count.sizes(), prob.sizes());
  TORCH_CHECK(
      count.sizes() == sizes, "output with shape ", count.sizes(), " doesn't match the broadcast shape ",
      IntArrayRef(sizes), ": binomial needs a count for each prob");
  TORCH_CHECK(
      count.scalar_type() == prob.scalar_type(), "Found dtype ", prob.scalar_type(), " but expected ",
      count.scalar_type(), ": binomial takes count and prob of one dtype");
  const Tensor counts = count.contiguous(), probs = prob.expand(sizes).contiguous();
  Tensor result = empty_contiguous(count.sizes(), count.scalar_type(), kCPU);
  dispatch("binomial_cpu", count.scalar_type(), at::kFloating, [&]<class T> {
    const T* n = counts.const_data_ptr<T>();
    const T* p = probs.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    Draws draws(generator);
    for (int64_t i = 0; i < counts.numel(); ++i) {
      to[i] = static_cast<T>(binomial_sample<double>(draws, static_cast<double>(n[i]), static_cast<double>(p[i])));
    }
  });
  return result;
}

Tensor sample_dirichlet_cpu(const Tensor& self, std::optional<Generator> generator) {
  TORCH_CHECK(self.dim() > 0, "_sample_dirichlet: self needs at least one dimension");
  const Tensor alphas = self.contiguous();
  Tensor result = empty_contiguous(self.sizes(), self.scalar_type(), kCPU);
  const int64_t width = self.size(-1);
  dispatch("dirichlet", self.scalar_type(), at::kFloating, [&]<class T> {
    const T* alpha = alphas.const_data_ptr<T>();
    T* to = result.mutable_data_ptr<T>();
    Draws draws(generator);
    std::vector<double> row(width);
    for (int64_t first = 0; first < alphas.numel(); first += width) {
      for (int64_t i = 0; i < width; ++i) {
        const double drawn = gamma_sample<double>(draws, static_cast<double>(alpha[first + i]));
        row[i] = std::max(std::numeric_limits<double>::min(), drawn);
      }
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (int64_t i = 0; i < width; ++i) {
        to[first + i] = at_least_tiny<T>(row[i] / sum);
      }
    }
  });
  return result;
}

} // namespace at::native
