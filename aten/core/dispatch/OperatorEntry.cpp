#include <aten/core/dispatch/OperatorEntry.h>

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/dispatch/resolved_operators.h>
#include <aten/core/op_registration/infer_schema.h>
#include <aten/core/schema_parser.h>
#include <aten/observe/ObservedCalls.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <mutex>
#include <sstream>

namespace c10::impl {

namespace {

// What every operator starts with; const, since nobody may fill its places.
DispatchTable empty_table{};

size_t index_of(DispatchKey key) {
  return static_cast<size_t>(key);
}

// Functionalities that pass on to the next key when nobody handles them. What is left out needs a kernel: backends.
bool falls_through_by_default(DispatchKey key) {
  if (isBackendDispatchKey(key) || key == DispatchKey::Undefined) {
    return false;
  }
  switch (toFunctionalityKey(key)) {
    case DispatchKey::Dense:
    case DispatchKey::Quantized:
    case DispatchKey::Sparse:
    case DispatchKey::SparseCsr:
    case DispatchKey::NestedTensor:
    case DispatchKey::FPGA:
    case DispatchKey::MAIA:
    case DispatchKey::Vulkan:
    case DispatchKey::Metal:
    case DispatchKey::CustomRNGKeyId:
    case DispatchKey::MkldnnCPU:
      return false;
    default:
      return true;
  }
}

const KernelFunction& fallthrough_function() {
  static const auto& kernel = *new KernelFunction(KernelFunction::makeFallthrough());
  return kernel;
}
const KernelFunction& ambiguous_autogradother_function() {
  static const auto& kernel = *new KernelFunction(KernelFunction::makeAmbiguousAutogradOther());
  return kernel;
}

} // namespace

std::unordered_set<OperatorEntry*>& resolved_operators() {
  static auto& operators = *new std::unordered_set<OperatorEntry*>();
  return operators;
}

OperatorEntry::OperatorEntry(OperatorName name) : table_(&empty_table), name_(std::move(name)) {}

OperatorEntry::~OperatorEntry() {
  resolved_operators().erase(this);
  DispatchTable* table = table_.load();
  if (table != &empty_table) {
    delete table;
  }
  delete schema_.load();
  delete boxed_arguments_.load();
}

std::string OperatorEntry::debugOrName() const {
  return hasSchema() ? toString(schema()) : toString(name_);
}

// --- schemas
// -------------------------------------------------------------------------------------------------------------

const AnnotatedSchema& OperatorEntry::annotated_schema() const {
  const AnnotatedSchema* known = schema_.load(std::memory_order_acquire);
  if (C10_LIKELY(known != nullptr)) {
    return *known;
  }
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  known = schema_.load(std::memory_order_relaxed);
  if (known) {
    return *known;
  }
  TORCH_CHECK(
      builtin_ != nullptr, "Tried to access the schema for ", name_, " which doesn't have a schema registered yet");
  FunctionSchema schema = torch::jit::parseSchema(builtin_->schema);
  // Table entries may leave out the namespace.
  if (!schema.getNamespace()) {
    schema = schema.cloneWithName(name_.name, name_.overload_name);
  }
  schema.setAliasAnalysis(AliasAnalysisKind::FROM_SCHEMA);
  extractor_.registerSchema(schema);
  auto made = std::make_unique<AnnotatedSchema>(std::move(schema), std::string("defined in ") + builtin_->debug);
  schema_.store(made.get(), std::memory_order_release);
  return *made.release();
}

std::string OperatorEntry::debug() const {
  if (builtin_) {
    return std::string("defined in ") + builtin_->debug;
  }
  const AnnotatedSchema* known = schema_.load(std::memory_order_acquire);
  return known ? known->debug : "no debug info";
}

const std::vector<at::Tag>& OperatorEntry::getTags() const {
  TORCH_CHECK(hasSchema(), "Tried to access the tags of ", name_, " which doesn't have a schema registered yet");
  return tags_.get();
}

bool OperatorEntry::hasTag(at::Tag tag) const {
  return std::find(tags_->begin(), tags_->end(), tag) != tags_->end();
}

void OperatorEntry::registerSchema(FunctionSchema schema, std::string debug, std::vector<at::Tag> tags) {
  TORCH_INTERNAL_ASSERT(!hasSchema());
  auto made = std::make_unique<AnnotatedSchema>(std::move(schema), std::move(debug));
  for (const auto& [key, kernels] : std::as_const(kernels_).get()) {
    for (const AnnotatedKernel& kernel : kernels) {
      checkKernelSchema(*made, kernel);
    }
  }
  extractor_.registerSchema(made->schema);
  if (!tags.empty() || !std::as_const(tags_)->empty()) {
    *tags_ = std::move(tags);
  }
  schema_.store(made.release(), std::memory_order_release);
  invalidate();
}

void OperatorEntry::deregisterSchema() {
  delete schema_.exchange(nullptr);
  delete boxed_arguments_.exchange(nullptr);
  tags_->clear();
}

void OperatorEntry::registerBuiltin(const BuiltinDefinition& definition) {
  builtin_ = &definition;
  if (definition.tag_count != 0) {
    tags_->assign(definition.tags, definition.tags + definition.tag_count);
  }
  for (const auto& [key, kernels] : std::as_const(kernels_).get()) {
    for (const AnnotatedKernel& kernel : kernels) {
      checkKernelSchema(annotated_schema(), kernel);
    }
  }
}

void OperatorEntry::checkKernelSchema(const AnnotatedSchema& schema, const AnnotatedKernel& kernel) const {
  if (!kernel.inferred_function_schema) {
    return;
  }
  // A kernel with plain integers fits a schema with symbolic ones: calls convert.
  const FunctionSchema expected = schema.schema.cloneWithRealTypes(kernel.kernel.isValidSymUnboxed());
  const std::optional<std::string> difference = findSchemaDifferences(expected, *kernel.inferred_function_schema);
  if (!difference) {
    return;
  }
  TORCH_CHECK(
      false,
      "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n  operator: ",
      name_, "\n  expected schema: ", schema.schema, "\n    ", schema.debug, "\n  inferred schema: ",
      toString(kernel.inferred_function_schema->cloneWithName(name_.name, name_.overload_name)), "\n    ", kernel.debug,
      "\n  reason: ", *difference);
}

// --- kernels
// -------------------------------------------------------------------------------------------------------------

AnnotatedKernel::AnnotatedKernel(
    KernelFunction kernel, std::unique_ptr<FunctionSchema> inferred_schema, std::string debug)
    : kernel(std::move(kernel)), inferred_function_schema(std::move(inferred_schema)), debug(std::move(debug)) {}

OperatorEntry::KernelHandle OperatorEntry::registerKernel(
    DispatchKey key,
    KernelFunction kernel,
    std::optional<CppSignature> cpp_signature,
    std::unique_ptr<FunctionSchema> inferred_schema,
    std::string debug) {
  AnnotatedKernel made(std::move(kernel), std::move(inferred_schema), std::move(debug));
  if (hasSchema() && made.inferred_function_schema) {
    checkKernelSchema(annotated_schema(), made);
  }
  if (cpp_signature) {
    auto& known = made.kernel.isValidSymUnboxed() ? sym_cpp_signature_ : cpp_signature_;
    if (!known) {
      known.reset(new Signature{*cpp_signature, key, made.debug});
    } else {
      TORCH_CHECK(
          known->signature == *cpp_signature, "\nMismatch in kernel C++ signatures\n  operator: ", debugOrName(),
          "\n    ", this->debug(), "\n  kernel 1: ", known->signature.name(),
          "\n    dispatch key: ", toString(known->key), "\n    ", known->debug, "\n  kernel 2: ", cpp_signature->name(),
          "\n    dispatch key: ", toString(key), "\n    ", made.debug, "\n  first difference:\n",
          markDifference(known->signature.name(), cpp_signature->name()), "\n");
    }
  }

  auto place =
      std::find_if(kernels_->begin(), kernels_->end(), [key](const auto& entry) { return entry.first == key; });
  if (place == kernels_->end()) {
    place = kernels_->emplace(kernels_->end(), key, std::list<AnnotatedKernel>());
  }
  std::string previous;
  if (registered(key, &previous)) {
    TORCH_WARN_ONCE(
        "Overriding a previously registered kernel for the same operator and the same dispatch key\n  operator: ",
        debugOrName(), "\n    ", this->debug(), "\n  dispatch key: ", toString(key), "\n  previous kernel: ", previous,
        "\n       new kernel: ", made.debug);
  }
  place->second.push_front(std::move(made));
  keys_.set(index_of(key));
  invalidate();
  return &place->second.front();
}

void OperatorEntry::deregisterKernel(DispatchKey key, KernelHandle kernel) {
  const auto place =
      std::find_if(kernels_->begin(), kernels_->end(), [key](const auto& entry) { return entry.first == key; });
  TORCH_INTERNAL_ASSERT(place != kernels_->end(), "Tried to deregister a kernel of ", name_, " that is not there");
  // Calls must not find the kernel any more when it dies.
  std::list<AnnotatedKernel> dead;
  auto& kernels = place->second;
  dead.splice(dead.begin(), kernels, std::find_if(kernels.begin(), kernels.end(), [kernel](const auto& one) {
                return &one == kernel;
              }));
  if (place->second.empty()) {
    kernels_->erase(place);
    keys_.reset(index_of(key));
    for (const auto& [rows, count] : *builtin_kernels_) {
      for (size_t i = 0; i < count; ++i) {
        keys_.set(index_of(rows[i].key));
      }
    }
  }
  if (kernels_->empty()) {
    cpp_signature_.reset();
    sym_cpp_signature_.reset();
  }
  invalidate();
}

void OperatorEntry::registerBuiltinKernels(const BuiltinKernelRow* rows, size_t count) {
  auto& tables = builtin_kernels_.get();
  if (tables.empty()) {
    tables.reserve(2); // of its backends' kernels and of Autograd's
  }
  tables.emplace_back(rows, count);
  for (size_t i = 0; i < count; ++i) {
    keys_.set(index_of(rows[i].key));
  }
  invalidate();
}

const KernelFunction* OperatorEntry::builtinKernel(const BuiltinKernelRow& row) const {
  for (const auto& [made_for, kernel] : *made_kernels_) {
    if (made_for == &row) {
      return kernel.get();
    }
  }
  const BuiltinKernel& forms = *row.kernel;
  made_kernels_->emplace_back(
      &row,
      std::make_unique<KernelFunction>(
          BoxedKernel(make_intrusive<UnboxedAddress>(forms.unboxed), forms.boxed),
          forms.has_symint ? nullptr : forms.unboxed, forms.has_symint ? forms.unboxed : nullptr));
  return made_kernels_->back().second.get();
}

const KernelFunction* OperatorEntry::registered(DispatchKey key, std::string* debug) const {
  if (!keys_.test(index_of(key))) {
    return nullptr;
  }
  for (const auto& [have, kernels] : *kernels_) {
    if (have != key || kernels.empty()) {
      continue;
    }
    if (debug) {
      *debug = kernels.front().debug;
    }
    return &kernels.front().kernel;
  }
  for (auto table = builtin_kernels_->rbegin(); table != builtin_kernels_->rend(); ++table) {
    for (size_t i = 0; i < table->second; ++i) {
      const BuiltinKernelRow& row = table->first[i];
      if (row.key != key) {
        continue;
      }
      if (debug) {
        *debug = std::string("defined in ") + row.debug;
      }
      return builtinKernel(row);
    }
  }
  return nullptr;
}

bool OperatorEntry::hasKernelForDispatchKey(DispatchKey k) const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  return keys_.test(index_of(k));
}

