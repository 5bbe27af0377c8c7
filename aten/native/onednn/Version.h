#pragma once
// The differences between oneDNN 2.x (operation descriptors, static scales) and 3.x, as functions of one form.

#include <dnnl.hpp>

namespace at::native::onednn {

#if DNNL_VERSION_MAJOR >= 3

inline dnnl::matmul::primitive_desc matmul_desc(
    const dnnl::engine& engine, const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& bias,
    const dnnl::memory::desc& c, const dnnl::primitive_attr& attr) {
  return bias ? dnnl::matmul::primitive_desc(engine, a, b, bias, c, attr)
              : dnnl::matmul::primitive_desc(engine, a, b, c, attr);
}

/// Multiplies the product by `alpha` before the other post-operations.
inline void add_scale(dnnl::primitive_attr&, dnnl::post_ops& ops, float alpha) {
  ops.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0f);
}

#else

inline dnnl::matmul::primitive_desc matmul_desc(
    const dnnl::engine& engine, const dnnl::memory::desc& a, const dnnl::memory::desc& b, const dnnl::memory::desc& bias,
    const dnnl::memory::desc& c, const dnnl::primitive_attr& attr) {
  const auto op = bias.is_zero() ? dnnl::matmul::desc(a, b, c) : dnnl::matmul::desc(a, b, bias, c);
  return dnnl::matmul::primitive_desc(op, attr, engine);
}

/// Multiplies the product by `alpha` before the other post-operations.
inline void add_scale(dnnl::primitive_attr& attr, dnnl::post_ops&, float alpha) {
  attr.set_output_scales(0, {alpha});
}

#endif

} // namespace at::native::onednn
