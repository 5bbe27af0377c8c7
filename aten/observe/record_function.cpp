#include <aten/observe/record_function.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <aten/observe/ObservedCalls.h>
#include <aten/observe/SequenceNumber.h>
#include <aten/parallel/ThreadLocalState.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <mutex>
#include <ostream>
#include <random>
#include <unordered_map>
#include <utility>

namespace at {

// ---- callbacks
// -----------------------------------------------------------------------------------------------------------

StringView::StringView(std::string text)
    : owned_(std::make_shared<const std::string>(std::move(text))), text_(owned_->c_str()) {}

std::ostream& operator<<(std::ostream& out, const StringView& text) {
  return out << text.str();
}

ObserverContext::~ObserverContext() = default;

RecordFunctionCallback& RecordFunctionCallback::samplingProb(double sampling_prob) {
  TORCH_CHECK(
      sampling_prob >= 0 && sampling_prob <= 1,
      "Invalid sampling probability: RecordFunctionCallback::samplingProb got ", sampling_prob,
      "; it must be in [0, 1]");
  sampling_prob_ = sampling_prob;
  return *this;
}

RecordFunctionCallback& RecordFunctionCallback::scopes(
    const std::unordered_set<RecordScope, std::hash<RecordScope>>& scopes) {
  scopes_.fill(scopes.empty());
  for (const RecordScope scope : scopes) {
    TORCH_CHECK(
        scope < RecordScope::NUM_SCOPES, "RecordFunctionCallback::scopes: ", static_cast<int>(scope), " is no scope");
    scopes_[static_cast<size_t>(scope)] = true;
  }
  return *this;
}

namespace impl {

__thread bool thread_has_callbacks __attribute__((tls_model("initial-exec"))) = false;
constinit std::atomic<int> global_observers{0};

} // namespace impl

namespace {

using CallbackList = std::shared_ptr<const RecordFunctionCallbacks>;

bool any_enabled(const RecordFunctionCallbacks& callbacks) {
  return std::any_of(callbacks.begin(), callbacks.end(), [](const auto& entry) { return entry.enabled_; });
}

// The callbacks of the process. Threads keep a copy of the list and look at the version.
struct GlobalCallbacks {
  std::mutex mutex;
  CallbackList list = std::make_shared<RecordFunctionCallbacks>();
  std::atomic<uint64_t> version{1};

  static GlobalCallbacks& get() {
    static auto& all = *new GlobalCallbacks();
    return all;
  }
};

// What a thread knows. Callbacks may still be asked for while its objects are destroyed, so a flag outlives them.
struct ThreadCallbacks {
  impl::SharedRecordFunctionTLS own;
  CallbackList global;
  uint64_t global_version = 0;
  std::optional<std::minstd_rand> random; // seeded at first use

  ~ThreadCallbacks();

