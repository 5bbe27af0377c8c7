#include <csrc/capture/lazy_mode.h>

#include <csrc/capture/operator_kinds.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/functionalize/meta_kernels.h>
#include <csrc/fx/effects.h>
#include <aten/Functions.h>
#include <aten/autocast/autocast_mode.h>
#include <aten/core/Context.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <c10/core/Allocator.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/DeferredStorage.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

namespace torch::capture {

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;

constexpr size_t kMostNodes = 4096;

/// They change what a tensor is, not what is in it.
constexpr std::string_view kChangesMetadata[] = {
    "aten::_conj",     "aten::_neg_view", "aten::as_strided_", "aten::detach_",    "aten::rename_",    "aten::squeeze_",
    "aten::swapaxes_", "aten::swapdims_", "aten::t_",          "aten::transpose_", "aten::unsqueeze_",
};

/// Words that begin an argument.
enum Tag : int64_t { kNone, kInt, kDouble, kBool, kString, kList, kTensor, kNoTensor, kInput, kNumber, kDevice, kEnd };

int64_t bits_of(double value) {
  int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// Tensors that can be recorded: dense ones on the CPU, whose values lie in memory as they are.
bool is_ordinary(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.device().is_cpu() && tensor.has_storage() && !tensor.is_conj() &&
      !tensor.is_neg() && !tensor.is_quantized() && !tensor.is_nested();
}

/// Operators run as their kernels alone.
struct BelowMode {
  at::AutoDispatchBelowADInplaceOrView autograd;
  c10::impl::ExcludeDispatchKeyGuard others{c10::autocast_dispatch_keyset | DispatchKeySet(DispatchKey::Python)};
};

/// Sets the default dtype for a while.
class DefaultDtype {
 public:
  explicit DefaultDtype(c10::ScalarType dtype) : before_(c10::get_default_dtype_as_scalartype()) {
    set(dtype);
  }
  ~DefaultDtype() {
    set(before_);
  }
  DefaultDtype(const DefaultDtype&) = delete;
  DefaultDtype& operator=(const DefaultDtype&) = delete;

 private:
  static void set(c10::ScalarType dtype) {
    if (dtype != c10::get_default_dtype_as_scalartype()) {
      c10::set_default_dtype(c10::scalarTypeToTypeMeta(dtype));
    }
  }
  c10::ScalarType before_;
};

/// Whether two tensors' elements lie alike.
bool lie_alike(const at::Tensor& tensor, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  if (!tensor.sizes().equals(sizes)) {
    return false;
  }
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] != 1 && tensor.stride(static_cast<int64_t>(dim)) != strides[dim]) {
      return false;
    }
  }
  return true;
}

LazySpec spec_of(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return {false};
  }
  return {true, tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec()};
}

/// The tensor without data that stands for an argument.
at::Tensor meta_like(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return at::Tensor();
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    return tensor;
  }
  return at::empty_strided(tensor.sizes(), tensor.strides(), at::TensorOptions(c10::kMeta).dtype(tensor.scalar_type()));
}

/// Whether a list holds tensors, or may.
bool is_list_of_tensors(const IValue& value) {
  return value.isTensorList() ||
      (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList() &&
       value.toList().elementType()->str().find("Tensor") != std::string::npos);
}

bool writes_to(const c10::AliasInfo* alias) {
  if (alias == nullptr) {
    return false;
  }
  const auto& inside = alias->containedTypes();
  return alias->isWrite() || std::any_of(inside.begin(), inside.end(), [](const auto& each) { return each.isWrite(); });
}

/// The argument that a result is, by the schema.
std::optional<size_t> written_argument(const c10::FunctionSchema& schema, const c10::Argument& result) {
  const c10::AliasInfo* const alias = result.alias_info();
  if (!alias || alias->beforeSets().empty()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* const other = schema.arguments()[i].alias_info();
    if (other && other->beforeSets() == alias->beforeSets()) {
      return i;
    }
  }
  return std::nullopt;
}

} // namespace

LazyMode::LazyMode(LazyGraphs& graphs, bool fullgraph)
    : graphs_(graphs), fullgraph_(fullgraph), expected_(graphs.last_call()) {
  functionalize::install_meta_kernels();
  static std::once_flag once;
  std::call_once(once, [] { c10::set_compute_storage(&LazyMode::compute); });
  start();
}

