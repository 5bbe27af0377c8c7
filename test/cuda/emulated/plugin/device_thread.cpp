// Compiled without -finstrument-functions: a thread that waits for work is no reason to open the device's memory.
#include "device_thread.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace emulated {

namespace {

class DeviceThread {
 public:
  DeviceThread() {
    std::thread([this] { serve(); }).detach();
  }

  void call(void (*f)(void*), void* argument) {
    std::unique_lock<std::mutex> lock(mutex_);
    f_ = f;
    argument_ = argument;
    changed_.notify_all();
    changed_.wait(lock, [this] { return f_ == nullptr; });
  }

 private:
  void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return f_ != nullptr; });
      f_(argument_);
      f_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  void (*f_)(void*) = nullptr;
  void* argument_ = nullptr;
};

} // namespace

void on_device_thread(void (*f)(void*), void* argument) {
  static auto* const thread = new DeviceThread(); // never destroyed: programs use the device until they end
  thread->call(f, argument);
}

} // namespace emulated
