// Process-wide switches under libtorch's names, and what this build and machine have.
//
// Switches that steer the CPU: deterministicAlgorithms (operators without a deterministic kernel refuse or warn; fresh
// memory is filled), userEnabledMkldnn. The others concern device backends, which read them here.
#pragma once

#include <aten/core/DeprecatedTypeProperties.h>
#include <aten/core/Generator.h>
#include <aten/core/random.h>
#include <aten/detail/AcceleratorHooksInterface.h>
#include <aten/detail/CUDAHooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/QEngine.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace at {

using c10::QEngine;

/// How exact float32 matrix products must be: full precision, or with shorter mantissas where that is faster.
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };

enum class LinalgBackend : int8_t { Default, Cusolver, Magma };
enum class BlasBackend : int8_t { Default, Cublas, Cublaslt, Ck };

/// One switch: any thread may read or set it.
class Switch {
 public:
  constexpr explicit Switch(bool on) : on_(on) {}
  operator bool() const {
    return on_.load(std::memory_order_relaxed);
  }
  void set(bool on) {
    on_.store(on, std::memory_order_relaxed);
  }

 private:
  std::atomic<bool> on_;
};

class TORCH_API Context {
 public:
  Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // ---- devices ---------------------------------------------------------------------
  /// The generator that random operators on a device use by default. Throws when the device has none.
  const Generator& defaultGenerator(Device device);
  /// Throws when the type is not that of an accelerator, or no backend for it is loaded.
  const AcceleratorHooksInterface& getAcceleratorHooksInterface(std::optional<c10::DeviceType> type = std::nullopt);
  /// Which device an address belongs to.
  Device getDeviceFromPtr(void* data, c10::DeviceType device_type);
  bool isPinnedPtr(const void* data, std::optional<c10::DeviceType> device_type = std::nullopt);
  /// Throws when no backend gives pinned memory.
  Allocator* getPinnedMemoryAllocator(std::optional<c10::DeviceType> device_type = std::nullopt);
  /// Makes a device's backend ready. Throws, with the reason, when there is none.
  void lazyInitDevice(c10::DeviceType device_type);
  void lazyInitCUDA() {
    lazyInitDevice(c10::DeviceType::CUDA);
  }
  void lazyInitHIP() {
    lazyInitDevice(c10::DeviceType::HIP);
  }
  void lazyInitXPU() {
    lazyInitDevice(c10::DeviceType::XPU);
  }
  void lazyInitMTIA() {
    lazyInitDevice(c10::DeviceType::MTIA);
  }
  void lazyInitPrivateUse1() {
    lazyInitDevice(c10::DeviceType::PrivateUse1);
  }

  // ---- what there is -----------------------------------------------------------------
  static bool hasOpenMP() {
    return true;
  }
  static bool hasMKL() {
    return false;
  }
  static bool hasMKLDNN() {
    return true;
  }
  static bool hasKleidiAI() {
    return false;
  }
  static bool hasEigenSparse() {
    return false;
  }
  static bool hasMAGMA() {
    return false;
  }
  static bool isXNNPACKAvailable() {
    return false;
  }
  /// Do factorisations and solvers run on the CPU?
  static bool hasLAPACK();
  /// Is there a usable CUDA device? Never throws.
  static bool hasCUDA() {
    return detail::getCUDAHooks().device_count() > 0;
  }
  static bool hasCUDART() {
    return hasCUDA();
  }
  static bool hasCuDNN() {
    return hasCUDA() && detail::getCUDAHooks().has_cudnn();
  }
  static bool hasHIP() {
    return hasDevice(c10::DeviceType::HIP);
  }
  static bool hasMPS() {
    return hasDevice(c10::DeviceType::MPS);
  }
  static bool hasIPU() {
    return hasDevice(c10::DeviceType::IPU);
  }
  static bool hasXLA() {
    return hasDevice(c10::DeviceType::XLA);
  }
  static bool hasXPU() {
    return hasDevice(c10::DeviceType::XPU);
  }
  static bool hasHPU() {
    return hasDevice(c10::DeviceType::HPU);
  }
  static bool hasMTIA() {
    return hasDevice(c10::DeviceType::MTIA);
  }
  static bool hasMAIA() {
    return hasDevice(c10::DeviceType::MAIA);
  }
  static bool hasLazy() {
    return hasDevice(c10::DeviceType::Lazy);
  }

  // ---- determinism -------------------------------------------------------------------
  bool deterministicAlgorithms() const {
    return deterministic_algorithms_;
  }
  bool deterministicAlgorithmsWarnOnly() const {
    return deterministic_warn_only_;
  }
  void setDeterministicAlgorithms(bool on, bool warn_only);
  /// While algorithms must be deterministic: does at::empty fill its memory (NaN, or the largest integer)?
  bool deterministicFillUninitializedMemory() const {
    return deterministic_fill_;
  }
  void setDeterministicFillUninitializedMemory(bool on);
  /// For operators without a deterministic kernel: throws or warns when one is asked for.
  static void alertNotDeterministic(std::string_view caller);

