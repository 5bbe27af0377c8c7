#include <csrc/jit/runtime/in_place_instructions.h>

#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::jit {

const char* toString(OpCode op) {
  constexpr const char* kNames[] = {
#define TORCH_JIT_NAME_OPCODE(name) #name,
#define TORCH_JIT_NAME_ARITHMETIC(name, op, type, function) #name,
#define TORCH_JIT_NAME_COMPARISON(name, op, type, function) #name, "JF_" #name,
#define TORCH_JIT_NAME_CONTAINER_OPERATION(name, op) #name,
      TORCH_JIT_FORALL_OPCODES(TORCH_JIT_NAME_OPCODE) TORCH_JIT_FORALL_ARITHMETIC(TORCH_JIT_NAME_ARITHMETIC)
          TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_NAME_COMPARISON)
              TORCH_JIT_FORALL_LIST_OPERATIONS(TORCH_JIT_NAME_CONTAINER_OPERATION)
                  TORCH_JIT_FORALL_DICT_OPERATIONS(TORCH_JIT_NAME_CONTAINER_OPERATION)
                      TORCH_JIT_FORALL_FOUND_OPERATIONS(TORCH_JIT_NAME_OPCODE)
#undef TORCH_JIT_NAME_CONTAINER_OPERATION
#undef TORCH_JIT_NAME_OPCODE
#undef TORCH_JIT_NAME_ARITHMETIC
#undef TORCH_JIT_NAME_COMPARISON
  };
  return kNames[static_cast<size_t>(op)];
}

std::ostream& operator<<(std::ostream& out, const Instruction& instruction) {
  return out << toString(instruction.op) << ' ' << instruction.x << ' ' << instruction.n << ' ' << instruction.m;
}

namespace {

/// An operator that has an instruction of its own.
struct InPlaceOperator {
  std::string overload;
  OpCode op;
};

const std::unordered_map<Symbol, std::vector<InPlaceOperator>>& in_place_operators() {
  static const auto& operators = *new std::unordered_map<Symbol, std::vector<InPlaceOperator>>([] {
    constexpr std::pair<std::string_view, OpCode> kAll[] = {
#define TORCH_JIT_SCALAR_ENTRY(name, op, type, function) {op, OpCode::name},
#define TORCH_JIT_CONTAINER_ENTRY(name, op) {op, OpCode::name},
#define TORCH_JIT_DICT_ENTRIES(name, op) TORCH_JIT_FORALL_DICT_KEYS(TORCH_JIT_CONTAINER_ENTRY, name, op)
        TORCH_JIT_FORALL_ARITHMETIC(TORCH_JIT_SCALAR_ENTRY) TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_SCALAR_ENTRY)
            TORCH_JIT_FORALL_LIST_OPERATIONS(TORCH_JIT_CONTAINER_ENTRY)
                TORCH_JIT_FORALL_DICT_OPERATIONS(TORCH_JIT_DICT_ENTRIES)
#undef TORCH_JIT_SCALAR_ENTRY
#undef TORCH_JIT_CONTAINER_ENTRY
#undef TORCH_JIT_DICT_ENTRIES
    };
    std::unordered_map<Symbol, std::vector<InPlaceOperator>> by_name;
    for (const auto& [name, op] : kAll) {
      const size_t dot = name.rfind('.');
      by_name[Symbol::fromQualString(std::string(name.substr(0, dot)))].push_back(
          {std::string(name.substr(dot + 1)), op});
    }
    return by_name;
  }());
  return operators;
}

bool has_used_output(const Node* node) {
  return std::any_of(
      node->outputs().begin(), node->outputs().end(), [](const Value* output) { return output->hasUses(); });
}

/// Whether it gives nothing but changes its first operand.
bool changes_container(OpCode op) {
  return op == OpCode::SET_ITEM || op == OpCode::APPEND || op == OpCode::DICT_SET_ITEM;
}

} // namespace

bool is_number(const Value* value) {
  const TypeKind kind = value->type()->kind();
  return kind == TypeKind::IntType || kind == TypeKind::FloatType || kind == TypeKind::BoolType;
}

std::optional<OpCode> in_place_opcode(const Node* node) {
  const auto candidates = in_place_operators().find(node->kind());
  const Operator* op = candidates == in_place_operators().end() ? nullptr : node->maybeOperator();
  if (!op) {
    return std::nullopt;
  }
  for (const InPlaceOperator& candidate : candidates->second) {
    if (candidate.overload != op->schema().overload_name()) {
      continue;
    }
    const bool possible = node->inputs().size() == op->schema().arguments().size() &&
        (changes_container(candidate.op) ? !has_used_output(node) && is_number(node->inputs().back())
                                         : node->outputs().size() == 1);
    return possible ? std::optional<OpCode>(candidate.op) : std::nullopt;
  }
  return std::nullopt;
}

bool reads_in_place(const Node* node) {
  return in_place_opcode(node).has_value();
}

std::optional<OpCode> jump_of(OpCode op) {
  switch (op) {
#define TORCH_JIT_COMPARISON_CASE(name, op, type, function) \
  case OpCode::name:                                        \
    return OpCode::JF_##name;
    TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_COMPARISON_CASE)
#undef TORCH_JIT_COMPARISON_CASE
    default:
      return std::nullopt;
  }
}

bool is_jump_of_comparison(OpCode op) {
  switch (op) {
#define TORCH_JIT_JUMP_CASE(name, op, type, function) case OpCode::JF_##name:
    TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_JUMP_CASE)
#undef TORCH_JIT_JUMP_CASE
    return true;
    default:
      return false;
  }
}

bool gives_result_in_place(OpCode op) {
  switch (op) {
#define TORCH_JIT_SCALAR_CASE(name, op, type, function) case OpCode::name:
    TORCH_JIT_FORALL_ARITHMETIC(TORCH_JIT_SCALAR_CASE)
    TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_SCALAR_CASE)
#undef TORCH_JIT_SCALAR_CASE
    case OpCode::GET_ITEM:
    case OpCode::POP_ITEM:
    case OpCode::LEN:
    case OpCode::DICT_GET_ITEM:
    case OpCode::DICT_GET_FOUND:
    case OpCode::DICT_CONTAINS:
      return true;
    default:
      return false;
  }
}

} // namespace torch::jit
