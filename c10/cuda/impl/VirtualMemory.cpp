#include <c10/cuda/impl/VirtualMemory.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAGuard.h>

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>

namespace c10::cuda::impl {
namespace {

/// Functions of the driver, which the plugin is not linked to.
struct Driver {
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuMemAddressReserve) address_reserve = nullptr;
  decltype(&cuMemAddressFree) address_free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemGetAllocationGranularity) granularity = nullptr;

  /// Null if one of them is not there.
  static const Driver* get() {
    static const Driver* const driver = load();
    return driver;
  }

 private:
  static const Driver* load() {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      return nullptr;
    }
    static Driver driver;
    bool complete = true;
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete = complete && function != nullptr;
    };
    find(driver.device_attribute, "cuDeviceGetAttribute");
    find(driver.error_string, "cuGetErrorString");
    find(driver.address_reserve, "cuMemAddressReserve");
    find(driver.address_free, "cuMemAddressFree");
    find(driver.create, "cuMemCreate");
    find(driver.release, "cuMemRelease");
    find(driver.map, "cuMemMap");
    find(driver.unmap, "cuMemUnmap");
    find(driver.set_access, "cuMemSetAccess");
    find(driver.granularity, "cuMemGetAllocationGranularity");
    return complete ? &driver : nullptr;
  }
};

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) {
    return;
  }
  const char* text = nullptr;
  Driver::get()->error_string(result, &text);
  TORCH_CHECK(
      false, "CUDA driver error in ", what, ": ", text != nullptr ? text : "unknown", " (code ",
      static_cast<int>(result), ")");
}

CUmemAllocationProp properties_of(DeviceIndex device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

CUdeviceptr pointer(const void* address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

} // namespace

bool VirtualMemory::supported() const {
  const Driver* const driver = Driver::get();
  int able = 0;
  if (driver == nullptr ||
      driver->device_attribute(&able, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device_) !=
          CUDA_SUCCESS ||
      able == 0) {
    return false;
  }
  constexpr size_t kSmallestPage = size_t{2} << 20;
  const CUmemAllocationProp properties = properties_of(device_);
  size_t granularity = 0;
  return driver->granularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS &&
      granularity != 0 && kSmallestPage % granularity == 0;
}

void* VirtualMemory::reserve(size_t bytes) {
  CUdeviceptr address = 0;
  if (!supported() || Driver::get()->address_reserve(&address, bytes, 0, 0, 0) != CUDA_SUCCESS) {
    return nullptr;
  }
  return reinterpret_cast<void*>(address);
}

void VirtualMemory::release(void* address, size_t bytes) noexcept {
  // Fails only when the driver is shutting down, or the device is lost.
  static_cast<void>(Driver::get()->address_free(pointer(address), bytes));
}

bool VirtualMemory::map(void* address, size_t bytes, size_t page) {
  const CUDAGuard guard(device_);
  const CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
  const Driver& driver = *Driver::get();
  const CUmemAllocationProp properties = properties_of(device_);
  auto* const begin = static_cast<char*>(address);
  const auto undo = [&](size_t end) {
    for (size_t offset = 0; offset < end; offset += page) {
      static_cast<void>(driver.unmap(pointer(begin + offset), page));
    }
  };
  for (size_t offset = 0; offset < bytes; offset += page) {
    CUmemGenericAllocationHandle handle = 0;
    CUresult result = driver.create(&handle, page, &properties, 0);
    if (result == CUDA_SUCCESS) {
      result = driver.map(pointer(begin + offset), page, 0, handle, 0);
      // What is mapped stays until it is unmapped.
      static_cast<void>(driver.release(handle));
    }
    if (result != CUDA_SUCCESS) {
      undo(offset);
      if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        return false;
      }
      check(result, "cuMemCreate or cuMemMap");
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<DeviceIndex> devices = peers_;
  devices.push_back(device_);
  try {
    allow_access(begin, bytes, devices);
  } catch (...) {
    undo(bytes);
    throw;
  }
  for (size_t offset = 0; offset < bytes; offset += page) {
    mapped_[begin + offset] = page;
  }
  return true;
}

void VirtualMemory::unmap(void* address, size_t bytes, size_t page) noexcept {
  const CUDAGuard guard(device_);
  // Unlike cudaFree, unmapping does not wait for kernels that still use the memory.
  C10_CUDA_IGNORE_ERROR(cudaDeviceSynchronize());
  const std::lock_guard<std::mutex> lock(mutex_);
  auto* const begin = static_cast<char*>(address);
  for (size_t offset = 0; offset < bytes; offset += page) {
    static_cast<void>(Driver::get()->unmap(pointer(begin + offset), page));
    mapped_.erase(begin + offset);
  }
}

void VirtualMemory::add_peer(DeviceIndex peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (peer == device_ || std::find(peers_.begin(), peers_.end(), peer) != peers_.end()) {
    return;
  }
  peers_.push_back(peer);
  for (const auto& [address, bytes] : mapped_) {
    allow_access(address, bytes, {peer});
  }
}

void VirtualMemory::allow_access(char* address, size_t bytes, const std::vector<DeviceIndex>& devices) const {
  std::vector<CUmemAccessDesc> access(devices.size());
  std::transform(devices.begin(), devices.end(), access.begin(), [](DeviceIndex device) {
    CUmemAccessDesc description{};
    description.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    description.location.id = device;
    description.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return description;
  });
  check(Driver::get()->set_access(pointer(address), bytes, access.data(), access.size()), "cuMemSetAccess");
}

} // namespace c10::cuda::impl
