#include <csrc/compile/tiles.h>

#include <csrc/compile/gather.h>

#include <aten/core/LegacyTypeDispatch.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/streamed.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace torch::fused {

namespace {

/// What the values of a tile may take: of the first-level cache, or where rows are computed, which costs more for each
/// tile, of the second.
constexpr int64_t kTileBytes = 24 * 1024;
constexpr int64_t kRowTileBytes = 160 * 1024, kRowKernelBytes = 64 * 1024;
constexpr int64_t kLeastTile = 128, kMostTile = 4096;
constexpr int64_t kLine = 64;

int64_t size_of(const Inst& inst) {
  return static_cast<int64_t>(c10::elementSize(inst.dtype));
}

/// Memory of a thread for tiles, which grows to what is asked for.
char* thread_scratch(int64_t bytes) {
  struct Free {
    void operator()(char* memory) const {
      std::free(memory);
    }
  };
  struct Scratch {
    std::unique_ptr<char, Free> memory;
    int64_t bytes = 0;
  };
  thread_local Scratch scratch;
  if (scratch.bytes < bytes) {
    const size_t wanted = (static_cast<size_t>(bytes) + 4095) / 4096 * 4096;
    scratch.memory.reset(static_cast<char*>(std::aligned_alloc(4096, wanted)));
    scratch.bytes = scratch.memory ? static_cast<int64_t>(wanted) : 0;
    TORCH_CHECK(scratch.memory != nullptr, "not enough memory: you tried to allocate ", wanted, " bytes.");
  }
  return scratch.memory.get();
}

at::Tensor tensor_on(char* data, c10::ScalarType dtype, std::initializer_list<int64_t> sizes) {
  int64_t n = static_cast<int64_t>(c10::elementSize(dtype));
  for (const int64_t size : sizes) {
    n *= size;
  }
  c10::Storage storage(
      c10::Storage::use_byte_size_t(), static_cast<size_t>(n), c10::DataPtr(data, c10::kCPU), nullptr, false);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(c10::IntArrayRef(sizes.begin(), sizes.size()));
  return tensor;
}

} // namespace

TileLoop::TileLoop(const Program& program, const Group& group) : group_(group), segments_(cpu::make_code(group)) {
  note_segments();
  choose_tile();
  place_values(program);
  add_ops();
}

void TileLoop::note_segments() {
  segment_of_.assign(group_.insts.size(), -1);
  place_in_code_.assign(group_.insts.size(), InCode::Outside);
  for (size_t s = 0; s < segments_.size(); ++s) {
    for (const uint32_t inst : segments_[s].insts) {
      segment_of_[inst] = static_cast<int32_t>(s);
      place_in_code_[inst] = InCode::Inside;
    }
    for (const uint32_t operand : segments_[s].operands) {
      if (segment_of_[operand] == static_cast<int32_t>(s)) {
        place_in_code_[operand] = InCode::Result;
      }
    }
  }
  // Constants that nothing reads from memory.
  std::vector<bool> is_read(group_.insts.size());
  for (size_t i = 0; i < group_.insts.size(); ++i) {
    for (const uint32_t arg : group_.insts[i].args) {
      is_read[arg] = is_read[arg] || segment_of_[i] < 0;
    }
  }
  for (const Store& store : group_.stores) {
    is_read[store.value] = true;
  }
  for (const cpu::CodeSegment& segment : segments_) {
    for (const uint32_t operand : segment.operands) {
      is_read[operand] = true;
    }
  }
  for (size_t i = 0; i < group_.insts.size(); ++i) {
    if (group_.insts[i].kind == InstKind::Constant && !is_read[i]) {
      place_in_code_[i] = InCode::Inside;
    }
  }
}

