// Collectives of ranks on one host.
//
// Note [Halves of a slot]
// In a round each rank writes one half of its slot, comes to a barrier, and reads the halves of others. The next round
// uses the other half: who passes its barrier knows that all have read the first. So one barrier a round is enough.
// An allreduce by pieces uses both at once: see StagedAllreduce.
#include <csrc/distributed/engine/ShmEngine.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/engine/DirectReads.h>
#include <csrc/distributed/engine/StagedAllreduce.h>
#include <csrc/distributed/engine/reduce.h>

#include <algorithm>
#include <cstring>

namespace c10d::detail {

namespace {

// Below, a rank reads all of what the others have: one barrier instead of two.
constexpr size_t kAtOnce = 4096;
constexpr size_t kPairAtOnce = 64 << 10; // of two ranks, each of which would reduce half
// Tensors of this size are read where they lie: below, system calls cost more than the second copy.
constexpr size_t kDirect = 1 << 20;

// Tensors without elements have no memory.
void copy_bytes(void* to, const void* from, size_t n) {
  if (n != 0) {
    std::memcpy(to, from, n);
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string text_of(const OpHeader& header) {
  std::string text =
      lower(opTypeToString(static_cast<OpType>(header.kind))) + " number " + std::to_string(header.number);
  if (header.numel >= 0) {
    text += c10::str(" of ", header.numel, " ", static_cast<c10::ScalarType>(header.dtype), " elements");
  }
  if (header.reduction != ReduceOp::UNUSED) {
    text += c10::str(" with reduction ", static_cast<int>(header.reduction));
  }
  if (header.root >= 0) {
    text += " with root " + std::to_string(header.root);
  }
  return text;
}

bool same(const OpHeader& a, const OpHeader& b) {
  return a.number == b.number && a.numel == b.numel && a.root == b.root && a.kind == b.kind && a.dtype == b.dtype &&
      a.reduction == b.reduction;
}

} // namespace

std::string ShmEngine::describe(OpType type, uint64_t number) const {
  return c10::str(
      "rank ", segment_.rank(), " in ", lower(opTypeToString(type)), " number ", number, " of group ", group_);
}

SharedSegment::Description ShmEngine::description() const {
  return [this] { return describe(call_.type, number_); };
}

// `place` and `data` tell where the others find this rank's tensor, in the shared heap and in its process.
void ShmEngine::begin(const Collective& call, int64_t place, const void* data) {
  if (const auto report = segment_.failure()) {
    C10_THROW_ERROR(
        DistBackendError,
        c10::str(describe(call.type, number_ + 1), " cannot begin, for the group has failed: ", *report));
  }
  call_ = call;
  ++number_;
  OpHeader& header = segment_.op_header(segment_.rank(), number_);
  header.number = number_;
  header.numel = call.numel;
  header.place = place;
  header.address = segment_.reads_others() ? reinterpret_cast<uint64_t>(data) : 0;
  header.root = call.root;
  header.kind = static_cast<uint8_t>(call.type);
  header.dtype = static_cast<uint8_t>(call.dtype);
  header.reduction = call.reduction;
  unchecked_ = true;
}

void ShmEngine::sync() {
  segment_.barrier(description(), call_.deadline);
  if (unchecked_) {
    unchecked_ = false;
    compare_headers();
  }
}

void ShmEngine::compare_headers() {
  const OpHeader& mine = segment_.op_header(segment_.rank(), number_);
  for (int rank = 0; rank < segment_.size(); ++rank) {
    const OpHeader& other = segment_.op_header(rank, number_);
    if (!same(mine, other)) {
      const std::string message = c10::str(
          "ranks do not call the same: rank ", segment_.rank(), " calls ", text_of(mine), ", rank ", rank, " calls ",
          text_of(other));
      segment_.report_failure(message);
      C10_THROW_ERROR(
          DistBackendError, c10::str(describe(call_.type, number_), " failed: ", segment_.failure().value_or(message)));
    }
  }
}

// Comes to a barrier, after which all know whether all can read what all have announced.
bool ShmEngine::meet_for_reads() {
  sync();
  half_ ^= 1;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    if (segment_.op_header(rank, number_).address == 0) {
      return false;
    }
  }
  return true;
}

// Nobody goes on while others read its memory.
void ShmEngine::end_reads() {
  sync();
  half_ ^= 1;
}

size_t ShmEngine::bytes() const {
  return static_cast<size_t>(call_.numel) * c10::elementSize(call_.dtype);
}

std::vector<const char*> ShmEngine::slots(int which, size_t offset) const {
  std::vector<const char*> all;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    all.push_back(segment_.half(rank, which) + offset);
  }
  return all;
}

// Rounds over `total` bytes, at least one: `put` writes a chunk to the own slot, `take` reads the slots.
void ShmEngine::exchange(
    size_t total,
    size_t chunk,
    const std::function<void(size_t at, size_t n, char* slot)>& put,
    const std::function<void(size_t at, size_t n, int half)>& take) {
  size_t at = 0;
  do {
    const size_t n = std::min(chunk, total - at);
    put(at, n, segment_.half(segment_.rank(), half_));
    sync();
    take(at, n, half_);
    half_ ^= 1;
    at += n;
  } while (at < total);
}

void ShmEngine::barrier(const Collective& call) {
  begin(call);
  sync();
  half_ ^= 1;
}

void ShmEngine::broadcast(const Collective& call, char* data) {
  const bool large = static_cast<size_t>(call.numel) * c10::elementSize(call.dtype) >= kDirect;
  begin(call, -1, large ? data : nullptr);
  if (large && meet_for_reads()) {
    DirectReads(segment_, call_, number_, description()).broadcast(data);
    return end_reads();
  }
  const bool root = call.root == segment_.rank();
  exchange(
      bytes(), SharedSegment::kHalfBytes,
      [&](size_t at, size_t n, char* slot) {
        if (root) {
          copy_bytes(slot, data + at, n);
        }
      },
      [&](size_t at, size_t n, int half) {
        if (!root) {
          copy_bytes(data + at, segment_.half(call.root, half), n);
        }
      });
}

bool ShmEngine::all_in_heap() const {
  for (int rank = 0; rank < segment_.size(); ++rank) {
    if (segment_.op_header(rank, number_).place < 0) {
      return false;
    }
  }
  return true;
}

void ShmEngine::allreduce(const Collective& call, char* data) {
  check_reducible("allreduce", call.dtype, call.reduction);
  const size_t size = static_cast<size_t>(call.numel) * c10::elementSize(call.dtype);
  const bool at_once = size <= kAtOnce || (segment_.size() == 2 && size <= kPairAtOnce);
  const int64_t place = at_once ? -1 : segment_.heap_place(data, size);
  begin(call, place);
  if (at_once) {
    return allreduce_at_once(data);
  }
  sync();
  half_ ^= 1;
  if (all_in_heap()) {
    return allreduce_in_place(place);
  }
  StagedAllreduce(segment_, call_, number_, description(), data).run();
  half_ = 0; // others may still read results, in the other half
}

void ShmEngine::allreduce_at_once(char* data) {
  exchange(
      bytes(), bytes(), [&](size_t, size_t n, char* slot) { copy_bytes(slot, data, n); },
      [&](size_t, size_t, int half) {
        reduce_elements(call_.dtype, call_.reduction, slots(half), {data}, static_cast<size_t>(call_.numel));
      });
}

// Each rank reduces its part and writes the result to all tensors.
void ShmEngine::allreduce_in_place(int64_t place) {
  const auto [begin, end] = part_of(static_cast<size_t>(call_.numel), segment_.rank(), segment_.size());
  std::vector<const char*> sources;
  std::vector<char*> destinations;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    const int64_t there = rank == segment_.rank() ? place : segment_.op_header(rank, number_).place;
    char* part = segment_.heap_of(rank, there) + begin * c10::elementSize(call_.dtype);
    sources.push_back(part);
    destinations.push_back(part);
  }
  reduce_elements(call_.dtype, call_.reduction, sources, destinations, end - begin);
  sync();
  half_ ^= 1;
}

