// Meta forms of the samplers, and random factories.
#include <aten/Functions.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/support/OutArgument.h>
#include <aten/native/support/factory_options.h>
#include <aten/native/support/replace_output.h>

namespace at::native {

namespace {

using OptGenerator = std::optional<Generator>;
using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;
using OptFormat = std::optional<MemoryFormat>;

} // namespace

// ---- nothing to draw without data ------------------------------------------------------------

Tensor& random_meta(Tensor& self, OptGenerator) {
  return self;
}

Tensor& random_from_meta(Tensor& self, int64_t, std::optional<int64_t>, OptGenerator) {
  return self;
}

Tensor& random_to_meta(Tensor& self, int64_t, OptGenerator) {
  return self;
}

Tensor& uniform_meta(Tensor& self, double, double, OptGenerator) {
  return self;
}

Tensor& normal_meta(Tensor& self, double, double, OptGenerator) {
  return self;
}

Tensor& log_normal_meta(Tensor& self, double, double, OptGenerator) {
  return self;
}

Tensor& exponential_meta(Tensor& self, double, OptGenerator) {
  return self;
}

Tensor& cauchy_meta(Tensor& self, double, double, OptGenerator) {
  return self;
}

Tensor& geometric_meta(Tensor& self, double, OptGenerator) {
  return self;
}

Tensor& bernoulli_float_meta(Tensor& self, double, OptGenerator) {
  return self;
}

Tensor& bernoulli_tensor_meta(Tensor& self, const Tensor&, OptGenerator) {
  return self;
}

// ---- bernoulli ----------------------------------------------------------------------------------

Tensor bernoulli(const Tensor& self, OptGenerator generator) {
  return at::empty_like(self, at::MemoryFormat::Contiguous).bernoulli_(self, std::move(generator));
}

Tensor bernoulli_p(const Tensor& self, double p, OptGenerator generator) {
  return at::empty_like(self, at::MemoryFormat::Contiguous).bernoulli_(p, std::move(generator));
}

// ---- factories ------------------------------------------------------------------------------------

Tensor rand_generator(
    IntArrayRef size, OptGenerator generator, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).uniform_(0, 1, std::move(generator));
}