void TileLoop::choose_tile() {
  // Values that live at once: what is loaded and stored, and at most four in between.
  int64_t widest = 1, count = 0, computed = 0, work = 0;
  bool calls = false, has_kernels = false, is_all_code = segments_.size() == 1;
  for (size_t i = 0; i < group_.insts.size(); ++i) {
    const Inst& inst = group_.insts[i];
    const bool is_given = inst.kind == InstKind::Load || inst.kind == InstKind::Constant;
    work += is_given ? 0 : 1;
    is_all_code = is_all_code && (is_given ? is_inside_code(i) || inst.access.is_linear() : segment_of_[i] == 0);
    if (is_inside_code(i)) {
      continue;
    }
    widest = std::max(widest, size_of(inst));
    count += is_given ? 1 : 0;
    computed += is_given ? 0 : 1;
    calls = calls || (inst.kind == InstKind::RowCall && !inst.row_call->kernel);
    has_kernels = has_kernels || inst.kind == InstKind::RowCall;
  }
  count += static_cast<int64_t>(group_.stores.size()) + std::clamp<int64_t>(computed - 1, 0, 4);
  const int64_t bytes = calls ? kRowTileBytes : has_kernels ? kRowKernelBytes : kTileBytes;
  tile_ = std::clamp(bytes / (count * widest) / kLine * kLine, kLeastTile, calls ? 4 * kMostTile : kMostTile);
  if (is_all_code) {
    tile_ = kMostTile; // it keeps nothing in a cache
  }
  tile_ = std::min(tile_, group_.numel);
  period_ = group_.numel;
  if (group_.row != 0) {
    tile_ = std::max<int64_t>(1, tile_ / group_.row) * group_.row;
  } else {
    // The shortest run of elements that loads agree on.
    int64_t run = 0;
    for (const Inst& inst : group_.insts) {
      if (inst.kind == InstKind::Load && !inst.access.is_linear() && !inst.access.is_uniform()) {
        const int64_t own = inst.access.ranges.back().size;
        run = run == 0 || run == own ? own : -1;
      }
    }
    if (run >= tile_) {
      period_ = run;
      tile_ = (run + (run + tile_ - 1) / tile_ - 1) / ((run + tile_ - 1) / tile_);
    } else if (run > 0) {
      tile_ = tile_ / run * run;
    }
  }
  tiles_in_period_ = (period_ + tile_ - 1) / tile_;
  num_tiles_ = group_.numel / period_ * tiles_in_period_;
  const int64_t cost = std::max<int64_t>(1, work / 2);
  grain_ = std::max<int64_t>(1, at::internal::GRAIN_SIZE / (tile_ * cost));
}

bool TileLoop::is_read_in_place(const Inst& inst) const {
  if (inst.access.is_linear()) {
    return true;
  }
  // A part of a row that lies side by side.
  return inst.form == Form::Full && period_ == inst.access.ranges.back().size && inst.access.ranges.back().stride == 1;
}

bool TileLoop::is_same_for_all_tiles(const Inst& inst) const {
  if (inst.form == Form::Uniform) {
    return true;
  }
  // Whole rows of the buffer, each the same.
  const int64_t elements = inst.form == Form::Row ? tile_ / group_.row : tile_;
  return inst.kind == InstKind::Load && inst.access.ranges.size() == 2 && inst.access.ranges[0].stride == 0 &&
      elements % inst.access.ranges[1].size == 0 && period_ == group_.numel;
}

/// Whether all that a group reads of memory that it stores to, in a tile, is read when the new value is stored.
bool TileLoop::is_read_first(const Store& store) const {
  const InstKind kind = group_.insts[store.value].kind;
  if (kind == InstKind::RowCall || kind == InstKind::Result) {
    return false; // it may read a row again after it has begun to write it
  }
  // Where an instruction runs: machine code where the last of it stands.
  const auto turn_of = [&](size_t i) { return segment_of_[i] < 0 ? i : segments_[segment_of_[i]].insts.back(); };
  const auto& insts = group_.insts;
  const auto is_old = [&](uint32_t value) {
    return insts[value].kind == InstKind::Load && insts[value].buffer == store.over.value_or(store.buffer);
  };
  for (size_t i = 0; i < insts.size(); ++i) {
    if (turn_of(i) > turn_of(store.value) && std::any_of(insts[i].args.begin(), insts[i].args.end(), is_old)) {
      return false;
    }
  }
  return std::none_of(
      group_.stores.begin(), group_.stores.end(), [&](const Store& other) { return is_old(other.value); });
}

