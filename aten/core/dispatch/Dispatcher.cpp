#include <aten/core/dispatch/Dispatcher.h>

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/OperatorNameTable.h>
#include <aten/core/dispatch/resolved_operators.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>

namespace c10 {

OpRegistrationListener::~OpRegistrationListener() = default;

namespace impl {

std::recursive_mutex& registrationMutex() {
  // Never destroyed: libraries may deregister while the process exits.
  static auto& mutex = *new std::recursive_mutex();
  return mutex;
}

void report_out_of_memory(const OperatorEntry& entry) {
  TORCH_CHECK_WITH(
      OutOfMemoryError, false, entry.operator_name(),
      ": not enough memory: there is none for what the call needs beside ",
      "its tensors (lists of results, working memory). Sizes of the arguments may be larger than meant");
}

} // namespace impl

namespace {

using Lock = std::lock_guard<std::recursive_mutex>;

} // namespace

struct Dispatcher::State {
  impl::OperatorNameTable operators;
  // In the order of table slots; a key has at most one fallback.
  std::array<std::unique_ptr<impl::AnnotatedKernel>, num_runtime_entries> fallbacks;
  std::map<std::string, std::string> libraries; // namespace -> where
  std::vector<std::unique_ptr<OpRegistrationListener>> listeners;
};

Dispatcher::Dispatcher() : state_(new State()) {}
Dispatcher::~Dispatcher() = default;

Dispatcher& Dispatcher::singleton() {
  static Dispatcher& instance = *new Dispatcher();
  return instance;
}

// --- finding
// -----------------------------------------------------------------------------------------------------------------

impl::OperatorEntry* Dispatcher::find(OperatorNameView name) const {
  return state_->operators.find(name);
}

impl::OperatorEntry& Dispatcher::entry(OperatorNameView name) {
  if (impl::OperatorEntry* known = find(name)) {
    return *known;
  }
  const Lock lock(impl::registrationMutex());
  return state_->operators.find_or_add(name);
}

impl::OperatorEntry& Dispatcher::entry(const impl::BuiltinName& name) {
  return state_->operators.find_or_add(name);
}

std::optional<OperatorHandle> Dispatcher::findOp(const OperatorName& name) {
  impl::OperatorEntry* entry = find(name);
  // Entries stay when everything has been deregistered; they are then as good as not there.
  if (!entry || !(entry->hasSchema() || entry->def_and_impl_count > 0)) {
    return std::nullopt;
  }
  return OperatorHandle(entry);
}

std::optional<OperatorHandle> Dispatcher::findSchema(const OperatorName& name) {
  impl::OperatorEntry* entry = find(name);
  if (!entry || !entry->hasSchema()) {
    return std::nullopt;
  }
  return OperatorHandle(entry);
}

OperatorHandle Dispatcher::findSchemaOrThrow(const char* name, const char* overload_name) {
  impl::OperatorEntry* entry = find(OperatorNameView(name, overload_name));
  if (C10_UNLIKELY(!entry || !entry->hasSchema())) {
    reportUnknownOperator(OperatorName(name, overload_name));
  }
  return OperatorHandle(entry);
}

OperatorHandle Dispatcher::findOrRegisterName_(const OperatorName& op_name) {
  return OperatorHandle(&entry(op_name));
}

namespace {

// Levenshtein distance, given up beyond `limit`.
size_t edit_distance(const std::string& a, const std::string& b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) {
    return limit + 1;
  }
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

} // namespace

void Dispatcher::reportUnknownOperator(const OperatorName& name) const {
  const impl::OperatorEntry* known = find(name);
  TORCH_CHECK(
      !known || known->def_and_impl_count == 0, "Could not find schema for ", name,
      " but we found an implementation; did you forget to def() the operator?");

  std::vector<std::pair<size_t, std::string>> near;
  const std::string wanted = toString(name);
  const size_t limit = std::max<size_t>(3, wanted.size() / 3);
  state_->operators.for_each([&](const impl::OperatorEntry& entry) {
    if (!entry.hasSchema()) {
      return;
    }
    // Another overload of the right name is the best guess of all.
    const bool same_name = entry.operator_name().name == name.name;
    const size_t distance = same_name ? 0 : edit_distance(wanted, toString(entry.operator_name()), limit);
    if (distance <= limit) {
      near.emplace_back(distance, toString(entry.operator_name()));
    }
  });
  std::sort(near.begin(), near.end());
  std::string hint;
  for (size_t i = 0; i < std::min<size_t>(near.size(), 5); ++i) {
    hint += (i == 0 ? ". Did you mean " : ", ") + near[i].second;
  }
  TORCH_CHECK(
      false, "Could not find schema for ", wanted, hint, near.empty() ? ". No operator has a name like this" : "?");
}

std::vector<OperatorName> Dispatcher::getAllOpNames() {
  const Lock lock(impl::registrationMutex());
  std::vector<OperatorName> names;
  state_->operators.for_each([&](const impl::OperatorEntry& entry) {
    if (entry.hasSchema()) {
      names.push_back(entry.operator_name());
    }
  });
  return names;
}

std::vector<OperatorName> Dispatcher::getAllOpNamesForDispatchKey(DispatchKey k) {
  return getRegistrationsForDispatchKey(k);
}

std::vector<OperatorName> Dispatcher::getRegistrationsForDispatchKey(std::optional<DispatchKey> k) const {
  const Lock lock(impl::registrationMutex());
  std::vector<OperatorName> names;
  state_->operators.for_each([&](const impl::OperatorEntry& entry) {
    if (k ? entry.hasKernelForDispatchKey(*k) : entry.def_and_impl_count > 0 || entry.hasSchema()) {
      names.push_back(entry.operator_name());
    }
  });
  return names;
}

std::vector<OperatorHandle> Dispatcher::findDanglingImpls() const {
  const Lock lock(impl::registrationMutex());
  std::vector<OperatorHandle> dangling;
  state_->operators.for_each([&](impl::OperatorEntry& entry) {
    if (!entry.hasSchema() && entry.def_and_impl_count > 0) {
      dangling.push_back(OperatorHandle(&entry));
    }
  });
  return dangling;
}

// --- calling
// -------------------------------------------------------------------------------------------------------------------

void Dispatcher::callBoxed(const OperatorHandle& op, Stack* stack) const {
  const impl::OperatorEntry& entry = *op.entry_;
  DispatchKeySet keys = entry.keysBoxed(*stack);
  try { // see Note [Memory that ends in a call]
    entry.lookup(keys).callBoxed(op, keys, stack);
  } catch (const std::bad_alloc&) {
    impl::report_out_of_memory(entry);
  }
}

void Dispatcher::callBoxedForDispatchKey(const OperatorHandle& op, DispatchKey key, Stack* stack) const {
  const impl::OperatorEntry& entry = *op.entry_;
  const DispatchKeySet keys = entry.keysBoxed(*stack);
  DispatchKeySet asked(key);
  entry.lookup(asked).callBoxed(op, keys, stack);
}

void Dispatcher::redispatchBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
  op.entry_->lookup(keys).callBoxed(op, keys, stack);
}

