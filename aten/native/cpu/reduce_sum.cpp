// sum, nansum, mean.
#include <aten/native/cpu/reduce_arithmetic.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/support/row_kernel.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

template <class T>
struct Sum {
  using In = T;
  using Acc = ArithmeticAcc<T>;
  Acc identity() const {
    return Acc(0);
  }
  Acc map(Acc x) const {
    return x;
  }
  Acc combine(Acc a, Acc b) const {
    return pointwise::add(a, b);
  }
};

template <class T>
struct NanSum : Sum<T> {
  using Acc = ArithmeticAcc<T>;
  Acc map(T x) const {
    const Acc value = static_cast<Acc>(x);
    return value == value ? value : Acc(0);
  }
};

void sum_over(const TensorBase& self, const DimMask& mask, const TensorBase& out, int64_t divisor = 1) {
  const TensorBase input = sum_input(self, out.scalar_type());
  const ReducePlan plan = plan_reduction(input, mask, out);
  if (input.scalar_type() == ScalarType::Bool) {
    // A bool is a byte that is 0 or 1.
    return fold(Sum<uint8_t>{}, plan, static_cast<const uint8_t*>(input.const_data_ptr()), Store<int64_t>(out));
  }
  if (input.scalar_type() == ScalarType::ComplexHalf && input.numel() == 0 && divisor == 1) {
    // A zero, whose four bytes are those of a float.
    return fold(Sum<float>{}, plan, static_cast<const float*>(input.const_data_ptr()), Store<float>(out));
  }
  dispatch("sum_cpu", input.scalar_type(), kIntegral | kFloating | kComplex, [&]<class T> {
    fold(Sum<T>{}, plan, input.const_data_ptr<T>(), Store<ArithmeticAcc<T>>(out, divisor));
  });
}

void mean_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  int64_t count = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    count *= mask[d] ? self.sizes()[d] : 1;
  }
  sum_over(self, mask, out, count);
}

} // namespace

void sum_kernel(
    const TensorBase& self, OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  sum_over(self, reduced_dims(dim, self.dim()), out);
}

void sum_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  sum_over(self, DimMask().set(), out);
}

void mean_kernel(
    const TensorBase& self, OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  mean_over(self, reduced_dims(dim, self.dim()), out);
}

void mean_all_kernel(const TensorBase& self, std::optional<ScalarType>, const TensorBase& out) {
  mean_over(self, DimMask().set(), out);
}

void nansum_kernel(
    const TensorBase& self, OptionalIntArrayRef dim, bool, std::optional<ScalarType>, const TensorBase& out) {
  const DimMask mask = reduced_dims(dim, self.dim());
  // An integer result sums the converted input, where NaN is some integer.
  if (!self.is_floating_point() || !c10::isFloatingType(out.scalar_type())) {
    return sum_over(self, mask, out);
  }
  arithmetic_reduction<NanSum>("nansum_cpu", kFloatDouble, wide_input(self, out.scalar_type()), mask, out);
}

namespace {

template <class T>
void sum_rows(const RowBlock& block, int64_t divisor) {
  const Sum<T> op;
  const WalkDims row{{block.size, 1, 0}};
  for (int64_t r = 0; r < block.rows; ++r) {
    const T* const x = reinterpret_cast<const T*>(block.inputs[0]) + r * block.size;
    const auto sum = block.size <= kRunInputs ? fold_run(op, x, block.size, 1) : fold_units(op, x, row, block.size);
    using Acc = ArithmeticAcc<T>;
    reinterpret_cast<T*>(block.outputs[0])[r] = static_cast<T>(divisor == 1 ? sum : sum / static_cast<Acc>(divisor));
  }
}

} // namespace

RowKernel sum_row_kernel(RowOperator op, c10::ScalarType dtype) {
  RowKernel kernel = nullptr;
  dispatch("sum_cpu", dtype, kFloating, [&]<class T> {
    kernel = op == RowOperator::Mean ? +[](const RowBlock& block) { sum_rows<T>(block, block.size); }
                                     : +[](const RowBlock& block) { sum_rows<T>(block, 1); };
  });
  return kernel;
}

} // namespace CPU_CAPABILITY
} // namespace at::native
