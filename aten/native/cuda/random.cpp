// Samplers of CUDA generators: checks, and the generator's part. See Note [The order of random numbers on CUDA].
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cuda/random.h>
#include <aten/native/cuda/random_multinomial.h>
#include <aten/native/random/integer_range.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace at::native {

namespace cuda {

RandomLaunch random_launch(std::int64_t n, int per_draw) {
  constexpr std::int64_t kThreads = 256;
  const cudaDeviceProp* device = at::cuda::getCurrentDeviceProperties();
  const std::int64_t most =
      std::int64_t{device->multiProcessorCount} * (device->maxThreadsPerMultiProcessor / kThreads);
  RandomLaunch launch;
  launch.blocks = static_cast<unsigned>(std::min(most, (n + kThreads - 1) / kThreads));
  launch.offset_increment = static_cast<std::uint64_t>(((n - 1) / (kThreads * launch.blocks * per_draw) + 1) * 4);
  return launch;
}

} // namespace cuda

namespace {

using cuda::Distribution;
using OptGenerator = std::optional<Generator>;

constexpr auto kRandomDtypes = at::kBooleans | at::kIntegral | at::kUnsigned | at::kFloating;

template <std::uint64_t Dtypes>
void check_dtype(const char* op, const Tensor& self, DtypeSet<Dtypes> set) {
  if (!set.contains(self.scalar_type())) {
    at::detail::dtype_not_supported(op, self.scalar_type(), Dtypes);
  }
}

void check_floating(const char* op, const Tensor& self) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()), op, "_ expects a floating point or complex tensor, got ",
      self.scalar_type());
}

/// Calls `launch` for the memory of self in its order, or for a dense temporary of the same order that is copied to it:
/// where self has gaps or not the dtype that is drawn.
template <class Launch>
Tensor& fill(Tensor& self, const OptGenerator& generator, ScalarType drawn, int per_draw, Launch launch) {
  at::assert_no_internal_overlap(self);
  if (self.numel() == 0) {
    return self;
  }
  const bool direct = self.is_non_overlapping_and_dense() && self.scalar_type() == drawn;
  const Tensor dense = direct ? self : at::empty_like(self, self.options().dtype(drawn));
  auto* impl = at::get_generator_or_default<CUDAGeneratorImpl>(generator, at::cuda::detail::getDefaultCUDAGenerator());
  const cuda::RandomLaunch grid = cuda::random_launch(dense.numel(), per_draw);
  PhiloxCudaState philox;
  {
    const std::lock_guard<std::mutex> lock(impl->mutex_);
    philox = impl->philox_cuda_state(grid.offset_increment);
  }
  launch(cuda::RandomTarget{
      dense.scalar_type(), dense.mutable_data_ptr(), dense.numel(), philox, grid.blocks,
      c10::cuda::getCurrentCUDAStream()});
  if (!direct) {
    self.copy_(dense);
  }
  return self;
}

Tensor& distribute(Tensor& self, const OptGenerator& generator, Distribution distribution, double a, double b = 0) {
  const ScalarType drawn = c10::isFloatingType(self.scalar_type()) ? self.scalar_type() : kFloat;
  const int per_draw = cuda::draws_64_bits(distribution, drawn) ? 2 : 4;
  return fill(self, generator, drawn, per_draw, [&](const cuda::RandomTarget& to) {
    cuda::launch_distribution(to, distribution, a, b);
  });
}

Tensor& integers(Tensor& self, const OptGenerator& generator, bool wide, std::uint64_t range, int64_t base) {
  return fill(self, generator, kLong, wide ? 2 : 4, [&](const cuda::RandomTarget& to) {
    cuda::launch_integers(to, wide, range, base);
  });
}

/// The greatest integer up to which a dtype holds all of them.
template <class T>
std::uint64_t full_range() {
  if constexpr (std::is_same_v<T, bool>) {
    return 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  } else {
    return std::uint64_t{1} << std::numeric_limits<T>::digits;
  }
}