// --- registering
// -----------------------------------------------------------------------------------------------------------------

void Dispatcher::notify(const impl::OperatorEntry& entry, bool registered) const {
  const OperatorHandle op(const_cast<impl::OperatorEntry*>(&entry));
  for (const auto& listener : state_->listeners) {
    if (registered) {
      listener->onOperatorRegistered(op);
    } else {
      listener->onOperatorDeregistered(op);
    }
  }
}

RegistrationHandleRAII Dispatcher::registerLibrary(std::string ns, std::string debug) {
  const Lock lock(impl::registrationMutex());
  const auto [place, fresh] = state_->libraries.emplace(ns, debug);
  TORCH_CHECK(
      fresh, "Only a single TORCH_LIBRARY can be used to register the namespace ", ns,
      "; please put all of your definitions in a single TORCH_LIBRARY block.  If you were trying to specify "
      "implementations, ",
      "consider using TORCH_LIBRARY_IMPL (which can be duplicated).  If you really intended to define operators for a "
      "single ",
      "namespace in a distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  Previous "
      "registration of ",
      "TORCH_LIBRARY was ", place->second, "; latest registration was ", debug);
  return RegistrationHandleRAII([this, ns = std::move(ns)] {
    const Lock relock(impl::registrationMutex());
    state_->libraries.erase(ns);
  });
}

