#include <csrc/jit/runtime/code.h>

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <aten/core/interface_type.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/in_place_instructions.h>
#include <csrc/jit/runtime/liveness.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace torch::jit {

namespace {

int32_t operand(size_t number) {
  TORCH_CHECK(
      number <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
      "a graph is too large for the interpreter: ", number, " values or instructions");
  return static_cast<int32_t>(number);
}

/// Emits the instructions of a graph, block by block.
class CodeBuilder {
 public:
  explicit CodeBuilder(CompiledCode& code) : code_(code), liveness_(*code.graph, reads_in_place) {}

  void emit_graph() {
    Graph& graph = *code_.graph;
    current_ = graph.param_node();
    store(graph.inputs());
    emit_nodes(graph.block());
    load_inputs(graph.return_node());
    current_ = graph.return_node();
    add(OpCode::RET);
  }

 private:
  // ---- instructions
  size_t add(OpCode op, size_t x = 0, size_t n = 0) {
    code_.instructions.push_back(Instruction{op, operand(x), operand(n), 0});
    code_.nodes.push_back(current_);
    return code_.instructions.size() - 1;
  }
  size_t here() const {
    return code_.instructions.size();
  }
  void jump(size_t from, size_t to) {
    code_.instructions[from].x = static_cast<int32_t>(static_cast<int64_t>(to) - static_cast<int64_t>(from));
    // What stands before may be left from elsewhere: it stays as it is.
    fixed_ = here();
  }
  // The last instruction, if nothing jumps behind it.
  Instruction* last() {
    return here() > fixed_ ? &code_.instructions.back() : nullptr;
  }
  void remove_last() {
    code_.instructions.pop_back();
    code_.nodes.pop_back();
  }
  size_t add_jump_if_false() {
    Instruction* condition = last();
    if (condition && (condition->op == OpCode::LOAD || condition->op == OpCode::MOVE)) {
      condition->op = OpCode::JF_REGISTER;
      condition->n = condition->x;
      return here() - 1;
    }
    const std::optional<OpCode> jump = condition && condition->x < 0 ? jump_of(condition->op) : std::nullopt;
    if (jump) {
      condition->op = *jump;
      return here() - 1;
    }
    if (condition && condition->x < 0 && gives_result_in_place(condition->op)) {
      const size_t target = take_register();
      condition->x = operand(target);
      free_registers_.push_back(target);
      return add(OpCode::JF_REGISTER, 0, target);
    }
    return add(OpCode::JF);
  }
  template <class T>
  size_t place(std::vector<T>& table, T entry) {
    table.push_back(std::move(entry));
    return table.size() - 1;
  }

