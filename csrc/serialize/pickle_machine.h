// What all readers of pickles share: the instructions, and the stack machine that they are for.
#pragma once

#include <csrc/serialize/pickle_opcodes.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::serialize {

/// An instruction. Opcodes that differ in how their operand is written are one: the integers are Opcode::BinInt,
/// strings and bytes Opcode::BinUnicode, the memo's Opcode::BinPut and Opcode::BinGet, tuples of fixed size
/// Opcode::Tuple1, and True and False Opcode::NewTrue.
struct PickleInstruction {
  Opcode opcode = Opcode::Stop;
  int64_t number = 0; // also a place in the memo, a size of a tuple, 0 or 1
  bool is_unsigned = false; // an integer that fits into 64 bits without a sign alone
  double real = 0;
  std::string_view text; // a string; of Opcode::Global the module
  std::string_view name; // of Opcode::Global
};

/// Reads the instructions of pickles of protocol 2 to 5 that occur in PyTorch's files.
class PickleReader {
 public:
  /// The bytes must outlive the reader.
  explicit PickleReader(std::string_view pickle) : pickle_(pickle) {}
  virtual ~PickleReader();

 protected:
  /// The next one that does something. Other opcodes, and a pickle that ends, are refused.
  PickleInstruction next();
  [[noreturn]] virtual void fail(const std::string& what) const = 0;

  /// Where the last instruction begins.
  size_t position() const {
    return begin_;
  }
  size_t pickle_size() const {
    return pickle_.size();
  }

 private:
  std::string_view take(uint64_t size);
  std::string_view take_line();
  template <class T>
  T number();
  void read_long(std::string_view bytes, PickleInstruction& instruction) const;
  /// False for opcodes without an effect.
  bool read(PickleInstruction& instruction);

  std::string_view pickle_;
  size_t position_ = 0;
  size_t begin_ = 0;
};

/// The stack with its marks, and the memo.
template <class Item>
class PickleMachine : public PickleReader {
 protected:
  using PickleReader::PickleReader;

  /// Items below the last mark are out of reach.
  void need(size_t count) const {
    if (stack_.size() - floor() < count) {
      fail("the stack is empty");
    }
  }
  size_t floor() const {
    return marks_.empty() ? 0 : marks_.back();
  }
  Item& top() {
    need(1);
    return stack_.back();
  }
  Item pop() {
    Item item = std::move(top());
    stack_.pop_back();
    return item;
  }
  /// The place of the first item behind the last mark, which goes.
  size_t pop_mark() {
    if (marks_.empty()) {
      fail("there is no mark on the stack");
    }
    const size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }
  /// Carries out an instruction that concerns the stack and the memo alone. False for others.
  bool move_items(const PickleInstruction& instruction);

  std::vector<Item> stack_;
  std::vector<size_t> marks_;

 private:
  void get(uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      fail("memo " + std::to_string(place) + " was never stored");
    }
    stack_.push_back(found->second);
  }

  std::unordered_map<uint32_t, Item> memo_;
};

template <class Item>
bool PickleMachine<Item>::move_items(const PickleInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Mark:
      marks_.push_back(stack_.size());
      return true;
    case Opcode::Pop:
      if (!marks_.empty() && marks_.back() == stack_.size()) {
        marks_.pop_back();
      } else {
        pop();
      }
      return true;
    case Opcode::PopMark:
      stack_.resize(pop_mark());
      return true;
    case Opcode::Dup:
      stack_.push_back(Item(top()));
      return true;
    case Opcode::BinPut:
      memo_[static_cast<uint32_t>(instruction.number)] = top();
      return true;
    case Opcode::Memoize:
      memo_[static_cast<uint32_t>(memo_.size())] = top();
      return true;
    case Opcode::BinGet:
      get(static_cast<uint32_t>(instruction.number));
      return true;
    default:
      return false;
  }
}

} // namespace torch::serialize
