// ProcessGroup: which backend serves which device, names, and groups of some ranks.
#include <csrc/distributed/c10d/ProcessGroup.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/c10d/operators.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <algorithm>
#include <array>

namespace c10d {

namespace {
constexpr std::array kBackendNames = {"undefined", "gloo", "nccl", "ucc", "mpi", "xccl", "custom"};
} // namespace

std::string ProcessGroup::backendTypeToString(const BackendType& type) {
  TORCH_CHECK(type < kBackendNames.size(), "Unknown backend type ", static_cast<int>(type));
  return kBackendNames[type];
}

ProcessGroup::BackendType ProcessGroup::strToBackendType(const std::string& backend) {
  for (size_t type = 0; type < CUSTOM; ++type) {
    if (backend == kBackendNames[type]) {
      return static_cast<BackendType>(type);
    }
  }
  return CUSTOM;
}

ProcessGroup::ProcessGroup(int rank, int size) : ProcessGroup(nullptr, rank, size) {}

ProcessGroup::ProcessGroup(c10::intrusive_ptr<Store> store, int rank, int size)
    : store_(std::move(store)), rank_(rank), size_(size), backendType_(UNDEFINED), dist_debug_level_(debug_level()) {
  detail::register_operators();
}

ProcessGroup::~ProcessGroup() = default;

void ProcessGroup::init() {}

void ProcessGroup::release_resources() {
  store_.reset();
  deviceTypeToBackend_.clear();
  backendTypeToBackend_.clear();
}

int ProcessGroup::getRank() const {
  return backendType_ == UNDEFINED ? rank_ : getDefaultBackend()->getRank();
}

int ProcessGroup::getSize() const {
  return backendType_ == UNDEFINED ? size_ : getDefaultBackend()->getSize();
}

const std::string ProcessGroup::getBackendName() const {
  const auto found = backendTypeToBackend_.find(backendType_);
  return backendType_ == CUSTOM && found != backendTypeToBackend_.end() ? found->second->getBackendName()
                                                                        : backendTypeToString(backendType_);
}

void ProcessGroup::setTimeout(std::chrono::milliseconds timeout) {
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->setTimeout(timeout);
  }
}

void ProcessGroup::addEphemeralTimeout(const std::chrono::milliseconds& timeout) {
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->addEphemeralTimeout(timeout);
  }
}

void ProcessGroup::shutdown() {
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->shutdown();
  }
}

void ProcessGroup::abort() {
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->abort();
  }
}

void ProcessGroup::setBackend(
    c10::DeviceType deviceType, BackendType backendType, const std::optional<c10::intrusive_ptr<Backend>>& backend) {
  deviceTypeToBackendType_[deviceType] = backendType;
  deviceTypes_.insert(deviceType);
  const auto existing = backendTypeToBackend_.find(backendType);
  if (existing != backendTypeToBackend_.end()) {
    TORCH_CHECK(
        !backend || existing->second->getBoundDeviceId() == (*backend)->getBoundDeviceId(),
        "setBackend: the group has a backend of type ", backendTypeToString(backendType),
        " already, which is bound to another device");
    deviceTypeToBackend_[deviceType] = existing->second;
  } else if (backend) {
    TORCH_CHECK_VALUE(*backend, "setBackend: the backend is null");
    deviceTypeToBackend_[deviceType] = *backend;
    backendTypeToBackend_[backendType] = *backend;
    (*backend)->setBoundDeviceId(bound_device_id_);
    (*backend)->setGroupUid(pg_name_);
  }
}

c10::intrusive_ptr<Backend> ProcessGroup::getDefaultBackend() const {
  const auto found = backendTypeToBackend_.find(backendType_);
  TORCH_CHECK(
      found != backendTypeToBackend_.end(), "Could not find the default backend type ", static_cast<int>(backendType_),
      " for Process Group with name ", backendTypeToString(backendType_), ".");
  return found->second;
}