LazyMode::~LazyMode() {
  // After an exception: tensors that the function left somewhere must have their values.
  try {
    run_pending();
  } catch (const std::exception&) { // the first exception is the one that counts
  }
}

void LazyMode::start() {
  pending_ = std::make_unique<Pending>();
  pending_->default_dtype = c10::get_default_dtype_as_scalartype();
  put(static_cast<int64_t>(pending_->default_dtype));
  put(at::globalContext().deterministicAlgorithms());
  prediction_ = ran_.size() < expected_.size() ? expected_[ran_.size()] : nullptr;
  if (prediction_ && !std::equal(pending_->entry->key.begin(), pending_->entry->key.end(), prediction_->key.begin())) {
    prediction_ = nullptr;
  }
}

/// Called where memory is accessed that has no values yet.
bool LazyMode::compute(const c10::StorageImpl& storage) {
  auto* const mode = dynamic_cast<LazyMode*>(DispatchMode::current());
  if (mode == nullptr || !mode->pending_ || mode->pending_->memory.count(&storage) == 0) {
    return false;
  }
  mode->graphs_.note_break("memory is accessed by a pointer");
  TORCH_CHECK(
      !mode->fullgraph_,
      "compile: the function cannot be captured: memory that is not computed yet is accessed by a "
      "pointer");
  mode->run_pending();
  return true;
}

void LazyMode::finish() {
  run_pending();
  graphs_.set_last_call(ran_);
}

void LazyMode::begin_step(size_t) {
  run_pending();
  is_suspended_ = true;
}

void LazyMode::end_step() {
  is_suspended_ = false;
}

void LazyMode::run_now(
    const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack, const std::string& why) {
  TORCH_CHECK(!fullgraph_, "compile: the function cannot be captured: ", why);
  if (!pending_->graph.nodes.empty()) {
    graphs_.note_break(why);
  }
  run_pending();
  op.redispatchBoxed(keys, stack);
}

void LazyMode::call(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const OperatorKind known = capture::kind_of(schema);
  if (is_suspended_ || known.is_metadata) {
    op.redispatchBoxed(keys, stack);
    return;
  }
  const size_t first = stack->size() - schema.arguments().size();
  if (const auto why = why_not_recorded(op, known.obstacle, *stack, first)) {
    return run_now(op, keys, stack, *why);
  }
  if (pending_->graph.nodes.size() >= kMostNodes || pending_->default_dtype != c10::get_default_dtype_as_scalartype()) {
    run_pending();
  }
  std::string why;
  if (!record(op, keys, stack, why)) {
    run_now(op, keys, stack, why);
  }
}

/// False where it has to run at once; then nothing has been done.
bool LazyMode::record(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack, std::string& why) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t first = stack->size() - schema.arguments().size();
  LazyNode node{op, torch::jit::Stack(stack->begin() + static_cast<std::ptrdiff_t>(first), stack->end()), {}};
  put(reinterpret_cast<int64_t>(&schema));
  if (!add_arguments(op, *stack, first, node)) {
    why = toString(op.operator_name()) + " takes what is not recorded";
    return false;
  }
  const size_t index = pending_->graph.nodes.size();
  LazyEntry& entry = *pending_->entry;
  const bool is_known = is_predicted();
  const LazyKind kind = is_known ? prediction_->kinds[index] : kind_of(node);
  if (kind == LazyKind::Now) {
    why = toString(op.operator_name()) + " is not recorded";
    return false;
  }
  node.first_value = static_cast<uint32_t>(pending_->graph.node_of.size());
  if (is_known) {
    entry.results.push_back(prediction_->results[index]);
    entry.lengths.push_back(prediction_->lengths[index]);
  } else if (!describe_results(node, *stack, first, kind == LazyKind::Gives)) {
    why = toString(op.operator_name()) + " has results that are not known before it runs";
    return false;
  }
  entry.ends.push_back(entry.key.size());
  entry.kinds.push_back(kind);
  if (kind == LazyKind::Writes) {
    note_writes(node, *stack, first);
  }
  if (kind == LazyKind::View) {
    op.redispatchBoxed(keys, stack);
  }
  leave_results(node, stack, first, kind);
  pending_->graph.nodes.push_back(std::move(node));
  return true;
}

