// any, all, count_nonzero, hash_tensor.
#include <aten/core/Tensor.h>
#include <aten/native/cpu/reduce_arithmetic.h>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

// Elements by their bits: true is any but zero in `mask`, which leaves out the sign of floating numbers.

// Whether some element is true, or with `negate` whether some is false: all is the negation of the latter.
template <class Bits>
struct Any {
  using In = Bits;
  using Acc = uint8_t;
  Bits mask;
  bool negate;
  Acc identity() const {
    return 0;
  }
  Acc map(Bits x) const {
    return ((x & mask) != 0) != negate;
  }
  Acc combine(Acc a, Acc b) const {
    return a | b;
  }
  bool done(Acc a) const {
    return a != 0;
  }
};

template <class Bits>
struct CountNonzero {
  using In = Bits;
  using Acc = int64_t;
  Bits mask;
  Acc identity() const {
    return 0;
  }
  Acc map(Bits x) const {
    return (x & mask) != 0;
  }
  Acc combine(Acc a, Acc b) const {
    return a + b;
  }
};

struct ExclusiveOr {
  using In = uint64_t;
  using Acc = uint64_t;
  Acc identity() const {
    return 0;
  }
  Acc map(uint64_t bits) const {
    return bits;
  }
  Acc combine(Acc a, Acc b) const {
    return a ^ b;
  }
};

// Calls f(pointer to the elements' bits, mask). Complex comes as bool.
template <class F>
void dispatch_truthy(const char* name, const TensorBase& input, const F& f) {
  const ScalarType dtype = input.scalar_type();
  const bool is_integral = c10::isIntegralType(dtype, /*includeBool=*/true);
  if (!is_integral) {
    dispatch(name, dtype, kFloating, [&]<class T> {}); // or throws
  }
  const auto run = [&]<class Bits>(Bits all) {
    f(static_cast<const Bits*>(input.const_data_ptr()), is_integral ? all : static_cast<Bits>(all >> 1));
  };
  switch (c10::elementSize(dtype)) {
    case 1:
      return run(uint8_t{0xff});
    case 2:
      return run(uint16_t{0xffff});
    case 4:
      return run(~uint32_t{0});
    default:
      return run(~uint64_t{0});
  }
}

TensorBase real_input(const TensorBase& self) {
  return self.is_complex() ? self.to(c10::TensorOptions().dtype(ScalarType::Bool)) : self;
}

// The result is bool, or uint8 for uint8 input: one byte either way.
void any_over(const char* name, const TensorBase& self, const DimMask& mask, bool negate, const TensorBase& out) {
  // An output of bytes makes bytes of the elements first, as in PyTorch: 0.5 is false then, unless it is alone.
  const bool to_bytes = out.scalar_type() == kByte && self.scalar_type() != kByte && self.numel() != 1;
  const TensorBase input = real_input(to_bytes ? Tensor(self).to(kByte) : self);
  const ReducePlan plan = plan_reduction(input, mask, out);
  auto* result = static_cast<uint8_t*>(out.mutable_data_ptr());
  dispatch_truthy(name, input, [&]<class Bits>(const Bits* in, Bits mask) {
    fold(Any<Bits>{mask, negate}, plan, in, [result, negate](int64_t offset, uint8_t value) {
      result[offset] = (value != 0) != negate;
    });
  });
}

void count_over(const TensorBase& self, const DimMask& mask, const TensorBase& out) {
  const TensorBase input = real_input(self);
  const ReducePlan plan = plan_reduction(input, mask, out);
  int64_t* result = out.mutable_data_ptr<int64_t>();
  dispatch_truthy("count_nonzero_cpu", input, [&]<class Bits>(const Bits* in, Bits mask) {
    fold(CountNonzero<Bits>{mask}, plan, in, [result](int64_t offset, int64_t value) { result[offset] = value; });
  });
}

// For any and all an empty list of dimensions, unlike none at all, reduces nothing.
DimMask listed_dims(OptionalIntArrayRef dim, int64_t ndim) {
  return dim.has_value() && dim->empty() ? DimMask() : reduced_dims(dim, ndim);
}

} // namespace

void any_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  any_over("any_cpu", self, reduced_dim(dim, self.dim()), /*negate=*/false, out);
}

void any_dims_kernel(const TensorBase& self, OptionalIntArrayRef dim, bool, const TensorBase& out) {
  any_over("any_cpu", self, listed_dims(dim, self.dim()), /*negate=*/false, out);
}

void any_all_kernel(const TensorBase& self, const TensorBase& out) {
  any_over("any_cpu", self, DimMask().set(), /*negate=*/false, out);
}

void all_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  any_over("all_cpu", self, reduced_dim(dim, self.dim()), /*negate=*/true, out);
}

void all_dims_kernel(const TensorBase& self, OptionalIntArrayRef dim, bool, const TensorBase& out) {
  any_over("all_cpu", self, listed_dims(dim, self.dim()), /*negate=*/true, out);
}

void all_all_kernel(const TensorBase& self, const TensorBase& out) {
  any_over("all_cpu", self, DimMask().set(), /*negate=*/true, out);
}

void count_nonzero_kernel(const TensorBase& self, std::optional<int64_t> dim, const TensorBase& out) {
  count_over(self, reduced_dim(dim, self.dim()), out);
}

void count_nonzero_dims_kernel(const TensorBase& self, IntArrayRef dim, const TensorBase& out) {
  count_over(self, reduced_dims(dim, self.dim()), out);
}

void hash_tensor_kernel(const TensorBase& self, IntArrayRef dim, bool, int64_t, const TensorBase& out) {
  const ScalarType wide = self.is_floating_point() ? kDouble : kLong;
  const TensorBase input = self.to(c10::TensorOptions().dtype(wide));
  const ReducePlan plan = plan_reduction(input, reduced_dims(dim, self.dim()), out);
  uint64_t* result = out.mutable_data_ptr<uint64_t>();
  fold(
      ExclusiveOr{}, plan, static_cast<const uint64_t*>(input.const_data_ptr()),
      [result](int64_t offset, uint64_t value) { result[offset] = value; });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