std::uint64_t full_range_of(const Tensor& self) {
  std::uint64_t range = 0;
  dispatch("random_", self.scalar_type(), kRandomDtypes, [&]<class T> { range = full_range<T>(); });
  return range;
}

// Ranges from here on draw 64 bits, where the bias of the remainder would show.
constexpr std::uint64_t kWideRange = std::uint64_t{1} << 28;

} // namespace

// ---- integers ----------------------------------------------------------------------------

Tensor& random_cuda(Tensor& self, OptGenerator generator) {
  check_dtype("random_", self, kRandomDtypes);
  const ScalarType dtype = self.scalar_type();
  const bool wide = dtype == kDouble || dtype == kLong || dtype == kUInt64;
  const std::uint64_t most = full_range_of(self);
  return integers(self, generator, wide, most == ~std::uint64_t{0} ? most : most + 1, 0);
}

Tensor& random_from_cuda(Tensor& self, int64_t from, std::optional<int64_t> to, OptGenerator generator) {
  check_dtype("random_", self, kRandomDtypes);
  const auto [first, range] = random_integer_range(self.scalar_type(), from, to);
  return integers(self, generator, range >= kWideRange || range == 0, range, first);
}

Tensor& random_to_cuda(Tensor& self, int64_t to, OptGenerator generator) {
  return random_from_cuda(self, 0, to, std::move(generator));
}

// ---- reals -------------------------------------------------------------------------------

Tensor& uniform_cuda(Tensor& self, double from, double to, OptGenerator generator) {
  if (self.is_complex()) {
    Tensor parts = at::view_as_real(self);
    uniform_cuda(parts, from, to, std::move(generator));
    return self;
  }
  check_floating("uniform", self);
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  dispatch("uniform_", self.scalar_type(), at::kFloating, [&]<class T> {
    TORCH_CHECK(
        to - from <= static_cast<double>(std::numeric_limits<T>::max()),
        "uniform_ expects to-from <= std::numeric_limits<", self.scalar_type(), ">::max(), but found to=", to,
        " and from=", from, " which result in to-from to exceed the limit");
  });
  return distribute(self, generator, Distribution::Uniform, from, to);
}

Tensor& normal_cuda(Tensor& self, double mean, double std, OptGenerator generator) {
  TORCH_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  if (self.is_complex()) {
    // Real and imaginary parts share the variance.
    Tensor parts = at::view_as_real(self);
    normal_cuda(parts, mean, std / std::sqrt(2.0), std::move(generator));
    return self;
  }
  check_floating("normal", self);
  check_dtype("normal_", self, at::kFloating);
  return distribute(self, generator, Distribution::Normal, mean, std);
}

Tensor& log_normal_cuda(Tensor& self, double mean, double std, OptGenerator generator) {
  TORCH_CHECK(std > 0.0, "log_normal_ expects std > 0.0, but found std=", std);
  check_dtype("log_normal_", self, at::kFloating);
  return distribute(self, generator, Distribution::LogNormal, mean, std);
}

Tensor& exponential_cuda(Tensor& self, double lambd, OptGenerator generator) {
  TORCH_CHECK(lambd >= 0.0, "exponential_ expects lambda >= 0.0, but found lambda=", lambd);
  check_dtype("exponential_", self, at::kFloating);
  return distribute(self, generator, Distribution::Exponential, lambd);
}

Tensor& cauchy_cuda(Tensor& self, double median, double sigma, OptGenerator generator) {
  check_dtype("cauchy_", self, at::kFloating);
  return distribute(self, generator, Distribution::Cauchy, median, sigma);
}

Tensor& geometric_cuda(Tensor& self, double p, OptGenerator generator) {
  TORCH_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  check_dtype("geometric_", self, at::kIntegral | at::kFloating);
  return distribute(self, generator, Distribution::Geometric, p);
}

Tensor& bernoulli_float_cuda(Tensor& self, double p, OptGenerator generator) {
  TORCH_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  check_dtype("bernoulli_", self, kRandomDtypes);
  return distribute(self, generator, Distribution::Bernoulli, p);
}