bool OperatorEntry::hasKernelForAnyDispatchKey(DispatchKeySet ks) const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  for (size_t i = keys_._Find_first(); i < keys_.size(); i = keys_._Find_next(i)) {
    const DispatchKey key = static_cast<DispatchKey>(i);
    if (key != DispatchKey::Undefined && !isAliasDispatchKey(key) && ks.has(key)) {
      return true;
    }
  }
  return false;
}

bool OperatorEntry::isKernelForDispatchKeyFallthroughKernel(DispatchKey k) const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const KernelFunction* kernel = registered(k, nullptr);
  TORCH_CHECK(kernel, "no kernel for ", toString(k), " on ", name_);
  return kernel->isFallthrough();
}

bool OperatorEntry::hasComputedKernelForDispatchKey(DispatchKey k) const {
  TORCH_CHECK(!isAliasDispatchKey(k), "Alias keys do not have runtime kernel registrations.");
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  return computeEntry(k).kernel != nullptr;
}

const KernelFunction& OperatorEntry::getComputedKernelForDispatchKey(DispatchKey k) const {
  TORCH_CHECK(!isAliasDispatchKey(k), "Alias keys do not have runtime kernel registrations.");
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const KernelFunction* kernel = computeEntry(k).kernel;
  TORCH_CHECK(kernel, "no kernel for ", toString(k), " on ", name_);
  return *kernel;
}

