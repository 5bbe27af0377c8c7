// amax, amin, aminmax, and max and min over all elements.
#include <aten/native/cpu/reduce_extremum_op.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <template <class> class Op>
void extremum_over(const char* name, const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  const ReducePlan plan = plan_reduction(self, mask, out);
  dispatch_ordered(name, self, [&]<class T>(const T* in) {
    T* result = static_cast<T*>(out.mutable_data_ptr());
    fold(Op<T>{}, plan, in, [result](int64_t offset, typename Op<T>::Acc value) { result[offset] = static_cast<T>(value); });
  });
}

} // namespace

void amax_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum_over<Largest>("max_values_cpu", self, reduced_dims(dim, self.dim()), out);
}

void amin_kernel(const TensorBase& self, IntArrayRef dim, bool, const TensorBase& out) {
  extremum_over<Smallest>("min_values_cpu", self, reduced_dims(dim, self.dim()), out);
}

void max_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum_over<Largest>("max_all", self, DimMask().set(), out);
}

void min_all_kernel(const TensorBase& self, const TensorBase& out) {
  extremum_over<Smallest>("min_all", self, DimMask().set(), out);
}

void aminmax_kernel(
    const TensorBase& self,
    std::optional<int64_t> dim,
    bool,
    const TensorBase& min,
    const TensorBase& max) {
  const DimMask mask = reduced_dim(dim, self.dim());
  extremum_over<Smallest>("aminmax_cpu", self, mask, min);
  extremum_over<Largest>("aminmax_cpu", self, mask, max);
}

} // namespace CPU_CAPABILITY
} // namespace at::native
