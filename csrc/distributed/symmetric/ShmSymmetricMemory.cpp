// Symmetric memory by descriptors. Layout of one: the signal pad, filled up to a page, and the buffer.
#include <csrc/distributed/symmetric/ShmSymmetricMemory.h>

#include <csrc/distributed/transport/memfd.h>
#include <csrc/distributed/transport/process_state.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <sstream>
#include <thread>

namespace c10d::symmetric_memory {

namespace {

using Clock = std::chrono::steady_clock;

uint64_t random_word() {
  std::random_device random;
  return (uint64_t(random()) << 32) | random();
}

} // namespace

// One rank's memory in this process. The word behind the buffer proves that it is the one that was meant.
class ShmSymmetricMemoryAllocator::Mapping {
 public:
  // Memory of this process.
  Mapping(size_t pad, size_t buffer)
      : pad_(detail::page_up(pad)), buffer_(buffer), fd_(detail::make_memfd("tensor_symmetric", bytes())) {
    base_ = detail::map_memfd(fd_, bytes());
    proof() = random_word();
  }
  // That of another process; base() is null where it cannot be mapped.
  Mapping(int pid, int fd, size_t pad, size_t buffer) : pad_(detail::page_up(pad)), buffer_(buffer) {
    const int theirs = detail::open_memfd_of(pid, fd);
    if (theirs >= 0) {
      if (::lseek(theirs, 0, SEEK_END) == static_cast<off_t>(bytes())) {
        base_ = detail::map_memfd(theirs, bytes());
      }
      ::close(theirs);
    }
  }
  ~Mapping() {
    if (base_ != nullptr) {
      ::munmap(base_, bytes());
    }
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  int fd() const {
    return fd_;
  }
  char* pad() const {
    return base_;
  }
  char* buffer() const {
    return base_ + pad_;
  }
  size_t buffer_size() const {
    return buffer_;
  }
  uint64_t& proof() const {
    return *reinterpret_cast<uint64_t*>(base_ + bytes() - sizeof(uint64_t));
  }

 private:
  size_t bytes() const {
    return pad_ + detail::page_up(buffer_ + sizeof(uint64_t));
  }

  size_t pad_;
  size_t buffer_;
  int fd_ = -1;
  char* base_ = nullptr;
};

// The memory of all ranks of a group.
class ShmSymmetricMemoryAllocator::Peers {
 public:
  struct Peer {
    std::shared_ptr<Mapping> mapping;
    int pid = 0;
    uint64_t started = 0;
  };

  Peers(std::string group_name, int rank, std::vector<Peer> peers)
      : group_name_(std::move(group_name)), rank_(rank), peers_(std::move(peers)) {
    for (const auto& peer : peers_) {
      buffers_.push_back(peer.mapping->buffer());
      pads_.push_back(peer.mapping->pad());
    }
  }

  const std::string& group_name() const {
    return group_name_;
  }
  int rank() const {
    return rank_;
  }
  int size() const {
    return static_cast<int>(peers_.size());
  }
  size_t buffer_size() const {
    return peers_[static_cast<size_t>(rank_)].mapping->buffer_size();
  }
  std::vector<void*>& buffers() {
    return buffers_;
  }
  std::vector<void*>& pads() {
    return pads_;
  }
  // Whether the rank's process is there no more.
  bool has_died(int rank) const {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    const auto state = detail::process_state(peer.pid);
    return !state.alive || state.started != peer.started;
  }

 private:
  std::string group_name_;
  int rank_;
  std::vector<Peer> peers_;
  std::vector<void*> buffers_;
  std::vector<void*> pads_;
};

// One tensor's view of it.
class ShmSymmetricMemoryAllocator::Memory : public SymmetricMemory {
 public:
  Memory(std::shared_ptr<Peers> peers, size_t offset) : peers_(std::move(peers)), offset_(offset) {}

  std::vector<void*> get_buffer_ptrs() override {
    return peers_->buffers();
  }
  std::vector<void*> get_signal_pad_ptrs() override {
    return peers_->pads();
  }
  void** get_buffer_ptrs_dev() override {
    return peers_->buffers().data();
  }
  void** get_signal_pad_ptrs_dev() override {
    return peers_->pads().data();
  }
  size_t get_buffer_size() override {
    return peers_->buffer_size();
  }
  size_t get_offset() override {
    return offset_;
  }
  bool has_multicast_support() override {
    return false;
  }
  void* get_multicast_ptr() override {
    return nullptr;
  }
  int get_rank() override {
    return peers_->rank();
  }
  int get_world_size() override {
    return peers_->size();
  }
  c10::Device get_device() override {
    return c10::kCPU;
  }
  bool world_within_direct_access() override {
    return true;
  }