  // ---- precision -----------------------------------------------------------------------
  Float32MatmulPrecision float32MatmulPrecision() const {
    return matmul_precision_.load(std::memory_order_relaxed);
  }
  void setFloat32MatmulPrecision(Float32MatmulPrecision p);
  /// "highest", "high" or "medium". Anything else warns and changes nothing.
  void setFloat32MatmulPrecision(const std::string& s);
  /// TF32 in matrix products: the same setting as float32MatmulPrecision, seen as a yes or no.
  bool allowTF32CuBLAS() const {
    return float32MatmulPrecision() != Float32MatmulPrecision::HIGHEST;
  }
  void setAllowTF32CuBLAS(bool on);
  bool allowTF32CuDNN() const {
    return allow_tf32_cudnn_;
  }
  void setAllowTF32CuDNN(bool on) {
    allow_tf32_cudnn_.set(on);
  }
  bool allowFP16ReductionCuBLAS() const {
    return allow_fp16_reduction_;
  }
  void setAllowFP16ReductionCuBLAS(bool on) {
    allow_fp16_reduction_.set(on);
  }
  bool allowBF16ReductionCuBLAS() const {
    return allow_bf16_reduction_;
  }
  void setAllowBF16ReductionCuBLAS(bool on) {
    allow_bf16_reduction_.set(on);
  }
  bool allowFP16AccumulationCuBLAS() const {
    return allow_fp16_accumulation_;
  }
  void setAllowFP16AccumulationCuBLAS(bool on) {
    allow_fp16_accumulation_.set(on);
  }
  /// Makes the calling thread treat denormal numbers as zero. False when the processor cannot.
  static bool setFlushDenormal(bool on);

  // ---- libraries ---------------------------------------------------------------------------
  /// May CPU operators use oneDNN? Own kernels run without it.
  bool userEnabledMkldnn() const {
    return mkldnn_;
  }
  void setUserEnabledMkldnn(bool on) {
    mkldnn_.set(on);
  }
  bool deterministicMkldnn() const {
    return deterministic_mkldnn_;
  }
  void setDeterministicMkldnn(bool on) {
    deterministic_mkldnn_.set(on);
  }
  bool userEnabledCuDNN() const {
    return cudnn_;
  }
  void setUserEnabledCuDNN(bool on) {
    cudnn_.set(on);
  }
  bool benchmarkCuDNN() const {
    return benchmark_cudnn_;
  }
  void setBenchmarkCuDNN(bool on) {
    benchmark_cudnn_.set(on);
  }
  int benchmarkLimitCuDNN() const {
    return benchmark_limit_cudnn_.load(std::memory_order_relaxed);
  }
  void setBenchmarkLimitCuDNN(int limit) {
    benchmark_limit_cudnn_.store(limit, std::memory_order_relaxed);
  }
  bool deterministicCuDNN() const {
    return deterministic_cudnn_;
  }
  void setDeterministicCuDNN(bool on) {
    deterministic_cudnn_.set(on);
  }
  bool userEnabledNNPACK() const {
    return nnpack_;
  }
  void setUserEnabledNNPACK(bool on) {
    nnpack_.set(on);
  }
  LinalgBackend linalgPreferredBackend() const {
    return linalg_backend_.load(std::memory_order_relaxed);
  }
  void setLinalgPreferredBackend(LinalgBackend b) {
    linalg_backend_.store(b, std::memory_order_relaxed);
  }
  BlasBackend blasPreferredBackend() const {
    return blas_backend_.load(std::memory_order_relaxed);
  }
  void setBlasPreferredBackend(BlasBackend b) {
    blas_backend_.store(b, std::memory_order_relaxed);
  }

  // ---- which attention kernels a backend may choose ------------------------------------------
  bool userEnabledFlashSDP() const {
    return sdp_flash_;
  }
  void setSDPUseFlash(bool on) {
    sdp_flash_.set(on);
  }
  bool userEnabledMemEfficientSDP() const {
    return sdp_mem_efficient_;
  }
  void setSDPUseMemEfficient(bool on) {
    sdp_mem_efficient_.set(on);
  }
  bool userEnabledMathSDP() const {
    return sdp_math_;
  }
  void setSDPUseMath(bool on) {
    sdp_math_.set(on);
  }
  bool userEnabledCuDNNSDP() const {
    return sdp_cudnn_;
  }
  void setSDPUseCuDNN(bool on) {
    sdp_cudnn_.set(on);
  }
  bool userEnabledOverrideableSDP() const {
    return sdp_overrideable_;
  }
  void setSDPUseOverrideable(bool on) {
    sdp_overrideable_.set(on);
  }
  bool allowFP16BF16ReductionMathSDP() const {
    return sdp_reduced_math_;
  }
  void setAllowFP16BF16ReductionMathSDP(bool on) {
    sdp_reduced_math_.set(on);
  }

