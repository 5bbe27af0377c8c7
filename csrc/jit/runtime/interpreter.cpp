#include <csrc/jit/runtime/interpreter.h>

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/runtime/autocast_context.h>
#include <csrc/jit/runtime/error_settings.h>
#include <csrc/jit/runtime/evaluate_constant.h>
#include <csrc/jit/runtime/jit_exception.h>
#include <csrc/jit/runtime/ops/rows.h>
#include <csrc/jit/runtime/register_arena.h>
#include <csrc/jit/runtime/run.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <ostream>
#include <sstream>
#include <type_traits>
#include <utility>

namespace torch::jit {

namespace {

// Functions of a program that call each other do so without recursion of the interpreter; this many may be open.
constexpr size_t kMaxFrames = 10000;
// Traces show this many of the outermost and of the innermost calls.
constexpr size_t kTracedFrames = 32;
// Recursion of the interpreter itself: through methods that operators call, tasks that waiting threads run.
constexpr int kMaxNestedRuns = 200;
thread_local int nested_runs = 0;

struct Frame {
  const CompiledCode* code;
  const Instruction* next;
  IValue* registers;
};

// ---- values ---------------------------------------------------------------------------------------------------------

template <class T, class Convert>
IValue make_list(Stack& stack, size_t count, Convert convert) {
  c10::List<T> list;
  list.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    list.push_back(convert(std::move(peek(stack, i, count))));
  }
  drop(stack, count);
  return list;
}

IValue construct_list(Stack& stack, const ListType& type, size_t count) {
  switch (type.getElementType()->kind()) {
    case TypeKind::IntType:
      return make_list<int64_t>(stack, count, [](IValue value) { return value.toInt(); });
    case TypeKind::FloatType:
      return make_list<double>(stack, count, [](IValue value) { return value.toDouble(); });
    case TypeKind::BoolType:
      return make_list<bool>(stack, count, [](IValue value) { return value.toBool(); });
    case TypeKind::TensorType:
      return make_list<at::Tensor>(stack, count, [](IValue value) { return std::move(value).toTensor(); });
    default: {
      c10::impl::GenericList list(type.getElementType());
      list.reserve(count);
      for (size_t i = 0; i < count; ++i) {
        list.push_back(std::move(peek(stack, i, count)));
      }
      drop(stack, count);
      return list;
    }
  }
}

IValue construct_dict(Stack& stack, const DictType& type, size_t count) {
  c10::impl::GenericDict dict(type.getKeyType(), type.getValueType());
  for (size_t i = 0; i < count; i += 2) {
    dict.insert_or_assign(std::move(peek(stack, i, count)), std::move(peek(stack, i + 1, count)));
  }
  drop(stack, count);
  return dict;
}

void unpack_tuple(Stack& stack, size_t count) {
  const c10::intrusive_ptr<c10::ivalue::Tuple> tuple = pop(stack).toTuple();
  TORCH_CHECK(tuple->size() == count, "a tuple of ", count, " values is unpacked, but it has ", tuple->size());
  stack.insert(stack.end(), tuple->elements().begin(), tuple->elements().end());
}

void unpack_list(Stack& stack, size_t count) {
  const c10::List<IValue> list = pop(stack).toList();
  TORCH_CHECK(list.size() == count, "Expected ", count, " elements in a list but found ", list.size());
  for (size_t i = 0; i < count; ++i) {
    stack.push_back(list.get(i));
  }
}

bool is_instance(const IValue& value, const TypePtr* types, size_t count) {
  const TypePtr type = value.type();
  return std::any_of(types, types + count, [&](const TypePtr& candidate) { return type->isSubtypeOf(*candidate); });
}

IValue construct_object(const TypePtr& type) {
  ClassTypePtr class_type = type->expect<ClassType>();
  const size_t slots = class_type->numAttributes();
  std::shared_ptr<CompilationUnit> unit = class_type->compilation_unit();
  return c10::ivalue::Object::create(c10::StrongTypePtr(std::move(unit), std::move(class_type)), slots);
}

// ---- values in place ------------------------------------------------------------------------------------------------

// Instructions for numbers are short: calls would cost more than what they do.
static_assert(std::is_standard_layout_v<IValue>, "a value begins with its payload");

template <class T>
[[gnu::always_inline]] inline bool holds(const IValue& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.isBool();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value.isInt();
  } else {
    return value.isDouble();
  }
}

