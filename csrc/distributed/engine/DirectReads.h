// Collectives of large tensors that read the memory of the other ranks' processes.
#pragma once

#include <csrc/distributed/engine/ShmEngine.h>

namespace c10d::detail {

/// Whether the memory at `data` begins or ends within that at `other`.
bool overlaps(const char* data, size_t bytes, const char* other, size_t other_bytes);

/// One copy where slots take two, and two waits however large the tensors are. Nobody writes to memory of another
/// process: after a failure a rank may do with its memory what it likes.
///
/// All ranks have announced addresses in their headers and have come to a barrier; they come to another one afterwards.
class DirectReads {
 public:
  DirectReads(SharedSegment& segment, const Collective& call, uint64_t number, SharedSegment::Description what);

  /// All have announced their data.
  void broadcast(char* data);
  void allgather(const char* input, const std::vector<char*>& outputs);
  /// All have announced the list of their inputs' addresses.
  void reduce_scatter(const std::vector<const char*>& inputs, char* output);

 private:
  uint64_t address_of(int rank) const;
  void reduce_piece(const char* own, const std::vector<uint64_t>& others, char* result, size_t n);

  SharedSegment& segment_;
  const Collective& call_;
  const uint64_t number_;
  const SharedSegment::Description what_;
  const size_t element_;
  const size_t piece_; // elements that are read at once
  std::vector<char> scratch_; // a piece of each rank
};

} // namespace c10d::detail
