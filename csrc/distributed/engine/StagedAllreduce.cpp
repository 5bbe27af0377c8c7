// An allreduce through the slots of the shared segment, as a pipeline of pieces.
//
// Reading the other ranks' tensors where they lie (process_vm_readv) saves a copy, but the kernel looks up every page
// of them, and takes three times as long.
#include <csrc/distributed/engine/StagedAllreduce.h>

#include <csrc/distributed/engine/reduce.h>

#include <algorithm>
#include <cstring>

namespace c10d::detail {

namespace {

constexpr size_t kPieceBytes = 64 << 10; // smaller ones wait more often, larger ones leave the second cache
constexpr int kPieceBits = 24; // of a counter: 16 million pieces, then the number of the collective

// At least two pieces for each of the other ranks have room in a half.
size_t piece_elements(size_t element, int ranks) {
  const size_t room = SharedSegment::kHalfBytes / 2 / static_cast<size_t>(std::max(ranks - 1, 1));
  return std::min(kPieceBytes, room / 64 * 64) / element;
}

int64_t pieces_of(size_t n, size_t piece, int ranks) {
  const auto [begin, end] = part_of(n, 0, ranks);
  return static_cast<int64_t>((end - begin + piece - 1) / piece);
}

} // namespace

std::pair<size_t, size_t> part_of(size_t n, int rank, int ranks) {
  // Parts begin at cache lines of all dtypes.
  const size_t step = ((n + ranks - 1) / ranks + 63) / 64 * 64;
  return {std::min(n, rank * step), std::min(n, (rank + 1) * step)};
}

StagedAllreduce::StagedAllreduce(
    SharedSegment& segment, const Collective& call, uint64_t number, SharedSegment::Description what, char* data)
    : segment_(segment),
      call_(call),
      number_(number),
      what_(std::move(what)),
      data_(data),
      rank_(segment.rank()),
      size_(segment.size()),
      element_(c10::elementSize(call.dtype)),
      piece_(piece_elements(element_, size_)),
      pieces_(pieces_of(static_cast<size_t>(call.numel), piece_, size_)),
      staged_depth_(SharedSegment::kHalfBytes / (piece_ * element_ * static_cast<size_t>(std::max(size_ - 1, 1)))),
      reduced_depth_(SharedSegment::kHalfBytes / (piece_ * element_)),
      taken_(static_cast<size_t>(size_), 0) {}

bool StagedAllreduce::has_reached(int rank, Stage stage, int64_t pieces) const {
  return pieces <= 0 || segment_.progress(rank, stage) >= (number_ << kPieceBits) + static_cast<uint64_t>(pieces);
}

bool StagedAllreduce::others_have_reached(Stage stage, int64_t pieces) const {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && !has_reached(rank, stage, pieces)) {
      return false;
    }
  }
  return true;
}

void StagedAllreduce::announce(Stage stage, int64_t pieces) {
  segment_.set_progress(stage, (number_ << kPieceBits) + static_cast<uint64_t>(pieces));
}

bool StagedAllreduce::has_finished(int rank) const {
  return has_reached(rank, Stage::kReduced, pieces_) && has_reached(rank, Stage::kTaken, pieces_);
}

std::pair<size_t, size_t> StagedAllreduce::piece_of(int rank, int64_t piece) const {
  const auto [begin, end] = part_of(static_cast<size_t>(call_.numel), rank, size_);
  const size_t at = std::min(end, begin + static_cast<size_t>(piece) * piece_);
  return {at, std::min(piece_, end - at)};
}

char* StagedAllreduce::staged_piece(int from, int owner, int64_t piece) const {
  const int64_t place = (piece % staged_depth_) * (size_ - 1) + (owner < from ? owner : owner - 1);
  return segment_.half(from, 0) + static_cast<size_t>(place) * piece_ * element_;
}

char* StagedAllreduce::reduced_piece(int owner, int64_t piece) const {
  return segment_.half(owner, 1) + static_cast<size_t>(piece % reduced_depth_) * piece_ * element_;
}

// The place was last used by a piece that its owners have reduced.
bool StagedAllreduce::can_stage() const {
  return staged_ < pieces_ && others_have_reached(Stage::kReduced, staged_ + 1 - staged_depth_);
}

bool StagedAllreduce::stage() {
  if (!can_stage()) {
    return false;
  }
  for (int step = 1; step < size_; ++step) {
    const int owner = (rank_ + step) % size_;
    const auto [at, n] = piece_of(owner, staged_);
    std::memcpy(staged_piece(rank_, owner, staged_), data_ + at * element_, n * element_);
  }
  announce(Stage::kStaged, ++staged_);
  return true;
}

bool StagedAllreduce::can_reduce() const {
  return reduced_ < pieces_ && others_have_reached(Stage::kStaged, reduced_ + 1) &&
      others_have_reached(Stage::kTaken, reduced_ + 1 - reduced_depth_);
}

bool StagedAllreduce::reduce() {
  if (!can_reduce()) {
    return false;
  }
  const auto [at, n] = piece_of(rank_, reduced_);
  char* const own = data_ + at * element_;
  std::vector<const char*> sources;
  for (int rank = 0; rank < size_; ++rank) {
    sources.push_back(rank == rank_ ? own : staged_piece(rank, rank_, reduced_));
  }
  reduce_elements(call_.dtype, call_.reduction, sources, {own, reduced_piece(rank_, reduced_)}, n);
  announce(Stage::kReduced, ++reduced_);
  return true;
}

bool StagedAllreduce::can_take(int rank) const {
  return rank != rank_ && taken_[rank] < pieces_ && has_reached(rank, Stage::kReduced, taken_[rank] + 1);
}

bool StagedAllreduce::can_take_any() const {
  for (int rank = 0; rank < size_; ++rank) {
    if (can_take(rank)) {
      return true;
    }
  }
  return false;
}

bool StagedAllreduce::take() {
  const int64_t before = *std::min_element(taken_.begin(), taken_.end());
  bool any = false;
  for (int step = 1; step < size_; ++step) {
    const int rank = (rank_ + step) % size_;
    for (; can_take(rank); ++taken_[rank]) {
      const auto [at, n] = piece_of(rank, taken_[rank]);
      std::memcpy(data_ + at * element_, reduced_piece(rank, taken_[rank]), n * element_);
      any = true;
    }
  }
  const int64_t now = *std::min_element(taken_.begin(), taken_.end());
  if (now > before) {
    announce(Stage::kTaken, now);
  }
  return any;
}

void StagedAllreduce::run() {
  taken_[rank_] = pieces_; // its own part is in place
  const auto done = [&] { return reduced_ == pieces_ && *std::min_element(taken_.begin(), taken_.end()) == pieces_; };
  while (!done()) {
    const bool staged = stage();
    const bool reduced = reduce();
    if (take() || reduced || staged) {
      continue;
    }
    segment_.wait_until(
        [&] { return can_reduce() || can_take_any() || can_stage(); },
        [&](int rank) { return rank != rank_ && !has_finished(rank); }, what_, call_.deadline);
  }
}

} // namespace c10d::detail
