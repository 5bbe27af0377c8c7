// Tells a program of the communicators of NCCL that groups make.
#include <csrc/distributed/hooks/NCCLCommRegistrationHook.h>

#include <mutex>
#include <utility>

namespace c10d {

namespace {

struct Registered {
  std::mutex mutex;
  NCCLCommRegistrationHooks hooks;

  NCCLCommRegistrationHooks copy() {
    const std::lock_guard lock(mutex);
    return hooks;
  }
};

// Never destroyed: groups may end after all else.
Registered& registered() {
  static Registered& all = *new Registered();
  return all;
}

} // namespace

void setNCCLCommRegistrationHooks(NCCLCommRegistrationHooks hooks) {
  const std::lock_guard lock(registered().mutex);
  registered().hooks = std::move(hooks);
}

void publishNCCLComm(const std::string& group_name, void* comm, c10::Device device) {
  if (const auto hooks = registered().copy(); hooks.on_register) {
    hooks.on_register(group_name, comm, device);
  }
}

void retireNCCLComm(const std::string& group_name, void* comm, c10::Device device) {
  if (const auto hooks = registered().copy(); hooks.on_unregister) {
    hooks.on_unregister(group_name, comm, device);
  }
}

} // namespace c10d
