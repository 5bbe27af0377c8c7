// An operation on a stream of NCCL, and who watches over those that are under way.
#pragma once

#include <csrc/distributed/backends/PeerWatch.h>
#include <csrc/distributed/c10d/Backend.h>
#include <csrc/distributed/plugins/nccl/NcclCommunicator.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <deque>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace c10d::detail {

class NcclWatch;

/// Its tensors live until it is over on the device.
class NcclWork : public Work {
 public:
  NcclWork(
      std::shared_ptr<NcclWatch> watch,
      OpType type,
      const char* title,
      std::vector<at::Tensor> inputs,
      std::vector<at::Tensor> outputs,
      std::shared_ptr<NcclCommunicator> communicator,
      std::chrono::milliseconds timeout,
      bool blocks_host);

  bool isCompleted() override;
  /// Makes the current stream wait for the operation; with a time limit, or where it is a barrier, the host.
  bool wait(std::chrono::milliseconds timeout = kNoTimeout) override;
  void synchronize() override;
  void blockCurrentStream() override {
    synchronize();
  }
  void abort() override;
  std::vector<at::Tensor> result() override {
    return outputs_;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    return future_;
  }
  uint64_t getSequencenumber() const override {
    return number_;
  }
  std::chrono::milliseconds getTimeout() const override {
    return timeout_;
  }

  /// The stream waits for what the caller's has so far.
  void begin(uint64_t number);
  /// All of it is in the stream: the future is complete, for those that wait on streams.
  void launched();
  void add(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& outputs);
  c10::cuda::CUDAStream stream() const {
    return communicator_->stream();
  }
  /// "allreduce number 3 in group 0".
  std::string describe() const;

 private:
  friend class NcclWatch;
  bool done_on_device() const;
  void end(std::exception_ptr error) noexcept;
  void wait_on_host(std::chrono::milliseconds timeout);
  void throw_if_failed();

  std::shared_ptr<NcclWatch> watch_;
  std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
  std::shared_ptr<NcclCommunicator> communicator_;
  const std::chrono::milliseconds timeout_;
  const bool blocks_host_;
  uint64_t record_;
  uint64_t number_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  c10::cuda::CUDAEvent ready_;
  c10::cuda::CUDAEvent end_;
  std::atomic<bool> launched_{false};
  std::atomic<bool> failing_{false}; // will end with an error
  std::atomic<bool> ended_{false};
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Looks at what is under way from a thread of its own. What is late, what NCCL reports, and ranks that are lost end
/// all operations of the group with a c10::DistBackendError, and abort its communicators, so that no stream waits for
/// ever.
class NcclWatch : public std::enable_shared_from_this<NcclWatch> {
 public:
  NcclWatch(const c10::intrusive_ptr<Store>& store, int rank, int size, const Backend::Options& options);
  void start();
  /// Waits until what is under way is over, and leaves the group.
  void stop();

  void enqueue(const c10::intrusive_ptr<NcclWork>& work);
  void add_communicator(const std::shared_ptr<NcclCommunicator>& communicator);
  /// What this rank is doing, for the messages of others.
  void set_state(const std::string& state, bool waiting) {
    peers_->set_state(state, waiting);
  }
  /// Ends everything with an error that has this reason.
  void fail(const std::string& reason, const NcclWork* because = nullptr);
  std::string failure() const;
  /// Throws if the group has failed or has been shut down.
  void check_usable(const char* what) const;
  /// Waits until what is under way is over.
  void wait_for_all();

  RecordedGroup& record() {
    return record_;
  }
  int rank() const {
    return rank_;
  }
  const std::string& group() const {
    return group_;
  }

 private:
  void serve();
  void look();

  const std::string group_;
  const int rank_;
  RecordedGroup record_;
  std::unique_ptr<PeerWatch> peers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<c10::intrusive_ptr<NcclWork>> under_way_;
  std::vector<std::shared_ptr<NcclCommunicator>> communicators_;
  std::string failure_;
  bool stopping_ = false;
  std::thread thread_;
};

} // namespace c10d::detail