/// Whether the words so far are those that the graph which stood here in the last call has for one node more.
bool LazyMode::is_predicted() const {
  const LazyEntry& entry = *pending_->entry;
  const size_t index = pending_->graph.nodes.size();
  if (!prediction_) {
    return false;
  }
  const size_t begin = index == 0 ? 0 : entry.ends.back();
  const bool fits = index < prediction_->ends.size() && prediction_->ends[index] == entry.key.size() &&
      (index == 0 || prediction_->ends[index - 1] == begin) &&
      std::equal(entry.key.begin() + static_cast<std::ptrdiff_t>(begin), entry.key.end(),
                 prediction_->key.begin() + static_cast<std::ptrdiff_t>(begin));
  if (!fits) {
    const_cast<LazyMode*>(this)->prediction_ = nullptr;
  }
  return fits;
}

bool LazyMode::add_arguments(
    const c10::OperatorHandle& op, const torch::jit::Stack& stack, size_t first, LazyNode& node) {
  for (uint32_t i = 0; i < op.schema().arguments().size(); ++i) {
    const IValue& value = stack[first + i];
    if (value.isTensor()) {
      if (!add_tensor(value.toTensor(), i, -1, node)) {
        return false;
      }
    } else if (is_list_of_tensors(value)) {
      const auto items = value.toListRef();
      put(kList);
      put(static_cast<int64_t>(items.size()));
      for (size_t item = 0; item < items.size(); ++item) {
        const at::Tensor tensor = items[item].isTensor() ? items[item].toTensor() : at::Tensor();
        if (!add_tensor(tensor, i, static_cast<int32_t>(item), node)) {
          return false;
        }
      }
      node.stack[i] = items.empty() ? value : IValue();
    } else if (!add_constant(value)) {
      return false;
    }
  }
  return true;
}

bool LazyMode::add_tensor(const at::Tensor& tensor, uint32_t place, int32_t item, LazyNode& node) {
  if (!tensor.defined()) {
    put(kNoTensor);
    if (item >= 0) {
      node.tensors.push_back({place, item, -1});
    }
    return true;
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number() && tensor.dim() == 0 && tensor.device().is_cpu()) {
    put(kNumber);
    put(static_cast<int64_t>(tensor.scalar_type()));
    const auto found = pending_->memory.find(tensor.storage().unsafeGetStorageImpl());
    return item < 0 && found == pending_->memory.end() && !c10::isComplexType(tensor.scalar_type()) &&
        add_constant(tensor.item());
  }
  if (!is_ordinary(tensor)) {
    return false;
  }
  const auto value = value_of(tensor);
  if (!value) {
    return false;
  }
  put(kTensor);
  put(*value);
  node.tensors.push_back({place, item, static_cast<int64_t>(*value)});
  if (item < 0) {
    node.stack[place] = IValue();
  }
  return true;
}

bool LazyMode::add_constant(const IValue& value) {
  if (value.isNone()) {
    put(kNone);
  } else if (value.isBool()) {
    put(kBool);
    put(value.toBool());
  } else if (value.isInt()) {
    put(kInt);
    put(value.toInt());
  } else if (value.isDouble()) {
    put(kDouble);
    put(bits_of(value.toDouble()));
  } else if (value.isString()) {
    const std::string& text = value.toStringRef();
    put(kString);
    put(static_cast<int64_t>(text.size()));
    for (const char c : text) {
      put(c);
    }
  } else if (value.isDevice()) {
    put(kDevice);
    put(static_cast<int64_t>(value.toDevice().type()));
    return value.toDevice().is_cpu();
  } else if (value.isList() && !value.isTensorList()) {
    const auto items = value.toListRef();
    put(kList);
    put(static_cast<int64_t>(items.size()));
    return std::all_of(items.begin(), items.end(), [&](const IValue& item) { return add_constant(item); });
  } else {
    return false;
  }
  return true;
}

