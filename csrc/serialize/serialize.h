// torch::save and torch::load.
#pragma once

#include <csrc/serialize/archive.h>

#include <string>
#include <utility>
#include <vector>

namespace torch {

/// Saves a tensor, a module holder, an optimizer or whatever has operator<<(OutputArchive&, const Value&) to a file
/// name, a stream or a writer function: `torch::save(model, "model.pt")`.
template <typename Value, typename... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

template <typename... SaveToArgs>
void save(const std::vector<at::Tensor>& tensors, SaveToArgs&&... args) {
  serialize::OutputArchive archive;
  for (size_t i = 0; i < tensors.size(); ++i) {
    serialize::detail::write_defined(archive, std::to_string(i), tensors[i]);
  }
  archive.save_to(std::forward<SaveToArgs>(args)...);
}

/// Loads what save() wrote into `value`: `torch::load(model, "model.pt", torch::kCPU)`.
template <typename Value, typename... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  archive >> value;
}

/// Appends the tensors of the file to `tensors`.
template <typename... LoadFromArgs>
void load(std::vector<at::Tensor>& tensors, LoadFromArgs&&... args) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<LoadFromArgs>(args)...);
  at::Tensor tensor;
  for (size_t i = 0; archive.try_read(std::to_string(i), tensor); ++i) {
    tensors.push_back(std::move(tensor));
    tensor = at::Tensor();
  }
}

/// The bytes of a `.pt` file that Python's torch.load reads.
TORCH_API std::vector<char> pickle_save(const c10::IValue& ivalue);
/// The value in the bytes of a `.pt` file that Python's torch.save wrote. No code is run: see
/// <csrc/serialize/pickle_file.h> for what may occur in it.
TORCH_API c10::IValue pickle_load(const std::vector<char>& data);

} // namespace torch