  // ---- values
  size_t take_register() {
    if (!free_registers_.empty()) {
      const size_t taken = free_registers_.back();
      free_registers_.pop_back();
      return taken;
    }
    return code_.num_registers++;
  }
  // Registers of the state of open loops stay: what is written there at the end of a turn need not wait for what was
  // put there meanwhile.
  void release(size_t place) {
    if (std::find(loop_state_.begin(), loop_state_.end(), place) == loop_state_.end()) {
      free_registers_.push_back(place);
    }
  }
  void store(at::ArrayRef<Value*> values) {
    for (size_t i = values.size(); i-- > 0;) {
      if (!values[i]->hasUses()) {
        add(OpCode::DROP);
        continue;
      }
      const size_t target = take_register();
      registers_[values[i]] = target;
      store_in(target);
    }
  }
  // Into a register, instead of onto the stack: whether the instruction that pushes it can do so.
  static bool redirect(Instruction& push, size_t target) {
    switch (push.op) {
      case OpCode::LOAD:
      case OpCode::MOVE:
        // A value that is there already stays.
        push.op = push.op == OpCode::LOAD || push.x == operand(target) ? OpCode::COPY : OpCode::TRANSFER;
        break;
      case OpCode::LOADC:
        push.op = OpCode::SET;
        break;
      default:
        if (push.x >= 0 || !gives_result_in_place(push.op)) {
          return false;
        }
        push.x = operand(target);
        return true;
    }
    push.n = push.x;
    push.x = operand(target);
    return true;
  }
  // What was pushed last goes into the register.
  void store_in(size_t target) {
    Instruction* push = last();
    if (push && push->op == OpCode::MOVE && push->x == operand(target)) {
      remove_last();
    } else if (!push || !redirect(*push, target)) {
      add(OpCode::STORE, target);
    }
  }
  static bool touches(const Instruction& instruction, size_t place) {
    const int32_t wanted = operand(place);
    switch (instruction.op) {
      case OpCode::LOAD:
      case OpCode::MOVE:
      case OpCode::STORE:
      case OpCode::SET:
      case OpCode::CLEAR:
        return instruction.x == wanted;
      case OpCode::COPY:
      case OpCode::TRANSFER:
        return instruction.x == wanted || instruction.n == wanted;
      case OpCode::JF_REGISTER:
      case OpCode::JT_REGISTER:
        return instruction.n == wanted;
      case OpCode::LOOP:
      case OpCode::LOOP_NEXT:
        return instruction.n == wanted || instruction.m == wanted;
      default:
        if (instruction.op < OpCode::ADD_INT) {
          return false;
        }
        return instruction.n == wanted || instruction.m == wanted ||
            (instruction.op != OpCode::APPEND && instruction.x == wanted);
    }
  }
  // Of values that are where they belong. Nothing jumps to what comes behind.
  void remove_copies_in_place(const std::vector<size_t>& ends) {
    for (size_t i = ends.size(); i-- > 0;) {
      const size_t place = ends[i] - 1;
      const Instruction& copy = code_.instructions[place];
      if (place >= fixed_ && copy.op == OpCode::COPY && copy.x == copy.n) {
        code_.instructions.erase(code_.instructions.begin() + static_cast<ptrdiff_t>(place));
        code_.nodes.erase(code_.nodes.begin() + static_cast<ptrdiff_t>(place));
      }
    }
  }
  // The registers that an output is computed from, or lies in.
  std::vector<size_t> registers_read(const Node* outputs, size_t input) const {
    std::vector<size_t> read;
    std::vector<const Value*> open{outputs->input(input)};
    while (!open.empty()) {
      const Value* value = open.back();
      open.pop_back();
      if (liveness_.is_inline(value->node())) {
        open.insert(open.end(), value->node()->inputs().begin(), value->node()->inputs().end());
      } else if (const auto found = registers_.find(value); found != registers_.end()) {
        read.push_back(found->second);
      }
    }
    return read;
  }
  // In which order the outputs from `first` on are loaded: one whose register no other is read from comes before the
  // others, if that can be. Only numbers that lie in registers change places, nothing that is evaluated.
  std::vector<size_t> order_of_outputs(
      const Node* outputs, const std::vector<std::optional<size_t>>& targets, size_t first) const {
    std::vector<size_t> left(targets.size());
    std::iota(left.begin(), left.end(), size_t(0));
    constexpr size_t kMostOrdered = 16; // loops with more state are no short ones
    if (left.size() > kMostOrdered) {
      return left;
    }
    const auto may_go_first = [&](size_t i) {
      const Value* value = outputs->input(first + i);
      return i == left.front() || (is_number(value) && !liveness_.is_inline(value->node()));
    };
    std::vector<std::vector<size_t>> read;
    for (const size_t i : left) {
      read.push_back(registers_read(outputs, first + i));
    }
    const auto is_read_by_others = [&](size_t i) {
      return targets[i] && std::any_of(left.begin(), left.end(), [&](size_t other) {
               return other != i && std::count(read[other].begin(), read[other].end(), *targets[i]) > 0;
             });
    };
    std::vector<size_t> order;
    while (!left.empty()) {
      auto next =
          std::find_if(left.begin(), left.end(), [&](size_t i) { return may_go_first(i) && !is_read_by_others(i); });
      next = next == left.end() ? left.begin() : next;
      order.push_back(*next);
      left.erase(next);
    }
    return order;
  }
  // The outputs of a block from `first` on, each into its register (or nowhere). All of them are read before a register
  // that one of them is still in is written.
  void store_outputs(Block* block, const std::vector<std::optional<size_t>>& targets, size_t first = 0) {
    Node* outputs = block->return_node();
    const std::vector<size_t> order = order_of_outputs(outputs, targets, first);
    std::vector<size_t> ends;
    for (const size_t i : order) {
      load_input(outputs, first + i);
      if (Instruction* push = last(); push && push->op == OpCode::MOVE && is_number(outputs->input(first + i))) {
        push->op = OpCode::LOAD; // others may be read from there yet
      }
      ends.push_back(here());
    }
    current_ = outputs;
    const size_t end = here();
    std::vector<std::optional<size_t>> pushed;
    for (size_t at = 0; at < order.size(); ++at) {
      const std::optional<size_t> target = targets[order[at]];
      const auto begin = code_.instructions.begin();
      const bool is_free = target &&
          std::none_of(begin + static_cast<ptrdiff_t>(ends[at]), begin + static_cast<ptrdiff_t>(end),
                       [&](const Instruction& later) { return touches(later, *target); });
      if (!is_free || ends[at] <= fixed_ || !redirect(code_.instructions[ends[at] - 1], *target)) {
        pushed.push_back(target);
      }
    }
    remove_copies_in_place(ends);
    while (!pushed.empty()) {
      if (pushed.back()) {
        add(OpCode::STORE, *pushed.back());
      } else {
        add(OpCode::DROP);
      }
      pushed.pop_back();
    }
  }
  size_t place_of_constant(const Value* value) {
    const auto [found, fresh] = constants_.try_emplace(value, code_.constants.size());
    if (fresh) {
      code_.constants.push_back(value_of_constant(value));
    }
    return found->second;
  }
  void load_constant(const Value* value) {
    add(OpCode::LOADC, place_of_constant(value));
  }
  static IValue value_of_constant(const Value* value) {
    if (value->node()->kind() == prim::Uninitialized) {
      return IValue::uninitialized();
    }
    std::optional<IValue> known = toIValue(value);
    TORCH_CHECK(known, "%", value->debugName(), " is a function, which is no value");
    return *std::move(known);
  }
  size_t register_of(const Value* value) const {
    const auto found = registers_.find(value);
    TORCH_INTERNAL_ASSERT(found != registers_.end(), "%", value->debugName(), " is used before it has a value");
    return found->second;
  }
  bool is_last_load(const Node* node, size_t input) const {
    return pinned_.count(node->input(input)) == 0 && liveness_.is_last_load(node, input);
  }
  void load(const Node* node, size_t input) {
    const size_t found = register_of(node->input(input));
    const bool last = is_last_load(node, input);
    add(last ? OpCode::MOVE : OpCode::LOAD, found);
    if (last) {
      release(found);
    }
  }
  // Where an operand is that is read there: a register, or a constant.
  int32_t place_of_operand(const Node* node, size_t input, std::vector<size_t>& dead) {
    const Value* value = node->input(input);
    if (is_constant_node(value->node())) {
      return -1 - operand(place_of_constant(value));
    }
    const size_t found = register_of(value);
    if (is_last_load(node, input)) {
      if (is_number(value)) {
        release(found);
      } else {
        dead.push_back(found);
      }
    }
    return operand(found);
  }
  // Whether the last instruction for dictionaries has looked for this key in this one, and only numbers were computed
  // and compared since.
  bool is_looked_up(int32_t dict, int32_t key) const {
    for (size_t i = here(); i > fixed_;) {
      const Instruction& before = code_.instructions[--i];
      if (before.op == OpCode::JF || before.op == OpCode::JF_REGISTER || is_jump_of_comparison(before.op)) {
        continue;
      }
      if (before.x >= 0 && gives_result_in_place(before.op) && (before.x == dict || before.x == key)) {
        return false;
      }
      if (before.op >= OpCode::DICT_GET_ITEM) {
        // What an assignment gives back may change anything.
        return gives_result_in_place(before.op) && before.n == dict && before.m == key;
      }
      if (before.op < OpCode::ADD_INT || before.op >= OpCode::GET_ITEM) {
        return false;
      }
    }
    return false;
  }
  // The operands stay where they are; what is of no more use goes at once.
  void emit_in_place(const Node* node, OpCode op) {
    std::vector<size_t> dead;
    int32_t places[3] = {};
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      places[i] = place_of_operand(node, i, dead);
    }
    if (op == OpCode::DICT_GET_ITEM && is_looked_up(places[0], places[1])) {
      add(OpCode::DICT_GET_FOUND);
    } else if (op == OpCode::DICT_SET_ITEM && is_looked_up(places[0], places[1])) {
      add(OpCode::DICT_SET_FOUND);
    } else {
      add(op);
    }
    Instruction& added = code_.instructions.back();
    added.x = op == OpCode::SET_ITEM || op == OpCode::DICT_SET_ITEM ? places[2] : -1;
    added.n = places[0];
    added.m = places[1];
    for (const size_t place : dead) {
      add(OpCode::CLEAR, place);
      release(place);
    }
  }
  // Pushes the inputs from `first` on. Nodes that are evaluated in place of a load may make long chains: no recursion.
  void load_inputs(Node* node, size_t first = 0) {
    for (size_t input = first; input < node->inputs().size(); ++input) {
      load_input(node, input);
    }
  }
  void load_input(Node* loaded_node, size_t loaded_input) {
    struct Loading {
      Node* node;
      size_t next_input;
      size_t end;
    };
    std::vector<Loading> open{{loaded_node, loaded_input, loaded_input + 1}};
    while (true) {
      Loading& top = open.back();
      if (top.next_input == top.end) {
        Node* done = top.node;
        open.pop_back();
        if (open.empty()) {
          return;
        }
        emit_operation(done);
        continue;
      }
      const size_t input = top.next_input++;
      Node* producer = top.node->input(input)->node();
      if (liveness_.is_inline(producer)) {
        open.push_back({producer, first_loaded_input(producer), producer->inputs().size()});
        continue;
      }
      current_ = top.node;
      if (is_constant_node(producer)) {
        load_constant(top.node->input(input));
      } else {
        load(top.node, input);
      }
    }
  }
  // A called function is no value to be loaded, and some operands are read where they are.
  static size_t first_loaded_input(const Node* node) {
    return reads_in_place(node) ? node->inputs().size() : node->kind() == prim::CallFunction ? 1 : 0;
  }
  void clear(const std::vector<Value*>& values) {
    for (const Value* value : values) {
      if (pinned_.count(value) == 0 && !is_number(value)) {
        add(OpCode::CLEAR, registers_.at(value));
      }
    }
  }
  void free(const std::vector<Value*>& values) {
    for (const Value* value : values) {
      if (pinned_.count(value) == 0) {
        release(registers_.at(value));
      }
    }
  }

