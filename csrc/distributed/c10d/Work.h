// Work: an operation that a process group has begun.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/ivalue.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

constexpr auto kNoTimeout = std::chrono::milliseconds(0);

namespace c10d {

constexpr const char* const kSeqNumStoreKey = "SEQ_NUM_STORE_KEY";

enum class OpType : std::uint8_t {
  BROADCAST = 0,
  ALLREDUCE = 1,
  ALLREDUCE_COALESCED = 2,
  REDUCE = 3,
  ALLGATHER = 4,
  _ALLGATHER_BASE = 5,
  ALLGATHER_COALESCED = 6,
  GATHER = 7,
  SCATTER = 8,
  REDUCE_SCATTER = 9,
  ALLTOALL_BASE = 10,
  ALLTOALL = 11,
  SEND = 12,
  RECV = 13,
  RECVANYSOURCE = 14,
  BARRIER = 15,
  _REDUCE_SCATTER_BASE = 16,
  COALESCED = 17,
  _ALLREDUCE_SPARSE = 18,
  REDUCE_SCATTER_TENSOR_COALESCED = 19,
  ALLGATHER_INTO_TENSOR_COALESCED = 20,
  UNKNOWN = 100,
};

enum class WorkResult : std::uint8_t {
  SUCCESS = 0,
  TIMEOUT = 1,
  COMM_ERROR = 2,
  UNKNOWN = 100,
};

/// "ALLREDUCE" and so on.
TORCH_API std::string opTypeToString(OpType opType);
/// Whether it is between two ranks.
TORCH_API bool isP2POp(OpType opType, bool batchP2P = false);

/// An operation under way. Backends derive from it and call finish().
class TORCH_API Work : public torch::CustomClassHolder {
 public:
  Work(
      int rank = -1,
      OpType opType = OpType::UNKNOWN,
      const char* profilingTitle = nullptr,
      const std::optional<std::vector<at::Tensor>>& inputTensors = std::nullopt);
  ~Work() override;

  /// Whether it has ended, well or not; does not block.
  virtual bool isCompleted();
  /// Whether it has not failed.
  virtual bool isSuccess() const;
  virtual std::exception_ptr exception() const;
  /// Of a receive from any rank: from which.
  virtual int sourceRank() const;
  virtual std::vector<at::Tensor> result();
  /// Orders what the caller does next behind the operation.
  virtual void synchronize();
  /// Waits for the end, and throws what went wrong. kNoTimeout waits as long as it takes.
  virtual bool wait(std::chrono::milliseconds timeout = kNoTimeout);
  /// Makes the current stream wait.
  virtual void blockCurrentStream();
  virtual void abort();
  /// A future that is complete when the operation is, with its result tensors.
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFuture();
  /// A future of a WorkResult, as a number.
  virtual c10::intrusive_ptr<c10::ivalue::Future> getFutureResult();
  virtual float getDuration() const;
  virtual uint64_t getSequencenumber() const;
  virtual std::chrono::milliseconds getTimeout() const;
  virtual uint64_t getCompletionKey() const;
  OpType retrieveOpType() const;

  /// A work that ends with `future`.
  static c10::intrusive_ptr<Work> create_from_future(const c10::intrusive_ptr<c10::ivalue::Future>& future);

 protected:
  /// Ends the operation and wakes who waits for it.
  void finish(std::exception_ptr exception = nullptr);
  /// The same, and throws the exception if there is one.
  void finishAndThrow(std::exception_ptr exception);

  mutable std::mutex mutex_;
  std::condition_variable cv_;
  bool completed_ = false;
  std::exception_ptr exception_;
  const int rank_;
  OpType opType_;
  std::function<void()> recordFunctionEndCallback_;
};

/// What completion hooks are told of a work.
struct TORCH_API WorkInfo {
  WorkInfo(
      const OpType& opType,
      const uint64_t seq,
      const std::chrono::time_point<std::chrono::steady_clock>& timeStarted,
      const std::chrono::time_point<std::chrono::steady_clock>& timeFinished,
      const std::chrono::duration<float>& activeDuration)
      : opType(opType),
        seq(seq),
        timeStarted(timeStarted),
        timeFinished(timeFinished),
        activeDuration(activeDuration) {}

  OpType opType;
  uint64_t seq;
  std::chrono::time_point<std::chrono::steady_clock> timeStarted;
  std::chrono::time_point<std::chrono::steady_clock> timeFinished;
  std::chrono::duration<float> activeDuration;
};

/// A name for this thread's operations in profiles, in place of their own.
TORCH_API void set_comm_profiling_name(const std::string& name);
TORCH_API const std::string& get_comm_profiling_name();

} // namespace c10d

namespace c10d::detail {
/// Where a backend has no such operation.
[[noreturn]] TORCH_API void unsupported(const std::string& backend, const char* what);
} // namespace c10d::detail