Tensor rand(IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::rand_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor& rand_generator_out(IntArrayRef size, OptGenerator generator, Tensor& out) {
  return fill_sized(out, size, [&](Tensor& to) { to.uniform_(0, 1, std::move(generator)); });
}

Tensor& rand_out(IntArrayRef size, Tensor& out) {
  return at::native::rand_generator_out(size, std::nullopt, out);
}

Tensor rand_like_generator(
    const Tensor& self,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::empty_like(self, dtype, layout, device, pin_memory, memory_format).uniform_(0, 1, std::move(generator));
}

Tensor rand_like(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::rand_like_generator(self, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}

Tensor randn_generator(
    IntArrayRef size, OptGenerator generator, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).normal_(0, 1, std::move(generator));
}

Tensor randn(IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::randn_generator(size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor& randn_generator_out(IntArrayRef size, OptGenerator generator, Tensor& out) {
  return fill_sized(out, size, [&](Tensor& to) { to.normal_(0, 1, std::move(generator)); });
}

Tensor& randn_out(IntArrayRef size, Tensor& out) {
  return at::native::randn_generator_out(size, std::nullopt, out);
}

Tensor randn_like_generator(
    const Tensor& self,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::empty_like(self, dtype, layout, device, pin_memory, memory_format).normal_(0, 1, std::move(generator));
}

Tensor randn_like(
    const Tensor& self,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::randn_like_generator(self, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_low_generator(
    int64_t low,
    int64_t high,
    IntArrayRef size,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).random_(low, high, std::move(generator));
}

Tensor randint_low(
    int64_t low,
    int64_t high,
    IntArrayRef size,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::native::randint_low_generator(low, high, size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor randint_generator(
    int64_t high,
    IntArrayRef size,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::native::randint_low_generator(0, high, size, std::move(generator), dtype, layout, device, pin_memory);
}

Tensor randint(int64_t high, IntArrayRef size, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::randint_low_generator(0, high, size, std::nullopt, dtype, layout, device, pin_memory);
}

Tensor& randint_low_generator_out(int64_t low, int64_t high, IntArrayRef size, OptGenerator generator, Tensor& out) {
  return fill_sized(out, size, [&](Tensor& to) { to.random_(low, high, std::move(generator)); });
}

Tensor& randint_low_out(int64_t low, int64_t high, IntArrayRef size, Tensor& out) {
  return at::native::randint_low_generator_out(low, high, size, std::nullopt, out);
}

Tensor& randint_generator_out(int64_t high, IntArrayRef size, OptGenerator generator, Tensor& out) {
  return at::native::randint_low_generator_out(0, high, size, std::move(generator), out);
}

Tensor& randint_out(int64_t high, IntArrayRef size, Tensor& out) {
  return at::native::randint_low_out(0, high, size, out);
}

Tensor randint_like_low_generator(
    const Tensor& self,
    int64_t low,
    int64_t high,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::empty_like(self, dtype, layout, device, pin_memory, memory_format)
      .random_(low, high, std::move(generator));
}

Tensor randint_like_low(
    const Tensor& self,
    int64_t low,
    int64_t high,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::randint_like_low_generator(
      self, low, high, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like_generator(
    const Tensor& self,
    int64_t high,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::randint_like_low_generator(
      self, 0, high, std::move(generator), dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like(
    const Tensor& self,
    int64_t high,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::randint_like_low(self, 0, high, dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like_tensor_generator(
    const Tensor& self,
    const Tensor& high,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  TORCH_CHECK(high.dim() == 0 && high.is_cpu(), "high must be a scalar tensor and on CPU");
  return at::native::randint_like_low_generator(
      self, 0, high.item<int64_t>(), std::move(generator), dtype, layout, device, pin_memory, memory_format);
}

Tensor randint_like_tensor(
    const Tensor& self,
    const Tensor& high,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    OptFormat memory_format) {
  return at::native::randint_like_tensor_generator(
      self, high, std::nullopt, dtype, layout, device, pin_memory, memory_format);
}

Tensor& randperm_out(int64_t n, Tensor& out) {
  return at::randperm_out(out, n, std::nullopt);
}

Tensor randperm_generator(
    int64_t n, OptGenerator generator, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  TORCH_CHECK(n >= 0, "Trying to create tensor with negative dimension ", n, ": [", n, "] (in randperm)");
  Tensor result = at::empty({n}, make_options(dtype.value_or(kLong), layout, device, pin_memory));
  return at::randperm_out(result, n, std::move(generator));
}

Tensor randperm(int64_t n, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  return at::native::randperm_generator(n, std::nullopt, dtype, layout, device, pin_memory);
}

// ---- normal with parameters ---------------------------------------------------------------------------

namespace {

void check_deviations(const Tensor& std) {
  TORCH_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(
      std.is_meta() || std.numel() == 0 || std.min().ge(0).item<bool>(), "normal expects all elements of std >= 0.0");
}

} // namespace

Tensor normal_tensor_float(const Tensor& mean, double std, OptGenerator generator) {
  return at::empty_like(mean, at::MemoryFormat::Contiguous).normal_(0, std, std::move(generator)).add_(mean);
}

Tensor& normal_tensor_float_out(const Tensor& mean, double std, OptGenerator generator, Tensor& out) {
  // The output's shape counts: the means are repeated over it.
  resize_output(out, at::infer_size_dimvector(mean.sizes(), out.sizes()));
  return out.normal_(0, std, std::move(generator)).add_(mean);
}

Tensor normal_float_tensor(double mean, const Tensor& std, OptGenerator generator) {
  check_deviations(std);
  return at::empty_like(std, at::MemoryFormat::Contiguous).normal_(0, 1, std::move(generator)).mul_(std).add_(mean);
}

Tensor normal_tensor_tensor(const Tensor& mean, const Tensor& std, OptGenerator generator) {
  check_deviations(std);
  const auto shape = at::broadcast_tensors({mean, std});
  return at::empty(shape[0].sizes(), mean.options()).normal_(0, 1, std::move(generator)).mul_(std).add_(mean);
}

Tensor& normal_float_float_out(double mean, double std, IntArrayRef size, OptGenerator generator, Tensor& out) {
  return fill_sized(out, size, [&](Tensor& to) { to.normal_(mean, std, std::move(generator)); });
}

Tensor normal_float_float(
    double mean,
    double std,
    IntArrayRef size,
    OptGenerator generator,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  return at::empty(size, make_options(dtype, layout, device, pin_memory)).normal_(mean, std, std::move(generator));
}

} // namespace at::native
