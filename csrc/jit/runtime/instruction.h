// What the interpreter runs.
#pragma once

#include <csrc/jit/runtime/scalar_instructions.h>

#include <cstdint>
#include <iosfwd>

// Values wait for their use on the stack, or in the registers of the function's frame. `x`, `n` and `m` are operands.
#define TORCH_JIT_FORALL_OPCODES(_)                                                             \
  _(OP) /* calls code x, a function object */                                                   \
  _(OP_PLAIN) /* calls code x, a plain function */                                              \
  _(OP_DISPATCH) /* calls operator x of the dispatcher */                                       \
  _(COUNT) /* pushes n, the number of inputs of an operator that takes any number */            \
  _(LOAD) /* pushes a copy of register x */                                                     \
  _(MOVE) /* pushes register x, which is empty then */                                          \
  _(STORE) /* pops into register x */                                                           \
  _(COPY) /* register n to register x */                                                        \
  _(TRANSFER) /* register n, which is empty then, to register x */                              \
  _(SET) /* constant n to register x */                                                         \
  _(CLEAR) /* empties register x */                                                             \
  _(DROP) /* pops and forgets */                                                                \
  _(LOADC) /* pushes constant x */                                                              \
  _(JF) /* pops a bool and jumps by x if it is false */                                         \
  _(JF_REGISTER) /* jumps by x if register n is false */                                        \
  _(JMP) /* jumps by x */                                                                       \
  _(JT_REGISTER) /* jumps by x if register n is true */                                         \
  _(LOOP) /* jumps by x if the counter in register n is not below the number at place m */      \
  _(LOOP_NEXT) /* counts register n up and jumps by x if it is below the number at place m */   \
  _(RET) /* returns to the caller */                                                            \
  _(CALL) /* calls function x */                                                                \
  _(INTERFACE_CALL) /* calls the method constant x names of the object below n - 1 arguments */ \
  _(GET_ATTR) /* attribute in slot x of the object on top */                                    \
  _(SET_ATTR) /* pops a value, then an object whose slot x takes it */                          \
  _(CREATE_OBJECT) /* of type x */                                                              \
  _(TUPLE_CONSTRUCT) /* of n values */                                                          \
  _(NAMED_TUPLE_CONSTRUCT) /* of n values, of type x */                                         \
  _(TUPLE_UNPACK) /* into n values */                                                           \
  _(LIST_CONSTRUCT) /* of n values, of list type x */                                           \
  _(LIST_UNPACK) /* into n values */                                                            \
  _(DICT_CONSTRUCT) /* of n keys and values in turn, of dict type x */                          \
  _(ISINSTANCE) /* of one of the n types from x on */                                           \
  _(ENTER) /* enters the context on top and calls its __enter__ */                              \
  _(EXIT) /* leaves the context on top: calls its __exit__ */                                   \
  _(FORK) /* starts subgraph x with n arguments as a task */                                    \
  _(AWAITABLE) /* puts off the call of subgraph x with n arguments */                           \
  _(WAIT) /* pops a future and pushes its value */

namespace torch::jit {

enum class OpCode : uint8_t {
#define TORCH_JIT_DEFINE_OPCODE(name) name,
#define TORCH_JIT_DEFINE_ARITHMETIC(name, op, type, function) name,
#define TORCH_JIT_DEFINE_COMPARISON(name, op, type, function) name, JF_##name,
#define TORCH_JIT_DEFINE_CONTAINER_OPERATION(name, op) name,
  TORCH_JIT_FORALL_OPCODES(TORCH_JIT_DEFINE_OPCODE) TORCH_JIT_FORALL_ARITHMETIC(TORCH_JIT_DEFINE_ARITHMETIC)
      TORCH_JIT_FORALL_COMPARISONS(TORCH_JIT_DEFINE_COMPARISON)
          TORCH_JIT_FORALL_LIST_OPERATIONS(TORCH_JIT_DEFINE_CONTAINER_OPERATION)
              TORCH_JIT_FORALL_DICT_OPERATIONS(TORCH_JIT_DEFINE_CONTAINER_OPERATION)
                  TORCH_JIT_FORALL_FOUND_OPERATIONS(TORCH_JIT_DEFINE_OPCODE)
#undef TORCH_JIT_DEFINE_OPCODE
#undef TORCH_JIT_DEFINE_ARITHMETIC
#undef TORCH_JIT_DEFINE_CONTAINER_OPERATION
#undef TORCH_JIT_DEFINE_COMPARISON
};

struct Instruction {
  OpCode op;
  int32_t x;
  int32_t n;
  int32_t m;
};

const char* toString(OpCode op);
std::ostream& operator<<(std::ostream& out, const Instruction& instruction);

} // namespace torch::jit
