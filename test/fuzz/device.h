// The arguments of a call on another device than the CPU.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "test/fuzz/attempt.h"
#include "test/fuzz/cases.h"

namespace fuzz {

/// Copies of the tensors of one call. What is one tensor, or shares a storage, is or does so there too. Numbers passed
/// as tensors, tensors without data and those that the operator wants on the CPU stay.
class DeviceCopies {
 public:
  explicit DeviceCopies(c10::Device device) : device_(device) {}

  /// The arguments there; a device that is the CPU or left open is the device, and random generators are the device's.
  Stack arguments(const Call& call);

  /// The copy of a tensor, undefined where there is none.
  at::Tensor copy_of(const at::Tensor& tensor) const;
  /// The storages copied, with what was copied.
  struct Memory {
    c10::Storage host, device;
  };
  std::vector<Memory> memory() const;

 private:
  at::Tensor copy(const at::Tensor& tensor);
  c10::Storage copy(const c10::Storage& host);
  at::Tensor copy_strided(const at::Tensor& tensor);

  c10::Device device_;
  std::unordered_map<c10::TensorImpl*, at::Tensor> tensors_;
  std::unordered_map<c10::StorageImpl*, Memory> storages_;
};

/// Until its work is done. Throws what that had to say.
void wait_for(c10::Device device);
/// Makes the call on `device` and waits for it.
Attempt attempt_on(c10::Device device, const c10::OperatorHandle& op, Stack args);

/// After an illegal access every further call on a device fails, in this process.
bool is_lost(c10::Device device);

/// The elements of `storage` as bytes on the CPU.
std::vector<char> bytes_of(const c10::Storage& storage);

/// Results on the CPU; strides of strided tensors are those of a copy.
Stack brought_back(const Stack& results);

} // namespace fuzz
