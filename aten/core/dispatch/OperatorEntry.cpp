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

size_t BuiltinKernelRuns::inside() const {
  size_t count = 0;
  while (count < kInside && counts_[count] != 0) {
    ++count;
  }
  return count;
}

size_t BuiltinKernelRuns::size() const {
  return inside() + more_->size();
}

BuiltinKernelRun BuiltinKernelRuns::operator[](size_t i) const {
  return i < kInside ? BuiltinKernelRun{rows_[i], counts_[i]} : (*more_)[i - kInside];
}

void BuiltinKernelRuns::add(BuiltinKernelRun run) {
  if (const size_t place = inside(); place < kInside) {
    rows_[place] = run.rows;
    counts_[place] = static_cast<uint16_t>(run.count); // an operator has a few hundred keys
  } else {
    more_->push_back(run);
  }
}

OperatorEntry::OperatorEntry(OperatorName name)
    : table_(&empty_table), name_(new OperatorName(std::move(name))), name_view_(*name_.load()) {}

OperatorEntry::OperatorEntry(const BuiltinName& name) : table_(&empty_table), name_(nullptr), name_view_(name.view()) {}

OperatorEntry::~OperatorEntry() {
  resolved_operators().erase(this);
  DispatchTable* table = table_.load();
  if (table != &empty_table) {
    delete table;
  }
  delete name_.load();
  delete schema_.load();
  delete tags_.load();
  delete boxed_arguments_.load();
}

const OperatorName& OperatorEntry::makeName() const {
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const OperatorName* known = name_.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = new OperatorName(std::string(name_view_.name), std::string(name_view_.overload_name));
    name_.store(known, std::memory_order_release);
  }
  return *known;
}

std::string OperatorEntry::debugOrName() const {
  return hasSchema() ? toString(schema()) : toString(operator_name());
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
      builtin_ != nullptr, "Tried to access the schema for ", operator_name(),
      " which doesn't have a schema registered yet");
  FunctionSchema schema = torch::jit::parseSchema(builtin_->schema);
  // Table entries may leave out the namespace.
  if (!schema.getNamespace()) {
    schema = schema.cloneWithName(operator_name().name, operator_name().overload_name);
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
  TORCH_CHECK(
      hasSchema(), "Tried to access the tags of ", operator_name(), " which doesn't have a schema registered yet");
  if (const std::vector<at::Tag>* const known = tags_.load(std::memory_order_acquire)) {
    return *known;
  }
  static const std::vector<at::Tag> none;
  if (builtin_ == nullptr || builtin_->tag_count == 0) {
    return none;
  }
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const std::vector<at::Tag>* known = tags_.load(std::memory_order_relaxed);
  if (known == nullptr) {
    known = new std::vector<at::Tag>(builtin_->tags, builtin_->tags + builtin_->tag_count);
    tags_.store(known, std::memory_order_release);
  }
  return *known;
}

bool OperatorEntry::hasTag(at::Tag tag) const {
  const auto among = [tag](const at::Tag* tags, size_t count) {
    return std::find(tags, tags + count, tag) != tags + count;
  };
  if (builtin_ != nullptr) {
    return among(builtin_->tags, builtin_->tag_count);
  }
  const std::vector<at::Tag>* const known = tags_.load(std::memory_order_acquire);
  return known != nullptr && among(known->data(), known->size());
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
  if (!tags.empty()) {
    tags_.store(new std::vector<at::Tag>(std::move(tags)), std::memory_order_release);
  }
  schema_.store(made.release(), std::memory_order_release);
  invalidate();
}

void OperatorEntry::deregisterSchema() {
  delete schema_.exchange(nullptr);
  delete boxed_arguments_.exchange(nullptr);
  delete tags_.exchange(nullptr);
}