/// A symbolic number, or an error.
template <class T>
[[gnu::noinline, gnu::cold]] T converted(const IValue& value) {
  return value.to<T>();
}

template <class T>
[[gnu::always_inline]] inline T number(const IValue& value) {
  if (C10_UNLIKELY(!holds<T>(value))) {
    return converted<T>(value);
  }
  T payload;
  std::memcpy(&payload, &value, sizeof payload);
  return payload;
}

[[gnu::always_inline]] inline bool is_plain(const IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool() || value.isNone();
}

// What was there is mostly nothing that must be given back, and what comes mostly a number. The value may be the target
// itself.
template <class T>
[[gnu::always_inline]] inline void assign(IValue& target, T&& value) {
  if constexpr (std::is_arithmetic_v<std::decay_t<T>>) {
    if (C10_LIKELY(is_plain(target))) {
      ::new (&target) IValue(value);
      return;
    }
  } else if (C10_LIKELY(is_plain(target) && is_plain(value))) {
    std::memmove(static_cast<void*>(&target), &value, sizeof target);
    return;
  }
  target = IValue(std::forward<T>(value));
}

// To be changed in length.
std::vector<IValue>& list_of(const IValue& value) {
  TORCH_CHECK_TYPE(value.isList(), "expected a list, got ", value.tagKind());
  auto* counted = static_cast<c10::intrusive_ptr_target*>(const_cast<void*>(value.internalToPointer()));
  return static_cast<c10::detail::ListImpl*>(counted)->list;
}

IValue& element_of(const IValue& list, const IValue& index) {
  const c10::ArrayRef<IValue> elements = list.toListRef();
  return const_cast<IValue&>(elements[ops::list_position(number<int64_t>(index), elements.size())]);
}

IValue pop_item(std::vector<IValue>& list, int64_t index) {
  TORCH_CHECK_INDEX(!list.empty(), "pop from empty list");
  const auto position = list.begin() + static_cast<std::ptrdiff_t>(ops::list_position(index, list.size()));
  IValue value = std::move(*position);
  list.erase(position);
  return value;
}

c10::detail::DictImpl& dict_of(const IValue& value) {
  if (C10_UNLIKELY(!value.isGenericDict())) {
    value.toGenericDict(); // an error
  }
  auto* counted = static_cast<c10::intrusive_ptr_target*>(const_cast<void*>(value.internalToPointer()));
  return *static_cast<c10::detail::DictImpl*>(counted);
}

using DictPosition = c10::detail::DictImpl::iterator;

const IValue& element_at(const c10::detail::DictImpl& dict, DictPosition found, const IValue& key) {
  if (found == dict.entries.end()) {
    ops::throw_key_error(key);
  }
  return found->second;
}

void set_element_at(c10::detail::DictImpl& dict, DictPosition found, const IValue& key, const IValue& value) {
  if (found != dict.entries.end()) {
    assign(found->second, value);
    return;
  }
  bool inserted;
  dict.insert(key, value, &inserted);
}

// ---- one run --------------------------------------------------------------------------------------------------------