  bool draw(double probability) {
    if (!random) {
      random.emplace(std::random_device()());
    }
    return std::uniform_real_distribution<>()(*random) < probability;
  }
};
thread_local ThreadCallbacks thread_callbacks __attribute__((tls_model("initial-exec")));
__thread bool thread_ends __attribute__((tls_model("initial-exec"))) = false;
__thread bool in_callback __attribute__((tls_model("initial-exec"))) = false;

ThreadCallbacks::~ThreadCallbacks() {
  thread_ends = true;
  impl::thread_has_callbacks = false;
}

const RecordFunctionTLS& unset_tls() {
  static const auto& unset = *new RecordFunctionTLS();
  return unset;
}

CallbackHandle next_callback_handle() {
  static std::atomic<CallbackHandle> last{INVALID_CALLBACK_HANDLE};
  return ++last;
}

void watch_calls(bool of_all_threads);

// Changes the thread's settings by a function of a copy of them.
template <class F>
void change_thread(const F& change) {
  auto changed = std::make_shared<RecordFunctionTLS>(get_record_function_tls_());
  change(*changed);
  impl::set_shared_record_function_tls(std::move(changed));
}

// Changes the process's callbacks by a function of a copy of them, which tells whether it did anything.
template <class F>
bool change_global(const F& change) {
  GlobalCallbacks& global = GlobalCallbacks::get();
  const std::lock_guard<std::mutex> lock(global.mutex);
  auto changed = std::make_shared<RecordFunctionCallbacks>(*global.list);
  if (!change(*changed)) {
    return false;
  }
  const auto watchers =
      std::count_if(changed->begin(), changed->end(), [](const auto& entry) { return entry.enabled_; });
  global.list = std::move(changed);
  global.version.fetch_add(1, std::memory_order_release);
  watch_calls(watchers != 0);
  impl::global_observers.store(static_cast<int>(watchers), std::memory_order_release);
  return true;
}

auto find_handle(RecordFunctionCallbacks& callbacks, CallbackHandle handle) {
  return std::find_if(callbacks.begin(), callbacks.end(), [&](const auto& entry) { return entry.handle_ == handle; });
}

bool set_enabled(RecordFunctionCallbacks& callbacks, CallbackHandle handle, bool enabled) {
  const auto found = find_handle(callbacks, handle);
  if (found == callbacks.end()) {
    return false;
  }
  found->enabled_ = enabled;
  return true;
}

bool erase(RecordFunctionCallbacks& callbacks, CallbackHandle handle) {
  const auto found = find_handle(callbacks, handle);
  if (found == callbacks.end()) {
    return false;
  }
  callbacks.erase(found);
  return true;
}

bool is_own(CallbackHandle handle) {
  const RecordFunctionCallbacks& own = get_record_function_tls_().sorted_tls_callbacks_.get();
  return std::any_of(own.begin(), own.end(), [&](const auto& entry) { return entry.handle_ == handle; });
}

void set_callback_enabled(CallbackHandle handle, bool enabled) {
  if (is_own(handle)) {
    change_thread([&](RecordFunctionTLS& tls) { set_enabled(tls.sorted_tls_callbacks_.get(), handle, enabled); });
  } else {
    change_global([&](RecordFunctionCallbacks& callbacks) { return set_enabled(callbacks, handle, enabled); });
  }
}

} // namespace

const RecordFunctionTLS& get_record_function_tls_() {
  const auto& own = impl::shared_record_function_tls();
  return own ? *own : unset_tls();
}

void set_record_function_tls_(const RecordFunctionTLS& tls) {
  impl::set_shared_record_function_tls(std::make_shared<const RecordFunctionTLS>(tls));
}

CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback) {
  const CallbackHandle handle = next_callback_handle();
  watch_calls(/*of_all_threads=*/hasGlobalCallbacks());
  change_thread([&](RecordFunctionTLS& tls) { tls.sorted_tls_callbacks_.get().emplace_back(callback, handle); });
  return handle;
}

bool hasThreadLocalCallbacks() {
  return any_enabled(get_record_function_tls_().sorted_tls_callbacks_.get());
}

void clearThreadLocalCallbacks() {
  change_thread([](RecordFunctionTLS& tls) { tls.sorted_tls_callbacks_.get().clear(); });
}

CallbackHandle addGlobalCallback(RecordFunctionCallback callback) {
  const CallbackHandle handle = next_callback_handle();
  change_global([&](RecordFunctionCallbacks& callbacks) {
    callbacks.emplace_back(callback, handle);
    return true;
  });
  return handle;
}

bool hasGlobalCallbacks() {
  return impl::global_observers.load(std::memory_order_acquire) != 0;
}

void clearGlobalCallbacks() {
  change_global([](RecordFunctionCallbacks& callbacks) {
    callbacks.clear();
    return true;
  });
}

void removeCallback(CallbackHandle handle) {
  if (is_own(handle)) {
    change_thread([&](RecordFunctionTLS& tls) { erase(tls.sorted_tls_callbacks_.get(), handle); });
  } else if (!change_global([&](RecordFunctionCallbacks& callbacks) { return erase(callbacks, handle); })) {
    TORCH_WARN(
        "Requested callback is not found: removeCallback got the handle ", handle,
        ", which is neither one of the process nor one of this thread");
  }
}

void disableCallback(CallbackHandle handle) {
  set_callback_enabled(handle, false);
}

void reenableCallback(CallbackHandle handle) {
  set_callback_enabled(handle, true);
}

bool hasCallbacks() {
  return hasThreadLocalCallbacks() || hasGlobalCallbacks();
}