void OperatorEntry::registerBuiltin(const BuiltinDefinition& definition) {
  builtin_ = &definition;
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
      operator_name(), "\n  expected schema: ", schema.schema, "\n    ", schema.debug, "\n  inferred schema: ",
      toString(kernel.inferred_function_schema->cloneWithName(operator_name().name, operator_name().overload_name)),
      "\n    ", kernel.debug, "\n  reason: ", *difference);
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
  auto& known = made.kernel.isValidSymUnboxed() ? sym_cpp_signature_ : cpp_signature_;
  if (cpp_signature && known) {
    TORCH_CHECK(
        known->signature == *cpp_signature, "\nMismatch in kernel C++ signatures\n  operator: ", debugOrName(),
        "\n    ", this->debug(), "\n  kernel 1: ", known->signature.name(),
        "\n    dispatch key: ", toString(known->key), "\n    ", known->debug, "\n  kernel 2: ", cpp_signature->name(),
        "\n    dispatch key: ", toString(key), "\n    ", made.debug, "\n  first difference:\n",
        markDifference(known->signature.name(), cpp_signature->name()), "\n");
  }
  if (hasSchema() && made.inferred_function_schema) {
    checkKernelSchema(annotated_schema(), made);
  }
  if (cpp_signature && !known) {
    known.reset(new Signature{*cpp_signature, key, made.debug});
  }

  auto place =
      std::find_if(kernels_->begin(), kernels_->end(), [key](const auto& entry) { return entry.first == key; });
  if (place == kernels_->end()) {
    place = kernels_->emplace(kernels_->end(), key, std::list<AnnotatedKernel>());
  }
  if (const KernelSource previous = registered(key)) {
    TORCH_WARN_ONCE(
        "Overriding a previously registered kernel for the same operator and the same dispatch key\n  operator: ",
        debugOrName(), "\n    ", this->debug(), "\n  dispatch key: ", toString(key),
        "\n  previous kernel: ", debugOf(previous), "\n       new kernel: ", made.debug);
  }
  place->second.push_front(std::move(made));
  keys_.set(index_of(key));
  invalidate();
  return &place->second.front();
}

