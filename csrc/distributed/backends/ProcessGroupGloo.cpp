// ProcessGroupGloo: which engine is behind it.
#include <csrc/distributed/backends/ProcessGroupGloo.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/c10d/ProcessGroupShm.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/transport/host_identity.h>

#include <algorithm>
#include <numeric>

namespace c10d {

namespace {

using DevicePtr = std::shared_ptr<::gloo::transport::Device>;

// Devices are made by the engine when it begins; until then they are an address. Gloo's own devices are objects of its
// own, so that a table tells the two apart.
struct Addresses {
  std::mutex mutex;
  std::vector<std::weak_ptr<detail::GlooAddress>> made;
};

Addresses& addresses() {
  static Addresses& all = *new Addresses();
  return all;
}

DevicePtr device_at(detail::GlooAddress address) {
  auto kept = std::make_shared<detail::GlooAddress>(std::move(address));
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  const auto gone = [](const auto& weak) { return weak.expired(); };
  all.made.erase(std::remove_if(all.made.begin(), all.made.end(), gone), all.made.end());
  all.made.push_back(kept);
  return DevicePtr(kept, reinterpret_cast<::gloo::transport::Device*>(kept.get()));
}

c10::intrusive_ptr<Backend> engine_for(
    const c10::intrusive_ptr<Store>& store,
    int rank,
    int size,
    const c10::intrusive_ptr<ProcessGroupGloo::Options>& options) {
  const std::string wish = c10::utils::get_env("TENSOR_GLOO").value_or("");
  TORCH_CHECK_VALUE(
      wish.empty() || wish == "tcp" || wish == "shm", "TENSOR_GLOO must be tcp or shm, but got '", wish, "'");
  if (wish == "shm" || (wish.empty() && detail::on_one_host(*store, rank, size, options->timeout))) {
    auto shm = c10::make_intrusive<ProcessGroupShm::Options>(std::string(GLOO_BACKEND_NAME), options->timeout);
    shm->synchronous_sends = true;
    shm->group_name = options->group_name;
    shm->group_desc = options->group_desc;
    shm->global_ranks_in_group = options->global_ranks_in_group;
    return c10::make_intrusive<ProcessGroupShm>(c10::make_intrusive<PrefixStore>("shm", store), rank, size, shm);
  }
  detail::GlooEngineOptions wanted{};
  wanted.devices = options->devices;
  wanted.store = store;
  wanted.group_rank = rank;
  wanted.group_size = size;
  wanted.timeout = options->timeout;
  wanted.group_id = options->group_name;
  return detail::plugin_backend("gloo")(wanted);
}

} // namespace

const detail::GlooAddress* detail::gloo_address(const DevicePtr& device) {
  Addresses& all = addresses();
  const std::lock_guard lock(all.mutex);
  for (const auto& weak : all.made) {
    const auto address = weak.lock();
    if (address && static_cast<const void*>(address.get()) == static_cast<const void*>(device.get())) {
      return address.get();
    }
  }
  return nullptr;
}

bool getDefaultGlooLazyInit() {
  const std::string value = c10::utils::get_env("TORCH_GLOO_LAZY_INIT").value_or("");
  return value == "1" || value == "true" || value == "y" || value == "yes" || value == "t";
}

ProcessGroupGloo::Options::Options(std::chrono::milliseconds timeout) : Backend::Options(GLOO_BACKEND_NAME, timeout) {}

c10::intrusive_ptr<ProcessGroupGloo::Options> ProcessGroupGloo::Options::create_default(
    std::chrono::milliseconds timeout) {
  auto options = create(timeout);
  options->devices.push_back(createDefaultDevice());
  return options;
}

DevicePtr ProcessGroupGloo::createDeviceForInterface(const std::string& interface, bool) {
  TORCH_CHECK_VALUE(!interface.empty(), "createDeviceForInterface: the interface must have a name");
  return device_at({interface, ""});
}

DevicePtr ProcessGroupGloo::createDeviceForHostname(const std::string& hostname, bool) {
  TORCH_CHECK_VALUE(!hostname.empty(), "createDeviceForHostname: the host must have a name");
  return device_at({"", hostname});
}

DevicePtr ProcessGroupGloo::createDefaultDevice(bool) {
  return device_at({c10::utils::get_env("GLOO_SOCKET_IFNAME").value_or(""), ""});
}

ProcessGroupGloo::ProcessGroupGloo(
    const c10::intrusive_ptr<Store>& store, int rank, int size, c10::intrusive_ptr<Options> options)
    : ForwardingBackend(rank, size), store_(std::make_shared<GlooStore>(store)), options_(std::move(options)) {
  TORCH_CHECK_VALUE(store && options_, "ProcessGroupGloo: the store and the options must not be null");
  inner_ = engine_for(store, rank, size, options_);
}

// ---- the store ----

using GlooStore = ProcessGroupGloo::GlooStore;

void GlooStore::set(const std::string& key, const std::vector<char>& value) {
  store_->set(key, std::vector<uint8_t>(value.begin(), value.end()));
}

std::vector<char> GlooStore::get(const std::string& key) {
  const auto value = store_->get(key);
  return {value.begin(), value.end()};
}

void GlooStore::wait(const std::vector<std::string>& keys) {
  store_->wait(keys, Store::kDefaultTimeout);
}

void GlooStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  store_->wait(keys, timeout);
}

