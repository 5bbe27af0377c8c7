// Watching operators and regions of a program: pairs of functions that are called when one starts and ends.
//
//     at::addThreadLocalCallback(at::RecordFunctionCallback(
//         [](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> { count(call.name()); return
//         nullptr; }));
//
// They hear of every operator, every node of a backward pass, and every region that the program marks with
// RECORD_FUNCTION or RECORD_USER_SCOPE. How calls of operators come here is told in Note [Observed calls]
// (record_function.cpp). While nobody watches they cost nothing, and a region costs the look at two variables.
#pragma once

#include <c10/util/Indirect.h>
#include <c10/util/SharedOf.h>
#include <aten/core/ivalue.h>
#include <aten/core/operator_name.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace c10 {
class OperatorHandle;
struct FunctionSchema;
} // namespace c10

namespace at {

/// What kind of thing is observed. The library reports FUNCTION, BACKWARD_FUNCTION and USER_SCOPE; programs may use
/// all.
enum class RecordScope : uint8_t {
  /// Operators, and what RECORD_FUNCTION marks.
  FUNCTION = 0,
  /// Nodes of a backward pass.
  BACKWARD_FUNCTION,
  TORCHSCRIPT_FUNCTION,
  KERNEL_FUNCTION_DTYPE,
  CUSTOM_CLASS,
  BUILD_FEATURE,
  LITE_INTERPRETER,
  /// What RECORD_USER_SCOPE marks.
  USER_SCOPE,
  STATIC_RUNTIME_OP,
  STATIC_RUNTIME_MODEL,
  NUM_SCOPES,
};

} // namespace at

template <>
struct std::hash<at::RecordScope> {
  size_t operator()(const at::RecordScope& scope) const noexcept {
    return static_cast<size_t>(scope);
  }
};

namespace at {

/// A text that is either owned or somebody else's literal.
struct TORCH_API StringView {
  StringView() = default;
  explicit StringView(const char* text) : text_(text) {}
  explicit StringView(std::string text);

  const char* str() const {
    return text_;
  }

  friend TORCH_API std::ostream& operator<<(std::ostream& out, const StringView& text);
  friend bool operator==(const StringView& a, const StringView& b) {
    return std::string_view(a.text_) == std::string_view(b.text_);
  }
  friend bool operator!=(const StringView& a, const StringView& b) {
    return !(a == b);
  }

 private:
  c10::SharedOf<const std::string> owned_;
  const char* text_ = "";
};

/// What a start function hands to its end function.
struct TORCH_API ObserverContext {
  virtual ~ObserverContext();

 protected:
  ObserverContext() = default;
};

/// How many callbacks are kept without an allocation.
constexpr size_t kSoftLimitCallbacks = 4;

using CallbackHandle = uint64_t;
using CallbackHandles = c10::SmallVector<uint64_t, kSoftLimitCallbacks>;
using ObserverContextList = c10::SmallVector<std::unique_ptr<ObserverContext>, kSoftLimitCallbacks>;
using RecordFunctionHandle = uint64_t;
constexpr CallbackHandle INVALID_CALLBACK_HANDLE{0};

struct RecordFunction;

/// A pair of functions, and what they want to hear of. They are called on the thread of the call; what they call
/// themselves is not observed. An exception of theirs is reported as a warning and goes no further.
class TORCH_API RecordFunctionCallback {
 public:
  using StartCallback = std::unique_ptr<ObserverContext> (*)(const RecordFunction&);
  using EndCallback = void (*)(const RecordFunction&, ObserverContext*);

  explicit RecordFunctionCallback(StartCallback start, EndCallback end = nullptr) : start_(start), end_(end) {
    scopes_.fill(true);
  }

  /// Whether RecordFunction::inputs() and outputs() are filled.
  RecordFunctionCallback& needsInputs(bool needs_inputs) {
    needs_inputs_ = needs_inputs;
    return *this;
  }
  RecordFunctionCallback& needsOutputs(bool needs_outputs) {
    needs_outputs_ = needs_outputs;
    return *this;
  }
  /// Whether each record gets a handle of its own.
  RecordFunctionCallback& needsIds(bool needs_ids) {
    needs_ids_ = needs_ids;
    return *this;
  }
  /// Watches this part of all calls, drawn by chance.
  RecordFunctionCallback& samplingProb(double sampling_prob);
  /// Watches these scopes only; all of them if the set is empty.
  RecordFunctionCallback& scopes(const std::unordered_set<RecordScope, std::hash<RecordScope>>& scopes);

