#include <aten/detail/CUDAHooksInterface.h>

#include <aten/core/Generator.h>
#include <c10/util/Exception.h>

#include <dlfcn.h>

#include <atomic>
#include <mutex>

namespace at {
namespace {

/// Why the plugin is not loaded; written once, before the hooks are published.
std::string& load_failure() {
  static std::string reason;
  return reason;
}

const CUDAHooksInterface& base_hooks() {
  static const CUDAHooksInterface hooks;
  return hooks;
}

std::atomic<const CUDAHooksInterface*> cuda_hooks{nullptr};

/// The folder of this library.
std::string library_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&base_hooks), &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  const std::string path(info.dli_fname);
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

void load_plugin() {
  // The driver first: without it the plugin, and the CUDA libraries it needs, are not worth opening.
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    load_failure() = "there is no NVIDIA driver on this machine (libcuda.so.1 was not found)";
    return;
  }
  const std::string path = library_folder() + "/libtensor_cuda.so";
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    const char* why = dlerror();
    load_failure() = "the CUDA plugin could not be opened: " + std::string(why != nullptr ? why : path);
  }
}

} // namespace

std::string CUDAHooksInterface::unavailable_reason() const {
  return load_failure();
}

int64_t CUDAHooksInterface::current_device() const {
  return -1;
}

void CUDAHooksInterface::manual_seed(uint64_t /*seed*/) const {}

void CUDAHooksInterface::manual_seed_all(uint64_t /*seed*/) const {}

void CUDAHooksInterface::synchronize(int64_t /*device_index*/) const {
  detail::require_cuda("synchronize a CUDA device");
}

const Generator& CUDAHooksInterface::default_generator(int64_t /*device_index*/) const {
  detail::require_cuda("get the generator of a CUDA device");
  TORCH_INTERNAL_ASSERT(false, "the CUDA plugin has devices and no generators");
}

Generator CUDAHooksInterface::new_generator(int64_t /*device_index*/) const {
  detail::require_cuda("make a generator for a CUDA device");
  TORCH_INTERNAL_ASSERT(false, "the CUDA plugin has devices and no generators");
}

namespace detail {

const CUDAHooksInterface& getCUDAHooks() {
  static std::once_flag once;
  std::call_once(once, load_plugin);
  const CUDAHooksInterface* hooks = cuda_hooks.load(std::memory_order_acquire);
  return hooks != nullptr ? *hooks : base_hooks();
}

void require_cuda(const char* what) {
  const CUDAHooksInterface& hooks = getCUDAHooks();
  TORCH_CHECK(
      hooks.device_count() > 0, "Cannot ", what, ": no CUDA device can be used, because ", hooks.unavailable_reason(),
      ". torch::cuda::is_available() tells beforehand.");
}

void register_cuda_hooks(const CUDAHooksInterface* hooks) {
  cuda_hooks.store(hooks, std::memory_order_release);
}

} // namespace detail
} // namespace at
