// Reductions, and the options of each collective.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/distributed/store/Store.h>

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace c10d {

class Backend;
class ProcessGroup;

/// What a reduction needs beside its kind.
struct TORCH_API _SupplementBase : torch::CustomClassHolder {
  ~_SupplementBase() override = default;
};

/// The factor of PREMUL_SUM: a number, or a tensor of one element.
struct PreMulSumSupplement : _SupplementBase {
  double double_factor{0.0};
  at::Tensor tensor_factor;
  PreMulSumSupplement(double f) : double_factor{f} {}
  PreMulSumSupplement(at::Tensor t) : tensor_factor{std::move(t)} {
    TORCH_CHECK(tensor_factor.numel() == 1, "PREMUL_SUM: the factor must have one element");
  }
};
using NCCLPreMulSumSupplement = PreMulSumSupplement;

/// How values of several ranks become one.
struct TORCH_API ReduceOp : torch::CustomClassHolder {
  enum RedOpType : uint8_t {
    SUM = 0,
    AVG = 1,
    PRODUCT = 2,
    MIN = 3,
    MAX = 4,
    BAND = 5,
    BOR = 6,
    BXOR = 7,
    PREMUL_SUM = 8,
    UNUSED = 9
  };

  ReduceOp() = default;
  /// Any but PREMUL_SUM, for which there is makePreMulSum.
  ReduceOp(RedOpType op) : op_(op) {
    TORCH_INTERNAL_ASSERT(op_ != PREMUL_SUM, "Use c10d::makePreMulSum to create a ReduceOp with PREMUL_SUM");
  }
  ReduceOp(RedOpType op, const c10::intrusive_ptr<_SupplementBase>& optional_supplement)
      : op_(op), supplement_(optional_supplement) {}
  ReduceOp(const ReduceOp& other) = default;
  ReduceOp& operator=(const ReduceOp& other) = default;
  ReduceOp(ReduceOp&& other) = default;
  ReduceOp& operator=(ReduceOp&& other) = default;
  ~ReduceOp() override = default;

  operator RedOpType() const {
    return op_;
  }
  bool operator==(const std::uint8_t other) {
    TORCH_INTERNAL_ASSERT(other < 9, "Invalid other op value");
    return other == op_;
  }
  bool operator==(const ReduceOp::RedOpType other) {
    return *this == static_cast<std::uint8_t>(other);
  }
  bool operator==(const ReduceOp& other) {
    return *this == other.op_;
  }

  RedOpType op_ = SUM;
  c10::intrusive_ptr<_SupplementBase> supplement_;
};

/// The sum of values each of which is multiplied by `factor` first.
template <typename T>
ReduceOp makePreMulSum(const T& factor) {
  ReduceOp rop;
  rop.op_ = ReduceOp::PREMUL_SUM;
  rop.supplement_ = c10::make_intrusive<PreMulSumSupplement>(factor);
  return rop;
}

/// Whether the reduction of complex values is that of their parts.
TORCH_API bool isComplexViewAsRealAllowed(const ReduceOp& reduceOp);

/// The group's own timeout.
constexpr auto kUnsetTimeout = std::chrono::milliseconds(-1);

struct BroadcastOptions {
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllreduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
  std::optional<at::Tensor> sparseIndices = std::nullopt;
};

struct AllreduceCoalescedOptions : AllreduceOptions {};

struct ReduceOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  int64_t rootRank = 0;
  int64_t rootTensor = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllgatherOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct GatherOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct ScatterOptions {
  int64_t rootRank = 0;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct ReduceScatterOptions {
  ReduceOp reduceOp = ReduceOp::SUM;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct AllToAllOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  bool asyncOp = true;
};

struct BarrierOptions {
  std::vector<int64_t> device_ids;
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::optional<at::Device> device;
  bool asyncOp = true;
};

struct DistributedBackendOptions {
  c10::intrusive_ptr<::c10d::Store> store;
  int group_rank;
  int group_size;
  std::chrono::duration<float> timeout;
  std::string group_id;
  std::vector<int64_t> global_ranks_in_group;
  c10::intrusive_ptr<ProcessGroup> process_group;
  c10::intrusive_ptr<Backend> split_from;
  bool enable_reconfigure = false;
};

/// What a backend tells its peers so that they can form a group anew.
using ReconfigureHandle = std::string;

struct ReconfigureOptions {
  int64_t uuid = 0;
  std::variant<std::unordered_set<ReconfigureHandle>, std::vector<ReconfigureHandle>> handles;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  std::unordered_map<std::string, std::string> hints;
};

struct PutOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::unordered_map<std::string, std::string> hints;
};

struct SignalOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::unordered_map<std::string, std::string> hints;
};

struct WaitSignalOptions {
  std::chrono::milliseconds timeout = kUnsetTimeout;
  std::unordered_map<std::string, std::string> hints;
};

} // namespace c10d