class Run {
 public:
  Run(Stack& stack, const TaskLauncher* launcher) : stack_(stack), launcher_(launcher) {
    TORCH_CHECK(
        nested_runs < kMaxNestedRuns, "maximum recursion depth exceeded: calls through operators are nested more than ",
        kMaxNestedRuns, " deep");
    ++nested_runs;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() {
    while (!frames_.empty()) {
      leave();
    }
    --nested_runs;
  }

  void run(const CompiledCode& code) {
    TORCH_INTERNAL_ASSERT(stack_.size() >= code.num_inputs);
    const size_t below = stack_.size() - code.num_inputs;
    try {
      enter(code);
      run_instructions();
    } catch (const std::exception& error) {
      leave_contexts();
      stack_.resize(below);
      if (rethrowCaughtExceptions()) {
        throw;
      }
      throw_with_trace(error);
    }
  }

 private:
  void enter(const CompiledCode& code) {
    TORCH_CHECK(frames_.size() < kMaxFrames, "maximum recursion depth exceeded: ", kMaxFrames, " calls are open");
    frames_.push_back(Frame{&code, code.instructions.data(), registers_.take(code.num_registers)});
  }
  void leave() {
    const Frame& frame = frames_.back();
    registers_.give_back(frame.registers, frame.code->num_registers);
    frames_.pop_back();
  }
  // True if the function is one of the program: then it has a frame now. Others are done.
  bool call(Function& function, size_t arguments) {
    if (GraphFunction* graph_function = tryToGraphFunction(function)) {
      const CompiledCode& code = graph_function->code();
      TORCH_CHECK(
          code.num_inputs == arguments && code.num_outputs == 1, "function ", function.name(), " takes ",
          code.num_inputs, " values and has ", code.num_outputs, " results, but is called with ", arguments,
          " for one result");
      enter(code);
      return true;
    }
    TORCH_CHECK(
        function.num_inputs() == arguments, "function ", function.name(), " takes ", function.num_inputs(),
        " values, but is called with ", arguments);
    function.run(stack_);
    return false;
  }

  void run_instructions();
  void leave_context();
  void leave_contexts();
  [[noreturn]] void throw_with_trace(const std::exception& error) const;
  std::string trace() const;

  Stack& stack_;
  const TaskLauncher* launcher_;
  RegisterArena& registers_ = RegisterArena::of_this_thread();
  std::vector<Frame> frames_;
  // Objects of open `with` statements.
  struct Context {
    IValue object;
    std::optional<AutocastSettings> autocast;
  };
  std::vector<Context> contexts_;
};

void Run::run_instructions() {
  Stack& stack = stack_;
  const Instruction* next;
  const CompiledCode* code;
  const IValue* constants;
  IValue* registers;
  Frame* frame;
  const auto resume = [&]() __attribute__((always_inline)) {
    frame = &frames_.back();
    next = frame->next;
    code = frame->code;
    constants = code->constants.data();
    registers = frame->registers;
  };
  // Before whatever may fail or call: traces read it.
  const auto save = [&]() __attribute__((always_inline)) {
    frame->next = next;
  };
  const auto at = [&](int32_t place) __attribute__((always_inline))->const IValue& {
    return place >= 0 ? registers[place] : constants[-1 - place];
  };
  const auto give = [&](int32_t place, auto&& result) __attribute__((always_inline)) {
    if (place >= 0) {
      assign(registers[place], std::forward<decltype(result)>(result));
    } else {
      stack.emplace_back(std::forward<decltype(result)>(result));
    }
  };
  resume();
  Instruction instruction;
  size_t x, n;
  DictPosition found;
#define TORCH_JIT_LABEL(name) &&name,
#define TORCH_JIT_LABEL_ARITHMETIC(name, op, type, function) &&name,
#define TORCH_JIT_LABEL_COMPARISON(name, op, type, function) &&name, &&JF_##name,
#define TORCH_JIT_LABEL_CONTAINER_OPERATION(name, op) &&name,
  static const void* const kLabels[] = {TORCH_JIT_FORALL_OPCODES(TORCH_JIT_LABEL) TORCH_JIT_FORALL_ARITHMETIC(
      TORCH_JIT_LABEL_ARITHMETIC) TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_LABEL_COMPARISON)
                                            TORCH_JIT_FORALL_LIST_OPERATIONS(TORCH_JIT_LABEL_CONTAINER_OPERATION)
                                                TORCH_JIT_FORALL_DICT_OPERATIONS(TORCH_JIT_LABEL_CONTAINER_OPERATION)
                                                    TORCH_JIT_FORALL_FOUND_OPERATIONS(TORCH_JIT_LABEL)};
#undef TORCH_JIT_LABEL
#undef TORCH_JIT_LABEL_ARITHMETIC
#undef TORCH_JIT_LABEL_COMPARISON
#undef TORCH_JIT_LABEL_CONTAINER_OPERATION
// Each instruction jumps to the next by itself, so that the processor foresees what follows which. No destructor runs.
#define TORCH_JIT_NEXT                    \
  instruction = *next++;                  \
  x = static_cast<size_t>(instruction.x); \
  n = static_cast<size_t>(instruction.n); \
  goto* kLabels[static_cast<size_t>(instruction.op)]
  TORCH_JIT_NEXT;
OP:
  save();
  code->operations[x](stack);
  TORCH_JIT_NEXT;
OP_PLAIN:
  save();
  code->plain_operations[x](stack);
  TORCH_JIT_NEXT;
OP_DISPATCH:
  save();
  code->operators[x].callBoxed(stack);
  TORCH_JIT_NEXT;
COUNT:
  stack.emplace_back(static_cast<int64_t>(n));
  TORCH_JIT_NEXT;
LOAD:
  stack.emplace_back(registers[x]);
  TORCH_JIT_NEXT;
MOVE:
  stack.emplace_back(std::move(registers[x]));
  TORCH_JIT_NEXT;
STORE:
  registers[x] = std::move(stack.back());
  stack.pop_back();
  TORCH_JIT_NEXT;
COPY:
  assign(registers[x], registers[n]);
  TORCH_JIT_NEXT;
TRANSFER:
  assign(registers[x], std::move(registers[n]));
  TORCH_JIT_NEXT;
SET:
  assign(registers[x], constants[n]);
  TORCH_JIT_NEXT;
CLEAR:
  registers[x] = IValue();
  TORCH_JIT_NEXT;
DROP:
  stack.pop_back();
  TORCH_JIT_NEXT;
LOADC:
  stack.emplace_back(constants[x]);
  TORCH_JIT_NEXT;
JF : {
  save();
  const bool condition = number<bool>(stack.back());
  stack.pop_back();
  if (!condition) {
    next += instruction.x - 1;
  }
}
  TORCH_JIT_NEXT;
JF_REGISTER:
  save();
  if (!number<bool>(registers[n])) {
    next += instruction.x - 1;
  }
  TORCH_JIT_NEXT;
JT_REGISTER:
  save();
  if (number<bool>(registers[n])) {
    next += instruction.x - 1;
  }
  TORCH_JIT_NEXT;
#define TORCH_JIT_RUN_ARITHMETIC(name, op, type, function) \
  name : {                                                 \
    save();                                                \
    const type a = number<type>(at(instruction.n));        \
    const type b = number<type>(at(instruction.m));        \
    give(instruction.x, function);                         \
  }                                                        \
  TORCH_JIT_NEXT;
#define TORCH_JIT_RUN_COMPARISON(name, op, type, function) \
  TORCH_JIT_RUN_ARITHMETIC(name, op, type, function)       \
  JF_##name : {                                            \
    save();                                                \
    const type a = number<type>(at(instruction.n));        \
    const type b = number<type>(at(instruction.m));        \
    if (!(function)) {                                     \
      next += instruction.x - 1;                           \
    }                                                      \
  }                                                        \
  TORCH_JIT_NEXT;
  TORCH_JIT_FORALL_ARITHMETIC(TORCH_JIT_RUN_ARITHMETIC)
  TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_RUN_COMPARISON)
