// Memory that the ranks of a group on one host share, and how they wait for one another in it.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace c10d::detail {

/// What a rank says of the collective it has begun; compared by all.
struct OpHeader {
  uint64_t number = 0;
  int64_t numel = 0;
  int64_t place = -1; // of its data in the rank's shared heap; -1 elsewhere; not compared
  uint64_t address = 0; // of its data in the rank's process, for those that read it there; 0: by slots; not compared
  int32_t root = -1;
  uint8_t kind = 0;
  uint8_t dtype = 0;
  uint8_t reduction = 0;
  uint8_t unused = 0;
};

/// One mapped memfd: nothing stays behind when its processes end, however they end.
///
/// Ranks may be threads of one process. A rank that is gone, has stopped, or has reported a failure ends all waits with
/// c10::DistBackendError, within a second for the first and the last, within four for the second.
class SharedSegment {
 public:
  using Clock = std::chrono::steady_clock;
  /// Says what waits, for messages: "rank 1 in allreduce number 3 of group 0". Called when there is one.
  using Description = std::function<std::string()>;
  static constexpr int kMaxRanks = 256;
  static constexpr size_t kHalfBytes = 512 << 10;
  static constexpr size_t kRingBytes = 64 << 10;

  /// All ranks meet at `store`. Throws if they are not on one host.
  SharedSegment(Store& store, int rank, int size, std::chrono::milliseconds timeout);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  int rank() const {
    return rank_;
  }
  int size() const {
    return size_;
  }

  /// The two halves of a rank's slot, through which data goes.
  char* half(int rank, int which) const;
  OpHeader& op_header(int rank, uint64_t number) const;

  /// Comes to the next barrier, and waits there for all others.
  void barrier(const Description& what, Clock::time_point deadline);

  /// Whether this rank may read the memory of all others' processes.
  bool reads_others() const {
    return reads_others_;
  }
  /// Copies from memory of a rank's process, where it reads_others(). A rank that is gone is a failure of the group.
  void read_from(int rank, void* to, uint64_t address, size_t bytes, const Description& what);
  /// How far this rank has come with a stage of what it does; grows. Wakes those who wait.
  enum class Stage { kStaged, kReduced, kTaken };
  void set_progress(Stage stage, uint64_t progress);
  uint64_t progress(int rank, Stage stage) const;

  /// Bytes from `from` to `to`, in their order. Both take as many as go at once.
  size_t ring_write(int to, const void* data, size_t size);
  size_t ring_read(int from, void* data, size_t size);
  /// How many bytes have gone to `to` so far, and whether it has read that many.
  uint64_t ring_written(int to) const;
  bool ring_was_read(int to, uint64_t written) const;

  /// Waits until `done`, for ranks that `awaited` tells; others may die. `what` begins the messages.
  void wait_until(
      const std::function<bool()>& done,
      const std::function<bool(int rank)>& awaited,
      const Description& what,
      Clock::time_point deadline);
  /// Wakes all who wait in the segment.
  void notify();

  /// Ends all operations of all ranks with this message. The first report stays.
  void report_failure(const std::string& message);
  /// The report, if there is one.
  std::optional<std::string> failure() const;
  /// Others no longer wait for this rank in vain.
  void leave();

  /// Memory that all ranks can map, for tensors that collectives then use in place.
  void* heap_allocate(size_t bytes);
  void heap_free(void* memory);
  /// The place of memory in this rank's heap, or -1.
  int64_t heap_place(const void* memory, size_t bytes) const;
  /// The same place as this rank sees it in another rank's heap.
  char* heap_of(int rank, int64_t place);

 private:
  struct Header;
  struct RankBlock;
  struct Ring;
  class Heap;

  void create(Store& store);
  void join(Store& store, std::chrono::milliseconds timeout);
  bool probe_others(uint64_t nonce) const;
  RankBlock& block(int rank) const;
  Ring& ring(int from, int to) const;
  /// Why a rank cannot come any more, or nothing.
  std::string lost(int rank, std::vector<Clock::time_point>& stopped_since) const;

  int rank_;
  int size_;
  int spins_;
  int fd_ = -1;
  size_t bytes_ = 0;
  char* base_ = nullptr;
  Header* header_ = nullptr;
  uint32_t round_ = 0;
  uint64_t probe_ = 0; // others read it here to see whether they can
  bool reads_others_ = false;
  std::unique_ptr<Heap> heap_;
};

} // namespace c10d::detail