Tensor& bernoulli_tensor_cuda(Tensor& self, const Tensor& p, OptGenerator generator) {
  check_dtype("bernoulli_", self, kRandomDtypes);
  TORCH_CHECK(
      c10::isFloatingType(p.scalar_type()), "bernoulli_ expects probabilities of a floating dtype, got ",
      p.scalar_type());
  const bool is_double = p.scalar_type() == kDouble;
  const Tensor given = p.to(self.device());
  // In the order of self's memory.
  Tensor chances = given;
  if (given.scalar_type() != (is_double ? kDouble : kFloat) || given.sizes() != self.sizes() ||
      given.strides() != self.strides() || !self.is_non_overlapping_and_dense()) {
    chances = at::empty_like(self, self.options().dtype(is_double ? kDouble : kFloat));
    chances.copy_(given);
  }
  return fill(self, generator, kFloat, 4, [&](const cuda::RandomTarget& to) {
    cuda::launch_bernoulli_each(to, is_double, chances.const_data_ptr());
  });
}

// ---- made of others --------------------------------------------------------------------------

namespace {

/// Each sample is found in the sums of the probabilities up to each category.
Tensor with_replacement(const Tensor& self, int64_t num_samples, const OptGenerator& generator) {
  const ScalarType dtype = self.scalar_type() == kDouble ? kDouble : kFloat;
  const Tensor whole = self.to(dtype).contiguous(), chances = whole / whole.sum(-1, /*keepdim=*/true),
               sums = chances.cumsum(-1);
  DimVector sizes(self.sizes().begin(), self.sizes().end());
  sizes.back() = num_samples;
  const Tensor result = at::empty(sizes, self.options().dtype(kLong));
  if (result.numel() == 0) {
    return result;
  }
  cuda::CategoryDraws draws;
  draws.categories = self.size(-1);
  draws.rows = result.numel() / num_samples;
  draws.samples = num_samples;
  draws.dtype = dtype;
  draws.chances = chances.const_data_ptr();
  draws.sums = sums.const_data_ptr();
  draws.out = result.mutable_data_ptr<int64_t>();
  draws.stream = c10::cuda::getCurrentCUDAStream();
  auto* impl = at::get_generator_or_default<CUDAGeneratorImpl>(generator, at::cuda::detail::getDefaultCUDAGenerator());
  {
    const std::lock_guard<std::mutex> lock(impl->mutex_);
    draws.philox = impl->philox_cuda_state(draws.offset_increment());
  }
  cuda::launch_category_draws(draws);
  return result;
}

} // namespace

Tensor multinomial_cuda(const Tensor& self, int64_t num_samples, bool replacement, OptGenerator generator) {
  TORCH_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(
      at::isFloatingType(self.scalar_type()),
      "multinomial only supports floating-point dtypes for input, got: ", self.scalar_type());
  const int64_t categories = self.size(-1);
  TORCH_CHECK(
      replacement || num_samples <= categories,
      "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  // The checks look at the values and so wait for the device, as PyTorch's do: once.
  const Tensor sums = self.sum(-1, /*keepdim=*/true);
  const Tensor valid =
      at::stack({at::logical_and(self >= 0, self < std::numeric_limits<double>::infinity()).all(), (sums > 0).all()})
          .cpu();
  TORCH_CHECK(valid[0].item<bool>(), "probability tensor contains either `inf`, `nan` or element < 0");
  TORCH_CHECK(valid[1].item<bool>(), "invalid multinomial distribution (sum of probabilities <= 0)");
  if (num_samples > 1 && replacement) {
    return with_replacement(self, num_samples, generator);
  }
  // The n largest of p / q with exponential q: sampling without replacement in one pass (Efraimidis and Spirakis).
  const Tensor keys = self / at::empty(self.sizes(), self.options()).exponential_(1, generator);
  return num_samples == 1 ? keys.argmax(-1, /*keepdim=*/true) : std::get<1>(keys.topk(num_samples, -1));
}

} // namespace at::native
