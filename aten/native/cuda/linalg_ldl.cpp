// LDL factors of symmetric matrices, and solutions by them, through cuSOLVER.
#include <aten/Functions.h>
#include <aten/native/cuda/matrices.h>
#include <aten/native/cuda/pivots.h>
#include <aten/native/cuda/solver.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/DimVector.h>

namespace at::native::cuda {

namespace {

void refuse_hermitian(const char* op, const TensorBase& t, bool hermitian) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !(hermitian && t.is_complex()), op, ": complex tensors with hermitian=True flag are not supported on CUDA.");
}

} // namespace

void linalg_ldl_factor_ex_kernel(
    const TensorBase& self,
    bool hermitian,
    bool check_errors,
    const TensorBase& LD,
    const TensorBase& pivots,
    const TensorBase& info) {
  refuse_hermitian("torch.linalg.ldl_factor", self, hermitian);
  const ResultMemory factors = ResultMemory::by_columns(LD), rows = ResultMemory::by_rows(pivots),
                     infos = ResultMemory::by_rows(info);
  factors.memory().copy_(at::tril(Tensor(self)));
  infos.memory().zero_();
  if (self.numel() != 0) {
    solver::sytrf(factors.memory(), rows.memory(), infos.memory());
  }
  factors.store();
  rows.store();
  infos.store();
  if (check_errors) {
    at::_linalg_check_errors(infos.memory(), "torch.linalg.ldl_factor_ex", self.dim() == 2);
  }
}

void linalg_ldl_solve_kernel(
    const TensorBase& LD, const TensorBase& pivots, const TensorBase& B, bool hermitian, const TensorBase& out) {
  refuse_hermitian("torch.linalg.ldl_solve", LD, hermitian);
  if (out.numel() == 0) {
    return;
  }
  const ResultMemory x = ResultMemory::by_columns(out);
  x.memory().copy_(Tensor(B));
  const IntArrayRef batch = batch_sizes_of(out);
  const int64_t n = LD.size(-1);
  c10::DimVector sizes(batch.begin(), batch.end());
  sizes.push_back(n);
  const Tensor given = Tensor(pivots).expand(sizes).contiguous();
  const Tensor wide = at::empty(sizes, given.options().dtype(kLong));
  launch_widen_ldl_pivots(
      {given.numel() / n,
       n,
       given.const_data_ptr<int>(),
       wide.mutable_data_ptr<int64_t>(),
       {index_error_slot(), "linalg_ldl_solve", "pivots", n},
       c10::cuda::getCurrentCUDAStream().stream()});
  solver::sytrs(copy_by_columns(Tensor(LD), batch), wide, x.memory());
  x.store();
}

} // namespace at::native::cuda
