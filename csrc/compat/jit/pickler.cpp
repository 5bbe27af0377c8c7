#include <csrc/compat/jit/pickler.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/jit/frontend/type_parser.h>
#include <csrc/serialize/pickler.h>
#include <csrc/serialize/resolved_classes.h>
#include <csrc/serialize/tensor_file.h>
#include <csrc/serialize/unpickler.h>

#include <unordered_map>

namespace torch::jit {

namespace {

c10::TypePrinter printer_of(std::function<c10::QualifiedName(const c10::ClassTypePtr&)> renamer) {
  if (!renamer) {
    return nullptr;
  }
  return [renamer = std::move(renamer)](const c10::Type& type) -> std::optional<std::string> {
    const c10::ClassTypePtr object = type.cast<c10::ClassType>();
    return object ? std::optional<std::string>(renamer(object).qualifiedName()) : std::nullopt;
  };
}

} // namespace

Pickler::Pickler(std::function<void(const char*, size_t)> writer)
    : Pickler(std::move(writer), nullptr, nullptr, nullptr) {}

Pickler::Pickler(
    std::function<void(const char*, size_t)> writer,
    std::vector<at::Tensor>* tensor_table,
    std::function<c10::QualifiedName(const c10::ClassTypePtr&)> type_renamer,
    std::vector<c10::ClassTypePtr>* memoized_class_types,
    const std::function<std::string(const at::Tensor&)>& get_tensor_id,
    bool tag_aggregates)
    : writer_(std::move(writer)),
      memoized_class_types_(memoized_class_types),
      pickler_(std::make_unique<serialize::Pickler>(
          tag_aggregates ? serialize::Pickler::Style::TorchScript : serialize::Pickler::Style::Python,
          tensor_table,
          printer_of(std::move(type_renamer)))) {
  TORCH_CHECK(!get_tensor_id, "Pickler: get_tensor_id is not supported, storages are numbered: pass nullptr");
}

Pickler::~Pickler() = default;

void Pickler::pushIValue(const c10::IValue& ivalue) {
  pickler_->push(ivalue);
}
void Pickler::startTuple() {
  pickler_->begin_tuple();
}
void Pickler::endTuple() {
  pickler_->end_tuple();
}
void Pickler::pushEmptyDict() {
  pickler_->push_empty_dict();
}
void Pickler::pushDict(const c10::IValue& ivalue) {
  TORCH_CHECK(ivalue.isGenericDict(), "Pickler::pushDict: expected a dict, got ", ivalue.tagKind());
  pickler_->push(ivalue);
}
void Pickler::pushInt(int64_t value) {
  pickler_->push(value);
}
void Pickler::pushLong(const std::string& data) {
  pickler_->push_long(data);
}

void Pickler::stop() {
  const std::string bytes = pickler_->finish();
  for (const c10::Storage& storage : pickler_->storages()) {
    const auto options = at::TensorOptions(at::kByte).device(storage.device());
    tensor_data_.push_back(at::empty({0}, options).set_(storage));
  }
  if (memoized_class_types_) {
    for (const c10::TypePtr& type : pickler_->types()) {
      if (c10::ClassTypePtr object = type->cast<c10::ClassType>()) {
        memoized_class_types_->push_back(std::move(object));
      }
    }
  }
  writer_(bytes.data(), bytes.size());
}

Unpickler::Unpickler(
    std::function<size_t(char*, size_t)> reader,
    TypeResolver type_resolver,
    c10::ArrayRef<at::Tensor> tensor_table,
    TypeParserT)
    : reader_(std::move(reader)), type_resolver_(std::move(type_resolver)), tensor_table_(tensor_table) {}

Unpickler::Unpickler(
    std::function<size_t(char*, size_t)> reader,
    TypeResolver type_resolver,
    c10::ArrayRef<at::Tensor> tensor_table,
    ObjLoader obj_loader,
    TypeParserT)
    : reader_(std::move(reader)),
      type_resolver_(std::move(type_resolver)),
      tensor_table_(tensor_table),
      obj_loader_(std::move(obj_loader)) {}

Unpickler::Unpickler(
    std::function<size_t(char*, size_t)> reader,
    TypeResolver type_resolver,
    ObjLoader obj_loader,
    std::function<at::DataPtr(const std::string&)> read_record,
    std::optional<at::Device> device,
    bool use_storage_device,
    TypeParserT,
    std::shared_ptr<DeserializationStorageContext>)
    : reader_(std::move(reader)),
      type_resolver_(std::move(type_resolver)),
      obj_loader_(std::move(obj_loader)),
      read_record_(std::move(read_record)),
      device_(device),
      use_storage_device_(use_storage_device) {}

c10::TypePtr Unpickler::defaultTypeParser(const std::string& str) {
  return TypeParser().parse(str);
}

c10::IValue Unpickler::parse_ivalue() {
  const std::vector<char> bytes = serialize::read_all(reader_);
  std::unordered_map<std::string, c10::Storage> loaded;
  const auto load = [&](const std::string& key, const std::string& location, uint64_t nbytes) {
    TORCH_CHECK(read_record_, "Unpickler: the pickle refers to the storage '", key, "', and no read_record was given");
    auto found = loaded.find(key);
    if (found == loaded.end()) {
      // The length of what a record gives is not known: as much as the first tensor needs, as in libtorch.
      at::DataPtr data = read_record_(key);
      c10::Storage storage(
          c10::Storage::use_byte_size_t(), static_cast<size_t>(nbytes), std::move(data), /*allocator=*/nullptr,
          /*resizable=*/false);
      if (!use_storage_device_) {
        storage = serialize::place_storage(std::move(storage), device_, location, "record " + key);
      }
      found = loaded.emplace(key, std::move(storage)).first;
    }
    TORCH_CHECK(
        nbytes <= found->second.nbytes(), "Unpickler: record ", key, " has ", found->second.nbytes(),
        " bytes, but its tensors need ", nbytes);
    return found->second;
  };
  std::optional<serialize::ResolvedClasses> classes;
  if (type_resolver_) {
    classes.emplace(type_resolver_, obj_loader_, serialize::work_for(bytes.size()));
  }
  return serialize::Unpickler(
             {bytes.data(), bytes.size()}, "pickle", serialize::Unpickler::Style::TorchScript, load, tensor_table_,
             classes ? &*classes : nullptr)
      .parse();
}

} // namespace torch::jit
