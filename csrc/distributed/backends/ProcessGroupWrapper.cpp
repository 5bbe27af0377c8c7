// ProcessGroupWrapper: each rank's description of its call to all.
#include <csrc/distributed/backends/ProcessGroupWrapper.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <cstring>

namespace c10d {

ProcessGroupWrapper::ProcessGroupWrapper(
    const c10::intrusive_ptr<Backend>& backend, c10::intrusive_ptr<Backend> glooBackend)
    : ForwardingBackend(backend->getRank(), backend->getSize(), backend), checker_(std::move(glooBackend)) {
  TORCH_CHECK_VALUE(
      checker_ && checker_->getRank() == rank_ && checker_->getSize() == size_,
      "ProcessGroupWrapper: both backends must be of the same ranks");
  init();
}

void ProcessGroupWrapper::before(OpType type, const std::vector<at::Tensor>& tensors) {
  std::string mine = c10::str(opTypeToString(type), " number ", ++number_);
  for (const auto& tensor : tensors) {
    mine += tensor.defined() ? c10::str(" ", tensor.sizes(), " ", tensor.scalar_type(), " ", tensor.device().type())
                             : std::string(" undefined");
  }
  // Descriptions of one length on all ranks, whatever the tensors are.
  constexpr size_t longest = 512;
  at::Tensor text = at::zeros({static_cast<int64_t>(longest)}, at::kByte);
  std::memcpy(text.data_ptr(), mine.data(), std::min(mine.size(), longest - 1));
  at::Tensor all = at::empty({size_, static_cast<int64_t>(longest)}, at::kByte);
  checker_->all_gather_single(all, text)->wait();
  const auto* texts = static_cast<const char*>(all.data_ptr());
  const std::string own(static_cast<const char*>(text.data_ptr()));
  for (int rank = 0; rank < size_; ++rank) {
    const std::string other(texts + rank * longest);
    TORCH_CHECK(
        other == own, "Detected mismatch between collectives on ranks. Rank ", rank_, " is running collective: ", own,
        ", but Rank ", rank, " is running collective: ", other, ".");
  }
}

} // namespace c10d