c10::intrusive_ptr<Backend> ProcessGroup::getBackend(c10::DeviceType deviceType) {
  const auto cached = deviceTypeToBackend_.find(deviceType);
  if (cached != deviceTypeToBackend_.end()) {
    return cached->second;
  }
  const auto type = deviceTypeToBackendType_.find(deviceType);
  TORCH_CHECK(type != deviceTypeToBackendType_.end(), "No backend type associated with device type ", deviceType);
  return getBackend(type->second);
}

c10::intrusive_ptr<Backend> ProcessGroup::getBackend(BackendType backendType) const {
  const auto found = backendTypeToBackend_.find(backendType);
  TORCH_CHECK(
      found != backendTypeToBackend_.end(), "Could not find backend type ", static_cast<int>(backendType),
      " for Process Group with name ", backendTypeToString(backendType), ".");
  return found->second;
}

std::vector<c10::Device> ProcessGroup::getDeviceTypes() const {
  return std::vector<c10::Device>(deviceTypes_.begin(), deviceTypes_.end());
}

bool ProcessGroup::hasMultipleBackends() const {
  std::unordered_set<int> types;
  for (const auto& [device, type] : deviceTypeToBackendType_) {
    types.insert(type);
  }
  return backendTypeToBackend_.size() > 1 || types.size() > 1;
}

bool ProcessGroup::hasHooks() const {
  const auto found = backendTypeToBackend_.find(backendType_);
  if (found == backendTypeToBackend_.end()) {
    TORCH_WARN(
        "No backend found for Process Group with name ", getBackendName(), ". Assuming no hooks are registered.");
    return false;
  }
  return found->second->hasHooks();
}

const std::string& ProcessGroup::getGroupName() const {
  return pg_name_;
}

void ProcessGroup::setGroupName(const std::string& name) {
  pg_name_ = name;
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->setGroupUid(name);
  }
}

const std::string& ProcessGroup::getGroupDesc() const {
  return pg_desc_;
}

void ProcessGroup::setGroupDesc(const std::string& name) {
  pg_desc_ = name;
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->setGroupDesc(name);
  }
}

void ProcessGroup::enableCollectivesTiming() {
  for (auto& [type, backend] : backendTypeToBackend_) {
    backend->enableCollectivesTiming();
  }
}

void ProcessGroup::setBoundDeviceId(std::optional<at::Device> device) {
  TORCH_CHECK(!device || device->has_index(), "setBoundDeviceId must have an index");
  bound_device_id_ = device;
}

namespace {
void check_one_backend(bool several) {
  TORCH_CHECK(!several, "ProcessGroup reconfigure APIs do not support process groups with multiple backends.");
}
} // namespace

bool ProcessGroup::supportsReconfigure() const {
  check_one_backend(hasMultipleBackends());
  return getDefaultBackend()->supportsReconfigure();
}

ReconfigureHandle ProcessGroup::get_reconfigure_handle() const {
  check_one_backend(hasMultipleBackends());
  return getDefaultBackend()->get_reconfigure_handle();
}

c10::intrusive_ptr<Work> ProcessGroup::reconfigure(const ReconfigureOptions& opts) {
  check_one_backend(hasMultipleBackends());
  return getDefaultBackend()->reconfigure(opts);
}

int64_t ProcessGroup::firePreHook(
    HookOpName name, bool async_op, int64_t root, const std::function<void(PreHookArgs&)>& tensors) {
  if (preHooks_.empty() && postHooks_.empty()) {
    return 0;
  }
  PreHookArgs args;
  args.name = name;
  args.async_op = async_op;
  args.root = root;
  args.op_id = hookOpIdCounter_++;
  if (!preHooks_.empty()) {
    tensors(args);
  }
  for (auto& [id, hook] : preHooks_) {
    hook(args);
  }
  return args.op_id;
}

void ProcessGroup::firePostHook(HookOpName name, bool async_op, int64_t op_id, const c10::intrusive_ptr<Work>& work) {
  for (auto& [id, hook] : postHooks_) {
    hook(PostHookArgs{name, async_op, work, op_id});
  }
}

