// Collectives of large tensors that read the memory of the other ranks' processes.
#include <csrc/distributed/engine/DirectReads.h>

#include <csrc/distributed/engine/reduce.h>

#include <algorithm>
#include <cstring>

namespace c10d::detail {

namespace {

// Pieces of all ranks together stay in the second cache.
size_t piece_of(size_t element, int ranks) {
  constexpr size_t together = 256 << 10;
  constexpr size_t least = 16 << 10;
  return std::max(together / static_cast<size_t>(ranks), least) / element;
}

} // namespace

bool overlaps(const char* data, size_t bytes, const char* other, size_t other_bytes) {
  return data < other + other_bytes && other < data + bytes;
}

DirectReads::DirectReads(
    SharedSegment& segment, const Collective& call, uint64_t number, SharedSegment::Description what)
    : segment_(segment),
      call_(call),
      number_(number),
      what_(std::move(what)),
      element_(c10::elementSize(call.dtype)),
      piece_(piece_of(element_, segment.size())) {}

uint64_t DirectReads::address_of(int rank) const {
  return segment_.op_header(rank, number_).address;
}

void DirectReads::broadcast(char* data) {
  if (call_.root != segment_.rank()) {
    segment_.read_from(call_.root, data, address_of(call_.root), static_cast<size_t>(call_.numel) * element_, what_);
  }
}

void DirectReads::allgather(const char* input, const std::vector<char*>& outputs) {
  const size_t bytes = static_cast<size_t>(call_.numel) * element_;
  // Each begins with its neighbour, so that not all read one rank at once.
  for (int step = 1; step < segment_.size(); ++step) {
    const int rank = (segment_.rank() + step) % segment_.size();
    segment_.read_from(rank, outputs[rank], address_of(rank), bytes, what_);
  }
  std::memmove(outputs[segment_.rank()], input, bytes);
}

// `others` are the addresses of the piece in the processes of the ranks; that of this rank is not used.
void DirectReads::reduce_piece(const char* own, const std::vector<uint64_t>& others, char* result, size_t n) {
  scratch_.resize(others.size() * piece_ * element_);
  std::vector<const char*> sources;
  for (size_t rank = 0; rank < others.size(); ++rank) {
    if (static_cast<int>(rank) == segment_.rank()) {
      sources.push_back(own);
      continue;
    }
    char* copy = scratch_.data() + rank * piece_ * element_;
    segment_.read_from(static_cast<int>(rank), copy, others[rank], n * element_, what_);
    sources.push_back(copy);
  }
  reduce_elements(call_.dtype, call_.reduction, sources, {result}, n);
}

void DirectReads::reduce_scatter(const std::vector<const char*>& inputs, char* output) {
  std::vector<uint64_t> others;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    uint64_t there = 0;
    if (rank != segment_.rank()) {
      const uint64_t entry = address_of(rank) + static_cast<uint64_t>(segment_.rank()) * sizeof(const char*);
      segment_.read_from(rank, &there, entry, sizeof there, what_);
    }
    others.push_back(there);
  }
  const char* own = inputs[segment_.rank()];
  const auto total = static_cast<size_t>(call_.numel);
  for (size_t at = 0; at < total; at += piece_) {
    const size_t n = std::min(piece_, total - at);
    reduce_piece(own + at * element_, others, output + at * element_, n);
    for (auto& address : others) {
      address += n * element_;
    }
  }
}

} // namespace c10d::detail
