#include <csrc/jit/serialize/import.h>

#include <c10/util/Exception.h>
#include <csrc/jit/serialize/archive_classes.h>
#include <csrc/jit/serialize/debug_records.h>
#include <csrc/jit/serialize/storage_context.h>
#include <csrc/serialize/resolved_classes.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

namespace torch::jit {

namespace {

using caffe2::serialize::PyTorchStreamReader;
using caffe2::serialize::ReadAdapterInterface;
using ReaderPtr = std::shared_ptr<PyTorchStreamReader>;

// Where an archive has the parts of a program. Without a prefix for tensors they lie in the folder of their pickle.
struct ArchiveLayout {
  std::string code = "code/";
  std::string pickles = "";
  std::string tensors = "";
};

std::string read_text(PyTorchStreamReader& reader, const std::string& name) {
  const auto [data, size] = reader.getRecord(name);
  return std::string(static_cast<const char*>(data.get()), size);
}

// ---- source files ---------------------------------------------------------------------------------------------------

std::string source_path(const std::string& folder, const std::string& qualifier) {
  std::string path = qualifier;
  std::replace(path.begin(), path.end(), '.', '/');
  return folder + path + ".py";
}

std::shared_ptr<Source> make_source(
    const std::string& path, std::string text, std::shared_ptr<SourceRangeUnpickler> origins) {
  return std::make_shared<Source>(std::move(text), path, 1, std::move(origins));
}

// From a mapped file, source is read when it is needed.
SourceLoader source_of_file(const ReaderPtr& reader, const std::string& folder, bool load_debug_files) {
  return [reader, folder, load_debug_files](const std::string& qualifier) -> std::shared_ptr<Source> {
    const std::string path = source_path(folder, qualifier);
    if (!reader->hasRecord(path)) {
      return nullptr;
    }
    std::shared_ptr<SourceRangeUnpickler> origins;
    const std::string debug_path = path + ".debug_pkl";
    if (load_debug_files && reader->hasRecord(debug_path)) {
      origins = debugRecord([reader, debug_path] { return read_text(*reader, debug_path); });
    }
    return make_source(path, read_text(*reader, path), std::move(origins));
  };
}

// The source of other archives is kept instead of the archive, which has the tensors, too.
SourceLoader source_in_memory(PyTorchStreamReader& reader, const std::string& folder, bool load_debug_files) {
  std::unordered_map<std::string, std::shared_ptr<Source>> sources;
  for (const std::string& path : reader.getAllRecords()) {
    const bool is_source = path.compare(0, folder.size(), folder) == 0 && path.size() > folder.size() + 3 &&
        path.substr(path.size() - 3) == ".py";
    if (!is_source) {
      continue;
    }
    std::shared_ptr<SourceRangeUnpickler> origins;
    const std::string debug_path = path + ".debug_pkl";
    if (load_debug_files && reader.hasRecord(debug_path)) {
      origins = debugRecord([record = read_text(reader, debug_path)] { return record; });
    }
    sources.emplace(path, make_source(path, read_text(reader, path), std::move(origins)));
  }
  return [sources = std::move(sources), folder](const std::string& qualifier) {
    const auto found = sources.find(source_path(folder, qualifier));
    return found == sources.end() ? nullptr : found->second;
  };
}

// ---- archives -------------------------------------------------------------------------------------------------------

void check_is_program(PyTorchStreamReader& reader, const ArchiveLayout& layout) {
  TORCH_CHECK(
      !reader.hasRecord("model.json"),
      "Legacy model format is not supported on mobile. The archive has a record 'model.json', as PyTorch 1.0 to 1.3 "
      "wrote it, which new versions do not read. Load it with PyTorch 1.4 and save it again");
  const bool has_data = reader.hasRecord(layout.pickles + "data.pkl");
  TORCH_CHECK(
      has_data && reader.hasRecord(layout.pickles + "constants.pkl"), "PytorchStreamReader failed locating file ",
      layout.pickles, has_data ? "constants.pkl" : "data.pkl",
      ": file not found. The file is no TorchScript archive: what torch.save wrote is read by torch::load and "
      "torch::pickle_load, what torch.export.save wrote by the loader of exported programs");
  if (reader.hasRecord("byteorder")) {
    const std::string order = read_text(reader, "byteorder");
    TORCH_CHECK(order == "little", "byte order '", order, "' is not supported, 'little' is");
  }
}

std::vector<IValue> read_constants(
    PyTorchStreamReader& reader,
    const ArchiveLayout& layout,
    std::optional<c10::Device> device,
    ArchiveClasses& classes) {
  const IValue constants = read_archive_value("constants", layout.pickles, layout.tensors, device, reader, &classes);
  TORCH_CHECK(constants.isTuple(), "record constants.pkl must hold a tuple, holds ", constants.tagKind());
  const auto& elements = constants.toTupleRef().elements();
  return {elements.begin(), elements.end()};
}

void read_extra_files(PyTorchStreamReader& reader, ExtraFilesMap& extra_files) {
  for (auto& [name, content] : extra_files) {
    const std::string record = "extra/" + name;
    if (reader.hasRecord(record)) {
      content = read_text(reader, record);
    }
  }
}

Module import_module(
    const std::shared_ptr<CompilationUnit>& cu,
    const ReaderPtr& reader,
    std::optional<c10::Device> device,
    ExtraFilesMap* extra_files,
    bool load_debug_files,
    const ArchiveLayout& layout = ArchiveLayout()) {
  TORCH_CHECK(cu, "import_ir_module: the compilation unit must not be null");
  check_is_program(*reader, layout);
  if (extra_files) {
    read_extra_files(*reader, *extra_files);
  }
  const auto constants = std::make_shared<std::vector<IValue>>();
  SourceLoader loader = reader->isMapped() ? source_of_file(reader, layout.code, load_debug_files)
                                           : source_in_memory(*reader, layout.code, load_debug_files);
  const auto importer = std::make_shared<SourceImporterImpl>(cu, constants, std::move(loader), reader->version());
  const size_t pickled =
      reader->getRecordSize(layout.pickles + "data.pkl") + reader->getRecordSize(layout.pickles + "constants.pkl");
  ArchiveClasses classes(cu, importer, serialize::work_for(pickled));
  *constants = read_constants(*reader, layout, device, classes);
  const IValue root = read_archive_value("data", layout.pickles, layout.tensors, device, *reader, &classes);
  TORCH_CHECK(
      root.isObject() && root.toObjectRef().type()->is_module(), "record data.pkl must hold a module, holds ",
      root.isObject() ? "an object of class " + root.toObjectRef().type()->repr_str() : root.tagKind());
  return Module(root.toObject());
}

ReaderPtr open(const std::string& filename) {
  return std::make_shared<PyTorchStreamReader>(filename);
}
ReaderPtr open(std::istream& in) {
  return std::make_shared<PyTorchStreamReader>(&in);
}
ReaderPtr open(std::shared_ptr<ReadAdapterInterface> adapter) {
  return std::make_shared<PyTorchStreamReader>(std::move(adapter));
}

std::shared_ptr<CompilationUnit> new_unit() {
  return std::make_shared<CompilationUnit>();
}

} // namespace

// ---- load -----------------------------------------------------------------------------------------------------------

Module load(const std::string& filename, std::optional<c10::Device> device, bool load_debug_files) {
  return import_module(new_unit(), open(filename), device, nullptr, load_debug_files);
}
Module load(
    const std::string& filename, std::optional<c10::Device> device, ExtraFilesMap& extra_files, bool load_debug_files) {
  return import_module(new_unit(), open(filename), device, &extra_files, load_debug_files);
}
Module load(std::istream& in, std::optional<c10::Device> device, bool load_debug_files) {
  return import_module(new_unit(), open(in), device, nullptr, load_debug_files);
}
Module load(std::istream& in, std::optional<c10::Device> device, ExtraFilesMap& extra_files, bool load_debug_files) {
  return import_module(new_unit(), open(in), device, &extra_files, load_debug_files);
}
Module load(std::shared_ptr<ReadAdapterInterface> rai, std::optional<c10::Device> device, bool load_debug_files) {
  return import_module(new_unit(), open(std::move(rai)), device, nullptr, load_debug_files);
}
Module load(
    std::shared_ptr<ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files) {
  return import_module(new_unit(), open(std::move(rai)), device, &extra_files, load_debug_files);
}

// ---- import_ir_module -----------------------------------------------------------------------------------------------

Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    const std::string& filename,
    std::optional<c10::Device> device,
    bool load_debug_files) {
  return import_module(cu, open(filename), device, nullptr, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu, std::istream& in, std::optional<c10::Device> device, bool load_debug_files) {
  return import_module(cu, open(in), device, nullptr, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::unique_ptr<ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    bool load_debug_files) {
  return import_module(cu, open(std::move(rai)), device, nullptr, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    const std::string& filename,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files,
    bool /*restore_shapes*/) {
  return import_module(cu, open(filename), device, &extra_files, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::istream& in,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files,
    bool /*restore_shapes*/) {
  return import_module(cu, open(in), device, &extra_files, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::unique_ptr<ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files) {
  return import_module(cu, open(std::move(rai)), device, &extra_files, load_debug_files);
}
Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::shared_ptr<ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files) {
  return import_module(cu, open(std::move(rai)), device, &extra_files, load_debug_files);
}

Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::shared_ptr<PyTorchStreamReader> reader,
    std::shared_ptr<DeserializationStorageContext> /*storage_context*/,
    std::optional<at::Device> device,
    const std::string& ts_id) {
  TORCH_CHECK(reader, "import_ir_module: the reader must not be null");
  const ArchiveLayout in_package{".data/ts_code/code/", ".data/ts_code/" + ts_id + "/", ".data/"};
  return import_module(cu, reader, device, nullptr, /*load_debug_files=*/true, in_package);
}

// ---- other names ----------------------------------------------------------------------------------------------------

Module parse_and_initialize_jit_module(
    const std::shared_ptr<char>& data, size_t size, ExtraFilesMap& extra_files, std::optional<at::Device> device) {
  TORCH_CHECK(
      data && size <= static_cast<size_t>(std::numeric_limits<off_t>::max()),
      "parse_and_initialize_jit_module: there is no data");
  const auto adapter = std::make_shared<caffe2::serialize::MemoryReadAdapter>(data.get(), static_cast<off_t>(size));
  return load(adapter, device, extra_files);
}

Module load_jit_module_from_file(
    const std::string& filename, ExtraFilesMap& extra_files, std::optional<at::Device> device) {
  return load(filename, device, extra_files);
}

Module load_jit_module_from_stream(std::istream& in, ExtraFilesMap& extra_files, std::optional<at::Device> device) {
  return load(in, device, extra_files);
}

c10::intrusive_ptr<c10::ivalue::Object> ObjLoaderFunc(const at::StrongTypePtr& type, IValue input) {
  // The caller vouches for the value's size.
  serialize::TypedValues values(std::numeric_limits<uint64_t>::max());
  return objectOfState(type, input, values);
}

c10::intrusive_ptr<c10::ivalue::Object> ObjLoaderFuncWithVersion(
    const at::StrongTypePtr& type, IValue input, uint64_t /*archive_version*/) {
  return ObjLoaderFunc(type, std::move(input));
}

} // namespace torch::jit
