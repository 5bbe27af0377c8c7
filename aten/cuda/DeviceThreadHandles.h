// A pool of library handles (cuBLAS...), one for each thread and device. Free of CUDA.
#pragma once

#include <c10/core/Device.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace at::cuda {

/// Handle: a type that makes the library's handle in its constructor, for the current device.
template <class Handle>
class DeviceThreadHandles {
 public:
  /// The calling thread's handle for `device`, which is current. It goes back to the pool when the thread ends.
  static Handle& get(c10::DeviceIndex device) {
    static thread_local Held held;
    return held.get(device);
  }

 private:
  using Slots = std::vector<std::unique_ptr<Handle>>; // by device

  struct Pool {
    std::mutex mutex;
    std::vector<Slots> unused; // by device, any number

    std::unique_ptr<Handle> take(c10::DeviceIndex device) {
      const auto index = static_cast<size_t>(device);
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (index < unused.size() && !unused[index].empty()) {
          std::unique_ptr<Handle> handle = std::move(unused[index].back());
          unused[index].pop_back();
          return handle;
        }
      }
      return std::make_unique<Handle>();
    }

    void give_back(size_t index, std::unique_ptr<Handle> handle) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (unused.size() <= index) {
        unused.resize(index + 1);
      }
      unused[index].push_back(std::move(handle));
    }
  };

  /// Never destroyed: threads end after static variables do, and at the end of the process the libraries are gone.
  static Pool& pool() {
    static auto* const shared = new Pool();
    return *shared;
  }

  struct Held {
    Slots handles;

    Handle& get(c10::DeviceIndex device) {
      const auto index = static_cast<size_t>(device);
      if (handles.size() <= index) {
        handles.resize(index + 1);
      }
      if (handles[index] == nullptr) {
        handles[index] = pool().take(device);
      }
      return *handles[index];
    }
    ~Held() {
      for (size_t index = 0; index < handles.size(); ++index) {
        if (handles[index] != nullptr) {
          pool().give_back(index, std::move(handles[index]));
        }
      }
    }
  };
};

} // namespace at::cuda
