#include "streams.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <utility>

namespace emulated {

namespace {

constexpr int kMostDevices = 8;

struct Node {
  Task task;
  std::vector<std::size_t> after;
  Origin origin;
};
using Nodes = std::vector<Node>;

struct Stream;

struct Capture {
  unsigned long long id;
  cudaStreamCaptureMode mode;
  std::thread::id thread;
  Stream* origin;
  bool invalid = false;
  Nodes nodes;
  std::set<Stream*> streams; // those that take part
};
using CapturePtr = std::shared_ptr<Capture>;

struct Stream {
  int device;
  bool waits_for_default = true;
  int priority = 0;
  WorkPtr last;
  CapturePtr capture;
  std::set<std::size_t> front; // of the capture: what the stream's next node comes after
};

struct Event {
  int device;
  bool timed = true;
  WorkPtr work; // what it marks; null if it was not recorded
  CapturePtr capture; // where it was recorded last, if that was in a capture
  std::set<std::size_t> nodes;
};

struct Executable {
  Nodes nodes;
  WorkPtr last; // launches of one executable come one after the other
};

// Whoever calls into this file holds Schedule::mutex().
std::set<Stream*>& streams() {
  static auto* const all = new std::set<Stream*>();
  return *all;
}
std::set<CapturePtr>& captures() {
  static auto* const all = new std::set<CapturePtr>();
  return *all;
}

thread_local int thread_device = 0;

Stream* made(int device, bool waits_for_default, int priority) {
  auto* const stream = new Stream{device, waits_for_default, priority, nullptr, nullptr, {}};
  streams().insert(stream);
  return stream;
}

Stream& default_stream(int device) {
  static Stream* of_devices[kMostDevices] = {};
  Stream*& stream = of_devices[device];
  return *(stream = stream != nullptr ? stream : made(device, true, 0));
}
bool is_default(const Stream& stream) {
  return &stream == &default_stream(stream.device);
}

Stream& stream_of(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return default_stream(thread_device);
  }
  if (handle == cudaStreamPerThread) {
    static thread_local Stream* of_devices[kMostDevices] = {};
    Stream*& own = of_devices[thread_device];
    return *(own = own != nullptr ? own : made(thread_device, true, 0));
  }
  return *reinterpret_cast<Stream*>(handle);
}

Event& event_of(cudaEvent_t handle) {
  return *reinterpret_cast<Event*>(handle);
}
Nodes& nodes_of(cudaGraph_t handle) {
  return *reinterpret_cast<Nodes*>(handle);
}
Executable& executable_of(cudaGraphExec_t handle) {
  return *reinterpret_cast<Executable*>(handle);
}

cudaError_t invalidate(Capture& capture, cudaError_t error) {
  capture.invalid = true;
  return error;
}

/// What the next work of a stream comes after. The default stream waits for all others that are made so, and they for
/// it.
std::vector<WorkPtr> before_next(const Stream& stream) {
  std::vector<WorkPtr> after = {stream.last};
  if (is_default(stream)) {
    for (const Stream* other : streams()) {
      if (other->waits_for_default && other->device == stream.device) {
        after.push_back(other->last);
      }
    }
  } else if (stream.waits_for_default) {
    after.push_back(default_stream(stream.device).last);
  }
  return after;
}

/// The error of work that the default stream cannot take because a stream that it waits for captures.
cudaError_t implied_by_default(const Stream& stream) {
  if (is_default(stream)) {
    for (const Stream* other : streams()) {
      if (other->waits_for_default && other->device == stream.device && other->capture != nullptr) {
        return invalidate(*other->capture, cudaErrorStreamCaptureImplicit);
      }
    }
  }
  return cudaSuccess;
}

std::size_t add_node(Stream& stream, Task task, Origin origin) {
  Nodes& nodes = stream.capture->nodes;
  nodes.push_back({std::move(task), {stream.front.begin(), stream.front.end()}, origin});
  stream.front = {nodes.size() - 1};
  return nodes.size() - 1;
}

cudaError_t add_work(Stream& stream, Task task, const std::vector<WorkPtr>& more = {}) {
  std::vector<WorkPtr> after = before_next(stream);
  after.insert(after.end(), more.begin(), more.end());
  stream.last = Schedule::get().add(std::move(task), after);
  return state_of_device();
}

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
thread_local cudaError_t last_error = cudaSuccess;

/// What a function of the interface does: with the lock, and with its error kept for cudaGetLastError.
template <class Function>
cudaError_t call(Function f) {
  const std::lock_guard<std::recursive_mutex> lock(Schedule::get().mutex());
  const cudaError_t error = f();
  if (error != cudaSuccess) {
    last_error = error;
  }
  return error;
}

} // namespace