  void barrier(int channel, size_t timeout_ms) override {
    for (int other = 0; other < get_world_size(); ++other) {
      if (other != get_rank()) {
        put("barrier", other, channel, timeout_ms);
      }
    }
    for (int other = 0; other < get_world_size(); ++other) {
      if (other != get_rank()) {
        take("barrier", other, channel, timeout_ms);
      }
    }
  }
  void put_signal(int dst_rank, int channel, size_t timeout_ms) override {
    put("put_signal", dst_rank, channel, timeout_ms);
  }
  void wait_signal(int src_rank, int channel, size_t timeout_ms) override {
    take("wait_signal", src_rank, channel, timeout_ms);
  }

 private:
  void put(const char* call, int dst, int channel, size_t timeout_ms) {
    change(call, dst, signal(call, dst, get_rank(), channel), 0, 1, timeout_ms);
  }
  void take(const char* call, int src, int channel, size_t timeout_ms) {
    change(call, src, signal(call, get_rank(), src, channel), 1, 0, timeout_ms);
  }

  // The signal from one rank to another, in the pad of the latter.
  std::atomic<uint32_t>& signal(const char* call, int to, int from, int channel) {
    check_rank(to, get_world_size());
    check_rank(from, get_world_size());
    const auto channels =
        static_cast<int64_t>(get_signal_pad_size() / sizeof(uint32_t)) / static_cast<int64_t>(get_world_size());
    TORCH_CHECK_VALUE(
        channel >= 0 && channel < channels, call, ": channel must be in the range [0, ", channels, ") of a pad of ",
        get_signal_pad_size(), " bytes for ", get_world_size(), " ranks, but got ", channel,
        "; set_signal_pad_size() makes it larger");
    static_assert(std::atomic<uint32_t>::is_always_lock_free);
    const size_t at = static_cast<size_t>(channel) * static_cast<size_t>(get_world_size()) + static_cast<size_t>(from);
    return static_cast<std::atomic<uint32_t>*>(peers_->pads()[static_cast<size_t>(to)])[at];
  }

