// Collectives of large tensors that read the memory of the other ranks' processes.
#pragma once

#include <csrc/distributed/engine/ShmEngine.h>

namespace c10d::detail {

/// The elements that a rank reduces of `n`: [begin, end).
std::pair<size_t, size_t> part_of(size_t n, int rank, int ranks);

/// Whether the memory at `data` begins or ends within that at `other`.
bool overlaps(const char* data, size_t bytes, const char* other, size_t other_bytes);

/// One copy where slots take two, and two waits however large the tensors are. Nobody writes to memory of another
/// process: after a failure a rank may do with its memory what it likes.
///
/// All ranks have announced addresses in their headers and have come to a barrier; they come to another one afterwards.
class DirectReads {
 public:
  DirectReads(SharedSegment& segment, const Collective& call, uint64_t number, std::string what);

  /// All have announced their data.
  void broadcast(char* data);
  void allgather(const char* input, const std::vector<char*>& outputs);
  void allreduce(char* data);
  /// All have announced the list of their inputs' addresses.
  void reduce_scatter(const std::vector<const char*>& inputs, char* output);

 private:
  uint64_t address_of(int rank) const;
  uint64_t stamp(size_t pieces) const;
  void reduce_piece(const char* own, const std::vector<uint64_t>& others, char* result, size_t n);
  void take_results(char* data, int rank, size_t& taken);

  SharedSegment& segment_;
  const Collective& call_;
  const uint64_t number_;
  const std::string what_;
  const size_t element_;
  const size_t piece_; // elements that are read at once
  std::vector<char> scratch_; // a piece of each rank
};

} // namespace c10d::detail
