// Memory that the ranks of a group on one host share.
//
// Layout: the header, a block for each rank, two halves of a slot for each rank, and a ring for each ordered pair.
// Pages that nobody touches take no memory.
#include <csrc/distributed/transport/SharedSegment.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/transport/memfd.h>
#include <csrc/distributed/transport/process_state.h>

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <sstream>

namespace c10d::detail {

struct SharedSegment::Header {
  uint64_t nonce;
  alignas(64) std::atomic<uint32_t> event; // the futex: changes whenever somebody may go on
  std::atomic<uint32_t> sleepers;
  alignas(64) std::atomic<uint32_t> failed; // 0 no, 1 being written, 2 written
  char failure[2048];
};

struct alignas(64) SharedSegment::RankBlock {
  std::atomic<uint32_t> round; // barriers that the rank has come to
  std::atomic<uint32_t> left;
  int32_t pid;
  std::atomic<int32_t> heap_fd;
  uint64_t started; // of the process, which with its number names it for good
  uint64_t probe; // the address of a copy of the nonce in the process
  std::atomic<uint64_t> progress[3]; // by Stage
  alignas(64) OpHeader headers[2];
};

struct alignas(64) SharedSegment::Ring {
  alignas(64) std::atomic<uint64_t> written;
  alignas(64) std::atomic<uint64_t> read;
  alignas(64) char bytes[kRingBytes];
};

namespace {

// False, with errno, if not all could be read.
bool copy_from_process(int pid, void* to, uint64_t address, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const iovec local{at, bytes};
    const iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t n = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (n <= 0) {
      return false;
    }
    at += n;
    address += static_cast<uint64_t>(n);
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// How often a rank looks before it yields. With more ranks than cores the one that is waited for needs this core, so
// yielding begins early; else after some 50 us, for who yields while others want the core gets it back late.
int spins_for(int ranks) {
  cpu_set_t cores;
  const bool known = ::sched_getaffinity(0, sizeof cores, &cores) == 0;
  return known && ranks <= CPU_COUNT(&cores) ? 1000 : 20;
}

} // namespace

// The memory that tensors of this rank take, and that of others once they are used together.
class SharedSegment::Heap {
 public:
  static constexpr size_t kBytes = size_t(16) << 30; // of addresses; pages count when they are touched

  explicit Heap(int size) : peers_(size, nullptr) {}
  ~Heap() {
    for (char* peer : peers_) {
      if (peer != nullptr) {
        ::munmap(peer, kBytes);
      }
    }
    if (fd_ >= 0) {
      ::munmap(own_, kBytes);
      ::close(fd_);
    }
  }
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  void* allocate(size_t bytes, RankBlock& block) {
    const std::lock_guard lock(mutex_);
    if (fd_ < 0) {
      fd_ = make_memfd("tensor_heap", kBytes);
      own_ = map_memfd(fd_, kBytes);
      free_[0] = kBytes;
      block.heap_fd = fd_;
    }
    bytes = page_up(std::max<size_t>(bytes, 1));
    const auto hole = std::find_if(free_.begin(), free_.end(), [&](const auto& f) { return f.second >= bytes; });
    if (hole == free_.end()) {
      C10_THROW_ERROR(OutOfMemoryError, c10::str("shm: no room for ", bytes, " bytes in the shared heap"));
    }
    const auto [place, room] = *hole;
    free_.erase(hole);
    if (room > bytes) {
      free_[place + bytes] = room - bytes;
    }
    used_[place] = bytes;
    return own_ + place;
  }
  void free(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(static_cast<size_t>(static_cast<char*>(memory) - own_));
    auto [place, bytes] = *found;
    used_.erase(found);
    ::fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place), static_cast<off_t>(bytes));
    const auto next = free_.find(place + bytes);
    if (next != free_.end()) {
      bytes += next->second;
      free_.erase(next);
    }
    const auto after = free_.lower_bound(place);
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == place) {
        before->second += bytes;
        return;
      }
    }
    free_[place] = bytes;
  }
  int64_t place(const void* memory, size_t bytes) const {
    const auto* at = static_cast<const char*>(memory);
    const std::lock_guard lock(mutex_); // the heap may just begin, in another thread
    return fd_ >= 0 && at >= own_ && at + bytes <= own_ + kBytes ? at - own_ : -1;
  }
  // Null if it cannot be opened, as that of a process that has died.
  char* of(int rank, bool own, RankBlock& block) {
    if (own) {
      return own_;
    }
    if (peers_[rank] == nullptr) {
      const int fd = open_memfd_of(block.pid, block.heap_fd);
      if (fd < 0) {
        return nullptr;
      }
      peers_[rank] = map_memfd(fd, kBytes);
      ::close(fd);
    }
    return peers_[rank];
  }

 private:
  mutable std::mutex mutex_;
  int fd_ = -1;
  char* own_ = nullptr;
  std::map<size_t, size_t> free_;
  std::map<size_t, size_t> used_;
  std::vector<char*> peers_;
};