void OperatorEntry::deregisterKernel(DispatchKey key, KernelHandle kernel) {
  const auto place =
      std::find_if(kernels_->begin(), kernels_->end(), [key](const auto& entry) { return entry.first == key; });
  TORCH_INTERNAL_ASSERT(
      place != kernels_->end(), "Tried to deregister a kernel of ", operator_name(), " that is not there");
  // Calls must not find the kernel any more when it dies.
  std::list<AnnotatedKernel> dead;
  auto& kernels = place->second;
  dead.splice(dead.begin(), kernels, std::find_if(kernels.begin(), kernels.end(), [kernel](const auto& one) {
                return &one == kernel;
              }));
  if (place->second.empty()) {
    kernels_->erase(place);
    keys_.reset(index_of(key));
    for (size_t run = 0; run < builtin_kernels_.size(); ++run) {
      const auto [rows, count] = builtin_kernels_[run];
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

void OperatorEntry::registerBuiltinKernels(BuiltinKernelRun run) {
  builtin_kernels_.add(run);
  for (size_t i = 0; i < run.count; ++i) {
    keys_.set(index_of(run.rows[i].key));
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

OperatorEntry::KernelSource OperatorEntry::registered(DispatchKey key) const {
  KernelSource source;
  if (!keys_.test(index_of(key))) {
    return source;
  }
  for (const auto& [have, kernels] : *kernels_) {
    if (have == key && !kernels.empty()) {
      source.registration = &kernels.front();
      return source;
    }
  }
  for (size_t run = builtin_kernels_.size(); run-- > 0;) {
    const auto [rows, count] = builtin_kernels_[run];
    const BuiltinKernelRow* const row =
        std::find_if(rows, rows + count, [key](const BuiltinKernelRow& one) { return one.key == key; });
    if (row != rows + count) {
      source.row = row;
      return source;
    }
  }
  return source;
}

const KernelFunction* OperatorEntry::kernelOf(const KernelSource& source) const {
  return source.registration ? &source.registration->kernel : source.row ? builtinKernel(*source.row) : source.function;
}

std::string OperatorEntry::debugOf(const KernelSource& source) {
  if (source.registration) {
    return source.registration->debug;
  }
  if (source.row) {
    return std::string("defined in ") + source.row->debug;
  }
  return source.function == &ambiguous_autogradother_function() ? "ambiguous_autogradother" : "";
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
  const KernelFunction* kernel = kernelOf(registered(k));
  TORCH_CHECK(kernel, "no kernel for ", toString(k), " on ", operator_name());
  return kernel->isFallthrough();
}

bool OperatorEntry::hasComputedKernelForDispatchKey(DispatchKey k) const {
  TORCH_CHECK(!isAliasDispatchKey(k), "Alias keys do not have runtime kernel registrations.");
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  return computeEntry(k) != nullptr;
}

const KernelFunction& OperatorEntry::getComputedKernelForDispatchKey(DispatchKey k) const {
  TORCH_CHECK(!isAliasDispatchKey(k), "Alias keys do not have runtime kernel registrations.");
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  const KernelFunction* kernel = computeEntry(k);
  TORCH_CHECK(kernel, "no kernel for ", toString(k), " on ", operator_name());
  return *kernel;
}

// --- tables
// --------------------------------------------------------------------------------------------------------------

// Precedence, first match wins: the kernel for the key itself; CompositeExplicitAutogradNonFunctional and
// CompositeExplicitAutograd for backends; CompositeImplicitAutograd (first its form for nested tensors) for backends
// and autograd keys, the latter unless the backend has an own kernel; Autograd; FuncTorchBatchedDecomposition; the
// backend fallback; falling through where that is the default.
OperatorEntry::KernelSource OperatorEntry::findSource(DispatchKey key) const {
  const auto registered_under = [&](DispatchKey alias, const char* kind) {
    KernelSource source;
    if (keys_.test(index_of(alias)) && (key == DispatchKey::Undefined || isIncludedInAlias(key, alias))) {
      source = registered(alias);
      source.kind = kind;
    }
    return source;
  };

  if (const KernelSource own = registered(key)) {
    return own;
  }
  for (const DispatchKey alias :
       {DispatchKey::CompositeExplicitAutogradNonFunctional, DispatchKey::CompositeExplicitAutograd}) {
    if (const KernelSource composite = registered_under(alias, "default backend kernel")) {
      return composite;
    }
  }

  // A composite kernel would hide the backend's own kernel from the autograd keys above it.
  const auto backend_has_kernel = [&] {
    return hasKernelForAnyDispatchKey(getBackendKeySetFromAutograd(key)) ||
        keys_.test(index_of(DispatchKey::CompositeExplicitAutograd));
  };
  if (key != DispatchKey::Undefined) {
    const KernelSource nested = registered_under(DispatchKey::CompositeImplicitAutogradNestedTensor, "nested kernel");
    if (nested && !backend_has_kernel()) {
      return nested;
    }
  }
  if (const KernelSource math = registered_under(DispatchKey::CompositeImplicitAutograd, "math kernel")) {
    if (key == DispatchKey::AutogradOther && hasKernelForAnyDispatchKey(autogradother_backends)) {
      return {nullptr, nullptr, &ambiguous_autogradother_function(), "ambiguous autogradother"};
    }
    if (!backend_has_kernel()) {
      return math;
    }
  }
  if (key != DispatchKey::Undefined) {
    if (const KernelSource autograd = registered_under(DispatchKey::Autograd, "autograd kernel")) {
      return autograd;
    }
    if (const KernelSource batched = registered_under(DispatchKey::FuncTorchBatchedDecomposition, "batched kernel")) {
      return batched;
    }
  }
  if (const AnnotatedKernel* fallback = Dispatcher::singleton().fallback(key)) {
    return {fallback, nullptr, nullptr, "backend fallback"};
  }
  if (falls_through_by_default(key)) {
    return {nullptr, nullptr, &fallthrough_function(), "default fallthrough"};
  }
  return {nullptr, nullptr, nullptr, "missing"};
}

void OperatorEntry::computeMasks() const {
  DispatchKeyExtractor::Masks masks;
  masks.fill(DispatchKeySet::from_raw_repr(~uint64_t{0}));
  for (const DispatchKey key : DispatchKeySet(DispatchKeySet::FULL)) {
    const KernelSource source = findSource(key);
    // Most rows have an unboxed form: of them no kernel is made just to see that it has code.
    const bool has_code = source.row != nullptr && source.row->kernel->unboxed != nullptr;
    if (!source || has_code || !kernelOf(source)->isFallthrough()) {
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
  const KernelFunction* kernel = computeEntry(key);
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
    const KernelFunction* tracking = computeEntry(DispatchKey::ADInplaceOrView);
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
    for (size_t run = 0; run < builtin_kernels_.size(); ++run) {
      const auto [rows, count] = builtin_kernels_[run];
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
    const KernelFunction* kernel = computeEntry(runtime_key);
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
  const KernelFunction* kernel = plain ? computeEntry(DispatchKey::CPU) : nullptr;
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
      "registered for schema ", operator_name(),
      ".  This usually means that this function requires a non-empty list of Tensors, or that you ",
      "(the operator writer) forgot to register a fallback function.  Available functions are ", listAllDispatchKeys(),
      ".\n\n", dumpComputedTable());
  // A backend of an extension is called by the name it gave itself.
  const std::string backend = key == DispatchKey::PrivateUse1 ? get_privateuse1_backend() : toString(key);
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run '", operator_name(), "' with arguments from the '", backend,
      "' backend. This could be because the operator doesn't exist for this backend, or its library was not loaded "
      "(then its ",
      "kernels are not registered). '", operator_name(),
      "' is only available for these backends: ", listAllDispatchKeys(), ".\n\n", dumpComputedTable());
}

} // namespace c10::impl
