#include <csrc/jit/serialize/stack_room.h>

#include <c10/util/Exception.h>

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace torch::jit {

namespace {

// The lowest address that may be used; 0 if it cannot be found out.
uintptr_t lowest_address() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  void* low = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &low, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<uintptr_t>(low) + size / 4 : 0;
}

} // namespace

void check_stack_room(const char* what) {
  static thread_local const uintptr_t lowest = lowest_address();
  TORCH_CHECK(
      reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) > lowest, what,
      " are nested too deeply: the file is damaged or hostile, or this thread's stack is too small");
}

} // namespace torch::jit