RegistrationHandleRAII Dispatcher::registerDef(FunctionSchema schema, std::string debug) {
  return registerDef(std::move(schema), std::move(debug), {});
}

RegistrationHandleRAII Dispatcher::registerDef(FunctionSchema schema, std::string debug, std::vector<at::Tag> tags) {
  const Lock lock(impl::registrationMutex());
  impl::OperatorEntry& op = entry(schema.operator_name());
  TORCH_CHECK(
      !op.hasSchema(), "Tried to register an operator (", schema,
      ") with the same name and overload name multiple times.",
      " Each overload's schema should only be registered with a single call to def().",
      " Duplicate registration: ", debug, ". Original registration: ", op.debug());
  op.registerSchema(std::move(schema), std::move(debug), std::move(tags));
  ++op.def_count;
  ++op.def_and_impl_count;
  notify(op, true);
  return RegistrationHandleRAII([this, &op] {
    const Lock relock(impl::registrationMutex());
    notify(op, false);
    op.deregisterSchema();
    --op.def_count;
    --op.def_and_impl_count;
  });
}

RegistrationHandleRAII Dispatcher::registerImpl(
    OperatorName op_name,
    std::optional<DispatchKey> dispatch_key,
    KernelFunction kernel,
    std::optional<impl::CppSignature> cpp_signature,
    std::unique_ptr<FunctionSchema> inferred_function_schema,
    std::string debug) {
  const Lock lock(impl::registrationMutex());
  impl::OperatorEntry& op = entry(op_name);
  const DispatchKey key = dispatch_key.value_or(DispatchKey::CompositeImplicitAutograd);
  const auto handle = op.registerKernel(
      key, std::move(kernel), std::move(cpp_signature), std::move(inferred_function_schema), std::move(debug));
  ++op.def_and_impl_count;
  return RegistrationHandleRAII([&op, key, handle] {
    const Lock relock(impl::registrationMutex());
    op.deregisterKernel(key, handle);
    --op.def_and_impl_count;
  });
}

RegistrationHandleRAII Dispatcher::registerName(OperatorName op_name) {
  const Lock lock(impl::registrationMutex());
  impl::OperatorEntry& op = entry(op_name);
  ++op.def_and_impl_count;
  return RegistrationHandleRAII([&op] {
    const Lock relock(impl::registrationMutex());
    --op.def_and_impl_count;
  });
}

namespace {

// Table slots of a key: alias keys and functionalities without a backend mean all their runtime keys.
std::vector<size_t> places_of(DispatchKey key) {
  std::vector<size_t> places;
  const auto add = [&](DispatchKey runtime) {
    places.push_back(static_cast<size_t>(getDispatchTableIndexForDispatchKey(runtime)));
  };
  if (!isAliasDispatchKey(key)) {
    add(key);
  } else {
    for (const DispatchKey runtime : getRuntimeDispatchKeySet(key)) {
      add(runtime);
    }
  }
  return places;
}

void invalidate_resolved() {
  for (impl::OperatorEntry* op : impl::resolved_operators()) {
    op->invalidate();
  }
  impl::resolved_operators().clear();
}

} // namespace

