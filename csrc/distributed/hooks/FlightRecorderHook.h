// Records the operations of groups whose backend does not record them itself.
#pragma once

#include <csrc/distributed/c10d/ProcessGroup.h>
#include <csrc/distributed/recorder/FlightRecorder.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace c10d {

/// Whether a backend of this name puts its operations into the flight recorder: all that are part of the library do,
/// but for "fake".
TORCH_API bool recordsFlightRecorderNatively(const std::string& backend);

/// Puts the operations of a group that come through the operators into the flight recorder. They are complete when
/// their works are; when the backend gives up, the record goes to the writer of dump_fr_trace_file.
class TORCH_API FlightRecorderHook : public std::enable_shared_from_this<FlightRecorderHook> {
 public:
  /// Stays attached until remove() is called or the result is destroyed. Operations that go to a backend which records
  /// them itself are left to it. The ranks in the world are kept for programs.
  static std::shared_ptr<FlightRecorderHook> attach(
      c10::intrusive_ptr<ProcessGroup> pg, std::vector<uint64_t> global_ranks = {});
  ~FlightRecorderHook();
  FlightRecorderHook(const FlightRecorderHook&) = delete;
  FlightRecorderHook& operator=(const FlightRecorderHook&) = delete;

  void remove();

 private:
  explicit FlightRecorderHook(c10::intrusive_ptr<ProcessGroup> pg);
  void on_begin(const PreHookArgs& args);
  void on_begun(const PostHookArgs& args);
  int64_t hook_id() const {
    return reinterpret_cast<int64_t>(this);
  }

  c10::intrusive_ptr<ProcessGroup> group_;
  const std::shared_ptr<detail::RecordedGroup> record_; // works that end later keep it
  std::mutex mutex_; // of the two below
  std::map<int64_t, uint64_t> begun_; // numbers of the record, by op_id
  uint64_t number_ = 0;
};

} // namespace c10d
