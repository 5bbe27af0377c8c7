// prod.
#include <aten/native/cpu/reduce_arithmetic.h>
#include <aten/native/pointwise/math.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct Prod {
  using In = T;
  using Acc = ArithmeticAcc<T>;
  Acc identity() const {
    return Acc(1);
  }
  // Complex products start from 1 + 0i, which makes NaN of an infinity, in each of PyTorch's partial products.
  Acc map(T x) const {
    if constexpr (c10::is_complex<Acc>::value) {
      return pointwise::mul(Acc(1), static_cast<Acc>(x));
    } else {
      return static_cast<Acc>(x);
    }
  }
  Acc combine(Acc a, Acc b) const {
    return pointwise::mul(a, b);
  }
};

void prod_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  const TensorBase input = wide_input(self, out.scalar_type());
  arithmetic_reduction<Prod>("prod_cpu", dtype_set<ScalarType::Long> | kFloatDouble | kComplex, input, mask, out);
}

} // namespace

void prod_kernel(const TensorBase& self, int64_t dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  prod_over(self, reduced_dim(dim, self.dim()), out);
}

void prod_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  prod_over(self, DimMask().set(), out);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
