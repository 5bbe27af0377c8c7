// torch::save and torch::load of TorchScript modules.
#pragma once

#include <csrc/jit/serialize/export.h>
#include <csrc/jit/serialize/import.h>

#include <utility>

namespace torch {

/// Saves a TorchScript module to a file name, a stream or a writer function: see torch::jit::ExportModule.
template <typename... SaveToArgs>
void save(const jit::Module& module, SaveToArgs&&... args) {
  jit::ExportModule(module, std::forward<SaveToArgs>(args)...);
}

/// Puts what torch::jit::load gives into `module`: `torch::load(module, "model.pt", torch::kCPU)`. Other handles of the
/// module that it stood for are as they were.
template <typename... LoadFromArgs>
void load(jit::Module& module, LoadFromArgs&&... args) {
  module = jit::load(std::forward<LoadFromArgs>(args)...);
}

} // namespace torch
