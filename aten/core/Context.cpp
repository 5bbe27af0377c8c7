#include <aten/core/Context.h>

#include <aten/core/DeviceAccelerator.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/pinned_memory.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/RecycledTensors.h>

#if defined(__x86_64__)
#include <pmmintrin.h>
#endif

namespace at {

namespace detail {
constinit std::atomic<bool> fill_uninitialized_memory{false};
} // namespace detail

Context::Context() = default;

Context& globalContext() {
  static Context context;
  return context;
}

Allocator* getCPUAllocator() {
  return c10::GetAllocator(c10::DeviceType::CPU);
}

// ---- devices -----------------------------------------------------------------------------

const Generator& Context::defaultGenerator(Device device) {
  if (device.is_cpu()) {
    return detail::getDefaultCPUGenerator();
  }
  lazyInitDevice(device.type());
  return getAcceleratorHooksInterface(device.type()).getDefaultGenerator(device.index());
}

const AcceleratorHooksInterface& Context::getAcceleratorHooksInterface(std::optional<c10::DeviceType> type) {
  return detail::getAcceleratorHooks(type ? *type : *at::getAccelerator(/*checked=*/true));
}

Device Context::getDeviceFromPtr(void* data, c10::DeviceType device_type) {
  if (device_type == kCPU) {
    return kCPU;
  }
  lazyInitDevice(device_type);
  return getAcceleratorHooksInterface(device_type).getDeviceFromPtr(data);
}

bool Context::isPinnedPtr(const void* data, std::optional<c10::DeviceType> device_type) {
  const std::optional<c10::DeviceType> type = device_type ? device_type : at::getAccelerator();
  return type && detail::is_pinned_memory(*type, data);
}

Allocator* Context::getPinnedMemoryAllocator(std::optional<c10::DeviceType> device_type) {
  return device_type ? getAcceleratorHooksInterface(device_type).getPinnedMemoryAllocator()
                     : detail::pinned_memory_allocator();
}

void Context::lazyInitDevice(c10::DeviceType device_type) {
  if (device_type != kCPU) {
    getAcceleratorHooksInterface(device_type).init();
  }
}

bool Context::hasDevice(c10::DeviceType type) {
  return c10::impl::hasDeviceGuardImpl(type) && c10::impl::getDeviceGuardImpl(type)->deviceCount() > 0;
}

bool Context::hasLAPACK() {
  return c10::Dispatcher::singleton().findSchema({"aten::linalg_solve", ""}).has_value();
}

// ---- determinism ----------------------------------------------------------------------------

void Context::update_fill() {
  const bool fill = deterministicAlgorithms() && deterministicFillUninitializedMemory();
  detail::fill_uninitialized_memory.store(fill, std::memory_order_relaxed);
  if (fill) {
    c10::impl::recycled_tensors_off.fetch_or(c10::impl::kKnownValues, std::memory_order_relaxed);
  } else {
    c10::impl::recycled_tensors_off.fetch_and(~c10::impl::kKnownValues, std::memory_order_relaxed);
  }
}

void Context::setDeterministicAlgorithms(bool on, bool warn_only) {
  deterministic_algorithms_.set(on);
  deterministic_warn_only_.set(warn_only);
  update_fill();
}

void Context::setDeterministicFillUninitializedMemory(bool on) {
  deterministic_fill_.set(on);
  update_fill();
}

void Context::alertNotDeterministic(std::string_view caller) {
  const Context& context = globalContext();
  if (!context.deterministicAlgorithms()) {
    return;
  }
  if (context.deterministicAlgorithmsWarnOnly()) {
    TORCH_WARN(
        caller,
        " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True, "
        "warn_only=True)'. Its results may differ from run to run.");
    return;
  }
  TORCH_CHECK(
      false, caller,
      " does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'. "
      "Call at::globalContext().setDeterministicAlgorithms(false, false) around it, or give warn_only=true to be told "
      "only.");
}

// ---- precision --------------------------------------------------------------------------------

void Context::setFloat32MatmulPrecision(Float32MatmulPrecision p) {
  matmul_precision_.store(p, std::memory_order_relaxed);
}

void Context::setFloat32MatmulPrecision(const std::string& s) {
  if (s == "highest") {
    setFloat32MatmulPrecision(Float32MatmulPrecision::HIGHEST);
  } else if (s == "high") {
    setFloat32MatmulPrecision(Float32MatmulPrecision::HIGH);
  } else if (s == "medium") {
    setFloat32MatmulPrecision(Float32MatmulPrecision::MEDIUM);
  } else {
    TORCH_WARN(s, " is not one of 'highest', 'high', or 'medium'; setFloat32MatmulPrecision has no effect.");
  }
}

void Context::setAllowTF32CuBLAS(bool on) {
  setFloat32MatmulPrecision(on ? Float32MatmulPrecision::HIGH : Float32MatmulPrecision::HIGHEST);
}

bool Context::setFlushDenormal(bool on) {
#if defined(__x86_64__)
  _MM_SET_FLUSH_ZERO_MODE(on ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
  _MM_SET_DENORMALS_ZERO_MODE(on ? _MM_DENORMALS_ZERO_ON : _MM_DENORMALS_ZERO_OFF);
  return true;
#else
  return !on;
#endif
}

namespace {
thread_local bool tf32_disabled = false;
} // namespace

NoTF32Guard::NoTF32Guard() : previous_(tf32_disabled) {
  tf32_disabled = true;
}

NoTF32Guard::~NoTF32Guard() {
  tf32_disabled = previous_;
}

bool NoTF32Guard::should_disable_tf32() {
  return tf32_disabled;
}

// ---- quantized kernels ----------------------------------------------------------------------------

void Context::setQEngine(QEngine e) {
  TORCH_CHECK(
      e == QEngine::NoQEngine, "quantized engine ", c10::toString(e),
      " is not supported; supported: ", c10::toString(QEngine::NoQEngine));
}

const std::vector<QEngine>& Context::supportedQEngines() {
  static const std::vector<QEngine> engines{QEngine::NoQEngine};
  return engines;
}

} // namespace at