#undef TORCH_JIT_RUN_ARITHMETIC
#undef TORCH_JIT_RUN_COMPARISON
JMP:
  next += instruction.x - 1;
  TORCH_JIT_NEXT;
LOOP:
  save();
  if (number<int64_t>(registers[n]) >= number<int64_t>(at(instruction.m))) {
    next += instruction.x - 1;
  }
  TORCH_JIT_NEXT;
LOOP_NEXT : {
  const int64_t iteration = number<int64_t>(registers[n]) + 1;
  assign(registers[n], iteration);
  if (iteration < number<int64_t>(at(instruction.m))) {
    next += instruction.x - 1;
  }
}
  TORCH_JIT_NEXT;
GET_ITEM:
  save();
  give(instruction.x, std::as_const(element_of(at(instruction.n), at(instruction.m))));
  TORCH_JIT_NEXT;
POP_ITEM:
  save();
  give(instruction.x, pop_item(list_of(at(instruction.n)), number<int64_t>(at(instruction.m))));
  TORCH_JIT_NEXT;
LEN:
  save();
  give(instruction.x, static_cast<int64_t>(at(instruction.n).toListRef().size()));
  TORCH_JIT_NEXT;
SET_ITEM:
  save();
  assign(element_of(at(instruction.n), at(instruction.m)), at(instruction.x));
  TORCH_JIT_NEXT;