cudaError_t remember(cudaError_t error) {
  return call([=] { return error; });
}

cudaError_t state_of_device() {
  return Schedule::get().failure().empty() ? cudaSuccess : cudaErrorLaunchFailure;
}

cudaError_t enqueue(cudaStream_t handle, Task task, Origin origin) {
  return call([&] {
    Stream& stream = stream_of(handle);
    if (stream.capture != nullptr) {
      if (stream.capture->invalid) {
        return cudaErrorStreamCaptureInvalidated;
      }
      add_node(stream, std::move(task), origin);
      return cudaSuccess;
    }
    const cudaError_t error = implied_by_default(stream);
    return error != cudaSuccess ? error : add_work(stream, std::move(task));
  });
}

int device_count() {
  static const int count = [] {
    const char* const chosen = std::getenv("TENSOR_EMULATOR_DEVICES");
    return chosen != nullptr ? std::clamp(std::atoi(chosen), 1, kMostDevices) : 1;
  }();
  return count;
}

int current_device() {
  return thread_device;
}

cudaError_t enqueue_kernel(cudaStream_t handle, Task task) {
  return call([&] {
    return stream_of(handle).device == thread_device ? enqueue(handle, std::move(task))
                                                     : cudaErrorInvalidResourceHandle;
  });
}

bool is_stream(cudaStream_t handle) {
  const std::lock_guard<std::recursive_mutex> lock(Schedule::get().mutex());
  return streams().count(&stream_of(handle)) != 0;
}

bool is_capturing(cudaStream_t handle) {
  const std::lock_guard<std::recursive_mutex> lock(Schedule::get().mutex());
  return stream_of(handle).capture != nullptr;
}

cudaError_t invalidate_capture(cudaStream_t handle) {
  return call([&] { return invalidate(*stream_of(handle).capture, cudaErrorStreamCaptureUnsupported); });
}

cudaError_t refuse_while_capturing() {
  return call([] {
    cudaError_t error = cudaSuccess;
    for (const CapturePtr& capture : captures()) {
      const bool own = capture->thread == std::this_thread::get_id() && capture->mode != cudaStreamCaptureModeRelaxed;
      const bool everybodys =
          capture->mode == cudaStreamCaptureModeGlobal && thread_mode == cudaStreamCaptureModeGlobal;
      if (thread_mode != cudaStreamCaptureModeRelaxed && (own || everybodys)) {
        error = invalidate(*capture, cudaErrorStreamCaptureUnsupported);
      }
    }
    return error;
  });
}

cudaError_t finish(cudaStream_t handle) {
  return call([&] {
    const Stream& stream = stream_of(handle);
    if (stream.capture != nullptr) {
      return invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
    }
    if (const cudaError_t error = implied_by_default(stream); error != cudaSuccess) {
      return error;
    }
    if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
      return error;
    }
    Schedule::get().finish(before_next(stream));
    return state_of_device();
  });
}

cudaError_t finish_device() {
  return call([] {
    Schedule::get().finish_all();
    return state_of_device();
  });
}

} // namespace emulated

using namespace emulated;

extern "C" {

cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t cudaPeekAtLastError() {
  return last_error;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(thread_mode, *mode);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = device_count();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = thread_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) {
    return remember(cudaErrorInvalidDevice);
  }
  thread_device = device;
  return cudaSuccess;
}
/// The current device's.
cudaError_t cudaDeviceSynchronize() {
  return call([] {
    for (const CapturePtr& capture : captures()) {
      if (capture->origin->device == thread_device) {
        return invalidate(*capture, cudaErrorStreamCaptureUnsupported);
      }
    }
    std::vector<WorkPtr> all;
    for (const Stream* stream : streams()) {
      if (stream->device == thread_device) {
        all.push_back(stream->last);
      }
    }
    Schedule::get().finish(all);
    return state_of_device();
  });
}

// ---- streams
// ---------------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return call([&] {
    *stream = reinterpret_cast<cudaStream_t>(made(thread_device, (flags & cudaStreamNonBlocking) == 0, priority));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}
