// Process groups by name, and works by the memory of their results.
#include <csrc/distributed/c10d/GroupRegistry.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace c10d {

namespace {

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<std::string, c10::weak_intrusive_ptr<ProcessGroup>> groups;
};

std::atomic<bool> isolated{false};

Registry& registry() {
  static Registry& shared = *new Registry();
  if (!isolated) {
    return shared;
  }
  static thread_local const auto own = std::make_unique<Registry>();
  return *own;
}

// Collectives whose results nobody has waited for, by storage.
struct WorkRegistry {
  std::mutex mutex;
  std::unordered_map<const void*, std::vector<c10::intrusive_ptr<Work>>> works;
};

WorkRegistry& work_registry() {
  static WorkRegistry& registry = *new WorkRegistry();
  return registry;
}

const void* storage_of(const at::Tensor& tensor) {
  return tensor.has_storage() ? static_cast<const void*>(tensor.storage().unsafeGetStorageImpl())
                              : static_cast<const void*>(tensor.unsafeGetTensorImpl());
}

thread_local bool inflight_as_input = false;

} // namespace

void set_thread_isolation_mode(bool enable) {
  isolated = enable;
}

bool get_thread_isolation_mode() {
  return isolated;
}

void register_process_group(const std::string& group_name, const c10::intrusive_ptr<ProcessGroup>& group) {
  Registry& names = registry();
  const std::unique_lock lock(names.mutex);
  const auto [at, fresh] = names.groups.try_emplace(group_name, group);
  TORCH_CHECK(fresh, "A process group is already registered under the name ", group_name);
}

c10::intrusive_ptr<ProcessGroup> resolve_process_group(const std::string& group_name) {
  Registry& names = registry();
  const std::shared_lock lock(names.mutex);
  const auto found = names.groups.find(group_name);
  TORCH_CHECK(
      found != names.groups.end(), "Could not resolve the process group registered under the name ", group_name);
  auto group = found->second.lock();
  TORCH_CHECK(group, "Process group registered under the name ", group_name, " has already been destroyed.");
  return group;
}

bool is_process_group_registered(const std::string& group_name) {
  Registry& names = registry();
  const std::shared_lock lock(names.mutex);
  return names.groups.count(group_name) > 0;
}

void unregister_process_group(const std::string& group_name) {
  Registry& names = registry();
  const std::unique_lock lock(names.mutex);
  names.groups.erase(group_name);
}

void unregister_all_process_groups() {
  Registry& names = registry();
  const std::unique_lock lock(names.mutex);
  names.groups.clear();
}

void register_work(const at::Tensor& tensor, const c10::intrusive_ptr<Work>& work) {
  if (!tensor.defined() || !work) {
    return;
  }
  WorkRegistry& registry = work_registry();
  const std::lock_guard lock(registry.mutex);
  registry.works[storage_of(tensor)].push_back(work);
}

at::Tensor wait_tensor(const at::Tensor& tensor) {
  std::vector<c10::intrusive_ptr<Work>> works;
  {
    WorkRegistry& registry = work_registry();
    const std::lock_guard lock(registry.mutex);
    const auto found = registry.works.find(storage_of(tensor));
    if (found != registry.works.end()) {
      works = std::move(found->second);
      registry.works.erase(found);
    }
  }
  for (const auto& work : works) {
    work->wait();
  }
  return tensor;
}

std::vector<at::Tensor> wait_tensors(at::TensorList tensors) {
  for (const auto& tensor : tensors) {
    wait_tensor(tensor);
  }
  return tensors.vec();
}

void unregister_work(const c10::intrusive_ptr<Work>& work) {
  WorkRegistry& registry = work_registry();
  const std::lock_guard lock(registry.mutex);
  for (auto at = registry.works.begin(); at != registry.works.end();) {
    auto& works = at->second;
    works.erase(std::remove(works.begin(), works.end(), work), works.end());
    at = works.empty() ? registry.works.erase(at) : std::next(at);
  }
}

size_t get_work_registry_size() {
  WorkRegistry& registry = work_registry();
  const std::lock_guard lock(registry.mutex);
  size_t size = 0;
  for (const auto& [storage, works] : registry.works) {
    size += works.size();
  }
  return size;
}

void set_allow_inflight_collective_as_graph_input(bool value) {
  inflight_as_input = value;
}

bool allow_inflight_collective_as_graph_input() {
  return inflight_as_input;
}

} // namespace c10d
