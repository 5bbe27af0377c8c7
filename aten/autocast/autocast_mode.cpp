#include <aten/autocast/autocast_mode.h>

#include <aten/autocast/autocast_cache.h>
#include <aten/autocast/autocast_dtypes.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <c10/core/GradMode.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/intrusive_ptr.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace at::autocast {

namespace {

using c10::DeviceType;
using c10::ScalarType;

constexpr Dtypes first_dtypes() {
  Dtypes dtypes{};
  for (ScalarType& dtype : dtypes) {
    dtype = ScalarType::Undefined;
  }
  for (const DeviceType type : {DeviceType::CPU, DeviceType::MAIA, DeviceType::XLA, DeviceType::HPU}) {
    dtypes[static_cast<size_t>(type)] = ScalarType::BFloat16;
  }
  for (const DeviceType type :
       {DeviceType::CUDA, DeviceType::HIP, DeviceType::XPU, DeviceType::MPS, DeviceType::IPU, DeviceType::MTIA,
        DeviceType::PrivateUse1}) {
    dtypes[static_cast<size_t>(type)] = ScalarType::Half;
  }
  return dtypes;
}

// Read for each backward pass: with the initial-exec model that takes no call.
constinit thread_local Dtypes thread_dtypes __attribute__((tls_model("initial-exec"))) = first_dtypes();
constinit thread_local int thread_nesting = 0;
constinit thread_local bool thread_cache_enabled = true;

void check_available(DeviceType device_type, const char* function) {
  TORCH_CHECK(
      is_autocast_available(device_type), "unknown device type for autocast in ", function, ": got ",
      c10::isValidDeviceType(device_type) ? c10::DeviceTypeName(device_type, /*lower_case=*/true)
                                          : "an invalid device type",
      "; autocast exists for cpu, cuda, mtia, maia, xpu, ipu, hpu, xla, mps and backends of extensions");
}

// --- the cache of weights ---

using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;

struct CachedCast {
  // Weak, so that the cache keeps no weight alive; but while it is here its address belongs to no other tensor.
  WeakTensor weight;
  int64_t version;
  const void* data;
  Tensor cast; // undefined where the weight has been cast, but not for others to take

  // An optimizer may step within the region, and a cast made without grad mode leads no gradient to the weight.
  bool serves(const Tensor& arg, ScalarType to_type) const {
    return cast.defined() && cast.scalar_type() == to_type && version == arg._version() &&
        data == arg.const_data_ptr() && (cast.requires_grad() || !c10::GradMode::is_enabled());
  }
};

using Casts = std::unordered_map<const c10::TensorImpl*, CachedCast>;

// Never destroyed: tensors must not be freed after the allocators of their devices are gone.
struct Cache {
  std::mutex mutex;
  Casts casts;
};
Cache& cache() {
  static Cache& it = *new Cache;
  return it;
}

bool is_cached_weight(const Tensor& arg, ScalarType to_type, DeviceType device_type) {
  return thread_cache_enabled && arg.requires_grad() && arg.scalar_type() == ScalarType::Float &&
      to_type == get_autocast_dtype(device_type) && arg.is_leaf() && !arg.is_view() && !arg.is_inference() &&
      arg.has_storage();
}

constinit CastTogether cast_function = nullptr;

/// Undefined where there is none.
Tensor find_cast(ScalarType to_type, const Tensor& arg) {
  const std::lock_guard<std::mutex> lock(cache().mutex);
  const auto found = cache().casts.find(arg.unsafeGetTensorImpl());
  return found != cache().casts.end() && found->second.serves(arg, to_type) ? found->second.cast : Tensor();
}

/// Whether a weight, in its present state, has been cast in this region; that cast may not be there any more.
bool was_cast(const Tensor& arg) {
  const std::lock_guard<std::mutex> lock(cache().mutex);
  const auto found = cache().casts.find(arg.unsafeGetTensorImpl());
  return found != cache().casts.end() && found->second.version == arg._version() &&
      found->second.data == arg.const_data_ptr();
}

void keep_cast(const Tensor& arg, int64_t version, const Tensor& cast) {
  CachedCast made{WeakTensor(arg.getIntrusivePtr()), version, arg.const_data_ptr(), cast};
  const std::lock_guard<std::mutex> lock(cache().mutex);
  auto [place, is_new] = cache().casts.try_emplace(arg.unsafeGetTensorImpl(), std::move(made));
  if (!is_new) {
    std::swap(place->second, made); // the old one dies without the lock
  }
}

Tensor cast_weight(ScalarType to_type, const Tensor& arg) {
  Tensor cast = find_cast(to_type, arg);
  if (!cast.defined()) {
    const int64_t version = arg._version();
    cast = arg.to(to_type);
    keep_cast(arg, version, cast);
  }
  return cast;
}

} // namespace

