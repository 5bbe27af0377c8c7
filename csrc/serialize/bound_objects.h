// Objects of classes that libraries bind (torch::class_), in files of their own.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/serialize/file_bytes.h>

#include <c10/core/Device.h>

#include <optional>

namespace torch::serialize {

/// The value of a file that torch::pickle_save or torch._C._pickle_save wrote. Objects are made by their classes'
/// `__setstate__`, tensors in them loaded onto `device`, or where they were saved from. Throws c10::Error for a class
/// that no library has bound.
c10::IValue read_bound_object(FileBytes bytes, std::optional<c10::Device> device);

} // namespace torch::serialize
