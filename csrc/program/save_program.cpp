// Where an archive of a program gets its parts: see Note [Archives of programs].
#include <csrc/program/exported_program.h>

#include <csrc/program/program_state.h>
#include <csrc/program/write_program.h>
#include <csrc/program/write_weights.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/tensor_file.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>
#include <set>

namespace torch {

namespace {

using program::NamedWeight;
using program::ProgramState;

constexpr const char* kModel = "model";

std::vector<NamedWeight> weights_of(const ProgramState& state) {
  std::vector<NamedWeight> weights;
  for (const auto* names : {&state.parameters, &state.buffers}) {
    for (const std::string& name : *names) {
      weights.push_back({name, state.module->attr(name), names == &state.parameters});
    }
  }
  return weights;
}

/// Tensors and objects that the graph uses and that are not part of the state that is saved.
std::vector<NamedWeight> constants_of(const ProgramState& state) {
  std::set<std::string> known;
  for (const auto* names : {&state.parameters, &state.buffers}) {
    known.insert(names->begin(), names->end());
  }
  std::vector<NamedWeight> constants;
  for (const fx::Node* node : state.module->graph().nodes()) {
    if (node->kind() == fx::NodeKind::GetAttr && known.insert(node->target()).second) {
      const c10::IValue& value = state.module->attr(node->target());
      TORCH_CHECK(
          value.isTensor() || value.isObject(), "the program cannot be saved: its attribute '", node->target(),
          "' is neither a tensor nor an object of a bound class");
      constants.push_back({node->target(), value, false});
    }
  }
  return constants;
}

void write(serialize::ByteSink& sink, const std::string& folder, const ProgramState& state) {
  const std::string model = program::write_program(state).to_string();
  serialize::ZipWriter zip(sink, folder);
  zip.add("archive_format", "pt2");
  zip.add("archive_version", "0");
  zip.add("byteorder", "little");
  zip.add(".data/version", "6\n");
  zip.add(std::string("models/") + kModel + ".json", model);
  program::write_payload(
      zip, "data/weights/", "weight_", std::string(kModel) + "_weights_config.json", weights_of(state));
  program::write_payload(
      zip, "data/constants/", "tensor_", std::string(kModel) + "_constants_config.json", constants_of(state));
  zip.add(std::string("data/sample_inputs/") + kModel + ".pt", state.sample_inputs);
  zip.finish();
}

} // namespace

void ExportedProgram::save(const std::string& path) const {
  serialize::AtomicFile file(path);
  write(file, serialize::folder_for(path), *state_);
  file.commit();
}

void ExportedProgram::save(std::ostream& stream) const {
  serialize::StreamSink sink(stream);
  write(sink, "archive", *state_);
}

} // namespace torch