DICT_GET_ITEM:
  save();
  found = dict_of(at(instruction.n)).find(at(instruction.m));
  give(instruction.x, element_at(dict_of(at(instruction.n)), found, at(instruction.m)));
  TORCH_JIT_NEXT;
DICT_GET_FOUND:
  save();
  give(instruction.x, element_at(dict_of(at(instruction.n)), found, at(instruction.m)));
  TORCH_JIT_NEXT;
DICT_CONTAINS:
  save();
  found = dict_of(at(instruction.n)).find(at(instruction.m));
  give(instruction.x, found != dict_of(at(instruction.n)).entries.end());
  TORCH_JIT_NEXT;
DICT_SET_ITEM:
  save();
  found = dict_of(at(instruction.n)).find(at(instruction.m));
  set_element_at(dict_of(at(instruction.n)), found, at(instruction.m), at(instruction.x));
  TORCH_JIT_NEXT;
DICT_SET_FOUND:
  save();
  set_element_at(dict_of(at(instruction.n)), found, at(instruction.m), at(instruction.x));
  TORCH_JIT_NEXT;
APPEND:
  save();
  list_of(at(instruction.n)).push_back(at(instruction.m));
  TORCH_JIT_NEXT;
RET:
  leave();
  if (frames_.empty()) {
    return;
  }
  resume();
  TORCH_JIT_NEXT;
CALL:
  save();
  if (call(*code->functions[x], n)) {
    resume();
  }
  TORCH_JIT_NEXT;
INTERFACE_CALL : {
  save();
  const ClassTypePtr type = peek(stack, 0, n).toObjectRef().type();
  if (call(type->getMethod(code->constants[x].toStringRef()), n)) {
    resume();
  }
}
  TORCH_JIT_NEXT;
GET_ATTR : {
  save();
  IValue value = stack.back().toObjectRef().getSlot(x);
  stack.back() = std::move(value);
}
  TORCH_JIT_NEXT;
SET_ATTR : {
  save();
  IValue value = pop(stack);
  stack.back().toObjectRef().setSlot(x, std::move(value));
  stack.pop_back();
}
  TORCH_JIT_NEXT;
CREATE_OBJECT:
  save();
  stack.push_back(construct_object(code->types[x]));
  TORCH_JIT_NEXT;
TUPLE_CONSTRUCT:
  stack.emplace_back(c10::ivalue::Tuple::create(take_last(stack, n)));
  TORCH_JIT_NEXT;
