// Values from one pickle of an archive that is open already: torch::jit::readArchiveAndTensors.
#pragma once

#include <csrc/serialize/pickle_bytes.h>
#include <csrc/serialize/stream_reader.h>

#include <c10/core/Device.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

namespace torch::serialize {
struct ProgramClasses;
} // namespace torch::serialize

namespace torch::jit {

/// Makes an object of a class from its state.
using ObjLoader = std::function<c10::intrusive_ptr<c10::ivalue::Object>(const c10::StrongTypePtr&, c10::IValue)>;

/// The value of the record `pickle_prefix` + `archive_name` + ".pkl", on `device` or where its tensors were saved from.
/// Storages are the records `tensor_prefix` + key; without a prefix they lie in the folder `archive_name`. On the CPU
/// they stay in the mapped file. Objects of classes `__torch__.*` are made by `obj_loader` of the classes that
/// `type_resolver` finds, and are refused without these two; nothing else in the pickle is run.
TORCH_API c10::IValue readArchiveAndTensors(
    const std::string& archive_name,
    const std::string& pickle_prefix,
    const std::string& tensor_prefix,
    std::optional<TypeResolver> type_resolver,
    std::optional<ObjLoader> obj_loader,
    std::optional<at::Device> device,
    caffe2::serialize::PyTorchStreamReader& stream_reader);

/// The same with the classes of a program; null if there are none.
c10::IValue read_archive_value(
    const std::string& archive_name,
    const std::string& pickle_prefix,
    const std::string& tensor_prefix,
    std::optional<at::Device> device,
    caffe2::serialize::PyTorchStreamReader& stream_reader,
    serialize::ProgramClasses* classes);

} // namespace torch::jit
