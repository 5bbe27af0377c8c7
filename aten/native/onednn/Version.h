#pragma once
// The differences between oneDNN 2.x (operation descriptors, static scales) and 3.x, as functions of one form.

#include <dnnl.hpp>

#include <string>
#include <vector>

namespace at::native::onednn {

/// Descriptors of a convolution's operands, and how its windows slide.
struct ConvGeometry {
  dnnl::memory::desc src, weight, bias, dst;
  dnnl::memory::dims strides, dilates, padding_left, padding_right;
  dnnl::prop_kind forward = dnnl::prop_kind::forward_training;
};

#if DNNL_VERSION_MAJOR >= 3

/// The bytes of a descriptor: equal where layouts are.
inline std::string bytes_of(const dnnl::memory::desc& desc) {
  const std::vector<uint8_t> blob = const_cast<dnnl::memory::desc&>(desc).get_blob();
  return {blob.begin(), blob.end()};
}

inline dnnl::matmul::primitive_desc matmul_desc(
    const dnnl::engine& engine,
    const dnnl::memory::desc& a,
    const dnnl::memory::desc& b,
    const dnnl::memory::desc& bias,
    const dnnl::memory::desc& c,
    const dnnl::primitive_attr& attr) {
  return bias ? dnnl::matmul::primitive_desc(engine, a, b, bias, c, attr)
              : dnnl::matmul::primitive_desc(engine, a, b, c, attr);
}

/// Multiplies the product by `alpha` before the other post-operations.
inline void add_scale(dnnl::primitive_attr&, dnnl::post_ops& ops, float alpha) {
  ops.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0.0f);
}

/// Applies a function to what has been computed.
inline void add_eltwise(dnnl::post_ops& ops, dnnl::algorithm function, float alpha) {
  ops.append_eltwise(function, alpha, 0.0f);
}

inline dnnl::convolution_forward::primitive_desc conv_forward_desc(
    const dnnl::engine& engine, const ConvGeometry& g, const dnnl::primitive_attr& attr) {
  return dnnl::convolution_forward::primitive_desc(
      engine, g.forward, dnnl::algorithm::convolution_direct, g.src, g.weight, g.bias, g.dst, g.strides, g.dilates,
      g.padding_left, g.padding_right, attr);
}

inline dnnl::convolution_backward_data::primitive_desc conv_backward_data_desc(
    const dnnl::engine& engine,
    const ConvGeometry& g,
    const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  return dnnl::convolution_backward_data::primitive_desc(
      engine, dnnl::algorithm::convolution_direct, g.src, g.weight, g.dst, g.strides, g.dilates, g.padding_left,
      g.padding_right, forward, attr);
}

inline dnnl::convolution_backward_weights::primitive_desc conv_backward_weights_desc(
    const dnnl::engine& engine,
    const ConvGeometry& g,
    const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  return dnnl::convolution_backward_weights::primitive_desc(
      engine, dnnl::algorithm::convolution_direct, g.src, g.weight, g.dst, g.strides, g.dilates, g.padding_left,
      g.padding_right, forward, attr);
}

#else

/// The bytes of a descriptor: equal where layouts are.
inline std::string bytes_of(const dnnl::memory::desc& desc) {
  return {reinterpret_cast<const char*>(&desc.data), sizeof(desc.data)};
}

inline dnnl::matmul::primitive_desc matmul_desc(
    const dnnl::engine& engine,
    const dnnl::memory::desc& a,
    const dnnl::memory::desc& b,
    const dnnl::memory::desc& bias,
    const dnnl::memory::desc& c,
    const dnnl::primitive_attr& attr) {
  const auto op = bias.is_zero() ? dnnl::matmul::desc(a, b, c) : dnnl::matmul::desc(a, b, bias, c);
  return dnnl::matmul::primitive_desc(op, attr, engine);
}

/// Multiplies the product by `alpha` before the other post-operations.
inline void add_scale(dnnl::primitive_attr& attr, dnnl::post_ops&, float alpha) {
  attr.set_output_scales(0, {alpha});
}

/// Applies a function to what has been computed.
inline void add_eltwise(dnnl::post_ops& ops, dnnl::algorithm function, float alpha) {
  ops.append_eltwise(1.0f, function, alpha, 0.0f);
}

inline dnnl::convolution_forward::primitive_desc conv_forward_desc(
    const dnnl::engine& engine, const ConvGeometry& g, const dnnl::primitive_attr& attr) {
  using Desc = dnnl::convolution_forward::desc;
  const auto kind = g.forward;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const Desc desc = g.bias.is_zero()
      ? Desc(kind, algorithm, g.src, g.weight, g.dst, g.strides, g.dilates, g.padding_left, g.padding_right)
      : Desc(kind, algorithm, g.src, g.weight, g.bias, g.dst, g.strides, g.dilates, g.padding_left, g.padding_right);
  return {desc, attr, engine};
}

inline dnnl::convolution_backward_data::primitive_desc conv_backward_data_desc(
    const dnnl::engine& engine,
    const ConvGeometry& g,
    const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  const dnnl::convolution_backward_data::desc desc(
      dnnl::algorithm::convolution_direct, g.src, g.weight, g.dst, g.strides, g.dilates, g.padding_left,
      g.padding_right);
  return {desc, attr, engine, forward};
}

inline dnnl::convolution_backward_weights::primitive_desc conv_backward_weights_desc(
    const dnnl::engine& engine,
    const ConvGeometry& g,
    const dnnl::convolution_forward::primitive_desc& forward,
    const dnnl::primitive_attr& attr) {
  const dnnl::convolution_backward_weights::desc desc(
      dnnl::algorithm::convolution_direct, g.src, g.weight, g.dst, g.strides, g.dilates, g.padding_left,
      g.padding_right);
  return {desc, attr, engine, forward};
}

#endif

} // namespace at::native::onednn