/// The value of a tensor, which becomes an input where it comes from outside. Nothing where it is a part of recorded
/// memory that no recorded operator has given.
std::optional<uint32_t> LazyMode::value_of(const at::Tensor& tensor) {
  const c10::StorageImpl* const impl = tensor.storage().unsafeGetStorageImpl();
  const auto [found, is_new] = pending_->memory.try_emplace(impl);
  Memory& memory = found->second;
  if (is_new) {
    memory = {tensor.storage(), false, false, static_cast<int64_t>(pending_->memory.size()), {}};
  }
  for (auto it = memory.known.rbegin(); it != memory.known.rend(); ++it) {
    if (it->offset == tensor.storage_offset() && it->dtype == tensor.scalar_type() &&
        tensor.sizes().equals(it->sizes) && tensor.strides().equals(it->strides)) {
      return it->value;
    }
  }
  if (memory.is_deferred || memory.is_written) {
    return std::nullopt;
  }
  put(kInput);
  put(memory.number);
  put(memory.known.empty() ? 0 : tensor.storage_offset() - memory.known.front().offset);
  put(static_cast<int64_t>(tensor.scalar_type()));
  put(tensor.dim());
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    put(tensor.size(dim));
    put(tensor.stride(dim));
  }
  const auto value = static_cast<uint32_t>(pending_->graph.node_of.size());
  pending_->graph.node_of.push_back(-1);
  pending_->graph.input_of.push_back(static_cast<int64_t>(pending_->graph.inputs.size()));
  // Of versions of its own: what runs later changes none that somebody has noted.
  pending_->graph.inputs.push_back(at::Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(
      c10::VariableVersion(0), /*allow_tensor_metadata_change=*/false)));
  memory.known.push_back(
      {tensor.storage_offset(), tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec(), value});
  return value;
}

LazyKind LazyMode::kind_of(const LazyNode& node) const {
  const c10::FunctionSchema& schema = node.op.schema();
  const auto& formals = schema.arguments();
  const bool has_out = std::any_of(formals.begin(), formals.end(), [](const auto& formal) { return formal.is_out(); });
  const bool changes_metadata =
      std::find(std::begin(kChangesMetadata), std::end(kChangesMetadata), schema.name()) != std::end(kChangesMetadata);
  if (schema.name().rfind("aten::", 0) != 0 || has_out || changes_metadata) {
    return LazyKind::Now;
  }
  const auto graph = fx::Graph::create();
  const fx::Node* call = nullptr;
  try {
    call = graph->call_operator(node.op, graph_args(node, [&](uint32_t value) {
                                  return fx::Value{graph->placeholder("x" + std::to_string(value)), 0};
                                }));
  } catch (const c10::Error&) {
    return LazyKind::Now;
  }
  if (fx::is_random(*call)) {
    return LazyKind::Now;
  }
  if (fx::writes(*call)) {
    // Those that write what their schemas do not say run at once.
    return schema.is_mutable() ? LazyKind::Writes : LazyKind::Now;
  }
  if (fx::is_impure(*call)) {
    return LazyKind::Now;
  }
  return schema.hasAnyAliasInfo() ? LazyKind::View : LazyKind::Gives;
}

/// What results will be like, by a call of the Meta backend. False where it cannot tell.
bool LazyMode::describe_results(const LazyNode& node, const torch::jit::Stack& stack, size_t first, bool gives) {
  LazyEntry& entry = *pending_->entry;
  const c10::FunctionSchema& schema = node.op.schema();
  std::vector<LazySpec> specs;
  std::vector<int32_t> lengths;
  if (!schema.is_mutable() && !gives) {
    entry.results.emplace_back(); // views say themselves
    entry.lengths.emplace_back();
    return true;
  }
  torch::jit::Stack metas;
  std::vector<const c10::StorageImpl*> taken;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const IValue& value = stack[first + i];
    if (value.isTensor()) {
      metas.emplace_back(meta_like(value.toTensor()));
      if (value.toTensor().defined()) {
        taken.push_back(metas.back().toTensor().storage().unsafeGetStorageImpl());
      }
    } else if (is_list_of_tensors(value)) {
      c10::List<IValue> copy = value.toList().copy();
      for (size_t item = 0; item < copy.size(); ++item) {
        const IValue old = copy.get(item);
        if (old.isTensor() && old.toTensor().defined()) {
          copy.set(item, meta_like(old.toTensor()));
        }
      }
      metas.emplace_back(std::move(copy));
    } else {
      metas.push_back(value);
    }
  }
  functionalize::use_meta_device(schema, metas);
  try {
    const BelowMode below;
    node.op.callBoxed(&metas);
  } catch (const c10::Error&) {
    return false; // the operator itself says it better
  }
  for (size_t r = 0; r < schema.returns().size(); ++r) {
    const IValue& result = metas[r];
    if (!gives && written_argument(schema, schema.returns()[r])) {
      lengths.push_back(-2);
      continue;
    }
    const bool is_list = result.isTensorList();
    if (!is_list && !result.isTensor()) {
      return false;
    }
    lengths.push_back(is_list ? static_cast<int32_t>(result.toListRef().size()) : -1);
    for (size_t i = 0; i < (is_list ? result.toListRef().size() : 1); ++i) {
      const at::Tensor& tensor = is_list ? result.toListRef()[i].toTensor() : result.toTensor();
      specs.push_back(spec_of(tensor));
      const bool is_plain = !tensor.defined() ||
          (tensor.layout() == c10::kStrided && tensor.device().is_meta() && !tensor.is_quantized() &&
           !tensor.is_conj() && !tensor.is_neg() &&
           std::find(taken.begin(), taken.end(), tensor.storage().unsafeGetStorageImpl()) == taken.end());
      if (!is_plain) {
        return false;
      }
    }
  }
  entry.results.push_back(std::move(specs));
  entry.lengths.push_back(std::move(lengths));
  return true;
}