NAMED_TUPLE_CONSTRUCT:
  stack.emplace_back(c10::ivalue::Tuple::createNamed(take_last(stack, n), code->types[x]->expect<TupleType>()));
  TORCH_JIT_NEXT;
TUPLE_UNPACK:
  save();
  unpack_tuple(stack, n);
  TORCH_JIT_NEXT;
LIST_CONSTRUCT:
  save();
  stack.push_back(construct_list(stack, code->types[x]->expectRef<ListType>(), n));
  TORCH_JIT_NEXT;
LIST_UNPACK:
  save();
  unpack_list(stack, n);
  TORCH_JIT_NEXT;
DICT_CONSTRUCT:
  save();
  stack.push_back(construct_dict(stack, code->types[x]->expectRef<DictType>(), n));
  TORCH_JIT_NEXT;
ISINSTANCE:
  save();
  stack.back() = is_instance(stack.back(), code->types.data() + x, n);
  TORCH_JIT_NEXT;
ENTER:
  save();
  contexts_.push_back(Context{stack.back(), enter_autocast(stack.back())});
  TORCH_JIT_NEXT;
EXIT : {
  save();
  leave_context();
  Function& exit = stack.back().toObjectRef().type()->getMethod("__exit__");
  stack.resize(stack.size() + 3); // no exception: its type, value and trace are None
  if (call(exit, 4)) {
    resume();
  }
}
  TORCH_JIT_NEXT;
FORK:
  save();
  stack.emplace_back(fork_subgraph(code->subgraphs[x], stack, launcher_));
  TORCH_JIT_NEXT;
AWAITABLE:
  stack.emplace_back(put_off_subgraph(code->subgraphs[x], stack));
  TORCH_JIT_NEXT;
WAIT:
  save();
  stack.back() = wait_for(stack.back().toFuture());
  TORCH_JIT_NEXT;
#undef TORCH_JIT_NEXT
}

// ---- errors ---------------------------------------------------------------------------------------------------------

void Run::leave_context() {
  const Context context = std::move(contexts_.back());
  contexts_.pop_back();
  if (context.autocast) {
    leave_autocast(*context.autocast);
  }
}

void Run::leave_contexts() {
  while (!contexts_.empty()) {
    Stack arguments{contexts_.back().object, IValue(), IValue(), IValue()};
    leave_context();
    // The first error is the one that is told.
    try {
      arguments.front().toObjectRef().type()->getMethod("__exit__").run(arguments);
    } catch (const std::exception&) {
      continue;
    }
  }
}

std::string Run::trace() const {
  std::vector<StackEntry> entries;
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (i == kTracedFrames && frames_.size() > 2 * kTracedFrames) {
      i = frames_.size() - kTracedFrames;
    }
    const Frame& frame = frames_[i];
    // The instruction that runs is the one before the next.
    const size_t running = static_cast<size_t>(frame.next - frame.code->instructions.data());
    const Node* node = frame.code->nodes[running > 0 ? running - 1 : 0];
    std::string name = frame.code->function_name;
    for (std::optional<InlinedCallStackPtr> call = node->callstack(); call; call = (*call)->callee()) {
      entries.push_back(StackEntry{std::exchange(name, (*call)->function_name()), (*call)->source_range()});
    }
    entries.push_back(StackEntry{std::move(name), node->sourceRange()});
  }
  std::ostringstream out;
  format_stack_trace(out, entries);
  return out.str();
}

void Run::throw_with_trace(const std::exception& error) const {
  const auto* raised = dynamic_cast<const JITException*>(&error);
  const auto* not_implemented = dynamic_cast<const c10::NotImplementedError*>(&error);
  const std::string said = c10::GetExceptionString(error);
  std::optional<std::string> class_name = raised ? raised->getPythonClassName() : std::nullopt;
  const std::string text = "The following operation failed in the TorchScript interpreter.\n" + trace() +
      class_name.value_or("RuntimeError") + ": " + said + '\n';
  if (raised) {
    throw JITException(text, std::move(class_name), raised->getOriginalMsg().value_or(said));
  }
  if (not_implemented) {
    throw c10::NotImplementedError(text, not_implemented->backtrace(), not_implemented->caller());
  }
  TORCH_CHECK(false, text);
}

} // namespace