void clearCallbacks() {
  clearThreadLocalCallbacks();
  clearGlobalCallbacks();
}

void enableRecordFunction(bool enable) {
  if (enable != isRecordFunctionEnabled()) {
    change_thread([&](RecordFunctionTLS& tls) { tls.tls_record_function_enabled_ = enable; });
  }
}

bool isRecordFunctionEnabled() {
  return get_record_function_tls_().tls_record_function_enabled_;
}

void set_record_function_seed_for_testing(uint32_t seed) {
  thread_callbacks.random.emplace(seed);
}

StepCallbacks getStepCallbacks(RecordScope scope) {
  StepCallbacks step(RecordFunction::currentThreadId(), scope);
  if (in_callback || thread_ends) {
    return step;
  }
  ThreadCallbacks& mine = thread_callbacks;
  const RecordFunctionTLS& own = mine.own ? *mine.own : unset_tls();
  if (!own.tls_record_function_enabled_) {
    return step;
  }
  const auto add = [&](const RecordFunctionCallbacks& callbacks) {
    for (const RecordFunctionCallbacksEntry& entry : callbacks) {
      const RecordFunctionCallback& callback = entry.callback_;
      if (!entry.enabled_ || !callback.checkScope(scope)) {
        continue;
      }
      if (callback.samplingProb() < 1 && !mine.draw(callback.samplingProb())) {
        continue;
      }
      step.callbacks_.push_back({callback.start(), callback.end()});
      step.needs_inputs_ |= callback.needsInputs();
      step.needs_outputs_ |= callback.needsOutputs();
      step.needs_ids_ |= callback.needsIds();
    }
  };
  if (hasGlobalCallbacks()) {
    GlobalCallbacks& global = GlobalCallbacks::get();
    if (mine.global_version != global.version.load(std::memory_order_acquire)) {
      const std::lock_guard<std::mutex> lock(global.mutex);
      mine.global = global.list;
      mine.global_version = global.version.load(std::memory_order_relaxed);
    }
    add(*mine.global);
  }
  add(own.sorted_tls_callbacks_.get());
  return step;
}

std::optional<StepCallbacks> getStepCallbacksUnlessEmpty(RecordScope scope) {
  StepCallbacks step = getStepCallbacks(scope);
  return step.empty() ? std::nullopt : std::optional<StepCallbacks>(std::move(step));
}

// ---- records
// -------------------------------------------------------------------------------------------------------------

struct RecordFunction::State {
  explicit State(StepCallbacks&& callbacks) : step(std::move(callbacks)) {}

  const c10::FunctionSchema* schema() const {
    const auto* reference = std::get_if<schema_ref_t>(&function);
    return reference ? &reference->get() : nullptr;
  }

  StepCallbacks step;
  ObserverContextList contexts;
  std::variant<std::string, schema_ref_t> function;
  int64_t sequence_nr = -1;
  uint64_t forward_thread = 0;
  RecordFunctionHandle handle = 0;
  int64_t debug_handle = -1;
  c10::ArrayRef<const c10::IValue> inputs;
  size_t input_count = 0;
  std::unordered_map<std::string, c10::IValue> kwinputs;
  std::vector<c10::IValue> outputs;
  bool is_async = false;
  bool started = false;
};

namespace {

// Calls an observer, whose errors are its own affair.
template <class F>
void call_observer(const RecordFunction& record, const F& f) noexcept {
  const bool was_in_callback = std::exchange(in_callback, true);
  try {
    try {
      f();
    } catch (const std::exception& error) {
      TORCH_WARN("Exception in RecordFunction callback: ", error.what(), ", for the range ", record.name());
    } catch (...) {
      TORCH_WARN("Exception in RecordFunction callback, for the range ", record.name());
    }
  } catch (...) {
    // The handler of warnings throws; there is nobody to tell.
  }
  in_callback = was_in_callback;
}

std::atomic<int64_t> default_node_id{-1};

} // namespace

RecordFunction::RecordFunction(StepCallbacks&& step_callbacks) {
  if (!step_callbacks.empty()) {
    state_ = new State(std::move(step_callbacks));
  }
}