  bool needsInputs() const {
    return needs_inputs_;
  }
  bool needsOutputs() const {
    return needs_outputs_;
  }
  bool needsIds() const {
    return needs_ids_;
  }
  double samplingProb() const {
    return sampling_prob_;
  }
  bool checkScope(RecordScope scope) const {
    return scopes_[static_cast<size_t>(scope)];
  }
  StartCallback start() const {
    return start_;
  }
  EndCallback end() const {
    return end_;
  }

 private:
  StartCallback start_;
  EndCallback end_;
  double sampling_prob_ = 1;
  std::array<bool, static_cast<size_t>(RecordScope::NUM_SCOPES)> scopes_{};
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  bool needs_ids_ = false;
};

struct RecordFunctionCallbacksEntry {
  RecordFunctionCallbacksEntry(RecordFunctionCallback callback, CallbackHandle handle)
      : callback_(callback), handle_(handle) {}

  RecordFunctionCallback callback_;
  bool enabled_ = true;
  CallbackHandle handle_;
};
using RecordFunctionCallbacks = std::vector<RecordFunctionCallbacksEntry>;

/// The callbacks that hear of one call, those of the process before those of the thread.
struct StepCallbacks {
  struct StartEndPair {
    RecordFunctionCallback::StartCallback start_;
    RecordFunctionCallback::EndCallback end_;
  };
  using StartEndPairs = c10::SmallVector<StartEndPair, kSoftLimitCallbacks>;

  StepCallbacks() = default;
  StepCallbacks(uint64_t thread_id, RecordScope scope) : thread_id_(thread_id), scope_(scope) {}

  bool empty() const {
    return callbacks_.empty();
  }

  StartEndPairs callbacks_;
  uint64_t thread_id_ = 0;
  RecordScope scope_ = RecordScope::FUNCTION;
  bool needs_inputs_ = false;
  bool needs_outputs_ = false;
  bool needs_ids_ = false;
};

namespace impl {
/// Whether this thread has callbacks of its own that are enabled, and how many the process has.
extern TORCH_API __thread bool thread_has_callbacks __attribute__((tls_model("initial-exec")));
extern TORCH_API std::atomic<int> global_observers;

inline bool has_active_callbacks() {
  return thread_has_callbacks || global_observers.load(std::memory_order_relaxed) != 0;
}
} // namespace impl

/// One observed call or region: begins with before(), ends with end() or the destructor.
struct TORCH_API RecordFunction {
  using schema_ref_t = std::reference_wrapper<const c10::FunctionSchema>;
  using FunctionDescriptor = std::variant<std::string_view, schema_ref_t>;

  /// Inactive when no callback is there for the scope; then all else does nothing.
  explicit RecordFunction(RecordScope scope = RecordScope::FUNCTION) {
    if (C10_UNLIKELY(impl::has_active_callbacks())) {
      activate(scope);
    }
  }
  explicit RecordFunction(StepCallbacks&& step_callbacks);
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  virtual ~RecordFunction() {
    if (C10_UNLIKELY(state_ != nullptr)) {
      finish();
    }
  }

  /// Calls the start functions. The sequence number is that of the node that a forward operator is about to make, or
  /// that of the node that runs; -1 for neither.
  void before(FunctionDescriptor fn, int64_t sequence_nr = -1);
  void before(FunctionDescriptor fn, c10::ArrayRef<const c10::IValue> args, int64_t sequence_nr = -1);
  void before(FunctionDescriptor fn, const std::vector<c10::IValue>* args, int64_t sequence_nr = -1);
  void before(
      FunctionDescriptor fn,
      c10::ArrayRef<const c10::IValue> args,
      const std::unordered_map<std::string, c10::IValue>* kwargs,
      int64_t sequence_nr = -1);
  void before(
      FunctionDescriptor fn, const std::unordered_map<std::string, c10::IValue>* kwargs, int64_t sequence_nr = -1);
  /// Calls the end functions, once.
  void end();

  bool isActive() const {
    return state_ != nullptr;
  }
  bool needsInputs() const;
  bool needsOutputs() const;

