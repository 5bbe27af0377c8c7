// Values as Python pickles in memory, tensors in a table beside them.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/serialize/serialize.h>

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace torch::serialize {

/// All bytes that `reader(buffer, size)` gives, until it gives 0.
std::vector<char> read_all(const std::function<size_t(char*, size_t)>& reader);

} // namespace torch::serialize

namespace torch::jit {

/// Finds the class that a pickle names.
using TypeResolver = std::function<c10::StrongTypePtr(const c10::QualifiedName&)>;

/// The pickle of a value. Its tensors are added to `tensor_table`, and the pickle has their numbers there; a value with
/// tensors needs the table.
TORCH_API std::vector<char> pickle(const c10::IValue& ivalue, std::vector<at::Tensor>* tensor_table = nullptr);
/// The same, handed to `writer`.
TORCH_API void pickle(
    std::function<void(const char* data_start, size_t data_len)> writer,
    const c10::IValue& ivalue,
    std::vector<at::Tensor>* tensor_table = nullptr);

/// The value of such a pickle. Objects of classes `__torch__.*` get their attributes from it; without a resolver they
/// are refused. Nothing else in it is run.
TORCH_API c10::IValue unpickle(
    const char* data, size_t size, TypeResolver type_resolver = nullptr, c10::ArrayRef<at::Tensor> tensor_table = {});
/// The same of bytes that `reader(buffer, size)` gives, until it gives 0.
TORCH_API c10::IValue unpickle(
    std::function<size_t(char*, size_t)> reader, TypeResolver type_resolver, c10::ArrayRef<at::Tensor> tensor_table);

/// The value that pickle_save wrote, in which objects of classes that libraries bind (torch::class_) may be: these are
/// made by their `__setstate__`. Throws c10::Error for other classes.
TORCH_API c10::IValue pickle_load_obj(std::string_view data);

using torch::pickle_load;
using torch::pickle_save;

} // namespace torch::jit