c10::intrusive_ptr<ProcessGroup> ProcessGroup::splitGroup(
    const std::vector<int>& ranks,
    const std::optional<std::chrono::milliseconds>& timeout,
    const std::optional<c10::intrusive_ptr<Backend::Options>>& opts,
    const std::optional<std::string>& name,
    const std::optional<std::string>& groupDesc,
    const std::optional<std::vector<c10::Device>>& devices) {
  TORCH_CHECK_VALUE(!ranks.empty(), "Split ranks cannot be empty");
  const auto place = std::find(ranks.begin(), ranks.end(), getRank());
  TORCH_CHECK_VALUE(place != ranks.end(), "splitGroup: rank ", getRank(), " is not among the ranks of the new group");
  for (const int rank : ranks) {
    TORCH_CHECK_VALUE(
        rank >= 0 && rank < getSize() && std::count(ranks.begin(), ranks.end(), rank) == 1,
        "splitGroup: ranks must differ and be in the range [0, ", getSize(), "), but got ", rank);
  }
  const std::string new_name = name ? *name : c10::str(pg_name_, ":split:", incrementSplitCount(), "_", ranks[0]);
  const auto store = c10::make_intrusive<PrefixStore>(new_name, store_ ? store_->clone() : nullptr);
  auto group =
      c10::make_intrusive<ProcessGroup>(store, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()));
  group->setBoundDeviceId(bound_device_id_);
  group->setGroupName(new_name);
  for (const auto& [device, type] : deviceTypeToBackendType_) {
    const auto wanted = [device = device](const c10::Device& d) { return d.type() == device; };
    if (devices && std::none_of(devices->begin(), devices->end(), wanted)) {
      continue;
    }
    if (group->backendTypeToBackend_.count(type)) {
      group->setBackend(device, type, std::nullopt);
      continue;
    }
    const auto parent = getBackend(device);
    auto options = opts ? *opts : parent->getBackendOptions()->clone();
    options->group_name = new_name;
    options->timeout = timeout.value_or(options->timeout);
    options->global_ranks_in_group.assign(ranks.begin(), ranks.end());
    group->setBackend(
        device, type, parent->split(c10::make_intrusive<PrefixStore>(c10::str(device), store), ranks, options));
  }
  group->setDefaultBackend(backendType_);
  group->setGroupDesc(groupDesc.value_or(new_name));
  return group;
}

c10::intrusive_ptr<ProcessGroup> ProcessGroup::mergeRemoteGroup(
    const c10::intrusive_ptr<Store>& store, const MergeOptions& opts, const int& size) {
  // Ranks are given in the order of arrival.
  const int rank = static_cast<int>(store->add("merge_rank", 1)) - 1;
  TORCH_CHECK(rank < size, "mergeRemoteGroup: more than ", size, " ranks have come to the store");
  auto group = c10::make_intrusive<ProcessGroup>(store, rank, size);
  const std::string name = opts.group_name.value_or(pg_name_ + ":merge");
  for (const auto& [device, type] : deviceTypeToBackendType_) {
    const auto parent = getBackend(device);
    auto options = parent->getBackendOptions()->clone();
    options->timeout = opts.timeout;
    options->group_name = name;
    group->setBackend(
        device, type,
        parent->merge(c10::make_intrusive<PrefixStore>(c10::str(device), store->clone()), options, rank, size));
  }
  group->setDefaultBackend(backendType_);
  group->setGroupName(name);
  group->setGroupDesc(opts.group_desc.value_or("merged"));
  return group;
}

c10::intrusive_ptr<ProcessGroup>& currentProcessGroup() {
  static thread_local c10::intrusive_ptr<ProcessGroup> group;
  return group;
}

void setProcessGroup(c10::intrusive_ptr<ProcessGroup> processGroup) {
  currentProcessGroup() = std::move(processGroup);
}

} // namespace c10d
