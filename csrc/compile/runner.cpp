#include <csrc/compile/runner.h>

#include <csrc/compile/inference.h>
#include <csrc/compile/lower.h>
#include <csrc/functionalize/auto_functionalized.h>

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/TensorSpec.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace torch::fused {

using c10::IValue;

/// What one call has.
struct Runner::State {
  c10::SmallVector<IValue, 16> slots;
  c10::SmallVector<char*, 32> bases; // by buffer
  c10::Storage arena;
  char* arena_data = nullptr;
  std::vector<std::pair<at::Tensor, at::Tensor>> copied_back; // inputs that are written to, and what was instead
};

namespace {

/// A tensor on a part of some memory; `offset` counts elements.
at::Tensor tensor_on(c10::Storage storage, c10::ScalarType dtype, const Layout& layout, int64_t offset) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), c10::scalarTypeToTypeMeta(dtype));
  c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  impl->set_storage_offset(offset);
  impl->set_sizes_and_strides(layout.sizes, layout.strides);
  return tensor;
}

bool is_contiguous(const Buffer& buffer) {
  int64_t stride = 1;
  for (size_t d = buffer.sizes.size(); d-- > 0;) {
    if (buffer.strides[d] != stride) {
      return false;
    }
    stride *= buffer.sizes[d];
  }
  return true;
}

bool has_layout_of(const at::Tensor& tensor, const Buffer& buffer) {
  const c10::IntArrayRef strides = tensor.strides();
  for (size_t d = 0; d < buffer.sizes.size(); ++d) {
    if (strides[d] != buffer.strides[d] && buffer.sizes[d] != 1) {
      return tensor.numel() == 0;
    }
  }
  return true;
}

/// The same elements with the strides that a buffer is known to have, and as they lie in memory. A loop would read the
/// wrong ones otherwise.
at::Tensor with_layout(at::Tensor tensor, const Buffer& buffer) {
  TORCH_CHECK(
      tensor.defined() && tensor.scalar_type() == buffer.dtype && tensor.sizes().equals(buffer.sizes) &&
          tensor.layout() == c10::kStrided && tensor.device().is_cpu(),
      "a compiled graph got another tensor for ", buffer.name, " than it was made for");
  at::Tensor copy = at::empty_strided(buffer.sizes, buffer.strides, tensor.options());
  copy.copy_(tensor);
  return copy;
}

} // namespace

Runner::Runner(Program program) : program_(std::move(program)), loops_(program_.steps.size()) {
  for (size_t s = 0; s < loops_.size(); ++s) {
    if (const Group* const group = program_.steps[s].group()) {
      loops_[s].emplace(program_, *group);
    }
  }
}

/// A buffer's tensor is in its slot: from now on loops find it there.
void Runner::take_buffer(uint32_t index, State& state) const {
  const Buffer& buffer = program_.buffers[index];
  IValue& slot = state.slots[buffer.slot];
  TORCH_CHECK(slot.isTensor(), "a compiled graph got no tensor for ", buffer.name);
  const at::Tensor& tensor = slot.toTensor();
  const bool fits = tensor.defined() && tensor.scalar_type() == buffer.dtype && tensor.sizes().equals(buffer.sizes) &&
      tensor.layout() == c10::kStrided && tensor.device().is_cpu() && has_layout_of(tensor, buffer) &&
      !tensor.is_conj() && !tensor.is_neg();
  if (C10_UNLIKELY(!fits)) {
    at::Tensor copy = with_layout(tensor, buffer);
    if (buffer.is_written) {
      state.copied_back.emplace_back(tensor, copy);
    }
    slot = std::move(copy);
  }
  state.bases[index] = static_cast<char*>(
      buffer.is_written ? slot.toTensor().mutable_data_ptr() : const_cast<void*>(slot.toTensor().const_data_ptr()));
}

at::Tensor Runner::make_own(const Buffer& buffer) const {
  if (is_contiguous(buffer)) {
    return at::empty_contiguous(buffer.sizes, buffer.dtype, c10::kCPU);
  }
  return at::empty_strided(buffer.sizes, buffer.strides, at::TensorOptions(buffer.dtype));
}