const Dtypes& get_thread_dtypes() {
  return thread_dtypes;
}

void set_thread_dtypes(const Dtypes& dtypes) {
  thread_dtypes = dtypes;
}

bool is_autocast_available(DeviceType device_type) {
  const auto& all = _AUTOCAST_SUPPORTED_DEVICES;
  return std::find(all.begin(), all.end(), device_type) != all.end();
}

c10::DispatchKey get_autocast_dispatch_key_from_device_type(DeviceType device_type) {
  check_available(device_type, "get_autocast_dispatch_key_from_device_type");
  return c10::getAutocastRelatedKeySetFromBackend(c10::toBackendComponent(device_type)).highestPriorityTypeId();
}

bool is_autocast_enabled(DeviceType device_type) {
  return !c10::impl::tls_is_dispatch_key_excluded(get_autocast_dispatch_key_from_device_type(device_type));
}

void set_autocast_enabled(DeviceType device_type, bool enabled) {
  c10::impl::tls_set_dispatch_key_excluded(get_autocast_dispatch_key_from_device_type(device_type), !enabled);
}

ScalarType get_autocast_dtype(DeviceType device_type) {
  return c10::isValidDeviceType(device_type) ? thread_dtypes[static_cast<size_t>(device_type)] : ScalarType::Undefined;
}

void set_autocast_dtype(DeviceType device_type, ScalarType dtype) {
  check_available(device_type, "set_autocast_dtype");
  TORCH_CHECK(
      c10::isFloatingType(dtype), "set_autocast_dtype: got dtype ", dtype,
      ", but autocast computes in a floating point type; use bfloat16 or half");
  thread_dtypes[static_cast<size_t>(device_type)] = dtype;
}

ScalarType get_lower_precision_fp_from_device_type(DeviceType device_type) {
  check_available(device_type, "get_lower_precision_fp_from_device_type");
  return get_autocast_dtype(device_type);
}

int increment_nesting() {
  return ++thread_nesting;
}

int decrement_nesting() {
  return --thread_nesting;
}

void clear_cache() {
  Casts casts; // destroyed without the lock: what tensors free may call back
  const std::lock_guard<std::mutex> lock(cache().mutex);
  casts.swap(cache().casts);
}

bool is_autocast_cache_enabled() {
  return thread_cache_enabled;
}

void set_autocast_cache_enabled(bool enabled) {
  thread_cache_enabled = enabled;
}

bool is_eligible(const Tensor& arg, DeviceType device_type) {
  if (!arg.defined() || !arg.is_floating_point() || arg.scalar_type() == ScalarType::Double) {
    return false;
  }
  const DeviceType own = arg.device().type();
  return (own == device_type || (device_type == DeviceType::CUDA && own == DeviceType::XLA)) &&
      is_autocast_available(device_type);
}

Tensor cached_cast(ScalarType to_type, const Tensor& arg, DeviceType device_type) {
  if (!is_eligible(arg, device_type) || arg.scalar_type() == to_type) {
    return arg;
  }
  return is_cached_weight(arg, to_type, device_type) ? cast_weight(to_type, arg) : arg.to(to_type);
}