void RecordFunction::activate(RecordScope scope) {
  if (std::optional<StepCallbacks> step = getStepCallbacksUnlessEmpty(scope)) {
    state_ = new State(std::move(*step));
  }
}

void RecordFunction::before(FunctionDescriptor fn, int64_t sequence_nr) {
  if (!state_ || state_->started) {
    return;
  }
  State& state = *state_;
  if (const auto* text = std::get_if<std::string_view>(&fn)) {
    state.function = std::string(*text);
  } else {
    state.function = std::get<schema_ref_t>(fn);
  }
  state.sequence_nr = sequence_nr;
  state.input_count = state.inputs.size();
  if (state.step.needs_ids_) {
    static std::atomic<RecordFunctionHandle> last{0};
    state.handle = ++last;
  }
  state.started = true;
  state.contexts.resize(state.step.callbacks_.size());
  for (size_t i = 0; i < state.contexts.size(); ++i) {
    if (const auto start = state.step.callbacks_[i].start_) {
      call_observer(*this, [&] { state.contexts[i] = start(*this); });
    }
  }
  state.inputs = {};
}

void RecordFunction::before(FunctionDescriptor fn, c10::ArrayRef<const c10::IValue> args, int64_t sequence_nr) {
  if (state_) {
    state_->inputs = args;
    before(fn, sequence_nr);
  }
}

void RecordFunction::before(FunctionDescriptor fn, const std::vector<c10::IValue>* args, int64_t sequence_nr) {
  before(fn, c10::ArrayRef<const c10::IValue>(args->data(), args->size()), sequence_nr);
}

void RecordFunction::before(
    FunctionDescriptor fn,
    c10::ArrayRef<const c10::IValue> args,
    const std::unordered_map<std::string, c10::IValue>* kwargs,
    int64_t sequence_nr) {
  if (state_) {
    state_->kwinputs = *kwargs;
    before(fn, args, sequence_nr);
  }
}

void RecordFunction::before(
    FunctionDescriptor fn, const std::unordered_map<std::string, c10::IValue>* kwargs, int64_t sequence_nr) {
  if (state_) {
    state_->kwinputs = *kwargs;
    before(fn, sequence_nr);
  }
}

void RecordFunction::end() {
  if (state_) {
    finish();
  }
}

void RecordFunction::finish() noexcept {
  State& state = *state_;
  if (state.started) {
    for (size_t i = 0; i < state.contexts.size(); ++i) {
      if (const auto end = state.step.callbacks_[i].end_) {
        call_observer(*this, [&] { end(*this, state.contexts[i].get()); });
      }
    }
  }
  delete std::exchange(state_, nullptr);
}

bool RecordFunction::needsInputs() const {
  return state_ && state_->step.needs_inputs_;
}
bool RecordFunction::needsOutputs() const {
  return state_ && state_->step.needs_outputs_;
}

const char* RecordFunction::name() const {
  if (!state_) {
    return "";
  }
  const c10::FunctionSchema* schema = state_->schema();
  return schema ? schema->name().c_str() : std::get<std::string>(state_->function).c_str();
}

const char* RecordFunction::overload_name() const {
  const c10::FunctionSchema* schema = state_ ? state_->schema() : nullptr;
  return schema ? schema->overload_name().c_str() : "";
}

std::optional<c10::OperatorName> RecordFunction::operator_name() const {
  const c10::FunctionSchema* schema = state_ ? state_->schema() : nullptr;
  return schema ? std::optional<c10::OperatorName>(schema->operator_name()) : std::nullopt;
}

std::optional<c10::FunctionSchema> RecordFunction::operator_schema() const {
  const c10::FunctionSchema* schema = state_ ? state_->schema() : nullptr;
  return schema ? std::optional<c10::FunctionSchema>(*schema) : std::nullopt;
}

RecordScope RecordFunction::scope() const {
  return state_ ? state_->step.scope_ : RecordScope::FUNCTION;
}
int64_t RecordFunction::seqNr() const {
  return state_ ? state_->sequence_nr : -1;
}
uint64_t RecordFunction::threadId() const {
  return state_ ? state_->step.thread_id_ : 0;
}
uint64_t RecordFunction::forwardThreadId() const {
  return state_ ? state_->forward_thread : 0;
}
void RecordFunction::setForwardThreadId(uint64_t thread_id) {
  if (state_) {
    state_->forward_thread = thread_id;
  }
}
RecordFunctionHandle RecordFunction::handle() const {
  return state_ ? state_->handle : 0;
}
void RecordFunction::setHandle(RecordFunctionHandle handle) {
  if (state_) {
    state_->handle = handle;
  }
}