void ShmEngine::reduce(const Collective& call, char* data) {
  check_reducible("reduce", call.dtype, call.reduction);
  begin(call);
  const size_t element = c10::elementSize(call.dtype);
  exchange(
      bytes(), SharedSegment::kHalfBytes, [&](size_t at, size_t n, char* slot) { copy_bytes(slot, data + at, n); },
      [&](size_t at, size_t n, int half) {
        if (call.root == segment_.rank()) {
          reduce_elements(call.dtype, call.reduction, slots(half), {data + at}, n / element);
        }
      });
}

void ShmEngine::allgather(const Collective& call, const char* input, const std::vector<char*>& outputs) {
  const size_t size = static_cast<size_t>(call.numel) * c10::elementSize(call.dtype);
  // Who writes into an input that others still read goes by slots.
  bool direct = size >= kDirect / 2;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    direct = direct && (rank == segment_.rank() || !overlaps(input, size, outputs[rank], size));
  }
  begin(call, -1, direct ? input : nullptr);
  if (size >= kDirect / 2 && meet_for_reads()) {
    DirectReads(segment_, call_, number_, description()).allgather(input, outputs);
    return end_reads();
  }
  exchange(
      bytes(), SharedSegment::kHalfBytes, [&](size_t at, size_t n, char* slot) { copy_bytes(slot, input + at, n); },
      [&](size_t at, size_t n, int half) {
        for (int rank = 0; rank < segment_.size(); ++rank) {
          copy_bytes(outputs[rank] + at, segment_.half(rank, half), n);
        }
      });
}