void TileLoop::place_values(const Program& program) {
  const auto& insts = group_.insts;
  std::vector<size_t> last(insts.size());
  for (size_t i = 0; i < insts.size(); ++i) {
    last[i] = i;
    for (const uint32_t arg : insts[i].args) {
      last[arg] = i;
    }
    if (insts[i].kind == InstKind::Result) {
      // It is written together with the first result, while what the call reads is still needed.
      for (const uint32_t arg : insts[insts[i].args[0]].args) {
        last[arg] = i;
      }
    }
  }
  // Operands of machine code are needed to its end.
  for (const cpu::CodeSegment& segment : segments_) {
    for (const uint32_t operand : segment.operands) {
      last[operand] = std::max<size_t>(last[operand], segment.insts.back());
    }
  }
  scratch_.assign(insts.size(), -1);
  std::vector<bool> has_place(insts.size());
  for (size_t i = 0; i < insts.size(); ++i) {
    has_place[i] = is_inside_code(i);
  }
  std::vector<Streamed> late; // over what others of them may read
  for (const Store& store : group_.stores) {
    const Inst& inst = insts[store.value];
    last[store.value] = insts.size();
    const bool is_computed = inst.kind != InstKind::Load && inst.kind != InstKind::Constant;
    const Buffer& buffer = program.buffers[store.buffer];
    const bool is_streamed =
        inst.form == Form::Full && buffer.home == Buffer::Home::Own && buffer.bytes() >= at::native::kStreamedBytes;
    const bool has_old = buffer.is_written || store.over;
    const bool is_late = has_old && !is_read_first(store);
    if (has_place[store.value] || !is_computed || is_streamed || is_late) {
      (has_old ? late : streamed_).push_back({store.value, store.buffer, size_of(inst)});
    } else {
      has_place[store.value] = true;
      moving_.push_back({store.value, store.buffer, size_of(inst), inst.form == Form::Row, nullptr});
    }
  }
  streamed_.insert(streamed_.end(), late.begin(), late.end());
  // Places in the scratch, taken again when the value in it was used last.
  struct Place {
    int64_t offset;
    int64_t bytes;
    bool is_free;
  };
  std::vector<Place> places;
  std::vector<int64_t> place_of(insts.size(), -1);
  for (size_t i = 0; i < insts.size(); ++i) {
    const Inst& inst = insts[i];
    if (inst.kind == InstKind::Load && inst.form != Form::Uniform && is_read_in_place(inst)) {
      moving_.push_back({static_cast<uint32_t>(i), inst.buffer, size_of(inst), inst.form == Form::Row, &inst.access});
      has_place[i] = true;
    }
    // What an instruction reads last may become what it writes, element by element.
    const bool ends_code = segment_of_[i] >= 0 && segments_[segment_of_[i]].insts.back() == i;
    const std::vector<uint32_t>& read = ends_code ? segments_[segment_of_[i]].operands : inst.args;
    const auto release = [&](bool same_size_only) {
      if (segment_of_[i] >= 0 && (same_size_only || !ends_code)) {
        return;
      }
      for (const uint32_t arg : read) {
        if (last[arg] == i && place_of[arg] >= 0 && (ends_code || place_of[arg] != place_of[i]) &&
            insts[arg].form != Form::Uniform && !is_same_for_all_tiles(insts[arg]) &&
            (!same_size_only || (inst.kind == InstKind::Kernel && size_of(insts[arg]) == size_of(inst)))) {
          places[place_of[arg]].is_free = true;
        }
      }
    };
    release(true);
    if (!has_place[i]) {
      const int64_t elements = inst.form == Form::Row ? tile_ / group_.row : tile_;
      const int64_t bytes = (elements * size_of(inst) + kLine - 1) / kLine * kLine;
      const bool stays = is_same_for_all_tiles(inst);
      auto place = std::find_if(places.begin(), places.end(), [&](const Place& free) {
        return !stays && free.is_free && free.bytes >= bytes;
      });
      if (place == places.end()) {
        // Not a multiple of 4096 apart, where a store and a load behind it would be taken for the same place.
        places.push_back({scratch_bytes_, bytes, false});
        scratch_bytes_ += bytes + kLine * 3;
        place = places.end() - 1;
      }
      place->is_free = false;
      place_of[i] = place - places.begin();
      scratch_[i] = place->offset;
    }
    release(false);
  }
}

