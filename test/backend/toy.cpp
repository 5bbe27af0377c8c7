#include "toy.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ExpandUtils.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace toy {
namespace {

std::atomic<int64_t> blocks{0};
std::atomic<int64_t> adds{0};
thread_local c10::DeviceIndex current = 0;

// Bits 48 to 62 of an address must be copies of bit 47: with one flipped, access faults.
constexpr uintptr_t kTag = uintptr_t{1} << 56;

void* on_device(void* host) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) ^ kTag);
}
void* on_host(const void* device) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device) ^ kTag);
}

// ---- 1. an allocator -----------------------------------------------------------

void release(void* host) {
  std::free(host);
  --blocks;
}

// A DeviceAllocator rather than an Allocator, so that at::accelerator can ask how much memory there is.
struct Allocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    const at::Device where(kToy, current);
    if (bytes == 0) {
      return {nullptr, where};
    }
    void* host = std::malloc(bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, host != nullptr, "toy: no memory for ", bytes, " bytes");
    ++blocks;
    return {on_device(host), host, &release, where};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(on_host(to), on_host(from), bytes);
  }
  bool initialized() override {
    return true;
  }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    stats.allocation[0].current = blocks;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override {}
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override {
    return {kMemory / 2, kMemory};
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(kToy, &allocator)

// ---- 2. a guard -----------------------------------------------------------------

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return kToy;
  }
  at::Device exchangeDevice(at::Device d) const override {
    const at::Device before = getDevice();
    setDevice(d);
    return before;
  }
  at::Device getDevice() const override {
    return {kToy, current};
  }
  void setDevice(at::Device d) const override {
    TORCH_CHECK(d.index() < kDevices, "toy: there is no device ", d, "; devices are 0 to ", kDevices - 1);
    uncheckedSetDevice(d);
  }
  void uncheckedSetDevice(at::Device d) const noexcept override {
    if (d.has_index()) {
      current = d.index();
    }
  }
  c10::Stream getStream(at::Device d) const override {
    return c10::Stream(c10::Stream::DEFAULT, d);
  }
  c10::Stream getDefaultStream(at::Device d) const override {
    return getStream(d);
  }
  c10::Stream exchangeStream(c10::Stream s) const override {
    return s;
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return kDevices;
  }
  void synchronizeDevice(c10::DeviceIndex) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// ---- 3. memory and copies -------------------------------------------------------

at::Tensor empty(
    c10::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> where,
    std::optional<bool>,
    std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(where);
  return at::Tensor(at::detail::empty_generic(
      size, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), at::dtype_or_default(dtype), format));
}

at::Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> where,
    std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(where);
  return at::Tensor(at::detail::empty_strided_generic(
      size, stride, &allocator, c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), at::dtype_or_default(dtype)));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& to, bool /*non_blocking*/) {
  inside(to).copy_(inside(self));
  return to;
}

at::Scalar local_scalar_dense(const at::Tensor& self) {
  return inside(self).item();
}

// ---- 4. kernels -------------------------------------------------------------------

at::Tensor& add_out(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha, at::Tensor& out) {
  ++adds;
  // Of its final size already, but where a program calls add_out itself.
  at::native::resize_output(out, at::infer_size(self.sizes(), other.sizes()));
  at::Tensor result = inside(out);
  at::add_out(result, inside(self), inside(other), alpha);
  return out;
}

// ---- random numbers ----------------------------------------------------------------

// A generator that counts: enough to see whose numbers were drawn.
struct Generator final : c10::GeneratorImpl {
  explicit Generator(c10::DeviceIndex index)
      : GeneratorImpl(at::Device(kToy, index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}
  static c10::DeviceType device_type() {
    return kToy;
  }

  void set_current_seed(uint64_t seed) override {
    seed_ = next = seed;
  }
  uint64_t current_seed() const override {
    return seed_;
  }
  uint64_t seed() override {
    set_current_seed(c10::detail::getNonDeterministicRandom());
    return seed_;
  }
  void set_offset(uint64_t offset) override {
    next = seed_ + offset;
  }
  uint64_t get_offset() const override {
    return next - seed_;
  }
  void set_state(const c10::TensorImpl&) override {
    TORCH_CHECK(false, "toy: no state");
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    TORCH_CHECK(false, "toy: no state");
  }
  Generator* clone_impl() const override {
    return new Generator(*this);
  }
  Generator(const Generator& other)
      : GeneratorImpl(other.device_, other.key_set_), next(other.next), seed_(other.seed_) {}

  uint64_t next = 0;

 private:
  uint64_t seed_ = 0;
};

at::Tensor& uniform(at::Tensor& self, double from, double to, std::optional<at::Generator> generator) {
  const at::Generator used =
      generator && generator->defined() ? *generator : at::globalContext().defaultGenerator(self.device());
  auto* numbers = at::check_generator<Generator>(used);
  const std::lock_guard<std::mutex> lock(numbers->mutex_);
  at::Tensor values = at::empty(self.sizes(), self.options().device(at::kCPU).dtype(at::kDouble));
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.mutable_data_ptr<double>()[i] = from + (to - from) * static_cast<double>(numbers->next++ % 100) / 100;
  }
  return self.copy_(values);
}

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override {
    return true;
  }
  bool isAvailable() const override {
    return true;
  }
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return true;
  }
  c10::DeviceIndex deviceCount() const override {
    return kDevices;
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    static const at::Generator generators[kDevices] = {
        at::make_generator<Generator>(0), at::make_generator<Generator>(1)};
    return generators[index < 0 ? current : index];
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return at::make_generator<Generator>(index);
  }
};

const bool ready = [] {
  c10::register_privateuse1_backend("toy");
  at::RegisterPrivateUse1HooksInterface(new Hooks());
  return true;
}();

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_local_scalar_dense", &local_scalar_dense);
  m.impl("add.out", &add_out);
  m.impl("uniform_", &uniform);
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

} // namespace

at::Device device(c10::DeviceIndex index) {
  return {kToy, index};
}

int64_t live_blocks() {
  return blocks;
}

int64_t add_calls() {
  return adds;
}

at::Tensor inside(const at::Tensor& t) {
  if (t.is_cpu()) {
    return t;
  }
  TORCH_CHECK(t.device().type() == kToy, "toy: a tensor on ", t.device());
  return at::from_blob(
      on_host(t.const_data_ptr()), t.sizes(), t.strides(), [keep = t](void*) {}, t.options().device(at::kCPU));
}

CpuFallback::CpuFallback()
    : registration(torch::Library::IMPL, "_", c10::DispatchKey::PrivateUse1, __FILE__, __LINE__) {
  registration.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

} // namespace toy
