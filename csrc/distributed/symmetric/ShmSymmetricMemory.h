// Symmetric memory of the CPU: each rank's memory is a descriptor that the processes of one host map.
#pragma once

#include <csrc/distributed/symmetric/SymmetricMemory.h>

#include <map>
#include <mutex>

namespace c10d::symmetric_memory {

/// The size of signal pads, which does not change any more.
size_t signal_pad_size_for_good();

/// The allocator of the CPU, by the name "SHM". Ranks are processes of one host.
class ShmSymmetricMemoryAllocator : public SymmetricMemoryAllocator {
 public:
  /// Memory of zeros, behind its signal pad.
  void* alloc(size_t size, int device_idx, const std::optional<std::string>& group_name) override;
  void free(void* ptr) override;
  size_t get_alloc_size(void* ptr) override;
  /// For any address in an allocation. Throws if the ranks are not on one host, or their memory differs in size.
  c10::intrusive_ptr<SymmetricMemory> rendezvous(void* ptr, const std::optional<std::string>& group_name) override;
  bool has_multicast_support(int) override {
    return false;
  }
  c10::DeviceType supported_device_type() override {
    return c10::kCPU;
  }
  std::string name() override {
    return "SHM";
  }
  bool has_allocation(void* ptr) override;

 private:
  class Mapping;
  class Peers;
  class Memory;
  struct Allocation {
    std::shared_ptr<Mapping> mapping;
    std::optional<std::string> group_name;
    std::map<std::string, std::shared_ptr<Peers>> peers; // by group
    std::map<std::pair<std::string, size_t>, c10::intrusive_ptr<SymmetricMemory>> memories; // and by offset
  };

  /// The allocation that has the address; throws if there is none. With the lock held.
  Allocation& allocation_of(void* ptr);
  std::shared_ptr<Peers> meet(const Allocation& allocation, const std::string& group_name, size_t number);

  std::mutex mutex_;
  std::map<char*, Allocation> allocations_; // by the begin of their buffers
  std::map<std::string, size_t> meetings_; // rendezvous so far, by group
};

} // namespace c10d::symmetric_memory