/// What the stream was asked is still done.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call([&] {
    Stream& stream = stream_of(handle);
    if (stream.capture != nullptr) {
      stream.capture->streams.erase(&stream);
      invalidate(*stream.capture, cudaSuccess);
    }
    if (stream.waits_for_default) {
      WorkPtr& last = default_stream(stream.device).last;
      last = Schedule::get().add(nullptr, {last, stream.last});
    }
    streams().erase(&stream);
    delete &stream;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] {
    *priority = stream_of(stream).priority;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return finish(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call([&] {
    const Stream& stream = stream_of(handle);
    if (stream.capture != nullptr) {
      return invalidate(*stream.capture, cudaErrorStreamCaptureUnsupported);
    }
    if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
      return error;
    }
    bool done = true;
    for (const WorkPtr& work : before_next(stream)) {
      done = Schedule::get().ask(work) && done;
    }
    return done ? state_of_device() : cudaErrorNotReady;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t event_handle, unsigned) {
  return call([&] {
    Stream& stream = stream_of(stream_handle);
    const Event& event = event_of(event_handle);
    if (event.capture == nullptr) {
      if (stream.capture == nullptr) {
        return event.work != nullptr ? add_work(stream, nullptr, {event.work}) : cudaSuccess;
      }
      // Work outside of a graph is nothing to wait for inside.
      return event.work != nullptr ? invalidate(*stream.capture, cudaErrorStreamCaptureIsolation) : cudaSuccess;
    }
    if (event.capture->invalid || captures().count(event.capture) == 0) {
      return stream.capture == event.capture ? cudaErrorStreamCaptureInvalidated : cudaErrorCapturedEvent;
    }
    if (stream.capture == nullptr) {
      if (is_default(stream)) {
        return invalidate(*event.capture, cudaErrorStreamCaptureImplicit);
      }
      stream.capture = event.capture;
      stream.capture->streams.insert(&stream);
    } else if (stream.capture != event.capture) {
      invalidate(*stream.capture, cudaSuccess);
      return invalidate(*event.capture, cudaErrorStreamCaptureMerge);
    }
    stream.front.insert(event.nodes.begin(), event.nodes.end());
    return cudaSuccess;
  });
}

// ---- events
// ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = reinterpret_cast<cudaEvent_t>(
      new Event{thread_device, (flags & cudaEventDisableTiming) == 0, nullptr, nullptr, {}});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] {
    delete &event_of(event);
    return cudaSuccess;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event_handle, cudaStream_t stream_handle) {
  return call([&] {
    Stream& stream = stream_of(stream_handle);
    Event& event = event_of(event_handle);
    if (event.device != stream.device) {
      return cudaErrorInvalidResourceHandle;
    }
    if (stream.capture != nullptr) {
      if (stream.capture->invalid) {
        return cudaErrorStreamCaptureInvalidated;
      }
      event.capture = stream.capture;
      event.nodes = stream.front;
      return cudaSuccess;
    }
    if (const cudaError_t error = implied_by_default(stream); error != cudaSuccess) {
      return error;
    }
    // A mark of its own, so that it can be asked for again.
    event.work = Schedule::get().add(nullptr, before_next(stream));
    stream.last = event.work;
    event.capture = nullptr;
    return state_of_device();
  });
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&] {
    const Event& event = event_of(handle);
    if (event.capture != nullptr) {
      return invalidate(*event.capture, cudaErrorCapturedEvent);
    }
    if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
      return error;
    }
    return Schedule::get().ask(event.work) ? state_of_device() : cudaErrorNotReady;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call([&] {
    const Event& event = event_of(handle);
    if (event.capture != nullptr) {
      return invalidate(*event.capture, cudaErrorCapturedEvent);
    }
    if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) {
      return error;
    }
    Schedule::get().finish({event.work});
    return state_of_device();
  });
}
/// A microsecond for each piece of work.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second) {
  return call([&] {
    const Event &from = event_of(first), &to = event_of(second);
    if (!from.timed || !to.timed || from.work == nullptr || to.work == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    if (from.work->done_at == 0 || to.work->done_at == 0) {
      return cudaErrorNotReady;
    }
    *milliseconds = 1e-3F * (static_cast<float>(to.work->done_at) - static_cast<float>(from.work->done_at));
    return cudaSuccess;
  });
}