  /// "aten::add", or the name of the region; "" when inactive.
  const char* name() const;
  const char* overload_name() const;
  std::optional<c10::OperatorName> operator_name() const;
  std::optional<c10::FunctionSchema> operator_schema() const;
  RecordScope scope() const;
  int64_t seqNr() const;
  /// The thread that called before(), see currentThreadId().
  uint64_t threadId() const;
  /// For nodes of a backward pass: the thread whose call started the pass. Else 0.
  uint64_t forwardThreadId() const;
  void setForwardThreadId(uint64_t thread_id);
  RecordFunctionHandle handle() const;
  void setHandle(RecordFunctionHandle handle);

  /// The arguments; valid in start functions only.
  c10::ArrayRef<const c10::IValue> inputs() const;
  std::unordered_map<std::string, c10::IValue> kwinputs() const;
  /// The results; valid in end functions only.
  const std::vector<c10::IValue>& outputs() const;
  void setOutputs(std::vector<c10::IValue>&& outputs);
  void setOutputs(c10::ArrayRef<c10::IValue> outputs);
  size_t num_inputs() const;
  size_t num_outputs() const;

  int64_t debugHandle() const;
  void setDebugHandle(int64_t debug_handle);
  /// Marks a region that may end on another thread.
  void _setAsync();
  bool isAsync() const;

  /// A small number for the calling thread, from 1.
  static uint64_t currentThreadId();
  /// The number of this process among those of a distributed program; -1 until it is set.
  static void setDefaultNodeId(int64_t default_node_id);
  static int64_t getDefaultNodeId();

 private:
  struct State;
  void activate(RecordScope scope);
  void finish() noexcept;

  State* state_ = nullptr; // owned; finish() deletes it
};

/// The callbacks for a scope on this thread, now; drawn by chance where they are sampled.
TORCH_API StepCallbacks getStepCallbacks(RecordScope scope);
TORCH_API std::optional<StepCallbacks> getStepCallbacksUnlessEmpty(RecordScope scope);

namespace detail {
template <typename Inputs, typename... Args>
void record_function_with_scope(
    RecordFunction& guard, const RecordFunction::FunctionDescriptor& fn, const Inputs& inputs, Args&&... args) {
  if (guard.needsInputs()) {
    guard.before(fn, c10::ArrayRef<const c10::IValue>(inputs.data(), inputs.size()), std::forward<Args>(args)...);
  } else {
    guard.before(fn, std::forward<Args>(args)...);
  }
}
// Takes `{}` for inputs.
template <typename... Args>
void record_function_with_scope(
    RecordFunction& guard,
    const RecordFunction::FunctionDescriptor& fn,
    c10::ArrayRef<const c10::IValue> inputs,
    Args&&... args) {
  record_function_with_scope<c10::ArrayRef<const c10::IValue>, Args...>(guard, fn, inputs, std::forward<Args>(args)...);
}
} // namespace detail

/// Adds callbacks for the calling thread, and for those that work for it: its backward passes, at::ThreadLocalState.
TORCH_API CallbackHandle addThreadLocalCallback(RecordFunctionCallback callback);
TORCH_API bool hasThreadLocalCallbacks();
TORCH_API void clearThreadLocalCallbacks();

/// Adds callbacks for all threads. Threads that are in an operator just then report from their next call on.
TORCH_API CallbackHandle addGlobalCallback(RecordFunctionCallback callback);
TORCH_API bool hasGlobalCallbacks();
TORCH_API void clearGlobalCallbacks();

/// Takes a callback away: one of the process or of this thread. Warns when there is none of this handle.
TORCH_API void removeCallback(CallbackHandle handle);
/// Silences a callback, and lets it hear again. Nothing happens for a handle that is not known.
TORCH_API void disableCallback(CallbackHandle handle);
TORCH_API void reenableCallback(CallbackHandle handle);

TORCH_API bool hasCallbacks();
TORCH_API void clearCallbacks();

/// Whether the calling thread is observed at all.
TORCH_API void enableRecordFunction(bool enable = true);
TORCH_API bool isRecordFunctionEnabled();

class TORCH_API RecordFunctionGuard {
 public:
  explicit RecordFunctionGuard(bool is_enabled = true) : previous_(isRecordFunctionEnabled()) {
    enableRecordFunction(is_enabled);
  }
  RecordFunctionGuard(const RecordFunctionGuard&) = delete;
  RecordFunctionGuard& operator=(const RecordFunctionGuard&) = delete;
  virtual ~RecordFunctionGuard() {
    enableRecordFunction(previous_);
  }