void ShmEngine::gather(const Collective& call, const char* input, const std::vector<char*>& outputs) {
  begin(call);
  exchange(
      bytes(), SharedSegment::kHalfBytes, [&](size_t at, size_t n, char* slot) { copy_bytes(slot, input + at, n); },
      [&](size_t at, size_t n, int half) {
        for (size_t rank = 0; rank < outputs.size(); ++rank) {
          copy_bytes(outputs[rank] + at, segment_.half(static_cast<int>(rank), half), n);
        }
      });
}

namespace {
// The room in a slot for each rank.
size_t room_for_each(int size) {
  return SharedSegment::kHalfBytes / size / 64 * 64;
}
} // namespace

void ShmEngine::scatter(const Collective& call, const std::vector<const char*>& inputs, char* output) {
  begin(call);
  const size_t room = room_for_each(segment_.size());
  exchange(
      bytes(), room,
      [&](size_t at, size_t n, char* slot) {
        for (size_t rank = 0; rank < inputs.size(); ++rank) {
          copy_bytes(slot + rank * room, inputs[rank] + at, n);
        }
      },
      [&](size_t at, size_t n, int half) {
        copy_bytes(output + at, segment_.half(call.root, half) + segment_.rank() * room, n);
      });
}

void ShmEngine::reduce_scatter(const Collective& call, const std::vector<const char*>& inputs, char* output) {
  check_reducible("reduce_scatter", call.dtype, call.reduction);
  const size_t size = static_cast<size_t>(call.numel) * c10::elementSize(call.dtype);
  bool direct = size >= kDirect / 2;
  for (int rank = 0; rank < segment_.size(); ++rank) {
    direct = direct && (rank == segment_.rank() || !overlaps(inputs[rank], size, output, size));
  }
  begin(call, -1, direct ? inputs.data() : nullptr);
  if (size >= kDirect / 2 && meet_for_reads()) {
    DirectReads(segment_, call_, number_, description()).reduce_scatter(inputs, output);
    return end_reads();
  }
  const size_t room = room_for_each(segment_.size());
  const size_t element = c10::elementSize(call.dtype);
  exchange(
      bytes(), room,
      [&](size_t at, size_t n, char* slot) {
        for (int rank = 0; rank < segment_.size(); ++rank) {
          copy_bytes(slot + rank * room, inputs[rank] + at, n);
        }
      },
      [&](size_t at, size_t n, int half) {
        reduce_elements(call.dtype, call.reduction, slots(half, segment_.rank() * room), {output + at}, n / element);
      });
}

void ShmEngine::alltoall(
    const Collective& call,
    const std::vector<const char*>& inputs,
    const std::vector<size_t>& input_sizes,
    const std::vector<char*>& outputs,
    const std::vector<size_t>& output_sizes) {
  begin(call);
  const int size = segment_.size();
  // First the sizes: how many rounds there are, and whether both sides mean the same.
  size_t longest = 0;
  std::string disagreement;
  exchange(
      size * sizeof(size_t), SharedSegment::kHalfBytes,
      [&](size_t, size_t n, char* slot) { copy_bytes(slot, input_sizes.data(), n); },
      [&](size_t, size_t n, int half) {
        std::vector<size_t> sizes(size);
        for (int rank = 0; rank < size; ++rank) {
          copy_bytes(sizes.data(), segment_.half(rank, half), n);
          longest = std::max(longest, *std::max_element(sizes.begin(), sizes.end()));
          if (sizes[segment_.rank()] != output_sizes[rank]) {
            disagreement = c10::str(
                "rank ", rank, " sends ", sizes[segment_.rank()], " bytes to rank ", segment_.rank(),
                ", which expects ", output_sizes[rank]);
          }
        }
      });
  if (!disagreement.empty()) {
    segment_.report_failure(disagreement);
    C10_THROW_ERROR(DistBackendError, c10::str(describe(call.type, number_), " failed: ", disagreement));
  }
  const size_t room = room_for_each(size);
  exchange(
      longest, room,
      [&](size_t at, size_t, char* slot) {
        for (int rank = 0; rank < size; ++rank) {
          if (at < input_sizes[rank]) {
            copy_bytes(slot + rank * room, inputs[rank] + at, std::min(room, input_sizes[rank] - at));
          }
        }
      },
      [&](size_t at, size_t, int half) {
        for (int rank = 0; rank < size; ++rank) {
          if (at < output_sizes[rank]) {
            copy_bytes(
                outputs[rank] + at, segment_.half(rank, half) + segment_.rank() * room,
                std::min(room, output_sizes[rank] - at));
          }
        }
      });
}

} // namespace c10d::detail