  // ---- blocks
  void emit_nodes(Block* block) {
    for (Node* node : block->nodes()) {
      if (!is_constant_node(node) && !liveness_.is_inline(node)) {
        emit_node(node);
      }
    }
  }
  void emit_node(Node* node) {
    if (node->kind() == prim::Loop) {
      emit_loop(node);
      return;
    }
    load_inputs(node, first_loaded_input(node));
    if (node->kind() == prim::If) {
      emit_if(node);
      return;
    }
    emit_operation(node);
    const std::optional<OpCode> op = in_place_opcode(node);
    if (!op || gives_result_in_place(*op)) {
      store(node->outputs());
    }
  }
  // Registers that the branch frees may hold, in the other branch, what lives there still.
  void emit_branch(Block* block, const std::vector<std::optional<size_t>>& targets) {
    const std::vector<size_t> free_before = free_registers_;
    clear(liveness_.unused_in_branch(block));
    emit_nodes(block);
    store_outputs(block, targets);
    free_registers_ = free_before;
  }
  std::optional<size_t> register_for(const Value* value) {
    if (!value->hasUses()) {
      return std::nullopt;
    }
    const size_t target = take_register();
    registers_[value] = target;
    return target;
  }
  void emit_if(Node* node) {
    TORCH_CHECK(
        node->inputs().size() == 1 && node->blocks().size() == 2, "prim::If has one input and two blocks: ", *node);
    current_ = node;
    const size_t on_false = add_jump_if_false();
    std::vector<std::optional<size_t>> targets;
    for (const Value* output : node->outputs()) {
      targets.push_back(register_for(output));
    }
    emit_branch(node->blocks()[0], targets);
    current_ = node;
    const size_t on_end = add(OpCode::JMP);
    jump(on_false, here());
    emit_branch(node->blocks()[1], targets);
    current_ = node;
    jump(on_end, here());
    free(liveness_.dead_behind(node));
  }
  static bool is_true(const Value* value) {
    const std::optional<IValue> known = toIValue(value);
    return known && known->isBool() && known->toBool();
  }
  static bool is_endless(const Value* trips) {
    const std::optional<IValue> known = toIValue(trips);
    return known && known->isInt() && known->toInt() == std::numeric_limits<int64_t>::max();
  }
  /// The registers of a loop.
  struct LoopRegisters {
    size_t counter = 0;
    std::optional<size_t> trips; // none where they are a constant
    int32_t place_of_trips = 0;
    std::optional<size_t> condition; // none where it is always true
    std::vector<std::optional<size_t>> state;
  };
  size_t load_into_register(Node* node, size_t input) {
    load_input(node, input);
    const size_t target = take_register();
    store_in(target);
    return target;
  }
  // The state is in the registers of the loop's outputs, and the iteration in the counter.
  LoopRegisters load_loop(Node* node) {
    Block* body = node->blocks()[0];
    LoopRegisters loop;
    current_ = node;
    if (is_constant_node(node->input(0)->node())) {
      loop.place_of_trips = -1 - operand(place_of_constant(node->input(0)));
    } else {
      loop.trips = load_into_register(node, 0);
      loop.place_of_trips = operand(*loop.trips);
    }
    if (!is_true(node->input(1)) || !is_true(body->outputs()[0])) {
      loop.condition = load_into_register(node, 1);
    }
    for (size_t i = 0; i < node->outputs().size(); ++i) {
      loop.state.push_back(load_into_register(node, i + 2));
      registers_[node->output(i)] = *loop.state.back();
      registers_[body->inputs()[i + 1]] = *loop.state.back();
    }
    loop.counter = take_register();
    current_ = node;
    add(OpCode::SET, loop.counter, place(code_.constants, IValue(0)));
    registers_[body->inputs()[0]] = loop.counter;
    pinned_.insert(body->inputs()[0]);
    return loop;
  }
  void free_loop(Node* node, const LoopRegisters& loop) {
    free_registers_.push_back(loop.counter);
    for (const std::optional<size_t>& used : {loop.trips, loop.condition}) {
      if (used) {
        free_registers_.push_back(*used);
      }
    }
    for (const Value* output : node->outputs()) {
      if (!output->hasUses()) {
        if (!is_number(output)) {
          add(OpCode::CLEAR, registers_.at(output));
        }
        free_registers_.push_back(registers_.at(output));
      }
    }
    const std::vector<Value*> dead = liveness_.dead_behind(node);
    clear(dead);
    free(dead);
  }
  // An instruction of the loop that jumps.
  size_t add_loop_jump(OpCode op, const LoopRegisters& loop) {
    const size_t added = add(op, 0, loop.counter);
    code_.instructions.back().m = loop.place_of_trips;
    return added;
  }
  void emit_loop(Node* node) {
    TORCH_CHECK(
        node->inputs().size() >= 2 && node->blocks().size() == 1 &&
            node->outputs().size() == node->inputs().size() - 2 &&
            node->blocks()[0]->inputs().size() == node->inputs().size() - 1 &&
            node->blocks()[0]->outputs().size() == node->inputs().size() - 1,
        "prim::Loop has a trip count, a condition and a state, which its block takes and gives: ", *node);
    Block* body = node->blocks()[0];
    const LoopRegisters loop = load_loop(node);
    const bool counts = body->inputs()[0]->hasUses() || !is_endless(node->input(0));
    const std::vector<size_t> free_before = free_registers_;
    const size_t on_end = add_loop_jump(OpCode::LOOP, loop);
    std::optional<size_t> on_false;
    const size_t start = here();
    if (loop.condition) {
      on_false = add(OpCode::JF_REGISTER, 0, *loop.condition);
    }
    const size_t body_start = here();
    fixed_ = here();
    for (size_t i = 0; i < loop.state.size(); ++i) {
      const Value* value = body->inputs()[i + 1];
      if (!value->hasUses() && !is_number(value)) {
        add(OpCode::CLEAR, *loop.state[i]);
      }
    }
    const size_t open_state = loop_state_.size();
    for (const std::optional<size_t>& place : loop.state) {
      loop_state_.push_back(*place);
    }
    emit_nodes(body);
    std::vector<std::optional<size_t>> targets = loop.state;
    if (loop.condition) {
      targets.insert(targets.begin(), loop.condition);
    }
    store_outputs(body, targets, loop.condition ? 0 : 1);
    loop_state_.resize(open_state);
    free_registers_ = free_before;
    current_ = node;
    if (counts) {
      jump(add_loop_jump(OpCode::LOOP_NEXT, loop), start);
    } else if (loop.condition) {
      jump(add(OpCode::JT_REGISTER, 0, *loop.condition), body_start);
    } else {
      jump(add(OpCode::JMP), body_start);
    }
    jump(on_end, here());
    if (on_false) {
      jump(*on_false, here());
    }
    free_loop(node, loop);
  }

