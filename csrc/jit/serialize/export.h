// Saves TorchScript modules as archives that torch::jit::load reads, here, in libtorch and in Python.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/jit/api/module.h>
#include <csrc/serialize/stream_writer.h>

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

// Every function here throws c10::Error for a module that holds what no archive can: a value without a form in files,
// an object of a C++ class without def_pickle(), values nested too deep. A file given by name is replaced at once when
// all is on disk; after an error an older file of that name is as it was.

/// Writes the module's classes and functions as source text, its attributes with their tensors, and `metadata`: files
/// beside the program. `bytecode_format`, `save_mobile_debug_info` and `use_flatbuffer` must be false: archives for the
/// mobile interpreter are not written here.
TORCH_API void ExportModule(
    const Module& module,
    std::ostream& out,
    const ExtraFilesMap& metadata = ExtraFilesMap(),
    bool bytecode_format = false,
    bool save_mobile_debug_info = false,
    bool use_flatbuffer = false);
TORCH_API void ExportModule(
    const Module& module,
    const std::string& filename,
    const ExtraFilesMap& metadata = ExtraFilesMap(),
    bool bytecode_format = false,
    bool save_mobile_debug_info = false,
    bool use_flatbuffer = false);
/// Calls `writer_func` with one piece after the other; it returns how many bytes it took: all, or the save fails.
TORCH_API void ExportModule(
    const Module& module,
    const std::function<size_t(const void*, size_t)>& writer_func,
    const ExtraFilesMap& metadata = ExtraFilesMap(),
    bool bytecode_format = false,
    bool save_mobile_debug_info = false,
    bool use_flatbuffer = false);

/// The same as Module::save().
TORCH_API void save(
    const Module& module, const std::string& filename, const ExtraFilesMap& extra_files = ExtraFilesMap());
TORCH_API void save(const Module& module, std::ostream& out, const ExtraFilesMap& extra_files = ExtraFilesMap());

/// Writes the parts of a module to an archive that the caller completes.
class TORCH_API ScriptModuleSerializer {
 public:
  explicit ScriptModuleSerializer(caffe2::serialize::PyTorchStreamWriter& export_writer) : writer_(export_writer) {}
  /// Once for each archive. The last two arguments must be false.
  void serialize(
      const Module& module, const ExtraFilesMap& extra_files, bool bytecode_format, bool save_mobile_debug_info);

 private:
  caffe2::serialize::PyTorchStreamWriter& writer_;
};

/// Writes records `archive_name/N` with the storages of tensors, and `archive_name.pkl` with the pickle that refers to
/// them by number.
TORCH_API void writeArchiveAndTensors(
    const std::string& archive_name,
    const char* pickle_bytes,
    size_t size,
    const std::vector<at::Tensor>& tensors,
    caffe2::serialize::PyTorchStreamWriter& out);

/// Makes more files for each module that is saved; those of the same name that the caller gives are written instead.
using ExportModuleExtraFilesHook = std::function<ExtraFilesMap(const Module&)>;
TORCH_API void SetExportModuleExtraFilesHook(ExportModuleExtraFilesHook hook);

} // namespace torch::jit
