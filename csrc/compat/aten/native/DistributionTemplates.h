// In-place samplers for backends and generators of one's own. A backend gives the kernels, each a class template over
// the generator's type whose operator() fills what it gets; these functions check the arguments and call it:
//
//   at::Tensor& cauchy_(at::Tensor& self, double median, double sigma, std::optional<at::Generator> gen) {
//     return at::native::templates::cauchy_impl_<MyCauchyKernel, MyGenerator>(self, median, sigma, gen);
//   }
//   TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("cauchy_", cauchy_); }
//
// csrc/compat/aten/native/cpu/DistributionTemplates.h has the kernels of the CPU for any generator.
#pragma once

#include <aten/Functions.h>
#include <aten/core/Generator.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/random/integer_range.h>
#include <aten/native/support/resize.h>
#include <csrc/compat/aten/Dispatch.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace at::native::templates {

// ---- random_
// ---------------------------------------------------------------------------------------------------------

template <template <typename> class random_kernel, typename RNG>
Tensor& random_impl(Tensor& self, std::optional<Generator> generator) {
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  random_kernel<RNG>()(iter, generator);
  return self;
}

/// Without `to` up to the largest integer of the dtype; all of int64 if `from` is the lowest one.
template <template <typename> class random_from_to_kernel, typename RNG>
Tensor& random_from_to_impl(Tensor& self, int64_t from, std::optional<int64_t> to, std::optional<Generator> generator) {
  const IntegerRange range = random_integer_range(self.scalar_type(), from, to);
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  if (range.count == 0) {
    random_from_to_kernel<RNG>()(iter, generator);
  } else {
    random_from_to_kernel<RNG>()(iter, range.count, range.first, generator);
  }
  return self;
}

// ---- normal
// ----------------------------------------------------------------------------------------------------------

namespace detail {

inline void check_normal_std(double std) {
  TORCH_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std);
}
inline void check_normal_std(const Tensor& std) {
  TORCH_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(
      std.numel() == 0 || std.is_meta() || std.min().ge(0).item<bool>(), "normal expects all elements of std >= 0.0");
}

} // namespace detail

template <template <typename> class normal_kernel, typename RNG>
Tensor& normal_impl_(Tensor& self, double mean, double std, std::optional<Generator> gen) {
  detail::check_normal_std(std);
  if (self.numel() == 0) {
    return self;
  }
  if (self.is_complex()) {
    // Real and imaginary parts share the variance.
    Tensor parts = at::view_as_real(self);
    normal_kernel<RNG>()(parts, mean, std / std::sqrt(2.0), gen);
  } else {
    normal_kernel<RNG>()(self, mean, std, gen);
  }
  return self;
}

template <template <typename> class normal_kernel, typename RNG>
Tensor& normal_out_impl(Tensor& output, const Tensor& mean, double std, std::optional<Generator> gen) {
  detail::check_normal_std(std);
  at::native::resize_output(output, at::infer_size(mean.sizes(), output.sizes()));
  normal_impl_<normal_kernel, RNG>(output, 0, std, gen);
  return output.add_(mean);
}

template <template <typename> class normal_kernel, typename RNG>
Tensor& normal_out_impl(Tensor& output, double mean, const Tensor& std, std::optional<Generator> gen) {
  detail::check_normal_std(std);
  at::native::resize_output(output, std.sizes());
  normal_impl_<normal_kernel, RNG>(output, 0, 1, gen);
  return output.mul_(std).add_(mean);
}

template <template <typename> class normal_kernel, typename RNG>
Tensor& normal_out_impl(Tensor& output, const Tensor& mean, const Tensor& std, std::optional<Generator> gen) {
  detail::check_normal_std(std);
  at::native::resize_output(output, at::infer_size(mean.sizes(), std.sizes()));
  normal_impl_<normal_kernel, RNG>(output, 0, 1, gen);
  return output.mul_(std).add_(mean);
}

template <template <typename> class normal_kernel, typename RNG>
Tensor normal_impl(const Tensor& mean, double std, std::optional<Generator> gen) {
  Tensor result = at::empty_like(mean, MemoryFormat::Contiguous);
  normal_out_impl<normal_kernel, RNG>(result, mean, std, gen);
  return result;
}