void TileLoop::add_ops() {
  uint32_t tensors = 0;
  for (size_t i = 0; i < group_.insts.size(); ++i) {
    const Inst& inst = group_.insts[i];
    const int32_t segment = segment_of_[i];
    const bool is_code = segment >= 0;
    const std::vector<uint32_t>& args = is_code ? segments_[segment].operands : inst.args;
    Op op{
        is_code ? nullptr : &inst,
        segment,
        static_cast<uint32_t>(i),
        static_cast<uint32_t>(args_.size()),
        static_cast<uint32_t>(args.size()),
        inst.form == Form::Row,
        tensors,
        num_row_calls_};
    if (is_code && segments_[segment].insts.back() != i) {
      continue; // all of it runs where the last of it stands
    }
    args_.insert(args_.end(), args.begin(), args.end());
    if (inst.kind == InstKind::RowCall) {
      tensors += static_cast<uint32_t>(inst.row_call->tensors.size());
      ++num_row_calls_;
    }
    if (inst.kind == InstKind::Result || (inst.kind == InstKind::Load && scratch_[i] < 0) ||
        (!is_code && is_inside_code(i))) {
      continue;
    }
    (!is_code && is_same_for_all_tiles(inst) ? once_ : body_).push_back(op);
  }
}

/// The tensors of one RowCall, which stay while tiles have as many rows.
struct TileLoop::RowTensors {
  int64_t rows = 0;
  std::vector<at::Tensor> tensors; // arguments, then results
};

void TileLoop::run_row_call(
    const Op& op, int64_t n, char* const* values, const std::vector<at::Tensor>& whole, RowTensors& on_rows) const {
  const RowCall& call = *op.inst->row_call;
  const int64_t rows = n / group_.row;
  const size_t num_results = call.is_row.size();
  const auto value_of = [&](size_t i) {
    // Results follow each other.
    return i < op.num_args ? args_[op.first_arg + i] : op.value + static_cast<uint32_t>(i - op.num_args);
  };
  if (call.kernel) {
    constexpr size_t kMost = 8;
    const char* inputs[kMost] = {};
    char* outputs[kMost];
    for (size_t a = 0; a < op.num_args; ++a) {
      inputs[a] = values[value_of(a)];
    }
    for (size_t t = 0; t < call.tensors.size(); ++t) {
      inputs[op.num_args + call.tensors[t].first - call.first_tensor] =
          static_cast<const char*>(whole[op.tensors + t].const_data_ptr());
    }
    for (size_t r = 0; r < num_results; ++r) {
      outputs[r] = values[op.value + r];
    }
    return call.kernel({inputs, outputs, rows, group_.row, call.eps});
  }
  if (on_rows.rows != rows) {
    on_rows = {rows, {}};
    for (size_t i = 0; i < op.num_args + num_results; ++i) {
      const uint32_t value = value_of(i);
      const c10::ScalarType dtype = group_.insts[value].dtype;
      const bool is_row = i >= op.num_args && call.is_row[i - op.num_args];
      on_rows.tensors.push_back(
          !is_row              ? tensor_on(values[value], dtype, {rows, group_.row})
              : call.keeps_dim ? tensor_on(values[value], dtype, {rows, 1})
                               : tensor_on(values[value], dtype, {rows}));
    }
  } else {
    for (size_t i = 0; i < on_rows.tensors.size(); ++i) {
      on_rows.tensors[i].storage().unsafeGetStorageImpl()->set_data_ptr_noswap(
          c10::DataPtr(values[value_of(i)], c10::kCPU));
    }
  }
  torch::jit::Stack stack;
  stack.reserve(call.stack.size() + num_results);
  stack.insert(stack.end(), call.stack.begin(), call.stack.end());
  for (size_t a = 0; a < op.num_args; ++a) {
    stack[call.places[a]] = on_rows.tensors[a];
  }
  for (size_t t = 0; t < call.tensors.size(); ++t) {
    stack[call.tensors[t].first] = whole[op.tensors + t];
  }
  stack.insert(stack.end(), on_rows.tensors.begin() + op.num_args, on_rows.tensors.end());
  const at::AutoDispatchBelowADInplaceOrView guard; // threads have states of their own, and weights may want gradients
  call.op.callBoxed(&stack);
}

