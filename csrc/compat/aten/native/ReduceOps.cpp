#include <csrc/compat/aten/native/ReduceOps.h>

#include <aten/core/OpMathType.h>
#include <aten/ops/var_mean.h>
#include <csrc/compat/aten/Dispatch.h>
#include <csrc/compat/aten/native/ReduceOpsUtils.h>
#include <csrc/compat/aten/native/cpu/Reduce.h>

#include <type_traits>

namespace at::native {

DEFINE_DISPATCH(sum_stub);
DEFINE_DISPATCH(prod_stub);
DEFINE_DISPATCH(mean_stub);
DEFINE_DISPATCH(min_values_stub);
DEFINE_DISPATCH(max_values_stub);
DEFINE_DISPATCH(and_stub);
DEFINE_DISPATCH(or_stub);

namespace {

template <class T>
bool not_a_number(const T& x) {
  return x != x;
}

// How binary_kernel_reduce folds numbers of type T by `op`; the result is divided by `count`.
template <class T, class Op>
struct Fold {
  using Acc = at::opmath_type<T>;
  Op op;
  int64_t count = 1;

  Acc reduce(Acc acc, T element, int64_t /*index*/) const {
    return op(acc, static_cast<Acc>(element));
  }
  Acc combine(Acc a, Acc b) const {
    return op(a, b);
  }
  Acc translate_idx(Acc acc, int64_t /*base*/) const {
    return acc;
  }
  T project(Acc acc) const {
    return static_cast<T>(count == 1 ? acc : acc / static_cast<Acc>(count));
  }
};

template <class T, class Op>
void fold(TensorIterator& iter, at::opmath_type<T> identity, Op op, int64_t count = 1) {
  binary_kernel_reduce(iter, Fold<T, Op>{op, count}, identity);
}

void sum_of_stub(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(kHalf, kBFloat16, iter.input_dtype(), "sum", [&] {
    fold<scalar_t>(iter, 0, [](auto a, auto b) { return static_cast<decltype(a)>(a + b); });
  });
}
void prod_of_stub(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(kHalf, kBFloat16, iter.input_dtype(), "prod", [&] {
    fold<scalar_t>(iter, 1, [](auto a, auto b) { return static_cast<decltype(a)>(a * b); });
  });
}
void mean_of_stub(TensorIterator& iter) {
  const int64_t count = iter.num_output_elements() == 0 ? 1 : iter.numel() / iter.num_output_elements();
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(kHalf, kBFloat16, iter.input_dtype(), "mean", [&] {
    fold<scalar_t>(
        iter, 0, [](auto a, auto b) { return static_cast<decltype(a)>(a + b); }, count);
  });
}
void min_of_stub(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, iter.input_dtype(), "min_values", [&] {
    fold<scalar_t>(iter, upper_bound<at::opmath_type<scalar_t>>(), [](auto a, auto b) {
      return not_a_number(a) || a < b ? a : b;
    });
  });
}
void max_of_stub(TensorIterator& iter) {
  AT_DISPATCH_ALL_TYPES_AND3(kHalf, kBFloat16, kBool, iter.input_dtype(), "max_values", [&] {
    fold<scalar_t>(iter, lower_bound<at::opmath_type<scalar_t>>(), [](auto a, auto b) {
      return not_a_number(a) || a > b ? a : b;
    });
  });
}

void check_truth(const TensorIterator& iter, const char* name) {
  TORCH_CHECK(
      iter.input_dtype() == kBool && iter.dtype() == kBool, name, ": input and output must be bool, got ",
      iter.input_dtype(), " and ", iter.dtype());
}
void and_of_stub(TensorIterator& iter) {
  check_truth(iter, "and_stub");
  fold<bool>(iter, true, [](bool a, bool b) { return a && b; });
}
void or_of_stub(TensorIterator& iter) {
  check_truth(iter, "or_stub");
  fold<bool>(iter, false, [](bool a, bool b) { return a || b; });
}

} // namespace

REGISTER_ALL_CPU_DISPATCH(sum_stub, &sum_of_stub)
REGISTER_ALL_CPU_DISPATCH(prod_stub, &prod_of_stub)
REGISTER_ALL_CPU_DISPATCH(mean_stub, &mean_of_stub)
REGISTER_ALL_CPU_DISPATCH(min_values_stub, &min_of_stub)
REGISTER_ALL_CPU_DISPATCH(max_values_stub, &max_of_stub)
REGISTER_ALL_CPU_DISPATCH(and_stub, &and_of_stub)
REGISTER_ALL_CPU_DISPATCH(or_stub, &or_of_stub)

std::tuple<Tensor&, Tensor&> var_mean_out(
    Tensor& result1, Tensor& result2, const Tensor& self, IntArrayRef dim, int64_t correction, bool keepdim) {
  return at::var_mean_outf(self, dim, Scalar(correction), keepdim, result1, result2);
}

} // namespace at::native