  // ---- quantized kernels -----------------------------------------------------------------------
  QEngine qEngine() const {
    return QEngine::NoQEngine;
  }
  /// Throws for every engine that is not supported.
  void setQEngine(QEngine e);
  static const std::vector<QEngine>& supportedQEngines();

 private:
  static bool hasDevice(c10::DeviceType type);
  void update_fill();

  Switch deterministic_algorithms_{false};
  Switch deterministic_warn_only_{false};
  Switch deterministic_fill_{true};
  std::atomic<Float32MatmulPrecision> matmul_precision_{Float32MatmulPrecision::HIGHEST};
  Switch allow_tf32_cudnn_{true};
  Switch allow_fp16_reduction_{true};
  Switch allow_bf16_reduction_{true};
  Switch allow_fp16_accumulation_{false};
  Switch mkldnn_{true};
  Switch deterministic_mkldnn_{false};
  Switch cudnn_{true};
  Switch benchmark_cudnn_{false};
  Switch deterministic_cudnn_{false};
  Switch nnpack_{true};
  std::atomic<int> benchmark_limit_cudnn_{10};
  std::atomic<LinalgBackend> linalg_backend_{LinalgBackend::Default};
  std::atomic<BlasBackend> blas_backend_{BlasBackend::Default};
  Switch sdp_flash_{true};
  Switch sdp_mem_efficient_{true};
  Switch sdp_math_{true};
  Switch sdp_cudnn_{true};
  Switch sdp_overrideable_{true};
  Switch sdp_reduced_math_{false};
};

TORCH_API Context& globalContext();

/// Nothing needs initialising: kept for programs that call it.
inline void init() {
  globalContext();
}

TORCH_API Allocator* getCPUAllocator();

inline DeprecatedTypeProperties& getDeprecatedTypeProperties(Backend p, ScalarType s) {
  return globalDeprecatedTypePropertiesRegistry().getDeprecatedTypeProperties(p, s);
}
/// `at::zeros({2}, at::CPU(at::kFloat))`: older spelling of TensorOptions.
inline DeprecatedTypeProperties& CPU(ScalarType s) {
  return getDeprecatedTypeProperties(Backend::CPU, s);
}
inline DeprecatedTypeProperties& CUDA(ScalarType s) {
  return getDeprecatedTypeProperties(Backend::CUDA, s);
}

inline DeprecatedTypeProperties& HIP(ScalarType s) {
  return getDeprecatedTypeProperties(Backend::HIP, s);
}
inline DeprecatedTypeProperties& MPS(ScalarType s) {
  return getDeprecatedTypeProperties(Backend::MPS, s);
}

inline bool hasCUDA() {
  return Context::hasCUDA();
}
inline bool hasHIP() {
  return Context::hasHIP();
}
inline bool hasMPS() {
  return Context::hasMPS();
}
inline bool hasXPU() {
  return Context::hasXPU();
}
inline bool hasXLA() {
  return Context::hasXLA();
}
inline bool hasIPU() {
  return Context::hasIPU();
}
inline bool hasHPU() {
  return Context::hasHPU();
}
inline bool hasMTIA() {
  return Context::hasMTIA();
}
inline bool hasMAIA() {
  return Context::hasMAIA();
}
inline bool hasOpenMP() {
  return Context::hasOpenMP();
}
inline bool hasMKL() {
  return Context::hasMKL();
}
inline bool hasMKLDNN() {
  return Context::hasMKLDNN();
}
inline bool hasLAPACK() {
  return Context::hasLAPACK();
}
inline bool hasMAGMA() {
  return Context::hasMAGMA();
}
inline bool hasEigenSparse() {
  return Context::hasEigenSparse();
}
inline bool hasKleidiAI() {
  return Context::hasKleidiAI();
}

/// Number of usable GPUs.
inline size_t getNumGPUs() {
  return static_cast<size_t>(detail::getCUDAHooks().device_count());
}

/// No TF32 on the calling thread for its life.
struct TORCH_API NoTF32Guard {
  NoTF32Guard();
  NoTF32Guard(const NoTF32Guard&) = delete;
  NoTF32Guard& operator=(const NoTF32Guard&) = delete;
  ~NoTF32Guard();
  static bool should_disable_tf32();

 private:
  bool previous_;
};

namespace detail {
/// Must at::empty fill its memory? One load on the way of each allocation.
extern TORCH_API std::atomic<bool> fill_uninitialized_memory;
} // namespace detail

} // namespace at