/// The memory of a tensor that nobody else holds, for another one; undefined where somebody does. See Note [Memory of
/// operands].
at::Tensor Runner::take_over(const Buffer& operand, State& state) const {
  const at::Tensor& tensor = state.slots[operand.slot].toTensor();
  const c10::Storage& storage = tensor.storage();
  // Memory from elsewhere (files, other libraries) has no allocator.
  const bool is_free = tensor.use_count() == 1 && storage.use_count() == 1 && storage.allocator() != nullptr &&
      storage.resizable() && tensor.storage_offset() == 0 && storage.nbytes() == static_cast<size_t>(operand.bytes());
  return is_free ? tensor_on(storage, operand.dtype, {operand.sizes, operand.strides}, 0) : at::Tensor();
}

at::Tensor Runner::tensor_of(const View& view, const State& state) const {
  const Buffer& buffer = program_.buffers[view.buffer];
  if (buffer.home == Buffer::Home::Arena) {
    const auto size = static_cast<int64_t>(c10::elementSize(buffer.dtype));
    return tensor_on(state.arena, buffer.dtype, view.layout, buffer.arena_offset / size + view.layout.offset);
  }
  const at::Tensor& tensor = state.slots[buffer.slot].toTensor();
  if (view.layout.offset == 0 && view.layout.sizes == buffer.sizes && view.layout.strides == buffer.strides) {
    return tensor;
  }
  return tensor_on(tensor.storage(), buffer.dtype, view.layout, tensor.storage_offset() + view.layout.offset);
}

IValue Runner::load(const CallArg& arg, const State& state) const {
  return std::visit(
      Overloaded{
          [](const IValue& constant) { return constant; },
          [&](const View& view) { return IValue(tensor_of(view, state)); },
          [&](uint32_t slot) { return fx::convert(state.slots[slot], arg.conversion); },
          [&](const std::vector<CallArg>& list) {
            std::vector<IValue> items;
            items.reserve(list.size());
            for (const CallArg& item : list) {
              items.push_back(load(item, state));
            }
            return fx::make_list(std::move(items), arg.list_type);
          }},
      arg.what);
}

void Runner::run_call(const Call& call, State& state) const {
  torch::jit::Stack stack;
  stack.reserve(std::max<size_t>(call.args.size(), call.num_results));
  for (const CallArg& arg : call.args) {
    stack.push_back(load(arg, state));
  }
  if (call.on_copies.empty()) {
    call.op.callBoxed(&stack);
  } else {
    stack = functionalize::call_on_copies(call.op, std::move(stack), call.on_copies);
  }
  TORCH_INTERNAL_ASSERT(stack.size() == call.num_results);
  for (uint32_t r = 0; r < call.num_results; ++r) {
    state.slots[call.first_slot + r] = std::move(stack[r]);
  }
  for (const uint32_t buffer : call.buffers) {
    take_buffer(buffer, state);
  }
}

void Runner::run_unpack(const Unpack& unpack, State& state) const {
  const IValue& list = state.slots[unpack.list];
  TORCH_CHECK(list.isList(), "a compiled graph takes a list apart that is none");
  const auto items = list.toListRef();
  const int64_t size = static_cast<int64_t>(items.size());
  const int64_t index = unpack.index < 0 ? unpack.index + size : unpack.index;
  TORCH_CHECK(index >= 0 && index < size, "a compiled graph takes more out of a list than there is");
  state.slots[unpack.slot] = items[index];
  for (const uint32_t buffer : unpack.buffers) {
    take_buffer(buffer, state);
  }
}

void Runner::run_group(size_t step, State& state) const {
  const Group& group = *program_.steps[step].group();
  for (const Store& store : group.stores) {
    const Buffer& buffer = program_.buffers[store.buffer];
    if (buffer.home == Buffer::Home::Own) {
      at::Tensor made = store.over ? take_over(program_.buffers[*store.over], state) : at::Tensor();
      if (!made.defined()) {
        made = make_own(buffer);
      }
      state.bases[store.buffer] = static_cast<char*>(made.mutable_data_ptr());
      state.slots[buffer.slot] = std::move(made);
    }
  }
  std::vector<at::Tensor> tensors;
  for (const Inst& inst : group.insts) {
    if (inst.kind == InstKind::RowCall) {
      for (const auto& [place, view] : inst.row_call->tensors) {
        tensors.push_back(tensor_of(view, state));
      }
    }
  }
  loops_[step]->run(state.bases.data(), tensors);
}

