// Pickles written and read by objects, as libtorch does it: torch::jit::pickle() and unpickle() are the shorter way.
#pragma once

#include <csrc/serialize/read_archive.h>

#include <aten/core/class_type.h>
#include <aten/core/ivalue.h>
#include <aten/core/qualified_name.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::serialize {
class Pickler;
} // namespace torch::serialize

namespace torch::jit {

class DeserializationStorageContext;

/// Writes one pickle of protocol 2, which is handed to the writer when stop() is called.
class TORCH_API Pickler {
 public:
  explicit Pickler(std::function<void(const char*, size_t)> writer);
  /// With a table, tensors go into it and the pickle has their numbers there. `type_renamer` gives classes other names;
  /// those that occurred are added to `memoized_class_types` by stop(). `get_tensor_id` must be null: storages are
  /// numbered. With `tag_aggregates` false, lists and dicts are plain, and there may be no objects.
  Pickler(
      std::function<void(const char*, size_t)> writer,
      std::vector<at::Tensor>* tensor_table,
      std::function<c10::QualifiedName(const c10::ClassTypePtr&)> type_renamer,
      std::vector<c10::ClassTypePtr>* memoized_class_types,
      const std::function<std::string(const at::Tensor&)>& get_tensor_id = nullptr,
      bool tag_aggregates = true);
  Pickler(const Pickler&) = delete;
  Pickler& operator=(const Pickler&) = delete;
  ~Pickler();

  /// Nothing: the protocol is always the first that is written.
  void protocol() {}
  void pushIValue(const c10::IValue& ivalue);
  /// What is pushed between the two becomes one tuple.
  void startTuple();
  void endTuple();
  void pushEmptyDict();
  void pushDict(const c10::IValue& ivalue);
  void pushInt(int64_t value);
  /// An integer of any size, from its bytes in two's complement, least first; at most 255.
  void pushLong(const std::string& data);
  void stop();
  /// The storages that the pickle refers to by "0", "1", ..., each as a tensor of bytes. After stop().
  const std::vector<at::Tensor>& tensorData() const {
    return tensor_data_;
  }

 private:
  std::function<void(const char*, size_t)> writer_;
  std::vector<c10::ClassTypePtr>* memoized_class_types_;
  std::unique_ptr<serialize::Pickler> pickler_;
  std::vector<at::Tensor> tensor_data_;
};

/// Reads one pickle from `reader(buffer, size)`, which gives how many bytes there were, until it gives 0. Objects of
/// classes `__torch__.*` are made by `obj_loader` of the classes that `type_resolver` finds; nothing else is run.
class TORCH_API Unpickler {
 public:
  using TypeParserT = c10::TypePtr (*)(const std::string&);

  /// Tensors are numbers of the table. `type_parser` is not asked: tags of lists and dicts are in the program's
  /// language.
  Unpickler(
      std::function<size_t(char*, size_t)> reader,
      TypeResolver type_resolver,
      c10::ArrayRef<at::Tensor> tensor_table,
      TypeParserT type_parser = defaultTypeParser);
  Unpickler(
      std::function<size_t(char*, size_t)> reader,
      TypeResolver type_resolver,
      c10::ArrayRef<at::Tensor> tensor_table,
      ObjLoader obj_loader,
      TypeParserT type_parser = defaultTypeParser);
  /// Tensors have storages, whose bytes `read_record(key)` gives. They go to `device`, or to where they were saved
  /// from.
  Unpickler(
      std::function<size_t(char*, size_t)> reader,
      TypeResolver type_resolver,
      ObjLoader obj_loader,
      std::function<at::DataPtr(const std::string&)> read_record,
      std::optional<at::Device> device,
      bool use_storage_device = false,
      TypeParserT type_parser = defaultTypeParser,
      std::shared_ptr<DeserializationStorageContext> storage_context = nullptr);
  Unpickler(const Unpickler&) = delete;
  Unpickler& operator=(const Unpickler&) = delete;

  c10::IValue parse_ivalue();
  /// Nothing: a pickle says itself what it needs.
  void set_version(uint64_t /*version_number*/) {}
  static c10::TypePtr defaultTypeParser(const std::string& str);

 private:
  std::function<size_t(char*, size_t)> reader_;
  TypeResolver type_resolver_;
  c10::ArrayRef<at::Tensor> tensor_table_;
  std::optional<ObjLoader> obj_loader_;
  std::function<at::DataPtr(const std::string&)> read_record_;
  std::optional<at::Device> device_;
  bool use_storage_device_ = false;
};

} // namespace torch::jit
