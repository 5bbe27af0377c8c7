#include <csrc/serialize/stream_writer.h>

#include <c10/util/Exception.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/stream_reader.h>
#include <csrc/serialize/tensor_file.h>
#include <csrc/serialize/zip_writer.h>

#include <algorithm>
#include <exception>
#include <memory>

namespace caffe2::serialize {

using namespace torch::serialize;

struct PyTorchStreamWriter::State {
  State(const std::string& path, uint64_t alignment)
      : file(std::make_unique<AtomicFile>(path)), folder(folder_for(path)), zip(*file, folder, alignment) {}
  State(std::function<size_t(const void*, size_t)> func, uint64_t alignment)
      : function(std::move(func)),
        function_sink(std::make_unique<FunctionSink>(function)),
        folder("archive"),
        zip(*function_sink, folder, alignment) {}

  // One of the two.
  std::unique_ptr<AtomicFile> file;
  std::function<size_t(const void*, size_t)> function;
  std::unique_ptr<FunctionSink> function_sink;

  std::string folder;
  ZipWriter zip;
  std::unordered_set<std::string> written;
  std::string serialization_id;
  uint64_t version = kMinProducedFileFormatVersion;
  bool finalized = false;
  const int exceptions_before = std::uncaught_exceptions();
};

PyTorchStreamWriter::PyTorchStreamWriter(const std::string& archive_name, bool, uint64_t alignment)
    : state_(new State(archive_name, alignment)) {}
PyTorchStreamWriter::PyTorchStreamWriter(
    const std::function<size_t(const void*, size_t)> writer_func, bool, uint64_t alignment)
    : state_(new State(writer_func, alignment)) {}

PyTorchStreamWriter::~PyTorchStreamWriter() {
  if (state_->finalized || std::uncaught_exceptions() > state_->exceptions_before) {
    return;
  }
  try {
    writeEndOfFile();
  } catch (const std::exception& error) {
    TORCH_WARN("PyTorchStreamWriter: the archive '", state_->folder, "' was not finished: ", error.what());
  }
}

void PyTorchStreamWriter::setMinVersion(const uint64_t version) {
  state_->version = std::max(version, state_->version);
}

void PyTorchStreamWriter::writeRecord(const std::string& name, const void* data, size_t size, bool) {
  TORCH_CHECK(!state_->finalized, "PyTorchStreamWriter: record '", name, "' comes after writeEndOfFile()");
  // Programs that copy all records of a file bring its number as well; this file gets its own.
  if (name == kSerializationIdRecordName) {
    return;
  }
  TORCH_CHECK(state_->written.count(name) == 0, "Tried to serialize file twice: ", name);
  state_->zip.add(name, data, size);
  state_->written.insert(name);
}

void PyTorchStreamWriter::writeEndOfFile() {
  const auto add = [this](const char* name, const std::string& text) { writeRecord(name, text.data(), text.size()); };
  if (state_->written.count(".data/version") == 0 && state_->written.count("version") == 0) {
    add(state_->version >= 6 ? ".data/version" : "version", std::to_string(state_->version) + "\n");
  }
  if (state_->written.count("byteorder") == 0) {
    add("byteorder", "little");
  }
  state_->serialization_id = state_->zip.finish();
  state_->written.insert(kSerializationIdRecordName);
  state_->finalized = true;
  if (state_->file) {
    state_->file->commit();
  }
}

const std::unordered_set<std::string>& PyTorchStreamWriter::getAllWrittenRecords() {
  return state_->written;
}

bool PyTorchStreamWriter::finalized() const {
  return state_->finalized;
}

const std::string& PyTorchStreamWriter::archiveName() {
  return state_->folder;
}

const std::string& PyTorchStreamWriter::serializationId() {
  return state_->serialization_id;
}

} // namespace caffe2::serialize