 private:
  bool previous_;
};

class TORCH_API DisableRecordFunctionGuard : public RecordFunctionGuard {
 public:
  DisableRecordFunctionGuard() : RecordFunctionGuard(false) {}
};

/// What belongs to a thread: its callbacks, by rising handle, and whether it is observed.
struct TORCH_API RecordFunctionTLS {
  c10::Indirect<RecordFunctionCallbacks> sorted_tls_callbacks_;
  bool tls_record_function_enabled_ = true;
};
TORCH_API const RecordFunctionTLS& get_record_function_tls_();
TORCH_API void set_record_function_tls_(const RecordFunctionTLS& tls);
TORCH_API void set_record_function_seed_for_testing(uint32_t seed);

namespace impl {
/// The same, shared and null where nothing was set: how it travels from thread to thread.
using SharedRecordFunctionTLS = std::shared_ptr<const RecordFunctionTLS>;
TORCH_API const SharedRecordFunctionTLS& shared_record_function_tls();
TORCH_API void set_shared_record_function_tls(SharedRecordFunctionTLS tls);
} // namespace impl

} // namespace at

// Each declares a variable `guard` that watches until the end of its scope. What is written for inputs is only
// evaluated when somebody listens; a sequence number may follow.
#define RECORD_FUNCTION_WITH_SCOPE(scope, fn, inputs, ...)                      \
  at::RecordFunction guard(scope);                                              \
  if (C10_UNLIKELY(guard.isActive())) {                                         \
    ::at::detail::record_function_with_scope(guard, fn, inputs, ##__VA_ARGS__); \
  }

#define RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(scope, fn, inputs, outputs, ...) \
  at::RecordFunction guard(scope);                                                 \
  if (C10_UNLIKELY(guard.isActive())) {                                            \
    if (guard.needsInputs()) {                                                     \
      guard.before(fn, inputs, ##__VA_ARGS__);                                     \
    } else {                                                                       \
      guard.before(fn, ##__VA_ARGS__);                                             \
    }                                                                              \
    if (guard.needsOutputs()) {                                                    \
      guard.setOutputs(outputs);                                                   \
    }                                                                              \
  }

#define RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(scope, fn, debug_handle, inputs, ...) \
  at::RecordFunction guard(scope);                                                      \
  if (C10_UNLIKELY(guard.isActive())) {                                                 \
    guard.setDebugHandle(debug_handle);                                                 \
    ::at::detail::record_function_with_scope(guard, fn, inputs, ##__VA_ARGS__);         \
  }

#define RECORD_FUNCTION(fn, inputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::FUNCTION, fn, inputs, ##__VA_ARGS__)
#define RECORD_FUNCTION_WITH_INPUTS_OUTPUTS(fn, inputs, outputs, ...) \
  RECORD_FUNCTION_WITH_SCOPE_INPUTS_OUTPUTS(at::RecordScope::FUNCTION, fn, inputs, outputs, ##__VA_ARGS__)
#define RECORD_TORCHSCRIPT_FUNCTION(mn, inputs) \
  RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::TORCHSCRIPT_FUNCTION, mn, inputs)
#define RECORD_EDGE_SCOPE_WITH_DEBUG_HANDLE_AND_INPUTS(fn, debug_handle, inputs) \
  RECORD_WITH_SCOPE_DEBUG_HANDLE_AND_INPUTS(at::RecordScope::LITE_INTERPRETER, fn, debug_handle, inputs)
#define RECORD_USER_SCOPE(fn) \
  RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, fn, c10::ArrayRef<const c10::IValue>{})
#define RECORD_USER_SCOPE_WITH_INPUTS(fn, inputs) RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, fn, inputs)
#define RECORD_USER_SCOPE_WITH_KWARGS_ONLY(fn, kwargs) \
  RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, fn, c10::ArrayRef<const c10::IValue>{}, kwargs)

/// Behind the work of a RECORD_FUNCTION, in the same scope: gives its results to those who want them.
#define RECORD_OUTPUTS(outputs)                                                 \
  if (C10_UNLIKELY(guard.needsOutputs())) {                                     \
    guard.setOutputs(std::vector<c10::IValue>(outputs.begin(), outputs.end())); \
  }