template <template <typename> class normal_kernel, typename RNG>
Tensor normal_impl(double mean, const Tensor& std, std::optional<Generator> gen) {
  Tensor result = at::empty_like(std, MemoryFormat::Contiguous);
  normal_out_impl<normal_kernel, RNG>(result, mean, std, gen);
  return result;
}

template <template <typename> class normal_kernel, typename RNG>
Tensor normal_impl(const Tensor& mean, const Tensor& std, std::optional<Generator> gen) {
  Tensor result = at::empty(at::infer_size(mean.sizes(), std.sizes()), mean.options(), MemoryFormat::Contiguous);
  normal_out_impl<normal_kernel, RNG>(result, mean, std, gen);
  return result;
}

// ---- other distributions of real numbers
// -----------------------------------------------------------------------------

template <template <typename> class uniform_kernel, typename RNG>
Tensor& uniform_impl_(Tensor& self, double from, double to, std::optional<Generator> generator) {
  if (self.is_complex()) {
    Tensor parts = at::view_as_real(self);
    uniform_impl_<uniform_kernel, RNG>(parts, from, to, generator);
    return self;
  }
  AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16, self.scalar_type(), "check_uniform_bounds", [&] {
    const auto highest = static_cast<double>(std::numeric_limits<scalar_t>::max());
    TORCH_CHECK(from >= -highest && from <= highest, "from is out of bounds for ", self.dtype().name());
    TORCH_CHECK(to >= -highest && to <= highest, "to is out of bounds for ", self.dtype().name());
    TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    TORCH_CHECK(
        to - from <= highest, "uniform_ expects to-from <= std::numeric_limits<", self.scalar_type(),
        ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
  });
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  uniform_kernel<RNG>()(iter, from, to, generator);
  return self;
}

template <template <typename> class log_normal_kernel, typename RNG>
Tensor& log_normal_impl_(Tensor& self, double mean, double std, std::optional<Generator> gen) {
  TORCH_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  log_normal_kernel<RNG>()(iter, mean, std, gen);
  return self;
}

template <template <typename> class geometric_kernel, typename RNG>
Tensor& geometric_impl_(Tensor& self, double p, std::optional<Generator> gen) {
  TORCH_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  geometric_kernel<RNG>()(iter, p, gen);
  return self;
}

template <template <typename> class exponential_kernel, typename RNG>
Tensor& exponential_impl_(Tensor& self, double lambda, std::optional<Generator> gen) {
  TORCH_CHECK(lambda > 0.0, "exponential_ expects lambda > 0.0, but found lambda=", lambda);
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  exponential_kernel<RNG>()(iter, lambda, gen);
  return self;
}

template <template <typename> class cauchy_kernel, typename RNG>
Tensor& cauchy_impl_(Tensor& self, double median, double sigma, std::optional<Generator> gen) {
  TORCH_CHECK(sigma > 0.0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  TORCH_CHECK(
      isFloatingType(self.scalar_type()),
      "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified ",
      self.dtype().name());
  if (self.numel() == 0) {
    return self;
  }
  auto iter = TensorIterator::borrowing_nullary_op(self);
  cauchy_kernel<RNG>()(iter, median, sigma, gen);
  return self;
}

// ---- bernoulli
// -------------------------------------------------------------------------------------------------------

template <template <typename> class bernoulli_tensor_kernel, typename RNG>
Tensor& bernoulli_impl_(Tensor& self, const Tensor& p_, std::optional<Generator> gen) {
  if (self.numel() == 0) {
    return self;
  }
  at::assert_no_internal_overlap(self);
  bernoulli_tensor_kernel<RNG>()(self, p_, gen);
  return self;
}

template <template <typename> class bernoulli_scalar_kernel, typename RNG>
Tensor& bernoulli_impl_(Tensor& self, double p, std::optional<Generator> gen) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  if (self.numel() == 0) {
    return self;
  }
  at::assert_no_internal_overlap(self);
  bernoulli_scalar_kernel<RNG>()(self, p, gen);
  return self;
}

template <template <typename> class bernoulli_tensor_kernel, typename RNG>
Tensor& bernoulli_out_impl(Tensor& result, const Tensor& self, std::optional<Generator> gen) {
  at::native::resize_output(result, self.sizes());
  return bernoulli_impl_<bernoulli_tensor_kernel, RNG>(result, self, gen);
}

} // namespace at::native::templates
