// What .pt files and TorchScript archives share: a ZIP file with a pickle, and an entry for every storage.
#pragma once

#include <csrc/serialize/archive_node.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/file_bytes.h>
#include <csrc/serialize/zip_writer.h>

#include <c10/core/Device.h>
#include <c10/core/Storage.h>

#include <cstdint>
#include <optional>
#include <string>

namespace torch::serialize {

struct TensorFile {
  c10::IValue value;
  /// Then the value is an archive node.
  bool is_torchscript;
};

struct ProgramClasses;

/// With `classes`, objects of `__torch__.*` are made by them.
TensorFile read_tensor_file(
    FileBytes bytes, std::optional<c10::Device> device, bool verify, ProgramClasses* classes = nullptr);

void write_pickle(ByteSink& sink, const std::string& folder, const c10::IValue& value);
/// The same of a value that may hold objects of bound classes, as libtorch writes it.
void write_objects(ByteSink& sink, const std::string& folder, const c10::IValue& value);
void write_archive(ByteSink& sink, const std::string& folder, const ArchiveNode& root);

/// The folder inside a ZIP file that is written to this path: its name without what follows the last '.'.
std::string folder_for(const std::string& path);

/// The storage on `device`, or where it was saved from. `where` names it in messages.
c10::Storage place_storage(
    c10::Storage storage, std::optional<c10::Device> device, const std::string& location, const std::string& where);

/// A storage on the meta device: files have no bytes of it.
c10::Storage meta_storage(uint64_t nbytes, const std::string& where);

/// The storage on another device; itself if it is there.
c10::Storage move_storage(const c10::Storage& storage, c10::Device device);

} // namespace torch::serialize
