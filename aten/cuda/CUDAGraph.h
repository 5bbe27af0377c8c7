// Work of a CUDA device, recorded once and started again by one call.
#pragma once

#include <aten/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/macros/Export.h>
#include <c10/util/intrusive_ptr.h>

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

namespace at {

struct CUDAGeneratorState;
struct PhiloxCudaState;

namespace cuda {

using c10::CaptureId_t;
using c10::MempoolId_t;

/// The id of a memory pool that several graphs can share, for capture_begin. Graphs that share one must be replayed in
/// the order of their captures, and none while another runs: they use the same memory.
TORCH_CUDA_CPP_API MempoolId_t graph_pool_handle();

// Note [CUDA graphs]
// Between capture_begin() and capture_end() kernels on the current stream are not run but recorded, with their
// arguments: the addresses of tensors, above all. So a program keeps the tensors it reads and writes, copies new input
// into them and replays. Memory allocated meanwhile comes from a pool of the graph's own, which nobody else is given as
// long as the graph lives; at the end the tensors of the capture may go, their memory stays the graph's.
// - The stream is not the default one. Other streams join by waiting for an event of it, and are waited for at the end.
// - Nothing may wait for the device: no item(), no copies to the host, no operators whose result's size depends on
// values
//   (nonzero, unique, masks as indices). Such calls throw, and the capture is invalid.
// - Work must have run once before, so that libraries have set themselves up.
// - Random numbers go on from replay to replay, see Note [Random numbers in graphs].
// torch::cuda::make_graphed does all this for a function and its backward.

struct TORCH_CUDA_CPP_API CUDAGraph {
  /// With keep_graph the recorded graph stays for raw_cuda_graph(), and is made executable by instantiate() or by the
  /// first replay.
  explicit CUDAGraph(bool keep_graph = false);
  CUDAGraph(const CUDAGraph&) = delete;
  CUDAGraph& operator=(const CUDAGraph&) = delete;
  ~CUDAGraph();

  /// Makes a generator known that the graph may draw from. Those that are drawn from while capturing are known by that.
  void register_generator_state(const Generator& generator);
  void register_generator_state(c10::intrusive_ptr<CUDAGeneratorState> state);

  /// `pool`: (0, 0) for one of its own, graph_pool_handle(), or pool() of another graph. `capture_mode` says which
  /// calls of this or other threads the runtime refuses meanwhile.
  void capture_begin(MempoolId_t pool = {0, 0}, cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal);
  void capture_end();
  void instantiate();
  /// On the current stream.
  void replay();
  /// Gives graph and memory back; the object can capture again.
  void reset();
  MempoolId_t pool();

  /// Keeps the graph for debug_dump.
  void enable_debug_mode();
  /// Writes the graph as a DOT file.
  void debug_dump(const std::string& debug_path);
  cudaGraph_t raw_cuda_graph();
  cudaGraphExec_t raw_cuda_graph_exec();

  /// The graph that the current stream's work is captured into; null if there is none.
  static CUDAGraph* get_currently_capturing_graph();

  /// What a kernel under capture is told of a generator.
  PhiloxCudaState draw(const c10::intrusive_ptr<CUDAGeneratorState>& state, uint64_t increment);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace cuda
} // namespace at