c10::ArrayRef<const c10::IValue> RecordFunction::inputs() const {
  return state_ ? state_->inputs : c10::ArrayRef<const c10::IValue>();
}
std::unordered_map<std::string, c10::IValue> RecordFunction::kwinputs() const {
  return state_ ? state_->kwinputs : std::unordered_map<std::string, c10::IValue>();
}
const std::vector<c10::IValue>& RecordFunction::outputs() const {
  static const auto& none = *new std::vector<c10::IValue>();
  return state_ ? state_->outputs : none;
}
void RecordFunction::setOutputs(std::vector<c10::IValue>&& outputs) {
  if (state_) {
    state_->outputs = std::move(outputs);
  }
}
void RecordFunction::setOutputs(c10::ArrayRef<c10::IValue> outputs) {
  setOutputs(outputs.vec());
}

size_t RecordFunction::num_inputs() const {
  const c10::FunctionSchema* schema = state_ ? state_->schema() : nullptr;
  return schema ? schema->arguments().size() : state_ ? state_->input_count : 0;
}
size_t RecordFunction::num_outputs() const {
  const c10::FunctionSchema* schema = state_ ? state_->schema() : nullptr;
  return schema ? schema->returns().size() : state_ ? state_->outputs.size() : 0;
}

int64_t RecordFunction::debugHandle() const {
  return state_ ? state_->debug_handle : -1;
}
void RecordFunction::setDebugHandle(int64_t debug_handle) {
  if (state_) {
    state_->debug_handle = debug_handle;
  }
}
void RecordFunction::_setAsync() {
  if (state_) {
    state_->is_async = true;
  }
}
bool RecordFunction::isAsync() const {
  return state_ && state_->is_async;
}

uint64_t RecordFunction::currentThreadId() {
  static std::atomic<uint64_t> last{0};
  static __thread uint64_t mine = 0;
  if (C10_UNLIKELY(mine == 0)) {
    mine = ++last;
  }
  return mine;
}

void RecordFunction::setDefaultNodeId(int64_t id) {
  TORCH_CHECK(id >= 0, "setDefaultNodeId expects an id >= 0, got ", id);
  default_node_id = id;
}
int64_t RecordFunction::getDefaultNodeId() {
  return default_node_id;
}

// ---- operators
// -----------------------------------------------------------------------------------------------------------

// Note [Observed calls]
// A test in each operator's stub would cost all calls something for the few that are observed. The dispatcher already
// has a place where a function can stand between caller and kernel: a key with a boxed fallback. The topmost key,
// kObserverKey, falls through and is in nobody's key set until the first callback comes. Then its fallback,
// observed_call, is registered, and a thread with callbacks includes the key. The fallback goes on with the keys below
// and does not exclude its own, so that calls inside composite kernels and formulas of gradients are heard of too, as
// children. A redispatch from kernel to kernel is not: its keys are below. Calls of the fast path (see OperatorEntry.h)
// are for threads with nothing set, so an observed thread takes none.
//
// Callbacks of the process concern threads that nobody can reach to include a key. While there are any, operators hand
// out kernels wrapped in ObservedKernel. The first call that a thread makes meets one; it includes the key for the
// thread and begins anew, and from then on the wrapper only passes on. When the callbacks are gone the tables are
// emptied again, and the fallback, finding nobody, takes the key off the thread.

