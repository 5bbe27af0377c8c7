// Memory of all ranks of a group that each of them reads and writes directly, with signals between ranks.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/library/custom_class.h>
#include <c10/core/Allocator.h>
#include <csrc/distributed/store/Store.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace c10d::symmetric_memory {

/// Throws unless 0 <= rank < world_size.
inline void check_rank(int rank, int world_size) {
  TORCH_CHECK(rank >= 0 && rank < world_size, "rank must be in [0, ", world_size, ") (got ", rank, ")");
}

/// One tensor's memory as all ranks of a group have it: from rendezvous().
///
/// Each rank's buffer has a signal pad beside it, 32-bit numbers that are zero unless a signal is on its way. A channel
/// has a number of the pad for each rank, so that signals of different channels do not meet.
class TORCH_API SymmetricMemory : public torch::CustomClassHolder {
 public:
  ~SymmetricMemory() override = default;

  /// Where this process sees the buffers and the pads of all ranks; the forms with _dev are for code on the device.
  virtual std::vector<void*> get_buffer_ptrs() = 0;
  virtual std::vector<void*> get_signal_pad_ptrs() = 0;
  virtual void** get_buffer_ptrs_dev() = 0;
  virtual void** get_signal_pad_ptrs_dev() = 0;
  /// In bytes.
  virtual size_t get_buffer_size() = 0;
  size_t get_signal_pad_size();
  /// Where the tensor of the rendezvous begins in the buffer, in bytes.
  virtual size_t get_offset() = 0;

  virtual bool has_multicast_support() = 0;
  virtual void* get_multicast_ptr() = 0;

  /// A rank's buffer as a tensor, from an element on. It lives as long as this object does.
  at::Tensor get_buffer(int rank, c10::IntArrayRef sizes, c10::ScalarType dtype, int64_t storage_offset);
  /// A rank's pad; all of it where sizes are empty. Without a dtype numbers are UInt32.
  at::Tensor get_signal_pad(
      int rank,
      c10::IntArrayRef sizes,
      std::optional<c10::ScalarType> dtype = std::nullopt,
      int64_t storage_offset = 0);
  /// What `peer` has in place of this rank's tensor.
  at::Tensor get_remote_tensor(int peer, c10::IntArrayRef sizes, c10::ScalarType dtype);

  /// Waits for all other ranks on the channel. With a timeout of 0 only a rank that has died ends the wait.
  virtual void barrier(int channel, size_t timeout_ms) = 0;
  /// Signals a rank, after it has taken the signal before.
  virtual void put_signal(int dst_rank, int channel, size_t timeout_ms) = 0;
  /// Waits for a rank's signal and takes it.
  virtual void wait_signal(int src_rank, int channel, size_t timeout_ms) = 0;

  virtual int get_rank() = 0;
  virtual int get_world_size() = 0;
  virtual c10::Device get_device() = 0;
  /// The ranks of the group by their numbers among all processes.
  virtual const std::vector<int>& get_rank_to_global_rank();
  virtual int* get_rank_to_global_rank_dev();
  /// Whether this rank reads and writes the memory of all others directly.
  virtual bool world_within_direct_access();
};

/// Makes such memory for one type of device. Programs may derive from it.
class SymmetricMemoryAllocator : public c10::intrusive_ptr_target {
 public:
  ~SymmetricMemoryAllocator() override = default;

  virtual void* alloc(size_t size, int device_idx, const std::optional<std::string>& group_name) = 0;
  virtual void free(void* ptr) = 0;
  virtual size_t get_alloc_size(void* ptr) = 0;
  virtual c10::intrusive_ptr<SymmetricMemory> rendezvous(void* ptr, const std::optional<std::string>& group_name) = 0;
  virtual bool has_multicast_support(int device_idx) = 0;
  virtual c10::DeviceType supported_device_type() = 0;
  virtual std::string name() = 0;
  virtual bool has_allocation(void*) {
    return false;
  }
};

/// Whether the process is at its end, where allocators do not free any more.
TORCH_API bool is_finalizing();

/// The allocator of a type of device. That of the CPU is there: memory that processes of one host share.
TORCH_API void register_allocator(c10::DeviceType device_type, c10::intrusive_ptr<SymmetricMemoryAllocator> allocator);
/// One that set_backend() may choose by name for its type of device.
TORCH_API void register_availability(const std::string& name, c10::intrusive_ptr<SymmetricMemoryAllocator> allocator);
TORCH_API bool has_allocator(c10::DeviceType device_type);
/// Throws if there is none.
TORCH_API c10::intrusive_ptr<SymmetricMemoryAllocator> get_allocator(c10::DeviceType device_type);
TORCH_API void set_backend(const std::string& name);
/// The name of the device's allocator.
TORCH_API std::optional<std::string> get_backend(c10::Device device);

/// Names a group of ranks that meet at a store. Groups of processes are known by their names.
TORCH_API void set_group_info(const std::string& group_name, int rank, int world_size, c10::intrusive_ptr<Store> store);

/// Who takes part in a rendezvous.
struct GroupInfo {
  int rank;
  int world_size;
  c10::intrusive_ptr<c10d::Store> store;
};

/// Throws if the name is unknown.
TORCH_API GroupInfo& get_group_info(const std::string& group_name);

/// at::empty_strided in memory for rendezvous(). Allocations with one alloc_id are one memory, which one tensor at a
/// time may have.
TORCH_API at::Tensor empty_strided_p2p(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    c10::ScalarType dtype,
    c10::Device device,
    const std::optional<std::string>& group_name,
    std::optional<uint64_t> alloc_id);
/// All ranks of the group call it, each with its tensor. The same tensor gives the same object again.
TORCH_API c10::intrusive_ptr<SymmetricMemory> rendezvous(
    const at::Tensor& tensor, const std::optional<std::string>& group_name = std::nullopt);
/// Whether the tensor lies in memory for rendezvous().
TORCH_API bool is_symm_mem_tensor(const at::Tensor& tensor);
TORCH_API bool has_multicast_support(c10::DeviceType device_type, int device_idx);

/// The bytes of signal pads. They can be set before the first allocation.
TORCH_API size_t get_signal_pad_size();
TORCH_API void set_signal_pad_size(size_t size);

/// An allocator that memory pools of the device may use.
TORCH_API void register_mempool_allocator(c10::DeviceType device_type, std::shared_ptr<c10::Allocator> allocator);
/// Throws if there is none.
TORCH_API std::shared_ptr<c10::Allocator> get_mempool_allocator(c10::Device device);

} // namespace c10d::symmetric_memory
