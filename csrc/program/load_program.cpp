// Where archives of programs have their parts: see Note [Archives of programs].
#include <csrc/program/exported_program.h>

#include <csrc/program/program_state.h>
#include <csrc/program/read_program.h>
#include <csrc/program/read_weights.h>
#include <csrc/serialize/file_bytes.h>
#include <csrc/serialize/zip_reader.h>
#include <c10/util/Exception.h>

namespace torch {

namespace {

using program::Json;
using program::StoredValues;
using serialize::ZipReader;

std::string text_of(ZipReader& zip, const std::string& record) {
  std::string unpacked;
  return std::string(zip.read(record, unpacked));
}

/// The weights or constants of an archive: listed one by one, or up to 2.8 as one record of torch.save.
StoredValues read_tensors(
    ZipReader& zip, const std::string& folder, const std::string& name, std::optional<c10::Device> device) {
  const std::string kind = folder.substr(folder.rfind('/', folder.size() - 2) + 1);
  const std::string saved = folder + name + ".pt";
  if (zip.has(saved)) {
    return program::read_saved_dict(zip, saved, device);
  }
  const std::string config = folder + name + "_" + kind.substr(0, kind.size() - 1) + "_config.json";
  TORCH_CHECK(zip.has(config), zip.where(config), " not found in PT2 archive");
  return program::read_payload(zip, config, folder, device);
}

std::string names_of_programs(const ZipReader& zip, const std::string& models) {
  std::string names;
  for (const ZipReader::Entry& entry : zip.entries()) {
    const std::string record(entry.name);
    if (record.compare(0, models.size(), models) == 0) {
      names += (names.empty() ? "" : ", ") + record.substr(models.size(), record.rfind('.') - models.size());
    }
  }
  return names;
}

std::shared_ptr<program::ProgramState> read_archive(
    ZipReader& zip, const std::string& root, std::optional<c10::Device> device, const std::string& name) {
  if (zip.has(root + "byteorder")) {
    const std::string order = text_of(zip, root + "byteorder");
    TORCH_CHECK(order == "little", "byte order '", order, "' is not supported, 'little' is");
  }
  const std::string models = root + "models/", record = models + name + ".json";
  TORCH_CHECK(
      zip.has(record), zip.bytes().name(), " has no program '", name, "'; it has: ", names_of_programs(zip, models));
  const Json json = program::read_json(zip, record);
  return program::read_program(
      json, read_tensors(zip, root + "data/weights/", name, device),
      read_tensors(zip, root + "data/constants/", name, device), device);
}

/// What torch.export.save wrote up to 2.7.
std::shared_ptr<program::ProgramState> read_old_file(ZipReader& zip, std::optional<c10::Device> device) {
  const Json json = program::read_json(zip, "serialized_exported_program.json");
  const auto saved = [&](const std::string& part) {
    // Versions before 2.2 gave these records another ending.
    const std::string record = "serialized_" + part + (zip.has("serialized_" + part + ".pt") ? ".pt" : ".json");
    return zip.has(record) ? program::read_saved_dict(zip, record, device) : StoredValues();
  };
  return program::read_program(json, saved("state_dict"), saved("constants"), device);
}

ExportedProgram load(serialize::FileBytes bytes, std::optional<c10::Device> device, const std::string& name) {
  TORCH_CHECK(
      ZipReader::looks_like_zip(bytes), "failed reading zip archive: ", bytes.name(), " (", bytes.size(),
      " bytes) is no archive of an exported program");
  ZipReader zip(std::move(bytes));
  if (zip.has("serialized_exported_program.json")) {
    return ExportedProgram(read_old_file(zip, device));
  }
  const std::string root = zip.folder() + "/";
  const bool is_pt2 = zip.has(root + "archive_format") && text_of(zip, root + "archive_format") == "pt2";
  TORCH_CHECK(
      is_pt2, zip.bytes().name(),
      " is no archive of an exported program: what torch.jit.save wrote is read by "
      "torch::jit::load, what torch.save wrote by torch::load and torch::pickle_load");
  return ExportedProgram(read_archive(zip, root, device, name));
}

} // namespace

ExportedProgram load_program(const std::string& path, std::optional<c10::Device> device, const std::string& name) {
  return load(serialize::FileBytes::map(path), device, name);
}

ExportedProgram load_program(std::istream& stream, std::optional<c10::Device> device, const std::string& name) {
  return load(serialize::FileBytes::read(stream), device, name);
}

ExportedProgram load_program(
    const void* data, size_t size, std::optional<c10::Device> device, const std::string& name) {
  return load(serialize::FileBytes::view(data, size), device, name);
}

} // namespace torch
