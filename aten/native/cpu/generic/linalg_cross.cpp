// Cross products.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/pointwise/math.h>
#include <aten/parallel/Parallel.h>

#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

#include <array>

namespace at::native {

namespace {

/// Offsets of the vectors of three tensors of which the first two are read as if expanded to the third.
class Vectors {
 public:
  Vectors(std::array<const TensorBase*, 3> tensors, int64_t dim) {
    const TensorBase& out = *tensors[2];
    for (int64_t d = 0; d < out.dim(); ++d) {
      if (d == dim) {
        continue;
      }
      Dim entry{out.size(d), {}};
      for (int k = 0; k < 3; ++k) {
        entry.strides[k] = tensors[k]->size(d) == 1 ? 0 : tensors[k]->stride(d);
      }
      dims_.push_back(entry);
    }
  }
  std::array<int64_t, 3> offsets(int64_t index) const {
    std::array<int64_t, 3> at{};
    for (size_t d = dims_.size(); d-- > 0;) {
      const int64_t place = index % dims_[d].size;
      index /= dims_[d].size;
      for (int k = 0; k < 3; ++k) {
        at[k] += place * dims_[d].strides[k];
      }
    }
    return at;
  }

 private:
  struct Dim {
    int64_t size;
    std::array<int64_t, 3> strides;
  };
  c10::SmallVector<Dim, 5> dims_;
};

} // namespace

void linalg_cross_kernel(const TensorBase& self, const TensorBase& other, int64_t dim, const TensorBase& out) {
  dim = c10::maybe_wrap_dim(dim, out.dim());
  const TensorBase x = self.is_conj() || self.is_neg() ? self.contiguous() : self;
  const TensorBase y = other.is_conj() || other.is_neg() ? other.contiguous() : other;
  const Vectors vectors({&x, &y, &out}, dim);
  dispatch("cross", out.scalar_type(), kAll - kBooleans, [&]<class T> {
    at::parallel_for(0, out.numel() / 3, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto [x_at, y_at, out_at] = vectors.offsets(i);
        const T* a = x.const_data_ptr<T>() + x_at;
        const T* b = y.const_data_ptr<T>() + y_at;
        T* to = out.mutable_data_ptr<T>() + out_at;
        const int64_t s = x.stride(dim), t = y.stride(dim), u = out.stride(dim);
        const T a0 = a[0], a1 = a[s], a2 = a[2 * s], b0 = b[0], b1 = b[t], b2 = b[2 * t];
        using pointwise::mul, pointwise::sub; // integers wrap
        to[0] = sub(mul(a1, b2), mul(a2, b1));
        to[u] = sub(mul(a2, b0), mul(a0, b2));
        to[2 * u] = sub(mul(a0, b1), mul(a1, b0));
      }
    });
  });
}

} // namespace at::native
