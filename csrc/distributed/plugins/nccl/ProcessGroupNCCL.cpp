// ProcessGroupNCCL: how groups, communicators and operations are made.
#include <csrc/distributed/plugins/nccl/ProcessGroupNCCL.h>

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/util/Exception.h>
#include <c10/util/env.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/c10d/tensor_checks.h>
#include <csrc/distributed/plugins/nccl/NcclWork.h>
#include <csrc/distributed/plugins/nccl/call.h>
#include <csrc/distributed/store/PrefixStore.h>

#include <algorithm>

namespace c10d {

using detail::NcclCommunicator;
using detail::NcclLibrary;
using detail::NcclWatch;
using detail::NcclWork;
using WorkPtr = c10::intrusive_ptr<Work>;

namespace {

c10::intrusive_ptr<Backend> make_nccl(const DistributedBackendOptions& from) {
  auto options = ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::duration_cast<std::chrono::milliseconds>(from.timeout);
  options->group_name = from.group_id;
  options->global_ranks_in_group.assign(from.global_ranks_in_group.begin(), from.global_ranks_in_group.end());
  return c10::make_intrusive<ProcessGroupNCCL>(from.store, from.group_rank, from.group_size, options);
}

bool is_set(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return c10::utils::check_env(name.c_str()).value_or(false);
  });
}

const bool registered = [] {
  detail::register_plugin_backend(NCCL_BACKEND_NAME, make_nccl);
  return true;
}();

} // namespace

ProcessGroupNCCL::ProcessGroupNCCL(
    const c10::intrusive_ptr<Store>& store, int rank, int size, c10::intrusive_ptr<Options> options)
    : Backend(rank, size),
      options_(std::move(options)),
      store_(store),
      blocking_wait_(is_set(TORCH_NCCL_BLOCKING_WAIT)),
      high_priority_(is_set(TORCH_NCCL_HIGH_PRIORITY) || (options_ && options_->is_high_priority_stream)) {
  TORCH_CHECK_VALUE(store_ && options_, "ProcessGroupNCCL: the store and the options must not be null");
  NcclLibrary::get();
  TORCH_CHECK(c10::cuda::device_count() > 0, "ProcessGroupNCCL is only supported with GPUs, no GPUs found!");
  watch_ = std::make_shared<NcclWatch>(store_, rank, size, *options_);
  watch_->start();
}

ProcessGroupNCCL::~ProcessGroupNCCL() {
  shutdown();
}

c10::intrusive_ptr<Backend::Options> ProcessGroupNCCL::getBackendOptions() {
  return options_;
}

c10::intrusive_ptr<Backend> ProcessGroupNCCL::split(
    const c10::intrusive_ptr<Store>& store,
    const std::vector<int>& ranks,
    const c10::intrusive_ptr<Backend::Options>& opts) {
  const auto place = std::find(ranks.begin(), ranks.end(), rank_);
  TORCH_CHECK_VALUE(place != ranks.end(), "ProcessGroupNCCL::split: rank ", rank_, " is not among the ranks");
  return merge(store, opts, static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()));
}

c10::intrusive_ptr<Backend> ProcessGroupNCCL::merge(
    const c10::intrusive_ptr<Store>& store,
    const c10::intrusive_ptr<Backend::Options>& opts,
    const int& rank,
    const int& size) {
  auto options = Options::create(options_->is_high_priority_stream);
  options->timeout = opts->timeout;
  options->group_name = opts->group_name;
  options->group_desc = opts->group_desc;
  options->global_ranks_in_group = opts->global_ranks_in_group;
  return c10::make_intrusive<ProcessGroupNCCL>(store, rank, size, options);
}

void ProcessGroupNCCL::setTimeout(std::chrono::milliseconds timeout) {
  options_->timeout = timeout;
}

ErrorType ProcessGroupNCCL::getError() {
  return watch_->failure().empty() ? ErrorType::SUCCESS : ErrorType::COMM_ERROR;
}

void ProcessGroupNCCL::abort() {
  watch_->fail(c10::str("rank ", rank_, " has aborted the group"));
}

void ProcessGroupNCCL::shutdown() {
  watch_->stop();
  const std::lock_guard lock(mutex_);
  communicators_.clear();
}

void ProcessGroupNCCL::waitForPendingWorks() {
  watch_->wait_for_all();
}

void ProcessGroupNCCL::eagerConnectSingleDevice(at::Device device) {
  communicator(device);
}

std::chrono::milliseconds ProcessGroupNCCL::or_usual(std::chrono::milliseconds timeout) const {
  return detail::timeout_or(timeout, options_->timeout);
}

