// c10d::Logger: what a program can ask of a Reducer.
#pragma once

#include <csrc/distributed/ddp/reducer.h>
#include <csrc/distributed/recorder/event_logger.h>

#include <map>
#include <memory>
#include <string>

namespace c10 {
/// Facts by name.
struct TORCH_API DDPLoggingData {
  std::map<std::string, std::string> strs_map;
  std::map<std::string, int64_t> ints_map;
};
} // namespace c10

namespace c10d {

/// How far a group has come, for programs that keep such records; -1: none yet.
struct ProcessGroupStatus {
  int64_t lastEnqueuedSeq = -1;
  int64_t lastStartedSeq = -1;
  int64_t lastCompletedSeq = -1;
  std::string lastEnqueuedWorkName;
  std::string lastStartedWorkName;
  std::string lastCompletedWorkName;
  size_t lastEnqueuedNumelIn = 0;
  size_t lastEnqueuedNumelOut = 0;
  size_t lastCompletedNumelIn = 0;
  size_t lastCompletedNumelOut = 0;
  size_t lastStartedNumelIn = 0;
  size_t lastStartedNumelOut = 0;
};

/// Nothing is sent or written anywhere.
class TORCH_API Logger {
 public:
  explicit Logger(std::shared_ptr<c10d::Reducer> reducer);

  void set_construction_data_and_log(
      const std::string& module_name,
      const std::vector<int>& device_ids,
      int output_device,
      bool broadcast_buffers,
      bool has_sync_bn,
      bool static_graph);
  void set_static_graph();
  /// Names are libtorch's: "world_size", "bucket_sizes", "num_iterations" and so on.
  c10::DDPLoggingData get_ddp_logging_data();
  std::vector<int64_t> get_bucket_sizes();
  std::vector<std::vector<size_t>> get_per_bucket_variable_indices();
  void set_comm_hook(const std::string& hook);
  void set_uneven_input_join();
  template <typename... Args>
  void set_error_and_log(const std::string& ddp_error, const Args&... args) {
    data_.ints_map["has_error"] = 1;
    data_.strs_map["error"] = c10::str(ddp_error, args...);
  }

 private:
  std::shared_ptr<c10d::Reducer> reducer_;
  c10::DDPLoggingData data_;
};

} // namespace c10d
