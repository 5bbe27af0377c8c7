#pragma once
// What all oneDNN calls share: engine, streams, and a bounded cache of primitives. Only files of this directory
// include <dnnl.h*>; the differences between oneDNN 2.x and 3.x are kept in Version.h.

#include <aten/native/onednn/Activation.h>
#include <c10/core/Allocator.h>
#include <c10/core/ScalarType.h>

#include <dnnl.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace at::native::onednn {

/// The CPU engine. Never destroyed: primitives in thread-local caches may outlive static destructors.
const dnnl::engine& cpu_engine();

/// The best instruction set that oneDNN may use: LIBTENSOR_CPU_ISA lowers it as it lowers that of our own kernels,
/// unless ONEDNN_MAX_CPU_ISA says otherwise.
dnnl::cpu_isa effective_cpu_isa();

/// The stream of the calling thread.
dnnl::stream& cpu_stream();

/// Keeps oneDNN to this thread while it lives, when primitives are made as when they run. Problems are cut for the
/// library's own threads: oneDNN's OpenMP team waits at barriers, which on a busy machine takes most of the time, and
/// its threads go on spinning for a while after each primitive.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int openmp_before_;
};

dnnl::memory::data_type data_type_of(c10::ScalarType dtype);

/// Applies the function to what has been computed.
void add_activation(dnnl::post_ops& ops, Activation activation);

/// Throws what a failed call of oneDNN means to the operator `op`.
[[noreturn]] TORCH_API void raise(const char* op, const dnnl::error& failure);

/// Attributes that every primitive of the caches is made with: its scratchpad comes from the caller (see Scratchpad).
dnnl::primitive_attr primitive_attributes();

/// Working memory for one run of a primitive that was made with primitive_attributes(). Left to itself, oneDNN keeps
/// one scratchpad for each thread, as large as the primitives made by that thread need, so that a primitive that
/// another thread made would write past its end.
class Scratchpad {
 public:
  explicit Scratchpad(const dnnl::memory::desc& needed);
  explicit operator bool() const {
    return static_cast<bool>(data_);
  }
  const dnnl::memory& memory() const {
    return memory_;
  }

 private:
  c10::DataPtr data_;
  dnnl::memory memory_;
};

/// Identity of a primitive: a kind and all numbers that went into its descriptors (trailing words are zero).
struct PrimitiveKey {
  static constexpr int kWords = 26;
  std::array<int64_t, kWords> words{};
  int used = 0;

  void add(int64_t word) {
    words[used++] = word;
  }
  void add(double number) {
    int64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    add(bits);
  }
  bool operator==(const PrimitiveKey& other) const {
    return used == other.used && std::memcmp(words.data(), other.words.data(), used * sizeof(int64_t)) == 0;
  }
  uint64_t hash() const {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < used; ++i) {
      h = (h ^ static_cast<uint64_t>(words[i])) * 0xff51afd7ed558ccdu, h ^= h >> 32;
    }
    return h;
  }
};

/// Least-recently-used cache shared by all threads, safe to call from each. Holds at most `capacity` values.
template <class Value>
class PrimitiveCache {
 public:
  explicit PrimitiveCache(size_t capacity) : capacity_(capacity) {}

  /// The value of `key`, made by `make()` on a miss. Two threads that miss at once may both make it.
  template <class Make>
  std::shared_ptr<const Value> get(const PrimitiveKey& key, Make&& make) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = index_.find(key);
      if (found != index_.end()) {
        entries_.splice(entries_.begin(), entries_, found->second);
        return found->second->second;
      }
    }
    std::shared_ptr<const Value> made = make();
    std::lock_guard<std::mutex> lock(mutex_);
    const auto [slot, inserted] = index_.try_emplace(key);
    if (!inserted) {
      return slot->second->second;
    }
    entries_.emplace_front(key, made);
    slot->second = entries_.begin();
    if (entries_.size() > capacity_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return made;
  }

  size_t size() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.size();
  }

 private:
  struct Hash {
    size_t operator()(const PrimitiveKey& key) const {
      return key.hash();
    }
  };
  using Entries = std::list<std::pair<PrimitiveKey, std::shared_ptr<const Value>>>;

  const size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<PrimitiveKey, typename Entries::iterator, Hash> index_;
};

} // namespace at::native::onednn
