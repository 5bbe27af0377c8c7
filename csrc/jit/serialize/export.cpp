#include <csrc/jit/serialize/export.h>

#include <c10/util/Exception.h>
#include <csrc/jit/serialize/program_printer.h>
#include <csrc/jit/serialize/source_range_pickle.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/pickler.h>
#include <csrc/serialize/tensor_file.h>

#include <mutex>
#include <utility>

namespace torch::jit {

namespace {

using caffe2::serialize::PyTorchStreamWriter;
using serialize::Pickler;

struct ExtraFilesHook {
  std::mutex mutex;
  ExportModuleExtraFilesHook hook;
};

ExtraFilesHook& extra_files_hook() {
  static ExtraFilesHook& hook = *new ExtraFilesHook();
  return hook;
}

void write(PyTorchStreamWriter& writer, const std::string& name, const std::string& text) {
  writer.writeRecord(name, text.data(), text.size());
}

void write_storages(PyTorchStreamWriter& writer, const std::string& folder, const std::vector<c10::Storage>& storages) {
  for (size_t i = 0; i < storages.size(); ++i) {
    const std::string name = folder + "/" + std::to_string(i);
    if (storages[i].device().is_meta()) {
      writer.writeRecord(name, nullptr, 0);
      continue;
    }
    const c10::Storage local = serialize::move_storage(storages[i], c10::kCPU);
    writer.writeRecord(name, local.data(), local.nbytes());
  }
}

// A pickle and its tensors; the classes of its objects are added to the program.
void write_value(PyTorchStreamWriter& writer, const std::string& name, const IValue& value, ProgramPrinter& program) {
  Pickler pickler(Pickler::Style::TorchScript, nullptr, program.type_printer());
  pickler.push(value);
  const std::string pickle = pickler.finish();
  write_storages(writer, name, pickler.storages());
  write(writer, name + ".pkl", pickle);
  for (const TypePtr& type : pickler.types()) {
    program.add(type);
  }
}

void write_extra_files(PyTorchStreamWriter& writer, const Module& module, const ExtraFilesMap& extra_files) {
  for (const auto& [name, content] : extra_files) {
    write(writer, "extra/" + name, content);
  }
  ExportModuleExtraFilesHook hook;
  {
    const std::lock_guard<std::mutex> lock(extra_files_hook().mutex);
    hook = extra_files_hook().hook;
  }
  if (!hook) {
    return;
  }
  for (const auto& [name, content] : hook(module)) {
    if (extra_files.count(name) == 0) {
      write(writer, "extra/" + name, content);
    }
  }
}

void write_code(PyTorchStreamWriter& writer, const ProgramPrinter& program) {
  for (const auto& [name_space, file] : program.files()) {
    const std::string record = source_record(name_space);
    write(writer, record, file.str());
    write(writer, record + ".debug_pkl", pickle_source_ranges(file.ranges()));
  }
}

void export_module(
    PyTorchStreamWriter& writer, const Module& module, const ExtraFilesMap& extra_files, bool any_mobile_option) {
  ScriptModuleSerializer(writer).serialize(module, extra_files, any_mobile_option, false);
  writer.writeEndOfFile();
}

} // namespace

void ScriptModuleSerializer::serialize(
    const Module& module, const ExtraFilesMap& extra_files, bool bytecode_format, bool save_mobile_debug_info) {
  TORCH_CHECK(
      !bytecode_format && !save_mobile_debug_info,
      "ExportModule: archives for the mobile interpreter are not written by this library; leave out bytecode_format, ",
      "save_mobile_debug_info and use_flatbuffer to save a module that torch::jit::load reads");
  ProgramPrinter program;
  program.add(module.type());
  write_extra_files(writer_, module, extra_files);
  write_value(writer_, "data", module._ivalue(), program);
  // Constants may be objects whose classes bring constants of their own.
  std::vector<IValue> constants;
  do {
    constants = program.constants();
    Pickler pickler(Pickler::Style::TorchScript, nullptr, program.type_printer());
    pickler.push(c10::ivalue::Tuple::create(constants));
    for (const TypePtr& type : pickler.types()) {
      program.add(type);
    }
  } while (constants.size() < program.constants().size());
  write_value(writer_, "constants", c10::ivalue::Tuple::create(std::move(constants)), program);
  write_code(writer_, program);
  writer_.setMinVersion(program.min_version());
}

void ExportModule(
    const Module& module,
    std::ostream& out,
    const ExtraFilesMap& metadata,
    bool bytecode_format,
    bool save_mobile_debug_info,
    bool use_flatbuffer) {
  serialize::StreamSink sink(out);
  PyTorchStreamWriter writer([&](const void* data, size_t size) {
    sink.write(data, size);
    return size;
  });
  export_module(writer, module, metadata, bytecode_format || save_mobile_debug_info || use_flatbuffer);
}

void ExportModule(
    const Module& module,
    const std::string& filename,
    const ExtraFilesMap& metadata,
    bool bytecode_format,
    bool save_mobile_debug_info,
    bool use_flatbuffer) {
  PyTorchStreamWriter writer(filename);
  export_module(writer, module, metadata, bytecode_format || save_mobile_debug_info || use_flatbuffer);
}

void ExportModule(
    const Module& module,
    const std::function<size_t(const void*, size_t)>& writer_func,
    const ExtraFilesMap& metadata,
    bool bytecode_format,
    bool save_mobile_debug_info,
    bool use_flatbuffer) {
  PyTorchStreamWriter writer(writer_func);
  export_module(writer, module, metadata, bytecode_format || save_mobile_debug_info || use_flatbuffer);
}

void Module::save(std::ostream& out, const ExtraFilesMap& extra_files) const {
  ExportModule(*this, out, extra_files);
}

void Module::save(const std::string& filename, const ExtraFilesMap& extra_files) const {
  ExportModule(*this, filename, extra_files);
}

void save(const Module& module, const std::string& filename, const ExtraFilesMap& extra_files) {
  ExportModule(module, filename, extra_files);
}

void save(const Module& module, std::ostream& out, const ExtraFilesMap& extra_files) {
  ExportModule(module, out, extra_files);
}

void writeArchiveAndTensors(
    const std::string& archive_name,
    const char* pickle_bytes,
    size_t size,
    const std::vector<at::Tensor>& tensors,
    PyTorchStreamWriter& out) {
  std::vector<c10::Storage> storages;
  for (const at::Tensor& tensor : tensors) {
    storages.push_back(tensor.storage());
  }
  write_storages(out, archive_name, storages);
  out.writeRecord(archive_name + ".pkl", pickle_bytes, size);
}

void SetExportModuleExtraFilesHook(ExportModuleExtraFilesHook hook) {
  const std::lock_guard<std::mutex> lock(extra_files_hook().mutex);
  extra_files_hook().hook = std::move(hook);
}

} // namespace torch::jit
