// Reads Python pickles into values, without running anything.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/serialize/pickle_machine.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch::serialize {

struct PickleGlobal;

/// The classes of a program, which its pickles name.
struct ProgramClasses {
  virtual ~ProgramClasses();
  /// The class or enumeration `__torch__.*`. Throws if there is none.
  virtual c10::TypePtr find_class(const std::string& name) = 0;
  /// The type that the tag of a list or dict says. Throws if it says none.
  virtual c10::TypePtr parse_type(const std::string& annotation) = 0;
  /// The value as one of the type: see TypedValues. Throws if it is none.
  virtual c10::IValue restore_type(const c10::IValue& value, const c10::TypePtr& type) = 0;
  /// An object from its state: a dict of attributes, or what `__setstate__` takes.
  virtual c10::IValue make_object(const c10::ClassTypePtr& type, const c10::IValue& state) = 0;
};

// Note [Hostile pickles]
// A pickle is a program for a stack machine, so its reader must bound what a short program can do:
//  - a class or function must be one of a fixed list, each of which is carried out here;
//  - a list, dict or object may not be changed once it lies in another value. Python never does that unless a value
//    contains itself; so there are no cycles, and the depth of every value is known and bounded;
//  - what costs more than a constant for an opcode (sizes of tensors, hashing of keys, checks of element types) is paid
//    from a budget in proportion to the pickle's length.

/// A value on the stack of the unpickler.
struct UnpickledItem {
  c10::IValue value;
  uint32_t record = 0; // see Unpickler::Record; 0: not a container
};

/// One pickle, of protocol 2 to 5.
class Unpickler final : private PickleMachine<UnpickledItem> {
 public:
  enum class Style {
    /// As Python's torch.save writes it.
    Python,
    /// The data.pkl of a TorchScript archive: objects of classes __torch__.* become archive nodes.
    TorchScript,
  };
  /// Gives the storage of a persistent id: its key, the device as the file has it, and how many bytes it must have.
  using LoadStorage = std::function<c10::Storage(const std::string& key, const std::string& location, uint64_t nbytes)>;

  /// `where` names the pickle in messages. The bytes must outlive the unpickler.
  /// `tensor_table` has the tensors that the pickle refers to by number, see Pickler. With `classes`, objects of
  /// `__torch__.*` are made by them.
  Unpickler(
      std::string_view pickle,
      std::string where,
      Style style,
      LoadStorage load_storage,
      c10::ArrayRef<at::Tensor> tensor_table = {},
      ProgramClasses* classes = nullptr);
  c10::IValue parse();

 private:
  // What is known of a list, dict, tuple or object: shared by all places that refer to it.
  struct Record {
    uint32_t depth = 1;
    bool frozen = false;
    bool holds_globals = false; // for tuples of arguments
  };
  using Item = UnpickledItem;

  [[noreturn]] void fail(const std::string& what) const override;
  void spend(uint64_t work);

  void push(c10::IValue value) {
    stack_.push_back(Item{std::move(value), 0});
  }
  void push_container(c10::IValue value);

  // Containers.
  c10::IValue settle(Item item, uint32_t parent_record);
  void infer_types(const c10::IValue& value);
  void enter(const Item& child, uint32_t parent_record);
  void check_open(const Item& container);
  void make_tuple(size_t first);
  void push_number(const PickleInstruction& instruction);
  void push_empty(bool is_list);
  void make_container(bool is_list);
  void append_from(size_t first);
  void set_items_from(size_t first);
  void new_object();
  void build();
  void build_object(const PickleGlobal& global, Item state);

  // Globals and what they do, in unpickle_globals.cpp.
  void push_global(std::string_view module, std::string_view name);
  void push_persistent();
  void reduce();
  void push_enum(const PickleGlobal& global, const c10::IValue& value);
  Item call(const PickleGlobal& global, const Item& arguments);
  c10::IValue rebuild_tensor(const PickleGlobal& global, c10::ArrayRef<c10::IValue> arguments);
  c10::IValue rebuild_parameter(c10::ArrayRef<c10::IValue> arguments);
  c10::IValue rebuild_meta(c10::ArrayRef<c10::IValue> arguments);
  // In unpickle_quantized.cpp.
  c10::IValue rebuild_quantized(c10::ArrayRef<c10::IValue> arguments);
  // In unpickle_sparse.cpp.
  c10::IValue rebuild_sparse(c10::ArrayRef<c10::IValue> arguments);
  Item rebuild_from_type(c10::ArrayRef<c10::IValue> arguments, const Item& tuple);
  Item ordered_dict(c10::ArrayRef<c10::IValue> arguments);
  void set_list_type(const c10::IValue& list, const c10::TypePtr& element);
  void restore_type_tag(const c10::IValue& value, const std::string& type);
  const c10::TypePtr& tagged_type(const std::string& name);
  std::vector<int64_t> int_vector(const c10::IValue& tuple, const char* what);

  void carry_out(const PickleInstruction& instruction);

  std::string where_;
  Style style_;
  LoadStorage load_storage_;
  c10::ArrayRef<at::Tensor> tensor_table_;
  ProgramClasses* classes_;
  std::unordered_map<std::string, c10::TypePtr> tagged_types_;
  uint64_t work_ = 0;
  std::unordered_map<const c10::StorageImpl*, uint64_t> sparse_work_; // elements looked at, see rebuild_sparse
  std::vector<Record> records_{Record{}};
};

} // namespace torch::serialize