  // ---- operations
  void emit_operation(Node* node);
  void emit_construct(Node* node);
  void emit_attribute(Node* node);
  void emit_call_function(Node* node);
  void emit_call_method(Node* node, const std::string& name);
  void emit_isinstance(Node* node);
  void emit_task(Node* node);
  void emit_operator(Node* node);

  CompiledCode& code_;
  Liveness liveness_;
  const Node* current_ = nullptr;
  std::unordered_map<const Value*, size_t> registers_;
  size_t fixed_ = 0;
  std::vector<size_t> free_registers_, loop_state_;
  std::unordered_map<const Value*, size_t> constants_;
  // Iterations: their registers are the loop's.
  std::unordered_set<const Value*> pinned_;
};

void CodeBuilder::emit_operation(Node* node) {
  current_ = node;
  switch (static_cast<uint32_t>(node->kind())) {
    case prim::unchecked_cast:
      return; // the value as it is
    case prim::CallFunction:
      return emit_call_function(node);
    case prim::CallMethod:
      return emit_call_method(node, node->s(attr::name));
    case prim::GetAttr:
    case prim::SetAttr:
    case prim::CreateObject:
      return emit_attribute(node);
    case prim::TupleConstruct:
    case prim::TupleUnpack:
    case prim::ListConstruct:
    case prim::ListUnpack:
    case prim::DictConstruct:
      return emit_construct(node);
    case prim::isinstance:
      return emit_isinstance(node);
    case prim::Enter:
      add(OpCode::ENTER);
      return emit_call_method(node, "__enter__");
    case prim::Exit:
      add(OpCode::EXIT);
      return;
    case prim::fork:
    case prim::awaitable:
      return emit_task(node);
    case aten::wait:
      add(OpCode::WAIT);
      return;
    default:
      return emit_operator(node);
  }
}