SharedSegment::SharedSegment(Store& store, int rank, int size, std::chrono::milliseconds timeout)
    : rank_(rank), size_(size), spins_(spins_for(size)), heap_(std::make_unique<Heap>(size)) {
  TORCH_CHECK_VALUE(
      size > 0 && size <= kMaxRanks && rank >= 0 && rank < size,
      "shm: rank must be in the range [0, size) and size at most ", int(kMaxRanks), ", but got rank ", rank,
      " and size ", size);
  const size_t blocks = page_up(sizeof(Header)) + size * sizeof(RankBlock);
  bytes_ = page_up(blocks) + size * 2 * kHalfBytes + size_t(size) * size * sizeof(Ring);
  if (rank == 0) {
    create(store);
  }
  join(store, timeout);
}

void SharedSegment::create(Store& store) {
  fd_ = make_memfd("tensor_group", bytes_);
  base_ = map_memfd(fd_, bytes_);
  std::random_device random;
  const uint64_t nonce = (uint64_t(random()) << 32) | random();
  reinterpret_cast<Header*>(base_)->nonce = nonce;
  store.set("segment", c10::str(::getpid(), " ", fd_, " ", nonce));
}

void SharedSegment::join(Store& store, std::chrono::milliseconds timeout) {
  std::string problem;
  if (rank_ != 0) {
    store.wait({"segment"}, timeout);
    std::istringstream text(store.get_to_str("segment"));
    int pid = 0;
    int fd = 0;
    uint64_t nonce = 0;
    text >> pid >> fd >> nonce;
    const int mine = open_memfd_of(pid, fd);
    if (mine >= 0) {
      // Another machine may have a process of that number: the nonce tells.
      if (::lseek(mine, 0, SEEK_END) == static_cast<off_t>(bytes_)) {
        base_ = map_memfd(mine, bytes_);
      }
      ::close(mine);
    }
    if (base_ == nullptr || reinterpret_cast<Header*>(base_)->nonce != nonce) {
      problem = c10::str(
          "rank ", rank_, " cannot open the memory of rank 0 (process ", pid,
          "): they are not on one host, or not of one user");
    }
  }
  if (problem.empty()) {
    header_ = reinterpret_cast<Header*>(base_);
    block(rank_).pid = ::getpid();
    block(rank_).started = process_state(::getpid()).started;
    block(rank_).heap_fd = -1;
    probe_ = header_->nonce;
    block(rank_).probe = reinterpret_cast<uint64_t>(&probe_);
  }
  store.set("joined/" + std::to_string(rank_), problem);
  std::vector<std::string> all;
  for (int rank = 0; rank < size_; ++rank) {
    all.push_back("joined/" + std::to_string(rank));
  }
  store.wait(all, timeout);
  for (const auto& answer : store.multiGet(all)) {
    if (!answer.empty()) {
      C10_THROW_ERROR(DistBackendError, c10::str("shm: ", std::string(answer.begin(), answer.end())));
    }
  }
  if (fd_ >= 0) {
    ::close(std::exchange(fd_, -1));
  }
  reads_others_ = probe_others(header_->nonce);
}

// Kernels and containers may forbid it, and a process may have given up already.
bool SharedSegment::probe_others(uint64_t nonce) const {
  for (int rank = 0; rank < size_; ++rank) {
    uint64_t found = 0;
    if (!copy_from_process(block(rank).pid, &found, block(rank).probe, sizeof found) || found != nonce) {
      return false;
    }
  }
  return true;
}

