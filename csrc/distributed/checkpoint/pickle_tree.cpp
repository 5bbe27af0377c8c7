// A pickle as a tree of values.
#include <csrc/distributed/checkpoint/pickle_tree.h>

#include <c10/util/Exception.h>
#include <csrc/serialize/pickle_machine.h>

#include <utility>

namespace torch::distributed::checkpoint {

using serialize::Opcode;
using serialize::PickleInstruction;

class PickleTree::Machine final : private serialize::PickleMachine<PickleTree::Id> {
 public:
  Machine(PickleTree& tree, std::string_view pickle, bool (*knows)(std::string_view))
      : PickleMachine(pickle), tree_(tree), knows_(knows) {}

  Id run() {
    for (PickleInstruction instruction = next(); instruction.opcode != Opcode::Stop; instruction = next()) {
      if (!move_items(instruction)) {
        carry_out(instruction);
      }
    }
    return pop();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const override {
    tree_.fail(what);
  }

  Id make(Value value) {
    tree_.values_.push_back(std::move(value));
    return static_cast<Id>(tree_.values_.size() - 1);
  }
  void push(Value value) {
    stack_.push_back(make(std::move(value)));
  }
  Value& container(Kind kind) {
    Value& value = tree_.values_[top()];
    if (value.kind != kind) {
      fail("the pickle adds to what is no container");
    }
    return value;
  }
  std::vector<Id> pop_from(size_t first) {
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<Id> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    return items;
  }
  std::vector<Id> pop_last(size_t count) {
    need(count);
    return pop_from(stack_.size() - count);
  }
  void push_tuple(std::vector<Id> items) {
    push({Kind::Tuple, 0, {}, std::move(items), 0});
  }
  void push_global(std::string_view module, std::string_view name) {
    std::string full = std::string(module) + "." + std::string(name);
    if (!knows_(full)) {
      fail("it names '" + full + "', which is no part of such a file; nothing in it is ever run");
    }
    push({Kind::Global, 0, std::move(full), {}, 0});
  }
  // NEWOBJ and REDUCE: an object of a class, or what a function makes, with its arguments.
  void push_object() {
    const Id arguments = pop();
    const Id global = pop();
    if (tree_.values_[global].kind != Kind::Global || tree_.values_[arguments].kind != Kind::Tuple) {
      fail("it makes an object of what is no class");
    }
    push({Kind::Object, 0, tree_.values_[global].text, tree_.values_[arguments].items, 0});
    // Arguments are copied: short tuples only, or the copies could be many times the pickle.
    if (tree_.values_[arguments].items.size() > 64) {
      fail("a class has more than 64 arguments");
    }
  }
  void add_items(Kind kind, const std::vector<Id>& items) {
    std::vector<Id>& all = container(kind).items;
    all.insert(all.end(), items.begin(), items.end());
    if (kind == Kind::Dict && all.size() % 2 != 0) {
      fail("a key has no value");
    }
  }
  void carry_out(const PickleInstruction& instruction);

  PickleTree& tree_;
  bool (*knows_)(std::string_view);
};

void PickleTree::Machine::carry_out(const PickleInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::None:
      return push({});
    case Opcode::NewTrue:
      return push({Kind::Bool, instruction.number, {}, {}, 0});
    case Opcode::BinInt:
      if (instruction.is_unsigned) {
        fail("a number has more than 64 bits");
      }
      return push({Kind::Int, instruction.number, {}, {}, 0});
    case Opcode::BinFloat:
      return push({Kind::Float, 0, {}, {}, 0});
    case Opcode::BinUnicode:
      return push({Kind::Text, 0, std::string(instruction.text), {}, 0});
    case Opcode::Tuple1:
      return push_tuple(pop_last(static_cast<size_t>(instruction.number)));
    case Opcode::Tuple:
      return push_tuple(pop_from(pop_mark()));
    case Opcode::EmptyList:
      return push({Kind::List, 0, {}, {}, 0});
    case Opcode::EmptyDict:
      return push({Kind::Dict, 0, {}, {}, 0});
    case Opcode::Append:
      return add_items(Kind::List, pop_last(1));
    case Opcode::Appends:
      return add_items(Kind::List, pop_from(pop_mark()));
    case Opcode::SetItem:
      return add_items(Kind::Dict, pop_last(2));
    case Opcode::SetItems:
      return add_items(Kind::Dict, pop_from(pop_mark()));
    case Opcode::Global:
      return push_global(instruction.text, instruction.name);
    case Opcode::StackGlobal: {
      const std::vector<Id> names = pop_last(2);
      const std::string module = tree_.values_[names[0]].text;
      return push_global(module, std::string(tree_.values_[names[1]].text));
    }
    case Opcode::NewObj:
    case Opcode::Reduce:
      return push_object();
    case Opcode::Build: {
      const Id state = pop();
      container(Kind::Object).state = state;
      return;
    }
    default:
      fail("opcode " + std::to_string(static_cast<int>(instruction.opcode)) + " does not occur in such a file");
  }
}

PickleTree::PickleTree(std::string_view pickle, std::string where, bool (*knows)(std::string_view name))
    : where_(std::move(where)) {
  values_.emplace_back(); // None, for what is missing
  root_ = Machine(*this, pickle, knows).run();
}

PickleTree::Id PickleTree::find(Id dict, std::string_view key) const {
  const Value& value = values_[dict];
  for (size_t i = 0; value.kind == Kind::Dict && i + 1 < value.items.size(); i += 2) {
    if (values_[value.items[i]].kind == Kind::Text && values_[value.items[i]].text == key) {
      return value.items[i + 1];
    }
  }
  return 0;
}

void PickleTree::fail(const std::string& what) const {
  TORCH_CHECK(false, where_, ": this is no metadata of a distributed checkpoint: ", what);
}

} // namespace torch::distributed::checkpoint
