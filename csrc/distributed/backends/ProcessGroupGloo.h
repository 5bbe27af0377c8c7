// ProcessGroupGloo: the backend "gloo".
#pragma once

#include <csrc/distributed/backends/ForwardingBackend.h>

#include <memory>
#include <string>
#include <vector>

namespace gloo::transport {
class Device;
} // namespace gloo::transport

namespace c10d {

constexpr const char* GLOO_BACKEND_NAME = "gloo";

/// Whether ranks are connected when they first talk to each other: TORCH_GLOO_LAZY_INIT. Has no effect.
TORCH_API bool getDefaultGlooLazyInit();

/// For CPU tensors. Ranks that share a host meet in shared memory, see ProcessGroupShm; others are connected by the
/// system's Gloo, in a library of its own (libtensor_gloo.so). TENSOR_GLOO=tcp takes Gloo in any case.
class TORCH_API ProcessGroupGloo : public ForwardingBackend {
 public:
  using AsyncWork = ::c10d::Work;
  using SendWork = ::c10d::Work;
  using RecvWork = ::c10d::Work;

  struct TORCH_API Options : Backend::Options {
    explicit Options(std::chrono::milliseconds timeout = kBackendDefaultTimeout);
    c10::intrusive_ptr<Backend::Options> clone() const override {
      return c10::make_intrusive<Options>(*this);
    }
    static c10::intrusive_ptr<Options> create(std::chrono::milliseconds timeout = kBackendDefaultTimeout) {
      return c10::make_intrusive<Options>(timeout);
    }
    /// With the default device.
    static c10::intrusive_ptr<Options> create_default(std::chrono::milliseconds timeout = kBackendDefaultTimeout);

    /// From the functions below, the first one counts; without any that of GLOO_SOCKET_IFNAME or of this host's name.
    std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
    int threads = 2;
  };

  /// The store that the ranks met at, with Gloo's functions.
  class TORCH_API GlooStore {
   public:
    explicit GlooStore(c10::intrusive_ptr<Store> store) : store_(std::move(store)) {}
    virtual ~GlooStore() = default;

    void setUint(const std::string& key, const std::vector<uint8_t>& value) {
      store_->set(key, value);
    }
    std::vector<uint8_t> getUint(const std::string& key) {
      return store_->get(key);
    }
    virtual void set(const std::string& key, const std::vector<char>& value);
    virtual std::vector<char> get(const std::string& key);
    /// Until all keys are there; throws c10::DistStoreError where they are not in time.
    virtual void wait(const std::vector<std::string>& keys);
    virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout);
    virtual bool has_v2_support();
    virtual std::vector<std::vector<char>> multi_get(const std::vector<std::string>& keys);
    virtual void multi_set(const std::vector<std::string>& keys, const std::vector<std::vector<char>>& values);
    virtual void append(const std::string& key, const std::vector<char>& value);
    virtual int64_t add(const std::string& key, int64_t value);
    const c10::intrusive_ptr<Store>& _getStore() const {
      return store_;
    }

   protected:
    c10::intrusive_ptr<Store> store_;
  };

  /// Where Gloo listens: an interface as "eth0", or a name or number of this host.
  static std::shared_ptr<::gloo::transport::Device> createDeviceForInterface(
      const std::string& interface, bool lazyInit = false);
  static std::shared_ptr<::gloo::transport::Device> createDeviceForHostname(
      const std::string& hostname, bool lazyInit = false);
  static std::shared_ptr<::gloo::transport::Device> createDefaultDevice(bool lazyInit = false);

  /// All ranks meet at the store.
  explicit ProcessGroupGloo(
      const c10::intrusive_ptr<Store>& store,
      int rank,
      int size,
      c10::intrusive_ptr<Options> options = Options::create());

  const std::string getBackendName() const override {
    return GLOO_BACKEND_NAME;
  }
  c10::intrusive_ptr<Options> getOptions() {
    return options_;
  }
  c10::intrusive_ptr<Backend::Options> getBackendOptions() override {
    return options_;
  }
  const std::shared_ptr<GlooStore>& _getStore() const {
    return store_;
  }
  int getNumThreads() {
    return options_->threads;
  }
  void setTimeout(std::chrono::milliseconds timeout) override;
  const std::vector<uint64_t>& groupRanks() const;
  c10::intrusive_ptr<Backend> split(
      const c10::intrusive_ptr<Store>& store,
      const std::vector<int>& ranks,
      const c10::intrusive_ptr<Backend::Options>& opts) override;
  c10::intrusive_ptr<Backend> merge(
      const c10::intrusive_ptr<Store>& store,
      const c10::intrusive_ptr<Backend::Options>& opts,
      const int& rank,
      const int& size) override;
  /// Sums of sparse tensors, whose indices may differ.
  c10::intrusive_ptr<Work> allreduce_sparse(std::vector<at::Tensor>& tensors, const AllreduceOptions& opts) override;
  /// Several tensors of one dtype and size count as that many ranks' tensors: all get the reduction of all.
  c10::intrusive_ptr<Work> allreduce(
      std::vector<at::Tensor>& tensors, const AllreduceOptions& opts = AllreduceOptions()) override;
  /// All tensors, of one dtype and size, get the values of that of number rootTensor.
  c10::intrusive_ptr<Work> broadcast(
      std::vector<at::Tensor>& tensors, const BroadcastOptions& opts = BroadcastOptions()) override;
  /// For n inputs of one dtype and size n lists, each with the n tensors of each rank, rank after rank.
  c10::intrusive_ptr<Work> allgather(
      std::vector<std::vector<at::Tensor>>& outputs,
      std::vector<at::Tensor>& inputs,
      const AllgatherOptions& opts = AllgatherOptions()) override;
  /// Returns when all ranks have called it. Else rank 0 throws c10::DistBackendError with the first rank that has not
  /// in time, or with all of them, and the others throw what it says. The group stays usable.
  void monitoredBarrier(const BarrierOptions& opts = BarrierOptions(), bool wait_all_ranks = false) override;

 private:
  const std::shared_ptr<GlooStore> store_;
  const c10::intrusive_ptr<Options> options_;
  mutable std::vector<uint64_t> ranks_;
  uint64_t monitored_barriers_ = 0;
};

/// Devices by interface, or by name.
class TORCH_API GlooDeviceFactory {
 public:
  static std::shared_ptr<::gloo::transport::Device> makeDeviceForInterface(
      const std::string& interface, bool lazyInit) {
    return ProcessGroupGloo::createDeviceForInterface(interface, lazyInit);
  }
  static std::shared_ptr<::gloo::transport::Device> makeDeviceForHostname(const std::string& hostname, bool lazyInit) {
    return ProcessGroupGloo::createDeviceForHostname(hostname, lazyInit);
  }
};

namespace detail {
/// What libtensor_gloo.so makes its engine with.
struct GlooEngineOptions : DistributedBackendOptions {
  std::vector<std::shared_ptr<::gloo::transport::Device>> devices;
};
/// What a device was made for.
struct GlooAddress {
  std::string interface;
  std::string hostname;
};
/// Of a device that the functions above have made; null for one of Gloo's own.
TORCH_API const GlooAddress* gloo_address(const std::shared_ptr<::gloo::transport::Device>& device);
} // namespace detail

} // namespace c10d
