// quantized::, tables of embeddings.
#include <aten/Functions.h>
#include <aten/quantized/embedding_params.h>
#include <aten/quantized/operator_table.h>
#include <c10/util/Exception.h>

#include <tuple>

namespace at::quantized {
namespace {

using EmbeddingPtr = c10::intrusive_ptr<EmbeddingPackedParams>;

const auto kEmbeddingClass =
    torch::class_<EmbeddingPackedParams>("quantized", "EmbeddingPackedParamsBase")
        .def_pickle(
            [](const EmbeddingPtr& self) -> EmbeddingPackedParams::State { return self->state(); },
            [](EmbeddingPackedParams::State state) -> EmbeddingPtr {
              TORCH_CHECK(
                  std::get<0>(state) == 1 && std::get<1>(state).size() == 1 && std::get<1>(state)[0].defined(),
                  "EmbeddingPackedParamsBase: the state must have version 1 and a weight, got version ",
                  std::get<0>(state));
              return c10::make_intrusive<EmbeddingPackedParams>(std::get<1>(state)[0]);
            })
        .def("bit_rate", [](const EmbeddingPtr& self) { return self->bits(); })
        .def("unpack", [](const EmbeddingPtr& self) { return self->unpack(); })
        .def("version", [](const EmbeddingPtr&) { return int64_t(1); });

EmbeddingPtr embedding_bag_prepack(const Tensor& weight) {
  return c10::make_intrusive<EmbeddingPackedParams>(weight);
}
Tensor embedding_bag_unpack(const EmbeddingPtr& weight) {
  return weight->unpack();
}

void check_bits(const char* op, const EmbeddingPtr& weight, int64_t bits) {
  TORCH_CHECK(weight->bits() == bits, op, ": expected a weight of ", bits, " bits, got one of ", weight->bits());
}

template <int Bits>
Tensor packed_embedding(const EmbeddingPtr& weight, const Tensor& indices, bool) {
  constexpr const char* kOp = Bits == 8 ? "quantized::embedding_byte" : "quantized::embedding_4bit";
  check_bits(kOp, weight, Bits);
  return weight->embedding(kOp, indices);
}

template <int Bits>
Tensor packed_embedding_bag(
    const EmbeddingPtr& weight,
    const Tensor& indices,
    const std::optional<Tensor>& offsets,
    bool,
    int64_t,
    bool pruned,
    const std::optional<Tensor>& per_sample_weights,
    const std::optional<Tensor>& mapping,
    bool include_last_offset) {
  constexpr const char* kOp = Bits == 8 ? "quantized::embedding_bag_byte" : "quantized::embedding_bag_4bit";
  check_bits(kOp, weight, Bits);
  return weight->embedding_bag(kOp, indices, {offsets, per_sample_weights, mapping, pruned, include_last_offset});
}

template <int Bits>
Tensor bags_of_rows(
    const Tensor& weight,
    const Tensor& indices,
    const std::optional<Tensor>& offsets,
    bool,
    int64_t,
    bool pruned,
    const std::optional<Tensor>& per_sample_weights,
    const std::optional<Tensor>& mapping,
    bool include_last_offset) {
  constexpr const char* kOp = "quantized::embedding_bag_rowwise_offsets";
  TORCH_CHECK(weight.dim() == 2, kOp, ": expected a matrix of rows, got ", weight.sizes());
  const FusedRows rows(kOp, weight, Bits);
  return sum_bags(
      kOp, rows, rows.columns(), indices, {offsets, per_sample_weights, mapping, pruned, include_last_offset});
}

constexpr const char* kPrepackRows = "quantized::embedding_bag_prepack";

Tensor prepack_bytes(const Tensor& weight) {
  return fuse_rows(kPrepackRows, weight, 8, {}, false, 0, 0);
}
Tensor prepack_bytes_between(const Tensor& weight, const Tensor& min_max) {
  return fuse_rows(kPrepackRows, weight, 8, min_max, false, 0, 0);
}
template <int Bits>
Tensor prepack_rows(const Tensor& weight, bool optimized, int64_t bins, double ratio) {
  return fuse_rows(kPrepackRows, weight, Bits, {}, optimized, bins, ratio);
}
template <int Bits>
Tensor prepack_rows_between(const Tensor& weight, const Tensor& min_max, bool optimized, int64_t bins, double ratio) {
  return fuse_rows(kPrepackRows, weight, Bits, min_max, optimized, bins, ratio);
}
template <int Bits>
Tensor unpack_rows(const Tensor& weight) {
  return unfuse_rows("quantized::embedding_bag_unpack", weight, Bits);
}

// ---- table ---------------------------------------------------------------------

using c10::impl::builtin_kernel;

constexpr OperatorRow kEmbeddingRows[] = {
    {"quantized::embedding_bag_prepack", "",
     "embedding_bag_prepack(Tensor weight) -> __torch__.torch.classes.quantized.EmbeddingPackedParamsBase W_prepack",
     builtin_kernel<&embedding_bag_prepack>()},
    {"quantized::embedding_bag_unpack", "",
     "embedding_bag_unpack(__torch__.torch.classes.quantized.EmbeddingPackedParamsBase W_prepack) -> Tensor W_origin",
     builtin_kernel<&embedding_bag_unpack>()},
    {"quantized::embedding_byte", "",
     "embedding_byte(__torch__.torch.classes.quantized.EmbeddingPackedParamsBase weight, Tensor indices, bool "
     "pruned_weights=False) -> Tensor",
     builtin_kernel<&packed_embedding<8>>()},
    {"quantized::embedding_bag_byte", "",
     "embedding_bag_byte(__torch__.torch.classes.quantized.EmbeddingPackedParamsBase weight, Tensor indices, Tensor? "
     "offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? "
     "per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
     builtin_kernel<&packed_embedding_bag<8>>()},
    {"quantized::embedding_4bit", "",
     "embedding_4bit(__torch__.torch.classes.quantized.EmbeddingPackedParamsBase weight, Tensor indices, bool "
     "pruned_weights=False) -> Tensor",
     builtin_kernel<&packed_embedding<4>>()},
    {"quantized::embedding_bag_4bit", "",
     "embedding_bag_4bit(__torch__.torch.classes.quantized.EmbeddingPackedParamsBase weight, Tensor indices, Tensor? "
     "offsets=None, bool scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? "
     "per_sample_weights=None, Tensor? compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
     builtin_kernel<&packed_embedding_bag<4>>()},
    {"quantized::embedding_bag_byte_prepack", "", "embedding_bag_byte_prepack(Tensor weight) -> Tensor",
     builtin_kernel<&prepack_bytes>()},
    {"quantized::embedding_bag_byte_prepack_with_rowwise_min_max", "",
     "embedding_bag_byte_prepack_with_rowwise_min_max(Tensor weight, Tensor rowwise_min_max) -> Tensor",
     builtin_kernel<&prepack_bytes_between>()},
    {"quantized::embedding_bag_byte_unpack", "", "embedding_bag_byte_unpack(Tensor weight) -> Tensor",
     builtin_kernel<&unpack_rows<8>>()},
    {"quantized::embedding_bag_byte_rowwise_offsets", "",
     "embedding_bag_byte_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool "
     "scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? "
     "compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
     builtin_kernel<&bags_of_rows<8>>()},
    {"quantized::embedding_bag_4bit_prepack", "",
     "embedding_bag_4bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float ratio=0.16) -> "
     "Tensor",
     builtin_kernel<&prepack_rows<4>>()},
    {"quantized::embedding_bag_4bit_prepack_with_rowwise_min_max", "",
     "embedding_bag_4bit_prepack_with_rowwise_min_max(Tensor weight, Tensor rowwise_min_max, bool "
     "optimized_qparams=False, int nbins=200, float ratio=0.16) -> Tensor",
     builtin_kernel<&prepack_rows_between<4>>()},
    {"quantized::embedding_bag_4bit_unpack", "", "embedding_bag_4bit_unpack(Tensor weight) -> Tensor",
     builtin_kernel<&unpack_rows<4>>()},
    {"quantized::embedding_bag_4bit_rowwise_offsets", "",
     "embedding_bag_4bit_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool "
     "scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? "
     "compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
     builtin_kernel<&bags_of_rows<4>>()},
    {"quantized::embedding_bag_2bit_prepack", "",
     "embedding_bag_2bit_prepack(Tensor weight, bool optimized_qparams=False, int nbins=200, float ratio=0.16) -> "
     "Tensor",
     builtin_kernel<&prepack_rows<2>>()},
    {"quantized::embedding_bag_2bit_prepack_with_rowwise_min_max", "",
     "embedding_bag_2bit_prepack_with_rowwise_min_max(Tensor weight, Tensor rowwise_min_max, bool "
     "optimized_qparams=False, int nbins=200, float ratio=0.16) -> Tensor",
     builtin_kernel<&prepack_rows_between<2>>()},
    {"quantized::embedding_bag_2bit_unpack", "", "embedding_bag_2bit_unpack(Tensor weight) -> Tensor",
     builtin_kernel<&unpack_rows<2>>()},
    {"quantized::embedding_bag_2bit_rowwise_offsets", "",
     "embedding_bag_2bit_rowwise_offsets(Tensor weight, Tensor indices, Tensor? offsets=None, bool "
     "scale_grad_by_freq=False, int mode=0, bool pruned_weights=False, Tensor? per_sample_weights=None, Tensor? "
     "compressed_indices_mapping=None, bool include_last_offset=False) -> Tensor",
     builtin_kernel<&bags_of_rows<2>>()},
};

constinit OperatorTable kEmbeddingOperators("aten/quantized/embedding_library.cpp", kEmbeddingRows);
const RegisteredTable kEmbeddingRegistered(kEmbeddingOperators);

} // namespace
} // namespace at::quantized
