// LazyBackend: messages between two ranks go over a backend of their own, made with the first of them.
#pragma once

#include <csrc/distributed/backends/ForwardingBackend.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace c10d {

/// Collectives, and messages between startCoalescing and endCoalescing, go to the primary backend.
template <typename T>
class LazyBackend : public ForwardingBackend {
  static_assert(std::is_base_of_v<Backend, T>, "LazyBackend<T> requires T to derive from c10d::Backend");

 public:
  /// Makes the backend of a pair, as rank 0 (the lower one) or 1 of it; the name is the same on both.
  using PairFactory = std::function<c10::intrusive_ptr<T>(int pair_rank, const std::string& pair_name)>;

  LazyBackend(int rank, int size, c10::intrusive_ptr<T> primary, PairFactory pair_factory)
      : ForwardingBackend(rank, size, primary), primary_(std::move(primary)), pair_factory_(std::move(pair_factory)) {
    TORCH_CHECK_VALUE(primary_ && pair_factory_, "LazyBackend: the primary backend and the factory must not be null");
  }

  const std::string getBackendName() const override {
    return primary_->getBackendName() + "-lazy";
  }
  c10::intrusive_ptr<T> getPrimary() const {
    return primary_;
  }
  size_t numActiveChannels() const {
    return channels().size();
  }

  c10::intrusive_ptr<Work> send(std::vector<at::Tensor>& tensors, int dst_rank, int tag) override {
    return coalescing_ ? primary_->send(tensors, dst_rank, tag)
                       : channel(dst_rank)->send(tensors, place_in_pair(dst_rank), tag);
  }
  c10::intrusive_ptr<Work> recv(std::vector<at::Tensor>& tensors, int src_rank, int tag) override {
    return coalescing_ ? primary_->recv(tensors, src_rank, tag)
                       : channel(src_rank)->recv(tensors, place_in_pair(src_rank), tag);
  }
  void startCoalescing() override {
    primary_->startCoalescing();
    coalescing_ = true;
  }
  c10::intrusive_ptr<Work> endCoalescing() override {
    coalescing_ = false;
    return primary_->endCoalescing();
  }

  // What concerns the backends of pairs as well.
  void setTimeout(std::chrono::milliseconds timeout) override {
    for_all([&](Backend& backend) { backend.setTimeout(timeout); });
  }
  void setBoundDeviceId(std::optional<at::Device> device) override {
    for_all([&](Backend& backend) { backend.setBoundDeviceId(device); });
    Backend::setBoundDeviceId(primary_->getBoundDeviceId());
  }
  void setGroupUid(const std::string& pg_uid) override {
    Backend::setGroupUid(pg_uid);
    primary_->setGroupUid(pg_uid);
  }
  void suspend() override {
    for_all([](Backend& backend) { backend.suspend(); });
  }
  void resume() override {
    for_all([](Backend& backend) { backend.resume(); });
  }
  void abort() override {
    for_all([](Backend& backend) { backend.abort(); });
  }
  void shutdown() override {
    for_all([](Backend& backend) { backend.shutdown(); });
    forget_channels();
  }
  ErrorType getError() override {
    ErrorType error = ErrorType::SUCCESS;
    for_all([&](Backend& backend) { error = error == ErrorType::SUCCESS ? backend.getError() : error; });
    return error;
  }
  std::unordered_map<std::string, uint64_t> getMemoryStats() override {
    std::unordered_map<std::string, uint64_t> stats;
    for_all([&](Backend& backend) {
      for (const auto& [name, value] : backend.getMemoryStats()) {
        stats[name] += value;
      }
    });
    return stats;
  }
  void registerAbortHook(int64_t hook_id, AbortHook hook) override {
    abort_hooks_[hook_id] = hook;
    for_all([&](Backend& backend) { backend.registerAbortHook(hook_id, hook); });
  }
  void unregisterAbortHook(int64_t hook_id) override {
    abort_hooks_.erase(hook_id);
    for_all([&](Backend& backend) { backend.unregisterAbortHook(hook_id); });
  }
  bool supportsCompletionHooks() const override {
    return primary_->supportsCompletionHooks();
  }
  void registerCompletionHook(int64_t hook_id, CompletionHook hook) override {
    completion_hooks_[hook_id] = hook;
    for_all([&](Backend& backend) { backend.registerCompletionHook(hook_id, hook); });
  }
  void unregisterCompletionHook(int64_t hook_id) override {
    completion_hooks_.erase(hook_id);
    for_all([&](Backend& backend) { backend.unregisterCompletionHook(hook_id); });
  }
  c10::intrusive_ptr<Window> new_window(const std::optional<at::Tensor>& tensor = std::nullopt) override {
    return primary_->new_window(tensor);
  }
  ReconfigureHandle get_reconfigure_handle() const override {
    return primary_->get_reconfigure_handle();
  }
  c10::intrusive_ptr<Work> reconfigure(const ReconfigureOptions& opts) override {
    forget_channels();
    auto work = primary_->reconfigure(opts);
    rank_ = primary_->getRank();
    size_ = primary_->getSize();
    return work;
  }

 private:
  int place_in_pair(int peer) const {
    return rank_ < peer ? 1 : 0;
  }

  std::map<int, c10::intrusive_ptr<T>> channels() const {
    const std::lock_guard lock(mutex_);
    return channels_;
  }
  void forget_channels() {
    std::map<int, c10::intrusive_ptr<T>> gone; // they end outside of the lock
    const std::lock_guard lock(mutex_);
    gone.swap(channels_);
  }
  void for_all(const std::function<void(Backend&)>& call) {
    call(*primary_);
    for (const auto& [peer, backend] : channels()) {
      call(*backend);
    }
  }

  // The factory waits for the other rank, so it is called outside of the lock. A pair that is made anew, after the
  // backends were forgotten, has another name.
  c10::intrusive_ptr<T> channel(int peer) {
    TORCH_CHECK_VALUE(
        peer != rank_ && peer >= 0 && peer < size_, "LazyBackend: rank ", rank_, " of ", size_,
        " can send to and receive from the other ranks, but not ", peer);
    std::string name = c10::str(
        getGroupUid().empty() ? getBackendName() : getGroupUid(), "/p2p-", std::min(rank_, peer), "-",
        std::max(rank_, peer), "-");
    {
      const std::lock_guard lock(mutex_);
      const auto found = channels_.find(peer);
      if (found != channels_.end()) {
        return found->second;
      }
      name += std::to_string(attempts_[peer]++);
    }
    auto made = pair_factory_(rank_ < peer ? 0 : 1, name);
    TORCH_CHECK_VALUE(made, "LazyBackend: the factory returned null for rank ", peer);
    if (getBoundDeviceId()) {
      made->setBoundDeviceId(getBoundDeviceId());
    }
    for (const auto& [id, hook] : abort_hooks_) {
      made->registerAbortHook(id, hook);
    }
    for (const auto& [id, hook] : completion_hooks_) {
      made->registerCompletionHook(id, hook);
    }
    const std::lock_guard lock(mutex_);
    return channels_.emplace(peer, std::move(made)).first->second;
  }

  c10::intrusive_ptr<T> primary_;
  PairFactory pair_factory_;
  std::map<int64_t, AbortHook> abort_hooks_;
  std::map<int64_t, CompletionHook> completion_hooks_;
  bool coalescing_ = false;
  mutable std::mutex mutex_; // of the two below
  std::map<int, c10::intrusive_ptr<T>> channels_;
  std::map<int, int> attempts_;
};

} // namespace c10d