void CodeBuilder::emit_construct(Node* node) {
  const size_t inputs = node->inputs().size();
  switch (static_cast<uint32_t>(node->kind())) {
    case prim::TupleConstruct: {
      const TupleType& type = node->output()->type()->expectRef<TupleType>();
      // Fields without a name of their class are the compiler's alone.
      if (type.name()) {
        add(OpCode::NAMED_TUPLE_CONSTRUCT, place(code_.types, node->output()->type()), inputs);
      } else {
        add(OpCode::TUPLE_CONSTRUCT, 0, inputs);
      }
      return;
    }
    case prim::TupleUnpack:
      add(OpCode::TUPLE_UNPACK, 0, node->outputs().size());
      return;
    case prim::ListConstruct:
      node->output()->type()->expectRef<ListType>();
      add(OpCode::LIST_CONSTRUCT, place(code_.types, node->output()->type()), inputs);
      return;
    case prim::ListUnpack:
      add(OpCode::LIST_UNPACK, 0, node->outputs().size());
      return;
    default:
      node->output()->type()->expectRef<DictType>();
      TORCH_CHECK(inputs % 2 == 0, "prim::DictConstruct needs a value for each key: ", *node);
      add(OpCode::DICT_CONSTRUCT, place(code_.types, node->output()->type()), inputs);
  }
}