void SharedSegment::read_from(int rank, void* to, uint64_t address, size_t bytes, const Description& what) {
  if (copy_from_process(block(rank).pid, to, address, bytes)) {
    return;
  }
  const int why = errno;
  std::vector<Clock::time_point> stopped_since(static_cast<size_t>(size_));
  const std::string reason = lost(rank, stopped_since);
  const std::string problem =
      reason.empty() ? c10::str("the memory of rank ", rank, " cannot be read: ", strerror(why)) : reason;
  report_failure(c10::str(problem, " (noticed by ", what(), ")"));
  C10_THROW_ERROR(DistBackendError, c10::str(what(), " failed: ", failure().value_or(problem)));
}

void SharedSegment::set_progress(Stage stage, uint64_t progress) {
  block(rank_).progress[static_cast<int>(stage)].store(progress, std::memory_order_release);
  notify();
}

uint64_t SharedSegment::progress(int rank, Stage stage) const {
  return block(rank).progress[static_cast<int>(stage)].load(std::memory_order_acquire);
}

SharedSegment::~SharedSegment() {
  if (header_ != nullptr) {
    leave();
  }
  if (base_ != nullptr) {
    ::munmap(base_, bytes_);
  }
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

SharedSegment::RankBlock& SharedSegment::block(int rank) const {
  return reinterpret_cast<RankBlock*>(base_ + page_up(sizeof(Header)))[rank];
}

char* SharedSegment::half(int rank, int which) const {
  const size_t blocks = page_up(page_up(sizeof(Header)) + size_ * sizeof(RankBlock));
  return base_ + blocks + (size_t(rank) * 2 + which) * kHalfBytes;
}

SharedSegment::Ring& SharedSegment::ring(int from, int to) const {
  return reinterpret_cast<Ring*>(half(size_, 0))[size_t(from) * size_ + to];
}

OpHeader& SharedSegment::op_header(int rank, uint64_t number) const {
  return block(rank).headers[number % 2];
}

void SharedSegment::notify() {
  header_->event.fetch_add(1);
  if (header_->sleepers.load() > 0) {
    ::syscall(SYS_futex, &header_->event, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  }
}

void SharedSegment::wait_until(
    const std::function<bool()>& done,
    const std::function<bool(int rank)>& awaited,
    const Description& what,
    Clock::time_point deadline) {
  for (int i = 0; i < spins_; ++i) {
    if (done()) {
      return;
    }
    pause_cpu();
  }
  // Yielding ends when a yield took long: then others than the ranks want the core, and who sleeps comes back sooner
  // than who yields.
  constexpr auto long_yield = std::chrono::microseconds(100);
  constexpr auto enough = std::chrono::milliseconds(2);
  const auto begin = Clock::now();
  auto now = begin;
  auto before = begin;
  do {
    before = now;
    ::sched_yield();
    if (done()) {
      return;
    }
    now = Clock::now();
  } while (header_->failed.load() == 0 && now - before < long_yield && now - begin < enough);
  std::vector<Clock::time_point> stopped_since(size_);
  for (;;) {
    header_->sleepers.fetch_add(1);
    const uint32_t event = header_->event.load();
    const bool over = done();
    if (!over && header_->failed.load() == 0) {
      const timespec look_around{0, 100'000'000};
      ::syscall(SYS_futex, &header_->event, FUTEX_WAIT, event, &look_around, nullptr, 0);
    }
    header_->sleepers.fetch_sub(1);
    if (over || done()) {
      return;
    }
    if (const auto report = failure()) {
      C10_THROW_ERROR(DistBackendError, c10::str(what(), " failed: ", *report));
    }
    std::string absent;
    for (int rank = 0; rank < size_; ++rank) {
      if (!awaited(rank)) {
        continue;
      }
      const std::string reason = lost(rank, stopped_since);
      if (!reason.empty()) {
        report_failure(c10::str(reason, " (noticed by ", what(), ")"));
      }
      absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
    }
    if (Clock::now() >= deadline && header_->failed.load() == 0) {
      report_failure(c10::str("timed out: ", what(), " waited for rank ", absent));
    }
  }
}

std::string SharedSegment::lost(int rank, std::vector<Clock::time_point>& stopped_since) const {
  const RankBlock& other = block(rank);
  if (other.left.load() != 0) {
    return c10::str("rank ", rank, " has left the group");
  }
  const ProcessState state = process_state(other.pid);
  if (!state.alive || state.started != other.started) {
    return c10::str("rank ", rank, " (process ", other.pid, ") has died");
  }
  if (!state.stopped) {
    stopped_since[rank] = {};
    return {};
  }
  if (stopped_since[rank] == Clock::time_point()) {
    stopped_since[rank] = Clock::now();
  }
  return Clock::now() - stopped_since[rank] < std::chrono::seconds(3)
      ? std::string()
      : c10::str("rank ", rank, " (process ", other.pid, ") has been stopped");
}

void SharedSegment::report_failure(const std::string& message) {
  uint32_t none = 0;
  if (header_->failed.compare_exchange_strong(none, 1)) {
    const size_t size = std::min(message.size(), sizeof header_->failure - 1);
    std::memcpy(header_->failure, message.data(), size);
    header_->failure[size] = '\0';
    header_->failed.store(2);
  }
  notify();
}

std::optional<std::string> SharedSegment::failure() const {
  const uint32_t state = header_->failed.load();
  return state == 0 ? std::nullopt
                    : std::optional(state == 2 ? std::string(header_->failure) : "another rank has reported a failure");
}

void SharedSegment::leave() {
  block(rank_).left.store(1);
  notify();
}

void SharedSegment::barrier(const Description& what, Clock::time_point deadline) {
  const uint32_t round = ++round_;
  block(rank_).round.store(round, std::memory_order_release);
  notify();
  const auto absent = [&](int rank) {
    return static_cast<int32_t>(block(rank).round.load(std::memory_order_acquire) - round) < 0;
  };
  int next = 0; // those before have come
  const auto complete = [&] {
    while (next < size_ && !absent(next)) {
      ++next;
    }
    return next == size_;
  };
  wait_until(complete, absent, what, deadline);
}

size_t SharedSegment::ring_write(int to, const void* data, size_t size) {
  Ring& r = ring(rank_, to);
  const uint64_t written = r.written.load(std::memory_order_relaxed);
  const size_t n = std::min<size_t>(size, kRingBytes - (written - r.read.load(std::memory_order_acquire)));
  if (n == 0) {
    return 0;
  }
  const size_t at = written % kRingBytes;
  const size_t first = std::min(n, kRingBytes - at);
  std::memcpy(r.bytes + at, data, first);
  std::memcpy(r.bytes, static_cast<const char*>(data) + first, n - first);
  r.written.store(written + n, std::memory_order_release);
  return n;
}

size_t SharedSegment::ring_read(int from, void* data, size_t size) {
  Ring& r = ring(from, rank_);
  const uint64_t read = r.read.load(std::memory_order_relaxed);
  const size_t n = std::min<size_t>(size, r.written.load(std::memory_order_acquire) - read);
  if (n == 0) {
    return 0;
  }
  const size_t at = read % kRingBytes;
  const size_t first = std::min(n, kRingBytes - at);
  std::memcpy(data, r.bytes + at, first);
  std::memcpy(static_cast<char*>(data) + first, r.bytes, n - first);
  r.read.store(read + n, std::memory_order_release);
  return n;
}

uint64_t SharedSegment::ring_written(int to) const {
  return ring(rank_, to).written.load(std::memory_order_relaxed);
}

bool SharedSegment::ring_was_read(int to, uint64_t written) const {
  return ring(rank_, to).read.load(std::memory_order_acquire) >= written;
}

void* SharedSegment::heap_allocate(size_t bytes) {
  return heap_->allocate(bytes, block(rank_));
}

void SharedSegment::heap_free(void* memory) {
  heap_->free(memory);
}

int64_t SharedSegment::heap_place(const void* memory, size_t bytes) const {
  return heap_->place(memory, bytes);
}

char* SharedSegment::heap_of(int rank, int64_t place) {
  char* heap = heap_->of(rank, rank == rank_, block(rank));
  if (heap == nullptr) {
    const int why = errno;
    std::vector<Clock::time_point> stopped_since(static_cast<size_t>(size_));
    const std::string reason = lost(rank, stopped_since);
    const std::string message = c10::str(
        reason.empty() ? c10::str("rank ", rank, " (process ", block(rank).pid, ")") : reason,
        ": its heap cannot be opened: ", strerror(why));
    report_failure(message);
    C10_THROW_ERROR(DistBackendError, c10::str("shm: ", failure().value_or(message))); // an earlier one is the reason
  }
  return heap + place;
}

} // namespace c10d::detail
