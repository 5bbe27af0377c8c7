#include <csrc/serialize/archive.h>

#include <aten/core/ivalue.h>
#include <csrc/serialize/archive_node.h>
#include <csrc/serialize/tensor_file.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::serialize {

namespace {

constexpr ptrdiff_t kMaxLevels = 200;

// The levels of a state_dict, which are the parts of its names.
c10::intrusive_ptr<ArchiveNode> nest(const c10::IValue& value, const std::string& file) {
  TORCH_CHECK(
      value.isGenericDict(), file, " holds a value of type ", value.tagKind(),
      ", which has no names: torch::load reads archives of torch::save, and state_dicts; for other values see "
      "load_pickle");
  auto root = c10::make_intrusive<ArchiveNode>();
  for (const auto& entry : value.toGenericDict()) {
    TORCH_CHECK(
        entry.key().isString(), file, " holds a dict with keys of type ", entry.key().tagKind(), "; they must be str");
    const std::string& name = entry.key().toStringRef();
    TORCH_CHECK(
        std::count(name.begin(), name.end(), '.') < kMaxLevels, file, ": the name '", name.substr(0, 100),
        "...' has more than ", kMaxLevels, " levels");
    c10::intrusive_ptr<ArchiveNode> level = root;
    size_t start = 0;
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', start)) {
      const std::string part = name.substr(start, dot - start);
      if (!level->find(part)) {
        level->put(part, c10::IValue::make_capsule(c10::make_intrusive<ArchiveNode>()), ArchiveNode::Kind::Archive);
      }
      level = node_of(level->find(part)->value);
      TORCH_CHECK(level, file, ": '", name.substr(0, dot), "' is both a value and the beginning of '", name, "'");
      start = dot + 1;
    }
    const std::string part = name.substr(start);
    TORCH_CHECK(!level->find(part), file, ": '", name, "' is both a value and the beginning of another name");
    level->put(
        part, entry.value(), entry.value().isTensor() ? ArchiveNode::Kind::Parameter : ArchiveNode::Kind::Attribute);
  }
  return root;
}

c10::intrusive_ptr<ArchiveNode> read_archive(FileBytes bytes, std::optional<c10::Device> device) {
  const std::string name = bytes.name();
  const TensorFile file = read_tensor_file(std::move(bytes), device, /*verify=*/true);
  if (!file.is_torchscript) {
    return nest(file.value, name);
  }
  c10::intrusive_ptr<ArchiveNode> node = node_of(file.value);
  TORCH_CHECK(
      node, name, ", entry 'data.pkl': an archive must hold an object, this one holds a value of type ",
      file.value.tagKind());
  return node;
}

} // namespace

InputArchive::InputArchive() : node_(c10::make_intrusive<ArchiveNode>()) {}
InputArchive::InputArchive(InputArchive&&) noexcept = default;
InputArchive& InputArchive::operator=(InputArchive&&) noexcept = default;
InputArchive::~InputArchive() = default;

bool InputArchive::try_read(const std::string& key, c10::IValue& ivalue) {
  const ArchiveNode::Entry* entry = node_->find(key);
  if (!entry) {
    return false;
  }
  ivalue = entry->value;
  return true;
}

bool InputArchive::try_read(const std::string& key, at::Tensor& tensor, bool /*is_buffer*/) {
  const ArchiveNode::Entry* entry = node_->find(key);
  if (!entry || !entry->value.isTensor()) {
    return false;
  }
  const at::Tensor& stored = entry->value.toTensor();
  if (!tensor.defined()) {
    tensor = stored;
    return true;
  }
  const at::NoGradGuard no_grad;
  if (tensor.device() == stored.device()) {
    TORCH_CHECK(
        tensor.scalar_type() == stored.scalar_type(), "the serialized tensor '", hierarchy_prefix_, key, "' has dtype ",
        stored.scalar_type(), ", but the tensor that it is read into has ", tensor.scalar_type(),
        ": read into an undefined tensor, or convert the module with to(", stored.scalar_type(),
        ") before and back after");
    tensor.set_(stored);
  } else {
    tensor.set_data(stored);
  }
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  const ArchiveNode::Entry* entry = node_->find(key);
  c10::intrusive_ptr<ArchiveNode> nested = entry ? node_of(entry->value) : nullptr;
  if (!nested) {
    return false;
  }
  archive.hierarchy_prefix_ = hierarchy_prefix_ + key + ".";
  archive.node_ = std::move(nested);
  return true;
}

void InputArchive::read(const std::string& key, c10::IValue& ivalue) {
  TORCH_CHECK(
      try_read(key, ivalue), "No such serialized IValue '", hierarchy_prefix_, key,
      "': the archive does not have a field with name '", key, "'");
}

void InputArchive::read(const std::string& key, at::Tensor& tensor, bool is_buffer) {
  TORCH_CHECK(try_read(key, tensor, is_buffer), "No such serialized tensor '", hierarchy_prefix_, key, "'");
}

void InputArchive::read(const std::string& key, InputArchive& archive) {
  TORCH_CHECK(try_read(key, archive), "No such serialized submodule: '", hierarchy_prefix_, key, "'");
}

void InputArchive::load_from(const std::string& filename, std::optional<c10::Device> device) {
  node_ = read_archive(FileBytes::map(filename), device);
  hierarchy_prefix_.clear();
}

void InputArchive::load_from(std::istream& stream, std::optional<c10::Device> device) {
  node_ = read_archive(FileBytes::read(stream), device);
  hierarchy_prefix_.clear();
}

void InputArchive::load_from(const char* data, size_t size, std::optional<c10::Device> device) {
  node_ = read_archive(FileBytes::view(data, size), device);
  hierarchy_prefix_.clear();
}

void InputArchive::load_from(
    const std::function<size_t(uint64_t pos, void* buf, size_t nbytes)>& read_func,
    const std::function<size_t(void)>& size_func,
    std::optional<c10::Device> device) {
  node_ = read_archive(FileBytes::read(read_func, size_func()), device);
  hierarchy_prefix_.clear();
}

std::vector<std::string> InputArchive::keys() {
  std::vector<std::string> names;
  names.reserve(node_->entries.size());
  for (const ArchiveNode::Entry& entry : node_->entries) {
    names.push_back(entry.name);
  }
  return names;
}

} // namespace torch::serialize