void CodeBuilder::emit_attribute(Node* node) {
  if (node->kind() == prim::CreateObject) {
    node->output()->type()->expectRef<ClassType>();
    add(OpCode::CREATE_OBJECT, place(code_.types, node->output()->type()));
    return;
  }
  const bool reads = node->kind() == prim::GetAttr;
  TORCH_CHECK(node->inputs().size() == (reads ? 1 : 2), "wrong number of inputs: ", *node);
  const ClassType& type = node->input(0)->type()->expectRef<ClassType>();
  add(reads ? OpCode::GET_ATTR : OpCode::SET_ATTR, type.getAttributeSlot(node->s(attr::name)));
}

void CodeBuilder::emit_call_function(Node* node) {
  TORCH_CHECK(!node->inputs().empty(), "a call of no function: ", *node);
  const FunctionType* type = node->input(0)->type()->castRaw<FunctionType>();
  TORCH_CHECK(type, "a call of what is no function: ", *node);
  type->function()->ensure_defined();
  add(OpCode::CALL, place(code_.functions, type->function()), node->inputs().size() - 1);
}

void CodeBuilder::emit_call_method(Node* node, const std::string& name) {
  TORCH_CHECK(!node->inputs().empty(), "a method is called of no object: ", *node);
  const size_t inputs = node->inputs().size();
  if (const ClassType* type = node->input(0)->type()->castRaw<ClassType>()) {
    add(OpCode::CALL, place(code_.functions, &type->getMethod(name)), inputs);
    return;
  }
  node->input(0)->type()->expectRef<InterfaceType>();
  add(OpCode::INTERFACE_CALL, place(code_.constants, IValue(name)), inputs);
}

