// amax, amin, aminmax, and max and min over all elements.
#include <aten/native/cpu/reduce_extremum_op.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class Op>
struct StoreValue {
  Op op;
  typename Op::In* to;
  void operator()(int64_t offset, typename Op::Acc key) const {
    to[offset] = op.value(key);
  }
};

void extremum_over(const char* name, const TensorBase& self, bool largest, const DimMask& mask, const TensorBase& out) {
  const ReducePlan plan = plan_reduction(self, mask, out);
  with_extremum(name, self, largest, [&]<class Op>(const Op& op, const typename Op::In* in) {
    fold(op, plan, in, StoreValue<Op>{op, static_cast<typename Op::In*>(out.mutable_data_ptr())});
  });
}

} // namespace

void amax_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum_over("max_values_cpu", self, /*largest=*/true, reduced_dims(dim, self.dim()), out);
}

void amin_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum_over("min_values_cpu", self, /*largest=*/false, reduced_dims(dim, self.dim()), out);
}

void max_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum_over("max_all", self, /*largest=*/true, DimMask().set(), out);
}

void min_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum_over("min_all", self, /*largest=*/false, DimMask().set(), out);
}

void aminmax_kernel(
    const TensorBase& self, std::optional<int64_t> dim, bool, const TensorBase& min, const TensorBase& max) {
  const DimMask mask = reduced_dim(dim, self.dim());
  extremum_over("aminmax_cpu", self, /*largest=*/false, mask, min);
  extremum_over("aminmax_cpu", self, /*largest=*/true, mask, max);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
