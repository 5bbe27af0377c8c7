#include <csrc/serialize/archive.h>

#include <csrc/serialize/archive_node.h>
#include <csrc/serialize/tensor_file.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/compilation_unit.h>

namespace torch::serialize {

namespace {

void check_key(const std::string& key) {
  TORCH_CHECK(!key.empty(), "OutputArchive::write: a key must not be empty");
}

} // namespace

OutputArchive::OutputArchive() : OutputArchive(std::make_shared<jit::CompilationUnit>()) {}
OutputArchive::OutputArchive(std::shared_ptr<jit::CompilationUnit> cu)
    : cu_(std::move(cu)), node_(c10::make_intrusive<ArchiveNode>()) {}
OutputArchive::OutputArchive(OutputArchive&&) noexcept = default;
OutputArchive& OutputArchive::operator=(OutputArchive&&) noexcept = default;
OutputArchive::~OutputArchive() = default;

void OutputArchive::write(const std::string& key, const c10::IValue& ivalue) {
  check_key(key);
  node_->put(key, ivalue, ArchiveNode::Kind::Attribute);
}

void OutputArchive::write(const std::string& key, const at::Tensor& tensor, bool is_buffer) {
  check_key(key);
  node_->put(key, tensor, is_buffer ? ArchiveNode::Kind::Buffer : ArchiveNode::Kind::Parameter);
}

void OutputArchive::write(const std::string& key, OutputArchive& nested_archive) {
  check_key(key);
  TORCH_CHECK(
      !nested_archive.node_->contains(*node_), "OutputArchive::write: the archive for key '", key,
      "' contains the one that it is written to: an archive cannot hold itself");
  node_->put(key, c10::IValue::make_capsule(nested_archive.node_), ArchiveNode::Kind::Archive);
}

void OutputArchive::save_to(const std::string& filename) {
  AtomicFile file(filename);
  write_archive(file, folder_for(filename), *node_);
  file.commit();
}

void OutputArchive::save_to(std::ostream& stream) {
  StreamSink sink(stream);
  write_archive(sink, "archive", *node_);
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& func) {
  FunctionSink sink(func);
  write_archive(sink, "archive", *node_);
}

void detail::write_defined(OutputArchive& archive, const std::string& key, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.defined(), "torch::save: tensor ", key, " is undefined, and an archive cannot give it back");
  archive.write(key, tensor);
}

} // namespace torch::serialize
