// The loop IR: what a functional graph becomes before it runs. Steps are loops over elements (groups) and calls.
#pragma once

#include <csrc/compile/layout.h>
#include <csrc/fx/coerce.h>
#include <csrc/fx/graph.h>

#include <aten/core/ivalue.h>
#include <aten/iterator/pointwise_run.h>
#include <aten/native/support/row_kernel.h>
#include <c10/macros/Export.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace torch::fused {

// Note [Loop IR]
// A program is a list of steps over buffers. A step is a call of an operator, or a group: a loop over `numel` elements
// whose body is a list of instructions in the order in which they run, each of which gives one value.
//
// A value is Full (one element for each turn of the loop), Uniform (one for all) or, in a group with rows, Row: one
// element for each `row` turns. Results of a group are dense in the order of its loop, so that what one instruction of
// a group gives is what the next takes, without memory between them, however their tensors are shaped. Buffers from
// elsewhere are read in any order (Access).
//
// Instructions are the kernels of the operators themselves, for dense runs: see probe.h. What is computed is therefore
// what the operator computes, bit for bit.

/// A visitor of a variant made of a function for each alternative.
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

/// The most bytes of a functor.
inline constexpr size_t kFunctorBytes = 64;

enum class Form : uint8_t { Full, Row, Uniform };

enum class InstKind : uint8_t {
  Load, ///< elements of a buffer
  Constant, ///< one value
  Kernel, ///< an operator's kernel
  Convert, ///< another dtype, or a copy
  Repeat, ///< a Row value for each element of its row
  RowCall, ///< an operator on whole rows
  Result ///< a further result of the RowCall before it
};

/// A tensor: all or a part of a buffer.
struct View {
  uint32_t buffer = 0;
  Layout layout;
};

/// An operator on blocks of rows: its kernel for them, or a call of its form with outputs.
struct RowCall {
  c10::OperatorHandle op;
  /// Arguments of `op` but for the outputs; where an instruction's argument goes there is an undefined tensor.
  std::vector<c10::IValue> stack;
  /// By argument of the instruction: its place in `stack`.
  std::vector<size_t> places;
  /// Tensors that are the same for all rows (weights), by their place.
  std::vector<std::pair<size_t, View>> tensors;
  /// By result: whether it has one element for each row.
  std::vector<bool> is_row;
  /// Results of one element for each row have a dimension for them.
  bool keeps_dim = false;
  /// What computes rows without a call: takes the instruction's arguments, and then of the places from `first_tensor`
  /// on the tensors that are the same for all rows, or null. May be null.
  at::native::RowKernel kernel = nullptr;
  size_t first_tensor = 0;
  double eps = 0;
};

struct Inst {
  InstKind kind = InstKind::Load;
  Form form = Form::Full;
  c10::ScalarType dtype = c10::ScalarType::Float;
  /// Instructions before it; of a RowCall those that are not from buffers, in the order of RowCall::places.
  std::vector<uint32_t> args;
  /// Of a Load.
  uint32_t buffer = 0;
  Access access;
  /// Of a Constant.
  alignas(16) std::array<char, 16> value{};
  /// Of a Kernel.
  at::native::BlockKernel kernel = nullptr;
  alignas(16) std::array<char, kFunctorBytes> functor{};
  uint32_t wide_inputs = 0;
  /// Of a RowCall, and which of the results a Result is.
  std::shared_ptr<const RowCall> row_call;
  uint32_t result = 0;
  /// For people: the operator.
  std::string name;
};

/// Where a value of a group goes.
struct Store {
  uint32_t value;
  uint32_t buffer;
  /// A buffer whose memory it may take: the group reads it, and nothing reads it later. See Note [Memory of operands].
  std::optional<uint32_t> over = std::nullopt;
};

struct Group {
  int64_t numel = 0;
  /// Elements of a row; 0 when there are none.
  int64_t row = 0;
  std::vector<Inst> insts;
  std::vector<Store> stores;

  /// Elements of a value of the form.
  int64_t numel_of(Form form) const {
    return form == Form::Full ? numel : form == Form::Row ? numel / row : 1;
  }
};

/// Memory with elements of one dtype: a tensor, or what a group leaves for others.
struct Buffer {
  enum class Home : uint8_t {
    Nowhere, ///< a group's value that nothing outside of it reads
    Slot, ///< a tensor that is given, or that a call gave
    Own, ///< a tensor made for it
    Arena ///< a part of the memory that lasts for one call
  };
  std::string name;
  c10::ScalarType dtype = c10::ScalarType::Float;
  /// Of the tensor.
  std::vector<int64_t> sizes, strides;
  Home home = Home::Nowhere;
  uint32_t slot = 0; // where the tensor is or would be
  bool is_written = false; // an input that a group stores to
  int64_t arena_offset = 0;

  int64_t numel() const {
    return Layout{sizes, strides}.numel();
  }
  int64_t bytes() const {
    return numel() * static_cast<int64_t>(c10::elementSize(dtype));
  }
  /// Whether both have their elements in the same places.
  bool is_like(const Buffer& other) const {
    return dtype == other.dtype && sizes == other.sizes && strides == other.strides;
  }

  /// Where memory counts, buffers of so many bytes are tensors of their own.
  static constexpr int64_t kLeastOwnBytes = int64_t{64} << 10;
};

/// An argument of a call.
struct CallArg {
  /// A constant, a tensor, the value in a slot, or a list.
  std::variant<c10::IValue, View, uint32_t, std::vector<CallArg>> what;
  fx::Conversion conversion = fx::Conversion::None;
  c10::TypePtr list_type;
};

/// A call of an operator; its results are values in slots.
struct Call {
  std::string name; // of the node
  c10::OperatorHandle op;
  std::vector<CallArg> args;
  /// Arguments that are written to: the operator gets copies of them, which are results behind its own.
  std::vector<int64_t> on_copies = {};
  uint32_t first_slot = 0;
  uint32_t num_results = 0;
  /// Buffers that live in these slots, each of which must have the sizes and strides that it is known to have.
  std::vector<uint32_t> buffers;
};

/// Takes values out of a list.
struct Unpack {
  uint32_t list = 0;
  int64_t index = 0;
  uint32_t slot = 0;
  /// As in Call.
  std::vector<uint32_t> buffers;
};

struct Step {
  std::variant<Group, Call, Unpack> what;
  /// Slots that nothing reads after it.
  std::vector<uint32_t> last_uses;

  const Group* group() const {
    return std::get_if<Group>(&what);
  }
  Group* group() {
    return std::get_if<Group>(&what);
  }
};

/// What a result of the program is: the value in a slot, or nothing.
using Output = std::optional<uint32_t>;

/// A graph made ready to be run; see Note [Loop IR].
struct TORCH_API Program {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  /// By input: its buffer, or -1 for one of which nothing is known. Inputs are in the first slots.
  std::vector<int64_t> inputs;
  std::vector<std::string> input_names;
  std::vector<Output> outputs;
  uint32_t num_slots = 0;
  int64_t arena_bytes = 0;
  /// Keeps constants of calls alive.
  std::shared_ptr<const fx::Graph> graph;

  /// Throws c10::Error when a rule of Note [Loop IR] is broken.
  void lint() const;
  /// For people and tests.
  std::string to_string() const;
};

/// Bytes that a group reads and writes; elements that it reads again and again count once.
struct Traffic {
  int64_t read = 0;
  int64_t written = 0;
};
TORCH_API Traffic traffic_of(const Program& program, const Group& group);

} // namespace torch::fused
