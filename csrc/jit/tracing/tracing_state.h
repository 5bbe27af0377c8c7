// What a trace knows while it records: the graph, and which value of it stands for which tensor.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>
#include <aten/core/weak_ivalue.h>
#include <csrc/jit/ir/ir.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::jit {

struct Module;

namespace tracer {

/// Whether new traces warn where a value became a constant; true unless a program sets it.
TORCH_API std::atomic<bool>& getTracerStateWarnMode();

/// The state of one trace. A thread that traces has one; operators that it calls add nodes to `graph`.
struct TORCH_API TracingState : std::enable_shared_from_this<TracingState> {
  TracingState();
  TracingState(const TracingState&) = delete;
  TracingState& operator=(const TracingState&) = delete;
  ~TracingState();

  std::shared_ptr<Graph> graph;
  /// Whether this trace warns where a value became a constant.
  bool warn = getTracerStateWarnMode();
  /// Lists and dicts may not be returned: callers could change them. Without it they are recorded as they are.
  bool strict = true;
  /// In-place operators are recorded as the functions of the same name.
  bool force_outplace = false;
  /// Names the values of tensors; an empty name means none.
  std::function<std::string(const at::Tensor& var)> lookup_var_name_fn;

  void enterFrame();
  void leaveFrame();

  /// From now on `value` stands for a tensor, object or future, or for each tensor in a container.
  void setValue(const c10::IValue& v, Value* value);
  void delValue(const c10::IValue& var);
  /// What stands for a value as an input. Tensors that the trace has not seen become constants. Throws if they require
  /// gradients, and for values that a graph cannot hold.
  Value* getValue(const c10::IValue& var);
  /// What stands for result `i`. Throws for tensors that the trace has not seen.
  Value* getOutput(const c10::IValue& var, size_t i);
  bool hasValue(const c10::IValue& var) const;

  Node* createNode(c10::Symbol op_name, size_t num_outputs);
  void insertNode(Node* node);

  /// Makes the tensors, objects and futures among a module's attributes known: `self` stands for the module. Those that
  /// are used get their prim::GetAttr nodes at the beginning of the graph.
  void addModule(const Module& module, Value* self);

 private:
  struct Hasher {
    size_t operator()(const c10::WeakIValue& value) const {
      return value.hash();
    }
  };
  struct Same {
    bool operator()(const c10::WeakIValue& a, const c10::WeakIValue& b) const {
      return a.isSameIdentity(b);
    }
  };
  using Frame = std::unordered_map<c10::WeakIValue, Value*, Hasher, Same>;
  /// An attribute of an object that is known: read when it is first needed.
  struct Attribute {
    c10::WeakIValue owner;
    std::string name;
  };

  Value* find(const c10::IValue& var);
  Value* readAttribute(const c10::IValue& var, const Attribute& attribute);
  Value* tensorConstant(const at::Tensor& tensor);
  Value* listOf(
      const c10::TypePtr& element_type, const c10::IValue& list, const std::function<Value*(const c10::IValue&)>& of);
  Value* dictOf(const c10::IValue& dict, const std::function<Value*(const c10::IValue&)>& of);

  std::vector<Frame> frames_;
  std::unordered_map<c10::WeakIValue, Attribute, Hasher, Same> attributes_;
  Node* last_attribute_ = nullptr; // the last of the nodes at the beginning that read attributes
};

/// The trace of this thread, or null.
TORCH_API const std::shared_ptr<TracingState>& getTracingState();
/// Starts or, with null, ends recording on this thread.
TORCH_API void setTracingState(std::shared_ptr<TracingState> state);

inline bool isTracing() {
  return static_cast<bool>(getTracingState());
}

/// Ends the trace of this thread without a result.
TORCH_API void abandon();

/// Stops recording until what it returns is called.
TORCH_API std::function<void()> pauseTracing();

/// Does not record while it lives.
class TORCH_API PausedTracing {
 public:
  PausedTracing();
  PausedTracing(const PausedTracing&) = delete;
  PausedTracing& operator=(const PausedTracing&) = delete;
  ~PausedTracing();

 private:
  std::shared_ptr<TracingState> state_;
};

TORCH_API void setValueTrace(const c10::IValue& v, Value* value);
TORCH_API void delValueTrace(const c10::IValue& var);
TORCH_API Value* getValueTrace(const c10::IValue& var);

// ---- warnings

using warn_fn_type = void (*)(const std::string& msg);
/// Where the warnings of traces go; by default they are warnings like all others.
TORCH_API void setWarn(warn_fn_type fn);
/// Warns, if this thread traces and its trace warns: `reason` might cause the trace to be incorrect, and why.
TORCH_API void warn(const std::string& reason, const std::string& explanation);

/// Holds back the warnings of this thread's trace while it lives.
struct TORCH_API NoWarn {
  NoWarn();
  NoWarn(const NoWarn&) = delete;
  NoWarn& operator=(const NoWarn&) = delete;
  ~NoWarn();
  std::shared_ptr<TracingState> state;
  bool prev = false;
};

struct WithNestedTracingFrame {
  WithNestedTracingFrame() {
    getTracingState()->enterFrame();
  }
  WithNestedTracingFrame(const WithNestedTracingFrame&) = delete;
  WithNestedTracingFrame& operator=(const WithNestedTracingFrame&) = delete;
  ~WithNestedTracingFrame() {
    if (isTracing()) {
      getTracingState()->leaveFrame();
    }
  }
};

// ---- source ranges

/// Gives a new node its source range; programs that know where a call comes from set it.
TORCH_API void setRecordSourceLocation(void (*record)(Node*));
TORCH_API void recordSourceLocation(Node* node);

} // namespace tracer
} // namespace torch::jit
