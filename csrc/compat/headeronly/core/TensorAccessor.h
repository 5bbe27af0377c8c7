#pragma once
#include <aten/core/TensorAccessor.h>

namespace torch::headeronly {
using at::DefaultPtrTraits;
#if defined(__CUDACC__) || defined(__HIPCC__)
using at::RestrictPtrTraits;
#endif
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using HeaderOnlyTensorAccessorBase = at::TensorAccessorBase<T, N, PtrTraits, index_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using HeaderOnlyTensorAccessor = at::TensorAccessor<T, N, PtrTraits, index_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using HeaderOnlyGenericPackedTensorAccessorBase = at::GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using HeaderOnlyGenericPackedTensorAccessor = at::GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
} // namespace torch::headeronly
