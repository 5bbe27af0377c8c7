// Arithmetic, comparisons of numbers and accesses of lists and dictionaries that the interpreter has instructions for.
#pragma once

#include <csrc/jit/runtime/ops/number_rules.h>

#include <cstdint>

// _(opcode, operator, type of the operands, their function). Operands are at places n and m: registers, or constants
// (-1 - their number). The result goes into register x, or on the stack if x is negative.
#define TORCH_JIT_FORALL_ARITHMETIC(_)                                         \
  _(ADD_INT, "aten::add.int", int64_t, wrapped_add(a, b))                      \
  _(SUB_INT, "aten::sub.int", int64_t, wrapped_sub(a, b))                      \
  _(MUL_INT, "aten::mul.int", int64_t, wrapped_mul(a, b))                      \
  _(FLOORDIV_INT, "aten::floordiv.int", int64_t, ops::floor_divide_ints(a, b)) \
  _(REMAINDER_INT, "aten::remainder.int", int64_t, ops::floor_remainder(a, b)) \
  _(ADD_FLOAT, "aten::add.float", double, a + b)                               \
  _(SUB_FLOAT, "aten::sub.float", double, a - b)                               \
  _(MUL_FLOAT, "aten::mul.float", double, a* b)                                \
  _(DIV_FLOAT, "aten::div.float", double, a / b)

// Comparisons also have an instruction `JF_...` that jumps by x if they do not hold.
#define TORCH_JIT_FORALL_COMPARISONS(_)           \
  _(LT_INT, "aten::lt.int", int64_t, a < b)       \
  _(LE_INT, "aten::le.int", int64_t, a <= b)      \
  _(GT_INT, "aten::gt.int", int64_t, (a > b))     \
  _(GE_INT, "aten::ge.int", int64_t, (a >= b))    \
  _(EQ_INT, "aten::eq.int", int64_t, a == b)      \
  _(NE_INT, "aten::ne.int", int64_t, a != b)      \
  _(LT_FLOAT, "aten::lt.float", double, a < b)    \
  _(LE_FLOAT, "aten::le.float", double, a <= b)   \
  _(GT_FLOAT, "aten::gt.float", double, (a > b))  \
  _(GE_FLOAT, "aten::ge.float", double, (a >= b)) \
  _(EQ_FLOAT, "aten::eq.float", double, a == b)   \
  _(NE_FLOAT, "aten::ne.float", double, a != b)

// The same for lists. The first operand is the list, the second the position or the value; for SET_ITEM, x is the
// value's place.
#define TORCH_JIT_FORALL_LIST_OPERATIONS(_) \
  _(GET_ITEM, "aten::__getitem__.t")        \
  _(POP_ITEM, "aten::pop.t")                \
  _(LEN, "aten::len.t")                     \
  _(SET_ITEM, "aten::_set_item.t")          \
  _(APPEND, "aten::append.t")

// The same for dictionaries: the operator of each type of key is called as here and then as the type.
#define TORCH_JIT_FORALL_DICT_OPERATIONS(_)   \
  _(DICT_GET_ITEM, "aten::__getitem__.Dict_") \
  _(DICT_CONTAINS, "aten::__contains__.")     \
  _(DICT_SET_ITEM, "aten::_set_item.")
// Where the dictionary instruction before has looked for the same key, and nothing could change the dictionary since.
#define TORCH_JIT_FORALL_FOUND_OPERATIONS(_) _(DICT_GET_FOUND) _(DICT_SET_FOUND)
#define TORCH_JIT_FORALL_DICT_KEYS(_, name, op) _(name, op "str") _(name, op "int")

namespace torch::jit {

inline int64_t wrapped_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrapped_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrapped_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

} // namespace torch::jit