ProcessGroupNCCL::CommunicatorPtr ProcessGroupNCCL::make_communicator(
    const std::string& key, int rank, int size, at::Device device) {
  const auto timeout = options_->timeout;
  const auto deadline = detail::deadline_after(timeout);
  watch_->set_state("is making NCCL's communicator " + key, true);
  const auto look = [&] {
    if (std::chrono::steady_clock::now() >= deadline) {
      watch_->fail(c10::str(
          "timed out after ", timeout.count(), " ms: rank ", rank_,
          " waited for the others to make NCCL's communicator ", key));
    }
    watch_->check_usable("making NCCL's communicator");
  };
  auto made = std::make_shared<NcclCommunicator>(
      *store_, NcclCommunicator::Place{"nccl/" + key, options_->group_name, rank, size, device.index(), high_priority_},
      look);
  watch_->set_state("calls nothing", false);
  watch_->add_communicator(made);
  communicators_[key] = made;
  return made;
}

ProcessGroupNCCL::CommunicatorPtr ProcessGroupNCCL::communicator(at::Device device) {
  const std::lock_guard lock(mutex_);
  last_device_ = device;
  const auto found = communicators_.find("all");
  if (found != communicators_.end()) {
    TORCH_CHECK_VALUE(
        found->second->device() == device.index(), "ProcessGroupNCCL: rank ", rank_, " uses device ",
        static_cast<int>(found->second->device()), " in this group, but got a tensor on ", device);
    return found->second;
  }
  return make_communicator("all", rank_, size_, device);
}

// Messages of each direction have a communicator and a stream of their own, so that two ranks may send to each other
// before they receive.
ProcessGroupNCCL::CommunicatorPtr ProcessGroupNCCL::channel(at::Device device, int peer, bool sends) {
  const auto key = [](int from, int to) { return c10::str(from, ">", to); };
  const std::lock_guard lock(mutex_);
  last_device_ = device;
  const std::string wanted = sends ? key(rank_, peer) : key(peer, rank_);
  if (communicators_.count(wanted) == 0) {
    const int low = std::min(rank_, peer);
    const int high = std::max(rank_, peer);
    make_communicator(key(low, high), rank_ == low ? 0 : 1, 2, device);
    make_communicator(key(high, low), rank_ == high ? 0 : 1, 2, device);
  }
  return communicators_.at(wanted);
}

void ProcessGroupNCCL::startCoalescing() {
  watch_->check_usable("startCoalescing");
  TORCH_CHECK(!coalescing_, "startCoalescing: endCoalescing has not been called since the last one");
  coalescing_ = true; // NCCL's group begins with the first call: no communicator can be made in one
}

WorkPtr ProcessGroupNCCL::endCoalescing() {
  TORCH_CHECK(coalescing_, "endCoalescing: startCoalescing has not been called");
  coalescing_ = false;
  const auto work = std::move(coalesced_);
  if (work) {
    const NcclLibrary& nccl = NcclLibrary::get();
    nccl.check(nccl.group_end(), "ncclGroupEnd");
    launched(work);
  }
  return work;
}

// What is captured into a graph has no end that could be watched.
void ProcessGroupNCCL::launched(const c10::intrusive_ptr<NcclWork>& work) {
  work->launched();
  if (!work->stream().is_capturing()) {
    watch_->enqueue(work);
  }
}

WorkPtr ProcessGroupNCCL::launch(const Call& call, const std::function<void(NcclCommunicator&)>& body) {
  watch_->check_usable(call.title);
  const c10::cuda::CUDAGuard guard(call.device);
  const CommunicatorPtr on = call.on ? call.on : communicator(call.device);
  if (coalescing_ && coalesced_) {
    coalesced_->add(call.inputs, call.outputs);
    body(*on);
    return coalesced_;
  }
  auto work = c10::make_intrusive<NcclWork>(
      watch_, coalescing_ ? OpType::COALESCED : call.type, call.title, call.inputs, call.outputs, on, call.timeout,
      blocking_wait_ || call.type == OpType::BARRIER);
  work->begin(++number_);
  if (coalescing_) {
    const NcclLibrary& nccl = NcclLibrary::get();
    nccl.check(nccl.group_start(), "ncclGroupStart");
    coalesced_ = work;
  }
  body(*on);
  if (!coalescing_) {
    launched(work);
  }
  return work;
}

at::Device ProcessGroupNCCL::device_of_barrier(const BarrierOptions& opts) const {
  if (opts.device) {
    return *opts.device;
  }
  if (!opts.device_ids.empty()) {
    return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(opts.device_ids[0]));
  }
  if (last_device_ || bound_device_id_) {
    return last_device_ ? *last_device_ : *bound_device_id_;
  }
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(rank_ % c10::cuda::device_count()));
}

} // namespace c10d