// --- tables
// --------------------------------------------------------------------------------------------------------------

// Precedence, first match wins: the kernel for the key itself; CompositeExplicitAutogradNonFunctional and
// CompositeExplicitAutograd for backends; CompositeImplicitAutograd (first its form for nested tensors) for backends
// and autograd keys, the latter unless the backend has an own kernel; Autograd; FuncTorchBatchedDecomposition; the
// backend fallback; falling through where that is the default.
OperatorEntry::ResolvedKernel OperatorEntry::computeEntry(DispatchKey key) const {
  std::string debug;
  const auto registered_under = [&](DispatchKey alias) -> const KernelFunction* {
    if (!keys_.test(index_of(alias))) {
      return nullptr;
    }
    return key == DispatchKey::Undefined || isIncludedInAlias(key, alias) ? registered(alias, &debug) : nullptr;
  };

  if (const KernelFunction* own = registered(key, &debug)) {
    return {own, "kernel", debug};
  }
  if (const KernelFunction* k = registered_under(DispatchKey::CompositeExplicitAutogradNonFunctional)) {
    return {k, "default backend kernel", debug};
  }
  if (const KernelFunction* k = registered_under(DispatchKey::CompositeExplicitAutograd)) {
    return {k, "default backend kernel", debug};
  }

  // A composite kernel would hide the backend's own kernel from the autograd keys above it.
  const auto backend_has_kernel = [&] {
    return hasKernelForAnyDispatchKey(getBackendKeySetFromAutograd(key)) ||
        keys_.test(index_of(DispatchKey::CompositeExplicitAutograd));
  };
  if (key != DispatchKey::Undefined) {
    const KernelFunction* nested = registered_under(DispatchKey::CompositeImplicitAutogradNestedTensor);
    if (nested && !backend_has_kernel()) {
      return {nested, "nested kernel", debug};
    }
  }
  if (const KernelFunction* math = registered_under(DispatchKey::CompositeImplicitAutograd)) {
    if (key == DispatchKey::AutogradOther && hasKernelForAnyDispatchKey(autogradother_backends)) {
      return {&ambiguous_autogradother_function(), "ambiguous autogradother", debug};
    }
    if (!backend_has_kernel()) {
      return {math, "math kernel", debug};
    }
  }
  if (key != DispatchKey::Undefined) {
    if (const KernelFunction* k = registered_under(DispatchKey::Autograd)) {
      return {k, "autograd kernel", debug};
    }
    if (const KernelFunction* k = registered_under(DispatchKey::FuncTorchBatchedDecomposition)) {
      return {k, "batched kernel", debug};
    }
  }
  if (const AnnotatedKernel* fallback = Dispatcher::singleton().fallback(key)) {
    return {&fallback->kernel, "backend fallback", fallback->debug};
  }
  if (falls_through_by_default(key)) {
    return {&fallthrough_function(), "default fallthrough", ""};
  }
  return {nullptr, "missing", ""};
}

