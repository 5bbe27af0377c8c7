// A pickle as a tree of values: the stack machine of protocols 2 to 4.
#include <csrc/distributed/checkpoint/pickle_tree.h>

#include <c10/util/Exception.h>
#include <csrc/serialize/pickle_opcodes.h>

#include <cstring>
#include <unordered_map>

namespace torch::distributed::checkpoint {

using serialize::Opcode;

class PickleTree::Machine {
 public:
  Machine(PickleTree& tree, std::string_view pickle, bool (*knows)(std::string_view))
      : tree_(tree), bytes_(pickle), knows_(knows) {}

  Id run() {
    while (step()) {
    }
    return pop();
  }

 private:
  std::string_view take(uint64_t size) {
    if (size > bytes_.size() - at_) {
      tree_.fail("the pickle ends too early");
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) {
      tree_.fail("the pickle ends too early");
    }
    const auto text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  Id make(Value value) {
    tree_.values_.push_back(std::move(value));
    return static_cast<Id>(tree_.values_.size() - 1);
  }
  void push(Value value) {
    stack_.push_back(make(std::move(value)));
  }
  void push_int(int64_t value, Kind kind = Kind::Int) {
    push({kind, value, {}, {}, 0});
  }
  void push_text(std::string_view text) {
    push({Kind::Text, 0, std::string(text), {}, 0});
  }
  Id pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) {
      tree_.fail("the pickle takes more from its stack than there is");
    }
    const Id id = stack_.back();
    stack_.pop_back();
    return id;
  }
  Value& top(Kind kind) {
    const Id id = pop();
    stack_.push_back(id);
    if (tree_.values_[id].kind != kind) {
      tree_.fail("the pickle adds to what is no container");
    }
    return tree_.values_[id];
  }
  std::vector<Id> pop_mark() {
    if (marks_.empty()) {
      tree_.fail("the pickle has no mark where it needs one");
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Id> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  void push_tuple(size_t size) {
    std::vector<Id> items(size);
    for (size_t i = size; i-- > 0;) {
      items[i] = pop();
    }
    push({Kind::Tuple, 0, {}, std::move(items), 0});
  }
  void push_global(std::string_view module, std::string_view name) {
    std::string full = std::string(module) + "." + std::string(name);
    if (!knows_(full)) {
      tree_.fail("it names '" + full + "', which is no part of such a file; nothing in it is ever run");
    }
    push({Kind::Global, 0, std::move(full), {}, 0});
  }
  // NEWOBJ and REDUCE: an object of a class, or what a function makes, with its arguments.
  void push_object() {
    const Id arguments = pop();
    const Id global = pop();
    if (tree_.values_[global].kind != Kind::Global || tree_.values_[arguments].kind != Kind::Tuple) {
      tree_.fail("it makes an object of what is no class");
    }
    push({Kind::Object, 0, tree_.values_[global].text, tree_.values_[arguments].items, 0});
    // Arguments are copied: short tuples only, or the copies could be many times the pickle.
    if (tree_.values_[arguments].items.size() > 64) {
      tree_.fail("a class has more than 64 arguments");
    }
  }
  void add_items(Kind kind, const std::vector<Id>& items) {
    Value& container = top(kind);
    container.items.insert(container.items.end(), items.begin(), items.end());
    if (kind == Kind::Dict && container.items.size() % 2 != 0) {
      tree_.fail("a key has no value");
    }
  }
  void put(uint32_t place) {
    const Id id = pop();
    stack_.push_back(id);
    memo_[place] = id;
  }
  void get(uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      tree_.fail("it refers to what was not memorized");
    }
    stack_.push_back(found->second);
  }
  int64_t long_of(std::string_view bytes) {
    if (bytes.size() > 8) {
      tree_.fail("a number has more than 64 bits");
    }
    int64_t value = !bytes.empty() && (bytes.back() & 0x80) ? -1 : 0;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  bool step();

  PickleTree& tree_;
  std::string_view bytes_;
  bool (*knows_)(std::string_view);
  size_t at_ = 0;
  std::vector<Id> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Id> memo_;
};

bool PickleTree::Machine::step() {
  const auto opcode = static_cast<Opcode>(number<uint8_t>());
  switch (opcode) {
    case Opcode::Proto:
      if (const auto version = number<uint8_t>(); version > 5) {
        tree_.fail("it is of pickle protocol " + std::to_string(version) + "; 2 to 5 are read");
      }
      break;
    case Opcode::Frame:
      take(8);
      break;
    case Opcode::Stop:
      return false;
    case Opcode::Mark:
      marks_.push_back(stack_.size());
      break;
    case Opcode::None:
      push({});
      break;
    case Opcode::NewTrue:
      push_int(1, Kind::Bool);
      break;
    case Opcode::NewFalse:
      push_int(0, Kind::Bool);
      break;
    case Opcode::BinInt:
      push_int(number<int32_t>());
      break;
    case Opcode::BinInt1:
      push_int(number<uint8_t>());
      break;
    case Opcode::BinInt2:
      push_int(number<uint16_t>());
      break;
    case Opcode::Long1:
      push_int(long_of(take(number<uint8_t>())));
      break;
    case Opcode::BinFloat:
      take(8);
      push({Kind::Float, 0, {}, {}, 0});
      break;
    case Opcode::BinUnicode:
      push_text(take(number<uint32_t>()));
      break;
    case Opcode::ShortBinUnicode:
      push_text(take(number<uint8_t>()));
      break;
    case Opcode::BinUnicode8:
      push_text(take(number<uint64_t>()));
      break;
    case Opcode::EmptyTuple:
      push_tuple(0);
      break;
    case Opcode::Tuple1:
      push_tuple(1);
      break;
    case Opcode::Tuple2:
      push_tuple(2);
      break;
    case Opcode::Tuple3:
      push_tuple(3);
      break;
    case Opcode::Tuple:
      push({Kind::Tuple, 0, {}, pop_mark(), 0});
      break;
    case Opcode::EmptyList:
      push({Kind::List, 0, {}, {}, 0});
      break;
    case Opcode::EmptyDict:
      push({Kind::Dict, 0, {}, {}, 0});
      break;
    case Opcode::Append: {
      const Id item = pop();
      add_items(Kind::List, {item});
      break;
    }
    case Opcode::Appends:
      add_items(Kind::List, pop_mark());
      break;
    case Opcode::SetItem: {
      const Id value = pop();
      const Id key = pop();
      add_items(Kind::Dict, {key, value});
      break;
    }
    case Opcode::SetItems:
      add_items(Kind::Dict, pop_mark());
      break;
    case Opcode::Global: {
      const auto module = line();
      push_global(module, line());
      break;
    }
    case Opcode::StackGlobal: {
      const std::string name = tree_.values_[pop()].text;
      const std::string module = tree_.values_[pop()].text;
      push_global(module, name);
      break;
    }
    case Opcode::NewObj:
    case Opcode::Reduce:
      push_object();
      break;
    case Opcode::Build: {
      const Id state = pop();
      top(Kind::Object).state = state;
      break;
    }
    case Opcode::BinPut:
      put(number<uint8_t>());
      break;
    case Opcode::LongBinPut:
      put(number<uint32_t>());
      break;
    case Opcode::Memoize:
      put(static_cast<uint32_t>(memo_.size()));
      break;
    case Opcode::BinGet:
      get(number<uint8_t>());
      break;
    case Opcode::LongBinGet:
      get(number<uint32_t>());
      break;
    default:
      tree_.fail("opcode " + std::to_string(static_cast<int>(opcode)) + " does not occur in such a file");
  }
  return true;
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