/// What operators write to may not be accessed before they ran.
void LazyMode::note_writes(const LazyNode& node, const torch::jit::Stack& stack, size_t first) {
  const auto note = [&](const IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) {
      return;
    }
    Memory& memory = pending_->memory.at(value.toTensor().storage().unsafeGetStorageImpl());
    if (!memory.is_deferred && !std::exchange(memory.is_written, true)) {
      memory.storage.unsafeGetStorageImpl()->release_data_and_set_meta_custom_data_ptr_error_msg_(std::nullopt);
    }
  };
  const auto& formals = node.op.schema().arguments();
  for (size_t i = 0; i < formals.size(); ++i) {
    if (!writes_to(formals[i].alias_info())) {
      continue;
    }
    if (stack[first + i].isTensor()) {
      note(stack[first + i]);
    } else if (stack[first + i].isList()) {
      for (const IValue& item : stack[first + i].toListRef()) {
        note(item);
      }
    }
  }
}

/// Takes the arguments from the stack, and puts results there; these become values.
void LazyMode::leave_results(LazyNode& node, torch::jit::Stack* stack, size_t first, LazyKind kind) {
  const size_t index = pending_->graph.nodes.size();
  const auto leave = [&](const IValue& result) {
    if (result.isTensor()) {
      remember(result.toTensor(), index);
      node.lengths.push_back(-1);
      return;
    }
    node.lengths.push_back(static_cast<int32_t>(result.toListRef().size()));
    for (const IValue& item : result.toListRef()) {
      remember(item.toTensor(), index);
    }
  };
  if (kind == LazyKind::View) {
    for (size_t i = first; i < stack->size(); ++i) {
      leave((*stack)[i]);
    }
    return;
  }
  const c10::FunctionSchema& schema = node.op.schema();
  const LazyEntry& entry = *pending_->entry;
  torch::jit::Stack results;
  size_t next = 0;
  for (size_t r = 0; r < entry.lengths.back().size(); ++r) {
    const int32_t length = entry.lengths.back()[r];
    if (length == -2) {
      results.push_back((*stack)[first + *written_argument(schema, schema.returns()[r])]);
    } else if (length == -1) {
      results.emplace_back(make_deferred(entry.results.back()[next++]));
    } else {
      std::vector<at::Tensor> items;
      for (int32_t i = 0; i < length; ++i) {
        items.push_back(make_deferred(entry.results.back()[next++]));
      }
      results.emplace_back(std::move(items));
    }
    leave(results.back());
  }
  stack->resize(first);
  stack->insert(stack->end(), results.begin(), results.end());
}