// ---- captures
// --------------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call([&] {
    Stream& stream = stream_of(handle);
    if (is_default(stream)) {
      return cudaErrorStreamCaptureUnsupported;
    }
    if (stream.capture != nullptr) {
      return cudaErrorIllegalState;
    }
    static unsigned long long captured = 0;
    stream.capture =
        std::make_shared<Capture>(Capture{++captured, mode, std::this_thread::get_id(), &stream, false, {}, {&stream}});
    stream.front.clear();
    captures().insert(stream.capture);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call([&] {
    *graph = nullptr;
    Stream& stream = stream_of(handle);
    const CapturePtr capture = stream.capture;
    if (capture == nullptr) {
      return cudaErrorIllegalState;
    }
    if (capture->origin != &stream) {
      return invalidate(*capture, cudaErrorStreamCaptureUnmatched);
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id()) {
      return invalidate(*capture, cudaErrorStreamCaptureWrongThread);
    }
    // All that other streams have done must lie before the end.
    std::vector<bool> joined(capture->nodes.size());
    for (const std::size_t node : stream.front) {
      joined[node] = true;
    }
    for (std::size_t node = joined.size(); node-- != 0;) {
      for (const std::size_t other : capture->nodes[node].after) {
        joined[other] = joined[other] || joined[node];
      }
    }
    const bool all_joined = std::all_of(joined.begin(), joined.end(), [](bool j) { return j; });
    for (Stream* other : capture->streams) {
      other->capture = nullptr;
      other->front.clear();
    }
    captures().erase(capture);
    if (capture->invalid || !all_joined) {
      return capture->invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
    }
    *graph = reinterpret_cast<cudaGraph_t>(new Nodes(std::move(capture->nodes)));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t handle,
    cudaStreamCaptureStatus* status,
    unsigned long long* id,
    cudaGraph_t*,
    const cudaGraphNode_t**,
    const cudaGraphEdgeData**,
    std::size_t*) {
  return call([&] {
    const Stream& stream = stream_of(handle);
    if (is_default(stream)) {
      for (const Stream* other : streams()) {
        if (other->waits_for_default && other->device == stream.device && other->capture != nullptr) {
          return cudaErrorStreamCaptureImplicit;
        }
      }
    }
    *status = stream.capture == nullptr ? cudaStreamCaptureStatusNone
        : stream.capture->invalid       ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    if (id != nullptr && stream.capture != nullptr) {
      *id = stream.capture->id;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

// ---- graphs
// ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* count) {
  const Nodes& nodes = nodes_of(graph);
  *count = static_cast<std::size_t>(
      std::count_if(nodes.begin(), nodes.end(), [](const Node& node) { return node.origin == Origin::kProgram; }));
  return cudaSuccess;
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) {
    return remember(cudaErrorOperatingSystem);
  }
  std::fputs("digraph emulated {\n", file);
  const Nodes& nodes = nodes_of(graph);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::fprintf(file, "  node%zu;\n", i);
    for (const std::size_t other : nodes[i].after) {
      std::fprintf(file, "  node%zu -> node%zu;\n", other, i);
    }
  }
  std::fputs("}\n", file);
  std::fclose(file);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &nodes_of(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(new Executable{nodes_of(graph), nullptr});
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return call([&] {
    delete &executable_of(executable);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call([&] {
    Executable& executable = executable_of(handle);
    Stream& stream = stream_of(stream_handle);
    if (stream.capture != nullptr) {
      if (stream.capture->invalid) {
        return cudaErrorStreamCaptureInvalidated;
      }
      // A graph inside a graph.
      Nodes& nodes = stream.capture->nodes;
      const std::size_t first = nodes.size();
      std::set<std::size_t> ends = stream.front;
      for (Node node : executable.nodes) {
        for (std::size_t& other : node.after) {
          other += first;
          ends.erase(other);
        }
        if (node.after.empty()) {
          node.after.assign(stream.front.begin(), stream.front.end());
          for (const std::size_t other : stream.front) {
            ends.erase(other);
          }
        }
        ends.insert(nodes.size());
        nodes.push_back(std::move(node));
      }
      stream.front = std::move(ends);
      return cudaSuccess;
    }
    if (const cudaError_t error = implied_by_default(stream); error != cudaSuccess) {
      return error;
    }
    std::vector<WorkPtr> before = before_next(stream);
    before.push_back(executable.last);
    std::vector<WorkPtr> works;
    for (const Node& node : executable.nodes) {
      std::vector<WorkPtr> after = node.after.empty() ? before : std::vector<WorkPtr>();
      for (const std::size_t other : node.after) {
        after.push_back(works[other]);
      }
      works.push_back(Schedule::get().add(node.task, after));
    }
    works.insert(works.end(), before.begin(), before.end());
    stream.last = executable.last = Schedule::get().add(nullptr, works);
    return state_of_device();
  });
}

} // extern "C"