void TileLoop::run_code(const Op& op, int64_t n, char* const* values) const {
  const cpu::CodeSegment& segment = segments_[op.segment];
  constexpr size_t kMostOperands = 16;
  char* operands[kMostOperands];
  for (uint32_t a = 0; a < op.num_args; ++a) {
    operands[a] = values[args_[op.first_arg + a]];
  }
  if (!segment.by_rows) {
    return segment.code(operands, n);
  }
  int64_t steps[kMostOperands]; // bytes from one row to the next
  for (uint32_t a = 0; a < op.num_args; ++a) {
    const Inst& inst = group_.insts[args_[op.first_arg + a]];
    steps[a] = (inst.form == Form::Row ? 1 : group_.row) * size_of(inst);
  }
  for (int64_t row = 0; row < n / group_.row; ++row) {
    segment.code(operands, group_.row);
    for (uint32_t a = 0; a < op.num_args; ++a) {
      operands[a] += steps[a];
    }
  }
}

void TileLoop::run_op(
    const Op& op,
    int64_t start,
    int64_t n,
    char* const* bases,
    char* const* values,
    const std::vector<at::Tensor>& tensors,
    std::vector<RowTensors>& on_rows) const {
  if (op.segment >= 0) {
    return run_code(op, n, values);
  }
  const Inst& inst = *op.inst;
  char* const out = values[op.value];
  const int64_t count = op.is_row ? n / group_.row : n;
  switch (inst.kind) {
    case InstKind::Kernel: {
      const char* inputs[8];
      for (uint32_t a = 0; a < op.num_args; ++a) {
        inputs[a] = values[args_[op.first_arg + a]];
      }
      inst.kernel({inst.functor.data(), inst.wide_inputs}, out, inputs, count);
      break;
    }
    case InstKind::Convert: {
      const uint32_t arg = args_[op.first_arg];
      const Inst& from = group_.insts[arg];
      at::native::convert_elements(inst.dtype, out, size_of(inst), from.dtype, values[arg], size_of(from), count);
      break;
    }
    case InstKind::Load:
      gather(inst.access, size_of(inst), bases[inst.buffer], op.is_row ? start / group_.row : start, count, out);
      break;
    case InstKind::Constant:
      fill(size_of(inst), inst.value.data(), count, out);
      break;
    case InstKind::Repeat:
      repeat_each(size_of(inst), values[args_[op.first_arg]], n / group_.row, group_.row, out);
      break;
    case InstKind::RowCall:
      run_row_call(op, n, values, tensors, on_rows[op.row_call]);
      break;
    case InstKind::Result:
      break;
  }
}

void TileLoop::run_tiles(int64_t begin, int64_t end, char* const* bases, const std::vector<at::Tensor>& tensors) const {
  constexpr size_t kMostValues = 512;
  char* values[kMostValues];
  TORCH_INTERNAL_ASSERT(group_.insts.size() <= kMostValues);
  char* const scratch = thread_scratch(scratch_bytes_);
  for (size_t i = 0; i < scratch_.size(); ++i) {
    values[i] = scratch_[i] < 0 ? nullptr : scratch + scratch_[i];
  }
  std::vector<RowTensors> on_rows(num_row_calls_);
  for (const Op& op : once_) {
    run_op(op, 0, tile_, bases, values, tensors, on_rows);
  }
  const at::native::ResultStream stream(!streamed_.empty());
  for (int64_t t = begin; t < end; ++t) {
    const int64_t part = t % tiles_in_period_ * tile_;
    const int64_t start = t / tiles_in_period_ * period_ + part;
    const int64_t n = std::min(tile_, period_ - part);
    for (const Moving& moving : moving_) {
      const int64_t first = moving.is_row ? start / group_.row : start;
      const int64_t place = moving.access == nullptr ? first : moving.access->element(first);
      values[moving.value] = bases[moving.buffer] + place * moving.size;
    }
    for (const Op& op : body_) {
      run_op(op, start, n, bases, values, tensors, on_rows);
    }
    for (const Streamed& stored : streamed_) {
      const bool is_row = group_.insts[stored.value].form == Form::Row;
      char* const to = bases[stored.buffer] + (is_row ? start / group_.row : start) * stored.size;
      at::native::ResultStream::write(to, values[stored.value], (is_row ? n / group_.row : n) * stored.size);
    }
  }
}

void TileLoop::run(char* const* bases, const std::vector<at::Tensor>& tensors) const {
  at::parallel_for(0, num_tiles_, grain_, [&](int64_t begin, int64_t end) { run_tiles(begin, end, bases, tensors); });
}

} // namespace torch::fused