void LazyMode::remember(const at::Tensor& tensor, size_t node) {
  const auto value = static_cast<uint32_t>(pending_->graph.node_of.size());
  pending_->graph.node_of.push_back(static_cast<int64_t>(node));
  pending_->graph.input_of.push_back(-1);
  if (!tensor.defined()) {
    return;
  }
  const auto found = pending_->memory.find(tensor.storage().unsafeGetStorageImpl());
  if (found == pending_->memory.end()) {
    return; // a view of nothing that is recorded
  }
  for (Known& known : found->second.known) {
    if (known.offset == tensor.storage_offset() && known.dtype == tensor.scalar_type() &&
        tensor.sizes().equals(known.sizes) && tensor.strides().equals(known.strides)) {
      known.value = value;
      return;
    }
  }
  found->second.known.push_back(
      {tensor.storage_offset(), tensor.scalar_type(), tensor.sizes().vec(), tensor.strides().vec(), value});
}

/// A tensor whose memory is made later.
at::Tensor LazyMode::make_deferred(const LazySpec& spec) {
  if (!spec.is_defined) {
    return at::Tensor();
  }
  int64_t elements = 1;
  for (size_t dim = 0; dim < spec.sizes.size(); ++dim) {
    if (spec.sizes[dim] == 0) {
      elements = 0;
      break;
    }
    elements += (spec.sizes[dim] - 1) * spec.strides[dim];
  }
  const int64_t bytes = elements * static_cast<int64_t>(c10::elementSize(spec.dtype));
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), c10::SymInt(bytes), c10::DataPtr(nullptr, c10::kCPU),
      c10::GetAllocator(c10::kCPU), /*resizable=*/true));
  c10::StorageImpl* const impl = storage.unsafeGetStorageImpl();
  impl->release_data_and_set_meta_custom_data_ptr_error_msg_(std::nullopt);
  pending_->memory[impl] = {storage, true, false, static_cast<int64_t>(pending_->memory.size()), {}};
  pending_->deferred.push_back(impl);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), DispatchKeySet(DispatchKey::CPU), c10::scalarTypeToTypeMeta(spec.dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(spec.sizes, spec.strides);
  return tensor;
}

/// Runs what has been recorded, for the values that somebody holds.
void LazyMode::run_pending() {
  if (pending_->graph.nodes.empty()) {
    start();
    return;
  }
  const std::unique_ptr<Pending> pending = std::move(pending_);
  for (auto& [impl, memory] : pending->memory) {
    if (memory.is_written) {
      memory.storage.unsafeGetStorageImpl()->clear_data_ptr_access_error_msg_();
    }
  }
  pending->entry->key.push_back(kEnd);
  std::vector<const c10::StorageImpl*> held;
  for (const c10::StorageImpl* impl : pending->deferred) {
    const Memory& memory = pending->memory.at(impl);
    if (memory.storage.use_count() > 1) {
      held.push_back(impl);
      pending->graph.outputs.push_back(memory.known.front().value); // what was made first is all of it
      pending->entry->key.push_back(memory.known.front().value);
    }
  }
  pending->deferred = std::move(held);
  try {
    const BelowMode below;
    const DefaultDtype as_recorded(pending->default_dtype);
    std::shared_ptr<LazyEntry> entry = pending->entry;
    fill(*pending, graphs_.run(pending->graph, entry));
    ran_.push_back(std::move(entry));
  } catch (...) {
    start();
    throw;
  }
  start();
}

/// Gives the tensors that were handed out their memory.
void LazyMode::fill(Pending& pending, std::vector<at::Tensor> results) {
  for (size_t i = 0; i < pending.deferred.size(); ++i) {
    Memory& memory = pending.memory.at(pending.deferred[i]);
    const Known& all = memory.known.front();
    at::Tensor result = std::move(results[i]);
    c10::StorageImpl* const deferred = memory.storage.unsafeGetStorageImpl();
    const bool is_own = !result.is_conj() && !result.is_neg() && result.use_count() == 1 &&
        result.storage().use_count() == 1 && result.storage_offset() == 0 &&
        lie_alike(result, all.sizes, all.strides) && result.scalar_type() == all.dtype &&
        result.storage().nbytes() >= deferred->nbytes() &&
        result.storage().unsafeGetStorageImpl()->allocator() == deferred->allocator();
    if (!is_own) {
      const at::Tensor copy = at::empty_strided(all.sizes, all.strides, at::TensorOptions(all.dtype));
      copy.copy_(result);
      result = copy;
    }
    deferred->set_data_ptr_noswap(result.storage().unsafeGetStorageImpl()->set_data_ptr(c10::DataPtr()));
    deferred->clear_data_ptr_access_error_msg_();
  }
}

} // namespace torch::capture