void OperatorEntry::computeMasks() const {
  DispatchKeyExtractor::Masks masks;
  masks.fill(DispatchKeySet::from_raw_repr(~uint64_t{0}));
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    const KernelFunction* kernel = computeEntry(key).kernel;
    if (!kernel || !kernel->isFallthrough()) {
      continue;
    }
    if (isPerBackendFunctionalityKey(toFunctionalityKey(key))) {
      DispatchKeySet& mask = masks[static_cast<size_t>(toBackendComponent(key)) - 1];
      mask = mask.remove(key);
    } else {
      for (DispatchKeySet& mask : masks) {
        mask = mask.remove(key);
      }
    }
  }
  extractor_.setMasks(masks);
}

// Note [Usual forms]
// A call of a view operator or of one in place passes three kernels: Autograd's, ADInplaceOrView's, and the backend's.
// In a usual call (Note [Fast path of calls]) with nothing to record, the first has nothing to do, and the second
// little. So such an operator has a second row for its Autograd kernel: its usual form, which does the work of both,
// and goes on with the CPU key alone. The usual slot holds it as long as both kernels are the library's own.
OperatorEntry::Resolved OperatorEntry::resolve(DispatchKeySet ks) const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (!extractor_.masksKnown()) {
    computeMasks();
    resolved_operators().insert(const_cast<OperatorEntry*>(this)); // entries are never const objects
  }
  ks = extractor_.applyMasks(ks);
  const DispatchKey key = ks.highestPriorityTypeId();
  const KernelFunction* kernel = computeEntry(key).kernel;
  if (!kernel) {
    reportMissingKernel(ks);
  }
  if (C10_UNLIKELY(all_threads_are_observed()) && key != kObserverKey) {
    kernel = &observed_kernel(*kernel);
  }

  fillSlot(static_cast<size_t>(ks.getDispatchTableIndexForDispatchKeySet()), *kernel);
  const DispatchKeySet usual = extractor_.applyMasks((plain_cpu_keys | default_included_set) - default_excluded_set);
  const auto usual_form = [&]() -> const KernelFunction* {
    const BuiltinKernelRow* autograd = nullptr;
    bool tracks = false;
    const KernelFunction* tracking = computeEntry(DispatchKey::ADInplaceOrView).kernel;
    for (const auto& [row, made] : *made_kernels_) {
      if (made.get() == kernel && row->key == DispatchKey::Autograd) {
        autograd = row;
      }
      tracks |= made.get() == tracking && row->key == DispatchKey::ADInplaceOrView;
    }
    const DispatchKeySet below = usual - autograd_dispatch_keyset_with_ADInplaceOrView;
    if (autograd == nullptr || !tracks || below.highestPriorityTypeId() != DispatchKey::CPU) {
      return nullptr;
    }
    for (const auto& [rows, count] : *builtin_kernels_) {
      const bool has_second =
          autograd >= rows && autograd + 1 < rows + count && autograd[1].key == DispatchKey::Autograd;
      if (has_second) {
        return builtinKernel(autograd[1]);
      }
    }
    return nullptr;
  };
  if (ks == usual && !extractor_.hasMasksPerBackend()) {
    const KernelFunction* form = usual_form();
    fillSlot(kUsualSlot, form != nullptr ? *form : *kernel);
  }
  return {kernel, ks};
}

