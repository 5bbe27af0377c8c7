// Windows: memory that other ranks write to.
#pragma once

#include <csrc/distributed/c10d/Types.h>
#include <csrc/distributed/c10d/Work.h>

namespace c10d {

enum class WindowAccessType : uint8_t {
  UNIFIED = 0,
  SEPARATE = 1,
};

struct WindowAttr {
  WindowAccessType access_type = WindowAccessType::UNIFIED;
};

/// The interface of windows; each method refuses unless a backend overrides it.
class TORCH_API Window : public torch::CustomClassHolder {
 public:
  ~Window() override = default;
  virtual void tensor_register(const at::Tensor& tensor, bool owning = true);
  virtual void tensor_deregister();
  /// Writes into the window of `dstRank`, at an offset in elements.
  virtual c10::intrusive_ptr<Work> put(
      const at::Tensor& tensor,
      int64_t dstRank,
      int64_t targetOffsetNelems,
      bool asyncOp,
      const PutOptions& opts = PutOptions());
  virtual at::Tensor map_remote_tensor(int64_t rank);
  virtual c10::intrusive_ptr<Work> signal(int64_t peerRank, bool asyncOp, const SignalOptions& opts = SignalOptions());
  virtual c10::intrusive_ptr<Work> wait_signal(
      int64_t peerRank, bool asyncOp, const WaitSignalOptions& opts = WaitSignalOptions());
  virtual WindowAttr get_attr(int64_t peerRank);
};

} // namespace c10d