void CodeBuilder::emit_isinstance(Node* node) {
  const std::vector<TypePtr>& types = node->tys(attr::types);
  const size_t first = code_.types.size();
  code_.types.insert(code_.types.end(), types.begin(), types.end());
  add(OpCode::ISINSTANCE, first, types.size());
}

void CodeBuilder::emit_task(Node* node) {
  const std::shared_ptr<Graph>& graph = node->g(attr::Subgraph);
  TORCH_CHECK(
      graph->inputs().size() == node->inputs().size(), "a subgraph takes ", graph->inputs().size(),
      " values, but gets ", node->inputs().size());
  TORCH_CHECK(
      graph->outputs().size() == 1, "a subgraph that runs as a task has one result, not ", graph->outputs().size());
  CompiledCode::Subgraph subgraph{
      std::make_shared<CompiledCode>(graph, code_.function_name), graph->outputs()[0]->type()};
  const OpCode op = node->kind() == prim::fork ? OpCode::FORK : OpCode::AWAITABLE;
  add(op, place(code_.subgraphs, std::move(subgraph)), node->inputs().size());
}

void CodeBuilder::emit_operator(Node* node) {
  if (const std::optional<OpCode> in_place = in_place_opcode(node)) {
    emit_in_place(node, *in_place);
    return;
  }
  const Operator& op = node->getOperator();
  if (!op.isC10Op() && op.hasVarSchema()) {
    if (op.schema().is_vararg()) {
      add(OpCode::COUNT, 0, node->inputs().size());
    }
  } else {
    TORCH_CHECK(
        op.schema().returns().size() == node->outputs().size(), op.schema(), " does not have ", node->outputs().size(),
        " results");
  }
  if (op.isC10Op()) {
    add(OpCode::OP_DISPATCH, place(code_.operators, op.handle()));
    return;
  }
  Operation operation = op.getOperation(node);
  using Plain = void (*)(Stack&);
  if (const Plain* plain = operation.target<Plain>()) {
    add(OpCode::OP_PLAIN, place(code_.plain_operations, *plain));
    return;
  }
  add(OpCode::OP, place(code_.operations, std::move(operation)));
}

} // namespace

CompiledCode::CompiledCode(std::shared_ptr<Graph> code_graph, std::string name)
    : graph(std::move(code_graph)),
      function_name(std::move(name)),
      num_inputs(graph->inputs().size()),
      num_outputs(graph->outputs().size()) {
  CodeBuilder(*this).emit_graph();
}

} // namespace torch::jit