void set_cast_together(CastTogether function) {
  cast_function = function;
}

bool can_be_cast_together(const Tensor& arg) {
  return at::native::is_plain_cuda(arg) && arg.scalar_type() == ScalarType::Float;
}

bool cast_together(ScalarType to_type, std::span<Tensor> args) {
  if (at::native::cuda_shortcuts().cast_together == nullptr) {
    return false; // no plugin: tensors without memory
  }
  std::array<Tensor, 3> found;
  std::array<size_t, 3> missing{};
  size_t count = 0;
  bool ends_here = true; // backward goes no further than to the arguments
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_cached_weight(args[i], to_type, DeviceType::CUDA)) {
      found[i] = find_cast(to_type, args[i]);
      if (!found[i].defined() && was_cast(args[i])) {
        found[i] = cast_weight(to_type, args[i]);
      }
    }
    if (!found[i].defined() && args[i].device() == args[0].device()) {
      missing[count++] = i;
      ends_here = ends_here && (args[i].is_leaf() || !c10::GradMode::is_enabled());
    }
  }
  if (count < 2) {
    return false;
  }
  std::array<int64_t, 3> versions{};
  std::array<Tensor, 3> uncast;
  for (size_t k = 0; k < count; ++k) {
    uncast[k] = args[missing[k]];
    versions[k] = uncast[k]._version();
  }
  const std::array<Tensor, 3> made = cast_function({uncast.data(), count}, to_type);
  for (size_t k = 0; k < count; ++k) {
    const Tensor& arg = uncast[k];
    if (is_cached_weight(arg, to_type, DeviceType::CUDA)) {
      // Who takes this cast later would go back through the graph of the arguments that it was made with: theirs is a
      // cast of its own.
      keep_cast(arg, versions[k], ends_here ? made[k] : Tensor());
    }
    found[missing[k]] = made[k];
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (found[i].defined()) {
      args[i] = std::move(found[i]);
    }
  }
  return true;
}

std::optional<Tensor> cached_cast(ScalarType to_type, const std::optional<Tensor>& arg, DeviceType device_type) {
  return arg.has_value() ? std::optional<Tensor>(cached_cast(to_type, *arg, device_type)) : std::nullopt;
}

std::vector<Tensor> cached_cast(ScalarType to_type, const TensorList& arg, DeviceType device_type) {
  return cached_cast(to_type, ITensorListRef(arg), device_type);
}

std::vector<Tensor> cached_cast(ScalarType to_type, const ITensorListRef& arg, DeviceType device_type) {
  std::vector<Tensor> cast;
  cast.reserve(arg.size());
  for (const Tensor& tensor : arg) {
    cast.push_back(cached_cast(to_type, tensor, device_type));
  }
  return cast;
}

ScalarType prioritize(ScalarType current, const Tensor& nextArg, DeviceType device_type) {
  TORCH_CHECK(
      current != ScalarType::Double,
      "promote type is double in at::autocast::prioritize; begin with the lower precision");
  const ScalarType lower_precision = get_lower_precision_fp_from_device_type(device_type);
  if (!is_eligible(nextArg, device_type)) {
    return current;
  }
  const ScalarType next = nextArg.scalar_type();
  if (current == ScalarType::Float || next == ScalarType::Float) {
    return ScalarType::Float;
  }
  TORCH_CHECK(
      current == lower_precision && next == lower_precision,
      "Unexpected floating ScalarType in at::autocast::prioritize: got ", next == lower_precision ? current : next,
      ", but tensors in a region of autocast to ", lower_precision,
      " must be of that dtype or Float. Cast the argument with to()");
  return lower_precision;
}

ScalarType prioritize(ScalarType current, const TensorList& list, DeviceType device_type) {
  return prioritize(current, ITensorListRef(list), device_type);
}

ScalarType prioritize(ScalarType current, const ITensorListRef& list, DeviceType device_type) {
  for (const Tensor& tensor : list) {
    current = prioritize(current, tensor, device_type);
  }
  return current;
}

} // namespace at::autocast
