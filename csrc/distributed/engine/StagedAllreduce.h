// An allreduce through the slots of the shared segment, as a pipeline of pieces.
#pragma once

#include <csrc/distributed/engine/ShmEngine.h>

namespace c10d::detail {

/// The elements that a rank reduces of `n`: [begin, end).
std::pair<size_t, size_t> part_of(size_t n, int rank, int ranks);

/// Each rank owns a part of the elements. Piece by piece it stages what other ranks own in the first half of its slot,
/// reduces its own part into its tensor and the second half, and takes what the others have reduced. Nobody waits for
/// all at once: counters in the segment say how far each rank is, and a rank does whatever can be done.
///
/// All ranks have come to a barrier before. Afterwards the second half may still be read, until the next barrier.
class StagedAllreduce {
 public:
  StagedAllreduce(
      SharedSegment& segment, const Collective& call, uint64_t number, SharedSegment::Description what, char* data);
  void run();

 private:
  using Stage = SharedSegment::Stage;

  bool can_stage() const;
  bool can_reduce() const;
  bool can_take(int rank) const;
  bool can_take_any() const;
  bool stage();
  bool reduce();
  bool take();
  bool has_finished(int rank) const;
  bool has_reached(int rank, Stage stage, int64_t pieces) const;
  bool others_have_reached(Stage stage, int64_t pieces) const;
  void announce(Stage stage, int64_t pieces);
  /// A piece of a rank's part: where it begins in the tensor, and its elements.
  std::pair<size_t, size_t> piece_of(int rank, int64_t piece) const;
  char* staged_piece(int from, int owner, int64_t piece) const;
  char* reduced_piece(int owner, int64_t piece) const;

  SharedSegment& segment_;
  const Collective& call_;
  const uint64_t number_;
  const SharedSegment::Description what_;
  char* const data_;
  const int rank_;
  const int size_;
  const size_t element_;
  const size_t piece_; // elements
  const int64_t pieces_; // of the longest part
  const int64_t staged_depth_; // pieces that a half has room for
  const int64_t reduced_depth_;
  int64_t staged_ = 0;
  int64_t reduced_ = 0;
  std::vector<int64_t> taken_; // from each rank
};

} // namespace c10d::detail
