#include <aten/native/sparse/values.h>

#include <aten/Functions.h>
#include <aten/native/sparse/compressed.h>
#include <aten/native/sparse/coo.h>
#include <aten/native/support/OutArgument.h>
#include <aten/sparse/SparseCsrTensorImpl.h>

namespace at::native {

namespace {

void check_castable(const char* op, const Tensor& target, const Tensor& result) {
  TORCH_CHECK(
      c10::canCast(result.scalar_type(), target.scalar_type()), "result type ", result.scalar_type(),
      " can't be cast to the desired output type ", target.scalar_type(), " (in ", op, ")");
}

} // namespace

Tensor map_values(const char*, const Tensor& self, ValuesMap kind, c10::function_ref<Tensor(const Tensor&)> map) {
  if (is_compressed(self)) {
    return with_compressed_values(self, map(compressed_impl(self)->values()));
  }
  const Tensor input = kind == ValuesMap::Values ? coalesced(self) : self;
  const SparseTensorImpl* impl = get_sparse_impl(input);
  return make_coo(self.sizes(), impl->indices().clone(), map(impl->values()), impl->coalesced());
}

Tensor& map_values_in_place(const char* op, Tensor& self, ValuesMap kind, c10::function_ref<Tensor&(Tensor&)> map) {
  if (is_compressed(self)) {
    Tensor values = compressed_impl(self)->values();
    map(values);
    return self;
  }
  TORCH_CHECK(kind == ValuesMap::Linear || get_sparse_impl(self)->coalesced(), op, " requires coalesced input");
  Tensor values = get_sparse_impl(self)->values();
  map(values);
  return self;
}

Tensor& map_values_out(
    const char* op, const Tensor& self, Tensor& out, ValuesMap kind, c10::function_ref<Tensor(const Tensor&)> map) {
  TORCH_CHECK(
      self.layout() == out.layout(), op, ": expected an out tensor of layout ", self.layout(), ", but got ",
      out.layout());
  TORCH_CHECK(
      !self.is_same(out) || is_compressed(self) || get_sparse_impl(self)->coalesced(),
      "expected coalesced tensor for inplace operation");
  write_sparse(op, out, map_values(op, self, kind, map));
  return out;
}

void refuse_sparse(const char* op, const Tensor& self) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "Could not run 'aten::", op, "' with arguments from the '", self.options().computeDispatchKey(),
      "' backend: it works on strided tensors; convert with to_dense()");
}

void write_sparse(const char* op, Tensor& target, const Tensor& result) {
  check_castable(op, target, result);
  if (target.layout() == kStrided) {
    TORCH_CHECK(
        result.layout() == kStrided, op, ": the result has layout ", result.layout(),
        ", which the given tensor of layout ", target.layout(), " cannot hold");
    resize_output(target, result.sizes());
    target.copy_(result);
    return;
  }
  TORCH_CHECK(
      result.layout() == target.layout(), op, ": the result has layout ", result.layout(),
      ", which the given tensor of layout ", target.layout(), " cannot hold");
  if (is_compressed(target)) {
    const SparseCsrTensorImpl* from = compressed_impl(result);
    compressed_impl(target)->set_member_tensors(
        from->compressed_indices(), from->plain_indices(), from->values().to(target.scalar_type()), result.sizes());
    return;
  }
  const SparseTensorImpl* from = get_sparse_impl(result);
  const Tensor values = from->values().to(target.scalar_type());
  SparseTensorImpl* impl = get_sparse_impl(target);
  impl->raw_resize_(from->sparse_dim(), from->dense_dim(), result.sizes());
  impl->set_indices_and_values_unsafe(from->indices(), values);
  impl->set_coalesced(from->coalesced());
}

} // namespace at::native