RegistrationHandleRAII Dispatcher::registerFallback(
    DispatchKey dispatch_key, KernelFunction kernel, std::string debug) {
  const Lock lock(impl::registrationMutex());
  const std::vector<size_t> places = places_of(dispatch_key);
  for (const size_t place : places) {
    TORCH_CHECK(
        !state_->fallbacks[place], "Tried to register multiple backend fallbacks for the same dispatch key ",
        toString(dispatch_key), "; previous registration ", state_->fallbacks[place]->debug, ", new registration ",
        debug);
  }
  for (const size_t place : places) {
    state_->fallbacks[place] = std::make_unique<impl::AnnotatedKernel>(kernel, nullptr, debug);
  }
  invalidate_resolved();
  return RegistrationHandleRAII([this, places] {
    const Lock relock(impl::registrationMutex());
    std::vector<std::unique_ptr<impl::AnnotatedKernel>> dead;
    for (const size_t place : places) {
      dead.push_back(std::move(state_->fallbacks[place]));
    }
    invalidate_resolved();
  });
}

const impl::AnnotatedKernel* Dispatcher::fallback(DispatchKey runtime_key) const {
  return state_->fallbacks[static_cast<size_t>(getDispatchTableIndexForDispatchKey(runtime_key))].get();
}

bool Dispatcher::hasBackendFallbackForDispatchKey(DispatchKey key) const {
  const Lock lock(impl::registrationMutex());
  return !isAliasDispatchKey(key) && fallback(key) != nullptr;
}

RegistrationHandleRAII Dispatcher::addRegistrationListener(std::unique_ptr<OpRegistrationListener> listener) {
  const Lock lock(impl::registrationMutex());
  OpRegistrationListener* const raw = listener.get();
  state_->operators.for_each([&](impl::OperatorEntry& entry) {
    if (entry.hasSchema()) {
      raw->onOperatorRegistered(OperatorHandle(&entry));
    }
  });
  state_->listeners.push_back(std::move(listener));
  return RegistrationHandleRAII([this, raw] {
    const Lock relock(impl::registrationMutex());
    auto& all = state_->listeners;
    all.erase(std::find_if(all.begin(), all.end(), [raw](const auto& have) { return have.get() == raw; }));
  });
}

void Dispatcher::checkInvariants() const {
  const Lock lock(impl::registrationMutex());
  state_->operators.for_each([](const impl::OperatorEntry& entry) { entry.checkInvariants(); });
}

// --- tables of built-in operators
// ------------------------------------------------------------------------------------------------

namespace impl {

void BuiltinRegistrar::define(const BuiltinDefinition* definitions, size_t count) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const Lock lock(registrationMutex());
  for (const BuiltinDefinition* row = definitions; row != definitions + count; ++row) {
    OperatorEntry& op = dispatcher.entry(*row);
    TORCH_CHECK(
        !op.hasSchema(), "operator ", op.operator_name(), " is defined twice: ", op.debug(), " and in ", row->debug);
    op.registerBuiltin(*row);
    row->slot->entry = &op;
    dispatcher.notify(op, true);
  }
}

void BuiltinRegistrar::implement(const BuiltinKernelRow* rows, size_t count) {
  Dispatcher& dispatcher = Dispatcher::singleton();
  const Lock lock(registrationMutex());
  const auto same_operator = [](const BuiltinKernelRow& a, const BuiltinKernelRow& b) {
    const OperatorNameView x = a.view(), y = b.view();
    return a.hash == b.hash && x.name == y.name && x.overload_name == y.overload_name;
  };
  size_t begin = 0;
  while (begin < count) {
    size_t end = begin + 1;
    while (end < count && same_operator(rows[begin], rows[end])) {
      ++end;
    }
    dispatcher.entry(rows[begin]).registerBuiltinKernels({rows + begin, end - begin});
    begin = end;
  }
}

} // namespace impl
} // namespace c10
