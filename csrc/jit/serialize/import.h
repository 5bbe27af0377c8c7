// TorchScript programs from files: torch::jit::load.
#pragma once

#include <csrc/jit/api/module.h>
#include <csrc/serialize/read_adapter.h>
#include <csrc/serialize/read_archive.h>
#include <csrc/serialize/stream_reader.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

namespace torch::jit {

class DeserializationStorageContext;

// Note [Loading archives]
// What Python's torch.jit.save and this library's Module::save write is read, of PyTorch 1.4 to the newest. Archives of
// 1.0 to 1.3 with a record "model.json", and files in FlatBuffers' format, are refused.
//
// Tensors of the CPU lie in a private mapping of the file: they are read when they are used, and another program must
// not shorten or overwrite the file meanwhile (replacing it by a rename is fine). Their bytes are not compared with the
// archive's checksums, all other records are. Methods are compiled when they are first called; an error in their code
// is thrown then.
//
// Nothing of the program runs while it is loaded, but for `__setstate__` of classes that have it and for constants that
// are not literals. Damaged and hostile files throw c10::Error. They make the loader allocate at most 200 times their
// size (what compressed records of code may come to), and mostly a few times.

/// Loads a module onto `device`, or onto the devices that its tensors were saved from. Without `load_debug_files`,
/// errors do not show the source that the program was made from. Throws c10::Error if the file is no archive of a
/// module.
TORCH_API Module
load(const std::string& filename, std::optional<c10::Device> device = std::nullopt, bool load_debug_files = true);
/// The same, and for each name in `extra_files` the file of that name which was saved beside the program, if there is
/// one.
TORCH_API Module load(
    const std::string& filename,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true);
/// The same from all of a stream.
TORCH_API Module load(std::istream& in, std::optional<c10::Device> device = std::nullopt, bool load_debug_files = true);
TORCH_API Module
load(std::istream& in, std::optional<c10::Device> device, ExtraFilesMap& extra_files, bool load_debug_files = true);
/// The same from what an adapter reads: files that it maps, other bytes as a copy.
TORCH_API Module load(
    std::shared_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device = std::nullopt,
    bool load_debug_files = true);
TORCH_API Module load(
    std::shared_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true);

/// As load(), with the program's classes and functions in `cu`. Throws if it has some of these names already.
/// `restore_shapes` has no effect.
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    const std::string& filename,
    std::optional<c10::Device> device = std::nullopt,
    bool load_debug_files = true);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::istream& in,
    std::optional<c10::Device> device = std::nullopt,
    bool load_debug_files = true);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device = std::nullopt,
    bool load_debug_files = true);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    const std::string& filename,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true,
    bool restore_shapes = false);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::istream& in,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true,
    bool restore_shapes = false);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::unique_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true);
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::shared_ptr<caffe2::serialize::ReadAdapterInterface> rai,
    std::optional<c10::Device> device,
    ExtraFilesMap& extra_files,
    bool load_debug_files = true);

/// A program in a file of torch.package, which has the name `ts_id` there. Programs of one file share its bytes in
/// memory; what else the file holds is not read, and `storage_context` is left as it is.
TORCH_API Module import_ir_module(
    std::shared_ptr<CompilationUnit> cu,
    std::shared_ptr<caffe2::serialize::PyTorchStreamReader> reader,
    std::shared_ptr<DeserializationStorageContext> storage_context,
    std::optional<at::Device> device,
    const std::string& ts_id);

/// As load(), from memory, of which a copy is taken.
TORCH_API Module parse_and_initialize_jit_module(
    const std::shared_ptr<char>& data,
    size_t size,
    ExtraFilesMap& extra_files,
    std::optional<at::Device> device = std::nullopt);
/// load() under the names that read FlatBuffers' format, too, in libtorch.
TORCH_API Module load_jit_module_from_file(
    const std::string& filename, ExtraFilesMap& extra_files, std::optional<at::Device> device = std::nullopt);
TORCH_API Module load_jit_module_from_stream(
    std::istream& in, ExtraFilesMap& extra_files, std::optional<at::Device> device = std::nullopt);

/// An object of a class from its state: by `__setstate__`, or from a dict with the values of all attributes. Values are
/// compared with the types of attributes.
TORCH_API c10::intrusive_ptr<c10::ivalue::Object> ObjLoaderFunc(const at::StrongTypePtr& type, IValue input);
/// The same: the version makes no difference.
TORCH_API c10::intrusive_ptr<c10::ivalue::Object> ObjLoaderFuncWithVersion(
    const at::StrongTypePtr& type, IValue input, uint64_t archive_version);

} // namespace torch::jit
