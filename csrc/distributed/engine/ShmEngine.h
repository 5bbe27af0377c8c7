// Collectives of ranks on one host, over bytes in shared memory.
#pragma once

#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/Work.h>
#include <csrc/distributed/transport/SharedSegment.h>

#include <atomic>

namespace c10d::detail {

/// What a collective is about; the same on all ranks, which is checked.
struct Collective {
  OpType type = OpType::UNKNOWN;
  c10::ScalarType dtype = c10::kByte;
  ReduceOp::RedOpType reduction = ReduceOp::UNUSED;
  int root = -1;
  int64_t numel = 0;
  SharedSegment::Clock::time_point deadline;
};

/// Runs one collective at a time, in the calling thread. Throws c10::DistBackendError when a rank is lost, late, or
/// calls something else; after that the group is unusable, and every call says why.
class ShmEngine {
 public:
  ShmEngine(SharedSegment& segment, std::string group) : segment_(segment), group_(std::move(group)) {}

  void barrier(const Collective& call);
  void broadcast(const Collective& call, char* data);
  void allreduce(const Collective& call, char* data);
  /// `data` of the root gets the result.
  void reduce(const Collective& call, char* data);
  void allgather(const Collective& call, const char* input, const std::vector<char*>& outputs);
  void gather(const Collective& call, const char* input, const std::vector<char*>& outputs);
  void scatter(const Collective& call, const std::vector<const char*>& inputs, char* output);
  void reduce_scatter(const Collective& call, const std::vector<const char*>& inputs, char* output);
  /// Sizes are bytes to and from each rank.
  void alltoall(
      const Collective& call,
      const std::vector<const char*>& inputs,
      const std::vector<size_t>& input_sizes,
      const std::vector<char*>& outputs,
      const std::vector<size_t>& output_sizes);

  /// Collectives that have begun.
  uint64_t number() const {
    return number_;
  }
  /// "rank 1 in allreduce number 3 of group 0", for messages.
  std::string describe(OpType type, uint64_t number) const;

 private:
  SharedSegment::Description description() const;
  void begin(const Collective& call, int64_t place = -1, const void* data = nullptr);
  void sync();
  bool meet_for_reads();
  void end_reads();
  void compare_headers();
  bool all_in_heap() const;
  void allreduce_at_once(char* data);
  void allreduce_in_place(int64_t place);
  size_t bytes() const;
  std::vector<const char*> slots(int which, size_t offset = 0) const;
  void exchange(
      size_t total,
      size_t chunk,
      const std::function<void(size_t at, size_t n, char* slot)>& put,
      const std::function<void(size_t at, size_t n, int half)>& take);

  SharedSegment& segment_;
  const std::string group_;
  Collective call_;
  std::atomic<uint64_t> number_{0}; // any thread may ask
  int half_ = 0; // the half of the slot that nobody reads any more
  bool unchecked_ = false;
};

} // namespace c10d::detail