namespace {

// Queries about metadata that would only be noise.
bool is_observed(const std::string& name) {
  static constexpr std::string_view unobserved[] = {
      "aten::size",
      "aten::is_leaf",
      "aten::output_nr",
      "aten::_version",
      "aten::is_complex",
      "profiler::_record_function_enter",
      "profiler::_record_function_exit"};
  return std::find(std::begin(unobserved), std::end(unobserved), name) == std::end(unobserved);
}

void observed_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::DispatchKeySet below = keys.remove(c10::impl::kObserverKey);
  std::optional<StepCallbacks> step;
  if (op.hasSchema() && is_observed(op.operator_name().name)) {
    step = getStepCallbacksUnlessEmpty(RecordScope::FUNCTION);
  }
  if (!step) {
    if (!impl::has_active_callbacks()) {
      c10::impl::tls_set_dispatch_key_included(c10::impl::kObserverKey, false);
    }
    op.redispatchBoxed(below, stack);
    return;
  }
  const c10::FunctionSchema& schema = op.schema();
  const bool makes_node = below.has_any(c10::autograd_dispatch_keyset) && c10::GradMode::is_enabled();
  const int64_t sequence_nr = makes_node ? static_cast<int64_t>(sequence_number::peek()) : -1;
  const bool needs_inputs = step->needs_inputs_, needs_outputs = step->needs_outputs_;
  RecordFunction record(std::move(*step));
  if (needs_inputs) {
    const auto inputs = torch::jit::last(stack, schema.arguments().size());
    record.before(std::cref(schema), c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()), sequence_nr);
  } else {
    record.before(std::cref(schema), sequence_nr);
  }
  op.redispatchBoxed(below, stack);
  if (needs_outputs) {
    record.setOutputs(torch::jit::last(stack, schema.returns().size()).vec());
  }
}

class ObservedKernel final : public c10::OperatorKernel {
 public:
  explicit ObservedKernel(const c10::KernelFunction& kernel) : kernel_(&kernel) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
    using namespace c10::impl;
    if (tls_is_dispatch_key_included(kObserverKey) || !hasGlobalCallbacks() || in_callback ||
        !isRecordFunctionEnabled()) {
      kernel_->callBoxed(op, keys, stack);
    } else {
      tls_set_dispatch_key_included(kObserverKey, true);
      observed_call(op, keys, stack);
    }
  }

 private:
  const c10::KernelFunction* kernel_;
};

// Guarded by the registration lock.
bool watching_all_threads = false;

void watch_calls(bool of_all_threads) {
  static auto& fallback = *new std::optional<c10::RegistrationHandleRAII>();
  const std::lock_guard<std::recursive_mutex> lock(c10::impl::registrationMutex());
  if (fallback.has_value() && watching_all_threads == of_all_threads) {
    return;
  }
  // Registering empties the tables of all operators.
  fallback.reset();
  watching_all_threads = of_all_threads;
  fallback = c10::Dispatcher::singleton().registerFallback(
      c10::impl::kObserverKey, c10::KernelFunction::makeFromBoxedFunction<&observed_call>(),
      "callbacks of RecordFunction");
}

} // namespace

namespace impl {

const SharedRecordFunctionTLS& shared_record_function_tls() {
  static const auto& none = *new SharedRecordFunctionTLS();
  return thread_ends ? none : thread_callbacks.own;
}

void set_shared_record_function_tls(SharedRecordFunctionTLS tls) {
  if (thread_ends) {
    return;
  }
  if (tls && tls->sorted_tls_callbacks_.get().empty() && tls->tls_record_function_enabled_) {
    tls = nullptr;
  }
  const bool observed = tls && tls->tls_record_function_enabled_ && any_enabled(tls->sorted_tls_callbacks_.get());
  if (observed != thread_has_callbacks) {
    thread_has_callbacks = observed;
    c10::impl::tls_set_dispatch_key_included(c10::impl::kObserverKey, observed);
  }
  has_rare_thread_state |= tls != nullptr;
  thread_callbacks.own = std::move(tls);
}

} // namespace impl
} // namespace at

namespace c10::impl {

bool all_threads_are_observed() {
  return at::watching_all_threads;
}

const KernelFunction& observed_kernel(const KernelFunction& kernel) {
  static auto& wrapped = *new std::unordered_map<const KernelFunction*, std::unique_ptr<const KernelFunction>>();
  const std::lock_guard<std::recursive_mutex> lock(registrationMutex());
  auto& known = wrapped[&kernel];
  if (!known) {
    known = std::make_unique<const KernelFunction>(
        KernelFunction::makeFromBoxedFunctor(std::make_unique<at::ObservedKernel>(kernel)));
  }
  return *known;
}

} // namespace c10::impl