std::vector<at::Tensor> Runner::run(std::vector<at::Tensor>& inputs) const {
  TORCH_CHECK(
      inputs.size() == program_.inputs.size(), "a compiled graph takes ", program_.inputs.size(), " inputs, got ",
      inputs.size());
  State state;
  state.slots.resize(program_.num_slots);
  state.bases.resize(program_.buffers.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    state.slots[i] = std::move(inputs[i]);
    if (program_.inputs[i] >= 0) {
      take_buffer(static_cast<uint32_t>(program_.inputs[i]), state);
    }
  }
  inputs.clear();
  if (program_.arena_bytes > 0) {
    const at::Tensor arena = at::empty_contiguous({program_.arena_bytes}, c10::ScalarType::Byte, c10::kCPU);
    state.arena_data = static_cast<char*>(arena.mutable_data_ptr());
    state.arena = arena.storage();
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].home == Buffer::Home::Arena) {
        state.bases[b] = state.arena_data + program_.buffers[b].arena_offset;
      }
    }
  }
  for (size_t s = 0; s < program_.steps.size(); ++s) {
    const Step& step = program_.steps[s];
    std::visit(
        Overloaded{
            [&](const Group&) { run_group(s, state); }, [&](const Call& call) { run_call(call, state); },
            [&](const Unpack& unpack) { run_unpack(unpack, state); }},
        step.what);
    for (const uint32_t slot : step.last_uses) {
      state.slots[slot] = IValue();
    }
  }
  for (const auto& [input, copy] : state.copied_back) {
    input.copy_(copy);
  }
  std::vector<at::Tensor> results;
  results.reserve(program_.outputs.size());
  for (const Output& output : program_.outputs) {
    const bool has_tensor = output && state.slots[*output].isTensor();
    results.push_back(has_tensor ? state.slots[*output].toTensor() : at::Tensor());
  }
  return results;
}

/// What depends on frozen inputs alone, and what it gave for those of the last call.
struct FusedGraph::Ahead {
  Ahead(Program program, std::vector<size_t> inputs_) : runner(std::move(program)), inputs(std::move(inputs_)) {}

  /// Adds the values to the inputs of a call.
  void add_to(std::vector<at::Tensor>& all) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::vector<std::pair<const void*, int64_t>> now;
    now.reserve(inputs.size());
    for (const size_t input : inputs) {
      const at::Tensor& tensor = all.at(input);
      now.emplace_back(tensor.const_data_ptr(), tensor.is_inference() ? 0 : tensor._version());
    }
    if (now != seen) {
      std::vector<at::Tensor> given;
      for (const size_t input : inputs) {
        given.push_back(all[input]);
      }
      held = given; // so that no other tensor comes to lie there
      values = runner.run(given);
      seen = std::move(now);
    }
    all.insert(all.end(), values.begin(), values.end());
  }

  const Runner runner;
  const std::vector<size_t> inputs;
  std::mutex mutex;
  std::vector<std::pair<const void*, int64_t>> seen; // memory and version of each input
  std::vector<at::Tensor> held, values;
};

FusedGraph::FusedGraph(const capture::BackendInput& input) {
  const at::AutoDispatchBelowADInplaceOrView below; // operators are tried while the program is made
  InferenceGraphs graphs = prepare_inference(input);
  runner_ = std::make_shared<const Runner>(lower(graphs.main, input.is_alone, input.saves_memory));
  if (graphs.ahead) {
    ahead_ = std::make_shared<Ahead>(lower(graphs.ahead), std::move(graphs.ahead_inputs));
  }
}

std::vector<at::Tensor> FusedGraph::operator()(std::vector<at::Tensor>& inputs) const {
  if (ahead_) {
    ahead_->add_to(inputs);
  }
  return runner_->run(inputs);
}

std::string FusedGraph::to_string() const {
  const std::string text = runner_->program().to_string();
  return ahead_ ? "ahead " + ahead_->runner.program().to_string() + "\n" + text : text;
}

std::string describe(const capture::CompiledGraph& compiled, const fx::Graph& graph) {
  const auto* const fused = compiled.target<FusedGraph>();
  return fused ? fused->to_string() : graph.to_string();
}

namespace {

const bool is_registered = [] {
  capture::register_backend(
      "fused", [](const capture::BackendInput& input) -> capture::CompiledGraph { return FusedGraph(input); });
  return true;
}();

} // namespace

} // namespace torch::fused