const KernelFunction& OperatorEntry::resolveFastPath() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  if (!extractor_.masksKnown()) {
    computeMasks();
    resolved_operators().insert(const_cast<OperatorEntry*>(this)); // entries are never const objects
  }
  const auto generated = [&](DispatchKey runtime_key, DispatchKey registered_key) {
    const KernelFunction* kernel = computeEntry(runtime_key).kernel;
    return std::any_of(made_kernels_->begin(), made_kernels_->end(), [&](const auto& made) {
      return made.second.get() == kernel && made.first->key == registered_key;
    });
  };
  // What the Autograd kernel would redispatch to with nothing to record. Operators with an ADInplaceOrView kernel come
  // here only from that, or from their usual form.
  DispatchKeySet below =
      extractor_.applyMasks((plain_cpu_keys | default_included_set) - default_excluded_set - autograd_dispatch_keyset);
  if (generated(DispatchKey::ADInplaceOrView, DispatchKey::ADInplaceOrView)) {
    below = below.remove(DispatchKey::ADInplaceOrView);
  }
  const bool plain = !all_threads_are_observed() &&
      (generated(DispatchKey::BackendSelect, DispatchKey::BackendSelect) ||
       (generated(DispatchKey::AutogradCPU, DispatchKey::Autograd) &&
        below.highestPriorityTypeId() == DispatchKey::CPU));
  static const KernelFunction none;
  const KernelFunction* kernel = plain ? computeEntry(DispatchKey::CPU).kernel : nullptr;
  const KernelFunction& found = kernel != nullptr ? *kernel : none;
  fillSlot(kFastPathSlot, found);
  return found;
}

void OperatorEntry::fillSlot(size_t place, const KernelFunction& kernel) const {
  DispatchTable* table = table_.load(std::memory_order_relaxed);
  if (table == &empty_table) {
    table = new DispatchTable{};
    table_.store(table, std::memory_order_release);
  }
  (*table)[place].store(&kernel, std::memory_order_release);
}

void OperatorEntry::invalidate() {
  if (!extractor_.masksKnown()) {
    return; // nothing has been resolved since the last time
  }
  DispatchTable* table = table_.load(std::memory_order_relaxed);
  if (table != &empty_table) {
    for (auto& place : *table) {
      place.store(nullptr, std::memory_order_release);
    }
  }
  extractor_.forgetMasks();
}

void OperatorEntry::reportMissingKernel(DispatchKeySet ks) const {
  const DispatchKey key = ks.highestPriorityTypeId();
  TORCH_CHECK_NOT_IMPLEMENTED(
      key != DispatchKey::Undefined,
      "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback "
      "function is ",
      "registered for schema ", name_,
      ".  This usually means that this function requires a non-empty list of Tensors, or that you ",
      "(the operator writer) forgot to register a fallback function.  Available functions are ", listAllDispatchKeys(),
      ".\n\n", dumpComputedTable());
  // A backend of an extension is called by the name it gave itself.
  const std::string backend = key == DispatchKey::PrivateUse1 ? get_privateuse1_backend() : toString(key);
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run '", name_, "' with arguments from the '", backend,
      "' backend. This could be because the operator doesn't exist for this backend, or its library was not loaded "
      "(then its ",
      "kernels are not registered). '", name_, "' is only available for these backends: ", listAllDispatchKeys(),
      ".\n\n", dumpComputedTable());
}

} // namespace c10::impl
