// Writes values as Python pickles.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/core/jit_type_base.h>
#include <csrc/serialize/archive_node.h>
#include <csrc/serialize/pickle_opcodes.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch::serialize {

/// One pickle of protocol 2. Tensors refer to their storages by number; storages() tells which.
class Pickler {
 public:
  enum class Style {
    /// What Python's torch.load(weights_only=True) reads: plain lists and dicts.
    Python,
    /// The data.pkl of a TorchScript archive: lists and dicts carry their element types, nested archives are objects,
    /// objects and enumerations are written by the names of their classes, and what occurs twice is shared.
    TorchScript,
  };

  /// With a table, tensors go into it and the pickle has their numbers there. `type_printer` gives classes other names
  /// than their own.
  explicit Pickler(
      Style style, std::vector<at::Tensor>* tensor_table = nullptr, c10::TypePrinter type_printer = nullptr);
  void push(const c10::IValue& value);
  void push_root(const ArchiveNode& root) {
    push_node(root);
  }
  /// What is pushed between the two becomes one tuple.
  void begin_tuple() {
    op(Opcode::Mark);
  }
  void end_tuple() {
    op(Opcode::Tuple);
  }
  void push_empty_dict() {
    op(Opcode::EmptyDict);
  }
  /// An integer from its bytes in two's complement, least first; at most 255.
  void push_long(std::string_view bytes);
  /// The pickle, complete.
  std::string finish();

  const std::vector<c10::Storage>& storages() const {
    return storages_;
  }
  /// Nested archives in the order in which they occurred: their classes are numbered so.
  const std::vector<const ArchiveNode*>& nodes() const {
    return nodes_;
  }
  /// Classes and enumerations in the order in which their values occurred.
  const std::vector<c10::TypePtr>& types() const {
    return types_;
  }

 private:
  void op(Opcode opcode) {
    out_.push_back(static_cast<char>(opcode));
  }
  template <class T>
  void number(T value);
  void put();
  void get(uint32_t memo);
  bool may_be_shared(const c10::IValue& value) const;
  void push_unshared(const c10::IValue& value);
  void push_object(const c10::IValue& value);
  void push_state(const c10::ivalue::Object& object);
  void push_enum(const c10::ivalue::EnumHolder& value);
  void push_class(const c10::TypePtr& type);
  void push_int(int64_t value);
  void push_long(uint64_t value);
  void push_double(double value);
  void push_string(const std::string& value);
  void push_global(std::string_view module, std::string_view name);
  void push_device(c10::Device device);
  void push_complex(c10::complex<double> value);
  void push_tuple(const c10::ivalue::Tuple& tuple);
  void push_list(const c10::IValue& value);
  void push_dict(const c10::IValue& value);
  void push_tensor(const at::Tensor& tensor);
  void push_sparse(const at::Tensor& tensor);
  void push_meta(const at::Tensor& tensor, std::string_view dtype);
  void push_quantized(const at::Tensor& tensor);
  struct SavedStorage {
    uint32_t number;
    c10::ScalarType first_dtype;
  };
  const SavedStorage& number_storage(const at::Tensor& tensor);
  void push_storage(const at::Tensor& tensor, uint32_t storage_number, bool untyped);
  void push_node(const ArchiveNode& node);
  void push_int_tuple(c10::IntArrayRef values);
  void begin_type_tag();
  void end_type_tag(const c10::IValue& value);

  Style style_;
  std::vector<at::Tensor>* tensor_table_;
  c10::TypePrinter type_printer_;
  std::string out_;
  uint32_t memo_count_ = 0;
  int depth_ = 0;
  std::unordered_map<std::string, uint32_t> strings_;
  std::unordered_map<std::string, uint32_t> globals_;
  std::unordered_map<const void*, uint32_t> nodes_seen_;
  std::unordered_map<const c10::StorageImpl*, SavedStorage> saved_storages_;
  std::unordered_map<std::string, uint32_t> storage_references_;
  std::vector<c10::Storage> storages_;
  std::vector<const ArchiveNode*> nodes_;
  std::vector<c10::TypePtr> types_;
  // Values that may occur again, and their places. They live as long as their addresses stand for them.
  std::unordered_map<const void*, uint32_t> shared_;
  std::vector<c10::IValue> kept_;
};

/// "__torch__.Module" for the first archive, "__torch__.___torch_mangle_0.Module" for the next, ...: module and class.
std::string node_module_name(size_t number);

} // namespace torch::serialize