bool GlooStore::has_v2_support() {
  return store_->hasExtendedApi();
}

std::vector<std::vector<char>> GlooStore::multi_get(const std::vector<std::string>& keys) {
  std::vector<std::vector<char>> values;
  for (const auto& value : store_->multiGet(keys)) {
    values.emplace_back(value.begin(), value.end());
  }
  return values;
}

void GlooStore::multi_set(const std::vector<std::string>& keys, const std::vector<std::vector<char>>& values) {
  std::vector<std::vector<uint8_t>> bytes;
  for (const auto& value : values) {
    bytes.emplace_back(value.begin(), value.end());
  }
  store_->multiSet(keys, bytes);
}

void GlooStore::append(const std::string& key, const std::vector<char>& value) {
  store_->append(key, std::vector<uint8_t>(value.begin(), value.end()));
}

int64_t GlooStore::add(const std::string& key, int64_t value) {
  return store_->add(key, value);
}

// ---- the group ----

void ProcessGroupGloo::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
  inner_->setTimeout(timeout);
}

const std::vector<uint64_t>& ProcessGroupGloo::groupRanks() const {
  if (ranks_.empty()) {
    ranks_ = options_->global_ranks_in_group;
    if (ranks_.empty()) {
      ranks_.resize(static_cast<size_t>(size_));
      std::iota(ranks_.begin(), ranks_.end(), 0);
    }
  }
  return ranks_;
}

c10::intrusive_ptr<Backend> ProcessGroupGloo::split(
    const c10::intrusive_ptr<Store>& store,
    const std::vector<int>& ranks,
    const c10::intrusive_ptr<Backend::Options>& opts) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  TORCH_CHECK_VALUE(place != ranks.end(), "ProcessGroupGloo::split: rank ", rank_, " is not among the ranks");
  return merge(store, opts, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()));
}

c10::intrusive_ptr<Backend> ProcessGroupGloo::merge(
    const c10::intrusive_ptr<Store>& store,
    const c10::intrusive_ptr<Backend::Options>& opts,
    const int& rank,
    const int& size) {
  auto options = Options::create(opts->timeout);
  options->devices = options_->devices;
  options->threads = options_->threads;
  options->group_name = opts->group_name;
  options->group_desc = opts->group_desc;
  options->global_ranks_in_group = opts->global_ranks_in_group;
  return c10::make_intrusive<ProcessGroupGloo>(store, rank, size, options);
}

// The rows of all ranks, with zeros where one has fewer than the others, and then their sum.
c10::intrusive_ptr<Work> ProcessGroupGloo::allreduce_sparse(
    std::vector<at::Tensor>& tensors, const AllreduceOptions& opts) {
  TORCH_CHECK_VALUE(
      tensors.size() == 1 && tensors[0].defined() && tensors[0].is_sparse(),
      "ProcessGroupGloo::allreduce_sparse: needs one sparse tensor");
  TORCH_CHECK_VALUE(
      opts.reduceOp.op_ == ReduceOp::SUM,
      "ProcessGroupGloo::allreduce_sparse: unsupported reduction operation "
      "(allreduce of sparse tensors only works with ReduceOp.SUM)");
  const c10::NoGradGuard no_grad;
  const at::Tensor mine = tensors[0].coalesce();
  at::Tensor count = at::full({1}, mine._nnz(), at::kLong);
  at::Tensor counts = at::empty({size_}, at::kLong);
  inner_->all_gather_single(counts, count)->wait();
  const int64_t longest = counts.max().item<int64_t>();
  const auto gathered = [&](const at::Tensor& rows) {
    auto sizes = rows.sizes().vec();
    sizes[0] = longest;
    at::Tensor padded = at::zeros(sizes, rows.options());
    padded.narrow(0, 0, rows.size(0)).copy_(rows);
    sizes[0] *= size_;
    at::Tensor all = at::empty(sizes, rows.options());
    inner_->all_gather_single(all, padded)->wait();
    std::vector<at::Tensor> parts;
    for (int64_t rank = 0; rank < size_; ++rank) {
      parts.push_back(all.narrow(0, rank * longest, counts[rank].item<int64_t>()));
    }
    return at::cat(parts);
  };
  const auto indices = gathered(mine.indices().t().contiguous()).t().contiguous();
  const auto sum = at::sparse_coo_tensor(indices, gathered(mine.values()), mine.sizes()).coalesce();
  tensors[0].copy_(sum);
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  future->markCompleted(c10::IValue(tensors));
  return Work::create_from_future(future);
}

} // namespace c10d