Stack take_last(Stack& stack, size_t count) {
  const auto first = stack.end() - static_cast<std::ptrdiff_t>(count);
  Stack taken(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
  drop(stack, count);
  return taken;
}

void run_code(const CompiledCode& code, Stack& stack, const TaskLauncher* launcher) {
  Run(stack, launcher).run(code);
}

bool& rethrowCaughtExceptions() {
  static bool rethrow = false;
  return rethrow;
}

// ---- the public face ------------------------------------------------------------------------------------------------

Code::Code(const std::shared_ptr<Graph>& graph, std::string function_name, size_t)
    : code_(std::make_shared<CompiledCode>(graph, std::move(function_name))) {}

size_t Code::num_inputs() const {
  return code_->num_inputs;
}
size_t Code::num_outputs() const {
  return code_->num_outputs;
}
size_t Code::register_size() const {
  return code_->num_registers;
}
const std::vector<IValue>& Code::constant_table() const {
  return code_->constants;
}
const std::vector<Instruction>& Code::instructions() const {
  return code_->instructions;
}
std::shared_ptr<Graph> Code::graph() const {
  return code_->graph;
}

std::ostream& operator<<(std::ostream& out, const Code& code) {
  for (size_t i = 0; i < code.code_->instructions.size(); ++i) {
    out << i << ' ' << code.code_->instructions[i] << " # " << code.code_->nodes[i]->kind().toQualString() << '\n';
  }
  return out;
}

InterpreterState::InterpreterState(const Code& code, TaskLauncher launcher)
    : code_(code), launcher_(std::move(launcher)) {}

void InterpreterState::run(Stack& stack) {
  run_code(*code_.code_, stack, launcher_ ? &launcher_ : nullptr);
}

c10::intrusive_ptr<c10::ivalue::Future> InterpreterState::getFuture() {
  if (!future_) {
    std::vector<TypePtr> types;
    for (const Value* output : code_.graph()->outputs()) {
      types.push_back(output->type());
    }
    future_ = c10::make_intrusive<c10::ivalue::Future>(
        types.size() == 1 ? types[0] : TypePtr(TupleType::create(std::move(types))));
  }
  return future_;
}

c10::intrusive_ptr<c10::ivalue::Future> InterpreterState::runAsync(Stack& stack) {
  const c10::intrusive_ptr<c10::ivalue::Future> future = getFuture();
  try {
    run(stack);
    const size_t results = code_.num_outputs();
    future->markCompleted(results == 1 ? pop(stack) : IValue(c10::ivalue::Tuple::create(take_last(stack, results))));
  } catch (...) {
    future->setError(std::current_exception());
  }
  return future;
}

InterpreterContinuation::InterpreterContinuation(
    InterpreterState state, Stack stack, int64_t, std::optional<at::ThreadLocalState> tls_state)
    : state_(std::move(state)), stack_(std::move(stack)), tls_state_(std::move(tls_state)) {}

void InterpreterContinuation::operator()() {
  if (tls_state_) {
    const at::ThreadLocalStateGuard settings(*tls_state_);
    state_.runAsync(stack_);
    return;
  }
  state_.runAsync(stack_);
}

IValue evaluateConstant(Graph& graph) {
  TORCH_CHECK(
      graph.inputs().empty() && graph.outputs().size() == 1, "a constant is the only output of a graph without inputs");
  Stack stack;
  InterpreterState(Code(graph.shared_from_this(), "<constant>")).run(stack);
  return pop(stack);
}

} // namespace torch::jit
