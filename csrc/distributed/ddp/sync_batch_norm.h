// Batch normalization by the statistics of the batches of all ranks.
#pragma once

#include <csrc/distributed/session/init.h>
#include <csrc/nn/modules/batchnorm.h>

namespace torch::nn {

/// As BatchNorm1d to 3d, for input of two and more dimensions; in training, mean and variance are those of all ranks'
/// batches. A rank's batch may be empty. Without a group it is that of all processes.
class TORCH_API SyncBatchNormImpl : public NormImplBase<0, SyncBatchNormImpl, BatchNormOptions> {
 public:
  explicit SyncBatchNormImpl(const BatchNormOptions& options, torch::distributed::GroupPtr process_group = {});

  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

 protected:
  void _check_input_dim(const Tensor& input) override;

 private:
  torch::distributed::GroupPtr process_group_;
};
TORCH_MODULE(SyncBatchNorm);

} // namespace torch::nn

namespace torch::distributed {

/// Has all BatchNorm1d, 2d and 3d in the module, itself too, work as SyncBatchNorm, wherever they are called as
/// `norm(x)` or by a container. They stay the modules that they are, for those who hold them. Without a group it is
/// that of all processes. Returns how many there are.
TORCH_API int64_t convert_sync_batchnorm(nn::Module& module, GroupPtr process_group = {});
template <class Holder, class = std::enable_if_t<!std::is_base_of_v<nn::Module, Holder>>>
int64_t convert_sync_batchnorm(Holder& module, GroupPtr process_group = {}) {
  return convert_sync_batchnorm(static_cast<nn::Module&>(*module), std::move(process_group));
}

} // namespace torch::distributed