  // Waits until the signal has one value and gives it another.
  void change(
      const char* call, int other, std::atomic<uint32_t>& signal, uint32_t from, uint32_t to, size_t timeout_ms) {
    constexpr int yields = 1000;
    constexpr auto look_around = std::chrono::milliseconds(100);
    const auto begin = Clock::now();
    auto next_look = begin + look_around;
    for (int i = 0;; ++i) {
      uint32_t expected = from;
      if (signal.compare_exchange_weak(expected, to, std::memory_order_acq_rel)) {
        return;
      }
      const auto now = Clock::now();
      const bool late = timeout_ms != 0 && now - begin >= std::chrono::milliseconds(timeout_ms);
      const bool died = now >= next_look && peers_->has_died(other);
      if (died || late) {
        C10_THROW_ERROR(
            DistBackendError,
            c10::str(
                "rank ", get_rank(), " in ", call, " of symmetric memory of group ", peers_->group_name(),
                " failed: rank ", other, died ? " has died" : c10::str(" has not answered for ", timeout_ms, " ms")));
      }
      next_look = now >= next_look ? now + look_around : next_look;
      if (i < yields) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }

  std::shared_ptr<Peers> peers_;
  size_t offset_;
};

void* ShmSymmetricMemoryAllocator::alloc(size_t size, int, const std::optional<std::string>& group_name) {
  auto mapping = std::make_shared<Mapping>(signal_pad_size_for_good(), size);
  char* const buffer = mapping->buffer();
  const std::lock_guard lock(mutex_);
  allocations_[buffer] = Allocation{std::move(mapping), group_name, {}, {}};
  return buffer;
}

void ShmSymmetricMemoryAllocator::free(void* ptr) {
  const std::lock_guard lock(mutex_);
  allocations_.erase(static_cast<char*>(ptr));
}

ShmSymmetricMemoryAllocator::Allocation& ShmSymmetricMemoryAllocator::allocation_of(void* ptr) {
  auto* const at = static_cast<char*>(ptr);
  auto found = allocations_.upper_bound(at);
  const bool within =
      found != allocations_.begin() && at <= std::prev(found)->first + std::prev(found)->second.mapping->buffer_size();
  TORCH_CHECK(within, "rendezvous: the tensor is not in symmetric memory; empty_strided_p2p() makes tensors that are");
  return std::prev(found)->second;
}

size_t ShmSymmetricMemoryAllocator::get_alloc_size(void* ptr) {
  const std::lock_guard lock(mutex_);
  return allocation_of(ptr).mapping->buffer_size();
}

bool ShmSymmetricMemoryAllocator::has_allocation(void* ptr) {
  const std::lock_guard lock(mutex_);
  return allocations_.count(static_cast<char*>(ptr)) != 0;
}

// All ranks have the same number, as they call rendezvous() in one order.
std::shared_ptr<ShmSymmetricMemoryAllocator::Peers> ShmSymmetricMemoryAllocator::meet(
    const Allocation& allocation, const std::string& group_name, size_t number) {
  const GroupInfo group = get_group_info(group_name);
  const auto key = [&](int rank) { return c10::str("symmetric_memory/", group_name, "/", number, "/", rank); };
  const auto& own = *allocation.mapping;
  const auto own_state = detail::process_state(::getpid());
  group.store->set(
      key(group.rank),
      c10::str(::getpid(), " ", own_state.started, " ", own.fd(), " ", own.buffer_size(), " ", own.proof()));
  std::vector<Peers::Peer> peers(static_cast<size_t>(group.world_size));
  std::string problem;
  for (int rank = 0; rank < group.world_size; ++rank) {
    auto& peer = peers[static_cast<size_t>(rank)];
    std::istringstream text(group.store->get_to_str(key(rank)));
    int fd = -1;
    size_t size = 0;
    uint64_t proof = 0;
    text >> peer.pid >> peer.started >> fd >> size >> proof;
    if (size != own.buffer_size()) {
      problem = c10::str(
          "rank ", rank, " has ", size, " bytes and rank ", group.rank, " has ", own.buffer_size(),
          ": all ranks must give memory of one size");
      continue;
    }
    peer.mapping = rank == group.rank ? allocation.mapping
                                      : std::make_shared<Mapping>(peer.pid, fd, signal_pad_size_for_good(), size);
    if (peer.mapping->pad() == nullptr || peer.mapping->proof() != proof) {
      problem = c10::str(
          "rank ", group.rank, " cannot open the memory of rank ", rank, " (process ", peer.pid,
          "): they are not on one host, or not of one user, or their signal pads differ in size");
    }
  }
  // Who has what it needs may let its memory go, which others are still to open.
  group.store->set(key(group.rank) + "/opened", problem);
  for (int rank = 0; rank < group.world_size; ++rank) {
    const std::string theirs = group.store->get_to_str(key(rank) + "/opened");
    problem = problem.empty() ? theirs : problem;
  }
  TORCH_CHECK(problem.empty(), "rendezvous of group ", group_name, ": ", problem);
  return std::make_shared<Peers>(group_name, group.rank, std::move(peers));
}

c10::intrusive_ptr<SymmetricMemory> ShmSymmetricMemoryAllocator::rendezvous(
    void* ptr, const std::optional<std::string>& group_name) {
  std::unique_lock lock(mutex_);
  const Allocation allocation = allocation_of(ptr); // a copy: it may be freed meanwhile
  const auto group = group_name ? group_name : allocation.group_name;
  TORCH_CHECK_VALUE(
      group, "rendezvous: neither the allocation nor the call names a group; give one of them a group_name");
  const size_t offset = static_cast<size_t>(static_cast<char*>(ptr) - allocation.mapping->buffer());
  const auto known = allocation.memories.find({*group, offset});
  if (known != allocation.memories.end()) {
    return known->second;
  }
  const auto met = allocation.peers.find(*group);
  std::shared_ptr<Peers> peers = met == allocation.peers.end() ? nullptr : met->second;
  if (peers == nullptr) {
    const size_t number = meetings_[*group]++;
    lock.unlock();
    peers = meet(allocation, *group, number);
    lock.lock();
  }
  auto memory = c10::make_intrusive<Memory>(peers, offset);
  auto& kept = allocation_of(ptr);
  kept.peers[*group] = peers;
  kept.memories[{*group, offset}] = memory;
  return memory;
}

} // namespace c10d::symmetric_memory
