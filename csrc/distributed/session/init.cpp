// The group of all processes, and groups of some.
#include <csrc/distributed/session/init.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/session/rendezvous.h>
#include <csrc/distributed/backends/ProcessGroupWrapper.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/c10d/GroupRegistry.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace torch::distributed {

namespace {

struct World {
  std::mutex mutex;
  GroupPtr all;
  std::vector<GroupPtr> made;
  InitOptions options;
  int64_t groups = 0;
};

World& world() {
  static World& world = *new World();
  return world;
}

struct Choice {
  c10::DeviceType device;
  std::string backend;
};

// "cpu:shm,cuda:fake", or one name for CPU tensors.
std::vector<Choice> choices_of(const std::string& text) {
  if (text.empty()) {
    return {{c10::kCPU, "gloo"}};
  }
  if (text.find(':') == std::string::npos) {
    if (text == "fake") {
      return {{c10::kCPU, text}, {c10::kCUDA, text}};
    }
    return {{c10::kCPU, text}};
  }
  std::vector<Choice> choices;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const size_t colon = part.find(':');
    TORCH_CHECK_VALUE(
        colon != std::string::npos, "init_process_group: Invalid backend '", part,
        "'; either one name, or device:name for each type of device, as cpu:shm,cuda:fake");
    choices.push_back({c10::Device(part.substr(0, colon)).type(), part.substr(colon + 1)});
    begin = end + 1;
  }
  return choices;
}

c10::intrusive_ptr<c10d::Backend> make_backend(
    const std::string& name,
    const c10::intrusive_ptr<c10d::Store>& store,
    int rank,
    int size,
    const std::string& group_name,
    std::chrono::milliseconds timeout) {
  c10d::DistributedBackendOptions options{};
  options.store = c10::make_intrusive<c10d::PrefixStore>(name, store);
  options.group_rank = rank;
  options.group_size = size;
  options.timeout = timeout;
  options.group_id = group_name;
  auto backend = c10d::create_backend(name, options);
  // Shared memory checks for itself that all ranks call the same.
  if (c10d::debug_level() != c10d::DebugLevel::Detail || name == "fake" || name == "shm") {
    return backend;
  }
  auto checks = c10d::ProcessGroupGloo::Options::create(timeout);
  checks->group_name = group_name + "/checks";
  return c10::make_intrusive<c10d::ProcessGroupWrapper>(
      backend,
      c10::make_intrusive<c10d::ProcessGroupGloo>(
          c10::make_intrusive<c10d::PrefixStore>(name + "/checks", store), rank, size, checks));
}

GroupPtr make_group(
    const c10::intrusive_ptr<c10d::Store>& store,
    int rank,
    int size,
    const std::string& name,
    const std::string& backends,
    std::chrono::milliseconds timeout) {
  const auto own = c10::make_intrusive<c10d::PrefixStore>("group/" + name, store);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(own, rank, size);
  std::optional<c10d::ProcessGroup::BackendType> first;
  for (const auto& [device, backend] : choices_of(backends)) {
    const auto type = c10d::ProcessGroup::strToBackendType(backend);
    group->setBackend(
        device, type,
        first == type ? std::nullopt : std::optional(make_backend(backend, own, rank, size, name, timeout)));
    first = first.value_or(type);
  }
  group->setDefaultBackend(*first);
  group->setGroupName(name);
  c10d::register_process_group(name, group);
  return group;
}

GroupPtr or_all(const GroupPtr& group) {
  return group ? group : default_group();
}

} // namespace

void init_process_group(const InitOptions& options) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  TORCH_CHECK(!w.all, "trying to initialize the default process group twice!");
  const detail::Meeting meeting = detail::meet(options);
  w.all = make_group(meeting.store, meeting.rank, meeting.size, "0", options.backend(), options.timeout());
  w.options = options;
  w.options.store(meeting.store);
  w.groups = 1;
}

void destroy_process_group(const GroupPtr& group) {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  TORCH_CHECK(w.all, "Default process group has not been initialized, please make sure to call init_process_group.");
  const auto end = [](const GroupPtr& one) {
    c10d::unregister_process_group(one->getGroupName());
    one->shutdown();
  };
  if (group && group.get() != w.all.get()) {
    end(group);
    w.made.erase(std::remove(w.made.begin(), w.made.end(), group), w.made.end());
    return;
  }
  for (const auto& one : std::exchange(w.made, {})) {
    end(one);
  }
  end(std::exchange(w.all, {}));
  w.options = InitOptions();
}

bool is_initialized() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  return w.all.defined();
}

GroupPtr default_group() {
  World& w = world();
  const std::lock_guard lock(w.mutex);
  TORCH_CHECK(w.all, "Default process group has not been initialized, please make sure to call init_process_group.");
  return w.all;
}

int get_rank(const GroupPtr& group) {
  return group || is_initialized() ? or_all(group)->getRank() : -1;
}

int get_world_size(const GroupPtr& group) {
  return group || is_initialized() ? or_all(group)->getSize() : -1;
}

std::string get_backend(const GroupPtr& group) {
  return or_all(group)->getBackendName();
}

int get_local_rank() {
  for (const char* name : {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* value = std::getenv(name)) {
      return std::atoi(value);
    }
  }
  return std::max(0, get_rank());
}

GroupPtr new_group(
    const std::vector<int>& ranks, std::optional<std::chrono::milliseconds> timeout, const std::string& backend) {
  const GroupPtr all = default_group();
  TORCH_CHECK_VALUE(!ranks.empty(), "new_group: there must be at least one rank");
  for (const int rank : ranks) {
    TORCH_CHECK_VALUE(
        rank >= 0 && rank < all->getSize() && std::count(ranks.begin(), ranks.end(), rank) == 1,
        "new_group: the new group's ranks must differ and be in the range [0, ", all->getSize(), "), but got ", rank);
  }
  World& w = world();
  const std::lock_guard lock(w.mutex);
  const std::string name = std::to_string(w.groups++);
  const auto place = std::find(ranks.begin(), ranks.end(), all->getRank());
  if (place == ranks.end()) {
    return {};
  }
  auto group = make_group(
      w.options.store(), static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()), name,
      backend.empty() ? w.options.backend() : backend, timeout.value_or(w.options.timeout()));
  w.made.push_back(group);
  return group;
}

Session::~Session() {
  if (is_initialized()) {
    destroy_process_group();
  }
}

} // namespace torch::distributed
