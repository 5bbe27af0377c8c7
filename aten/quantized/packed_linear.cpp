#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/parallel/Parallel.h>
#include <aten/quantized/packed_product.h>
#include <aten/quantized/packed_weight.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace at::native {

// aten/native/cpu/packed_float.cpp and packed_int.cpp for each instruction set.
namespace v2 {
void packed_few_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_quantize_rows(const PackedView&, const float*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_offset_rows(const PackedView&, const uint8_t*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_int_product(
    const PackedView&, const QuantizedRows&, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
} // namespace v2
namespace v3 {
void packed_few_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_quantize_rows(const PackedView&, const float*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_offset_rows(const PackedView&, const uint8_t*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_int_product(
    const PackedView&, const QuantizedRows&, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
} // namespace v3
namespace v4 {
void packed_few_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_rows_product(const PackedView&, const float*, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
void packed_quantize_rows(const PackedView&, const float*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_offset_rows(const PackedView&, const uint8_t*, int64_t, int64_t, int64_t, const QuantizedRows&);
void packed_int_product(
    const PackedView&, const QuantizedRows&, int64_t, int64_t, int64_t, int64_t, const PackedResult&);
} // namespace v4

namespace {

struct PackedKernels {
  decltype(&v2::packed_few_rows_product) few;
  decltype(&v2::packed_rows_product) rows;
  decltype(&v2::packed_quantize_rows) quantize;
  decltype(&v2::packed_offset_rows) offset;
  decltype(&v2::packed_int_product) ints;
};

const PackedKernels& packed_kernels() {
  static constexpr PackedKernels kKernels[] = {
      {v2::packed_few_rows_product, v2::packed_rows_product, v2::packed_quantize_rows, v2::packed_offset_rows,
       v2::packed_int_product},
      {v3::packed_few_rows_product, v3::packed_rows_product, v3::packed_quantize_rows, v3::packed_offset_rows,
       v3::packed_int_product},
      {v4::packed_few_rows_product, v4::packed_rows_product, v4::packed_quantize_rows, v4::packed_offset_rows,
       v4::packed_int_product}};
  return kKernels[cpu_isa_level()];
}

/// The distance between rows of `n` elements of so many bytes: rows that are a large power of two apart would meet in a
/// few sets of the first cache.
int64_t spread_rows(int64_t n, int64_t element_size) {
  constexpr int64_t kLine = 64;
  return n * element_size % (8 * kLine) == 0 ? n + kLine / element_size : n;
}

/// Multiply-adds of a task at least: some microseconds of work.
constexpr int64_t kPackedTaskWork = int64_t(1) << 17;

/// Rows up to which weights are widened for some rows at a time, in registers (measured).
constexpr int64_t kFewRows = 7;

int64_t panels_of_task(const PackedView& w, int64_t rows) {
  return std::max<int64_t>(1, kPackedTaskWork / (kPanelOutputs * std::max<int64_t>(1, w.padded_inputs() * rows)));
}

void product_in_float(const PackedView& w, const float* x, int64_t x_row, int64_t rows, const PackedResult& out) {
  const PackedKernels& kernels = packed_kernels();
  if (rows <= kFewRows) {
    at::parallel_for(0, w.panels(), panels_of_task(w, rows), [&](int64_t begin, int64_t end) {
      kernels.few(w, x, x_row, rows, begin, end, out);
    });
    return;
  }
  constexpr int64_t kTaskRows = 128;
  const int64_t blocks = divup(w.panels(), kTaskPanels), row_blocks = divup(rows, kTaskRows);
  const int64_t grain = divup(panels_of_task(w, std::min(rows, kTaskRows)), kTaskPanels);
  at::parallel_for(0, blocks * row_blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t panel = task / row_blocks * kTaskPanels, row = task % row_blocks * kTaskRows;
      const PackedResult part{out.data + row * out.row_stride, out.row_stride, out.bias};
      kernels.rows(
          w, x + row * x_row, x_row, std::min(kTaskRows, rows - row), panel, std::min(w.panels(), panel + kTaskPanels),
          part);
    }
  });
}

/// Memory for rows as 8-bit codes.
struct CodeRows {
  CodeRows(const PackedView& w, int64_t rows) {
    const auto aligned = [](int64_t bytes) { return divup(bytes, 64) * 64; };
    view.code_stride = spread_rows(w.padded_inputs(), 1);
    const int64_t codes = aligned(rows * view.code_stride * int64_t(sizeof(int16_t)));
    const int64_t factors = aligned(rows * w.groups * int64_t(sizeof(float)));
    memory = at::empty({codes + 2 * factors}, kByte);
    uint8_t* const data = memory.mutable_data_ptr<uint8_t>();
    view.codes = data;
    view.scales = reinterpret_cast<float*>(data + codes);
    view.sums = reinterpret_cast<int32_t*>(data + codes + factors);
  }
  Tensor memory;
  QuantizedRows view{};
};

/// Calls make(begin, end) for ranges of rows.
template <class F>
void for_rows(const PackedView& w, int64_t rows, const F& make) {
  at::parallel_for(0, rows, 1 + (1 << 14) / (w.padded_inputs() + 1), make);
}

void product_of_codes(const PackedView& w, const QuantizedRows& x, int64_t rows, const PackedResult& out) {
  const PackedKernels& kernels = packed_kernels();
  constexpr int64_t kTaskRows = 64;
  const int64_t row_blocks = divup(rows, kTaskRows);
  const int64_t grain = panels_of_task(w, std::min(rows, kTaskRows));
  at::parallel_for(0, w.panels() * row_blocks, grain, [&](int64_t begin, int64_t end) {
    if (row_blocks == 1) {
      return kernels.ints(w, x, 0, rows, begin, end, out);
    }
    for (int64_t task = begin; task < end; ++task) {
      const int64_t panel = task / row_blocks, row = task % row_blocks * kTaskRows;
      kernels.ints(w, x, row, std::min(rows, row + kTaskRows), panel, panel + 1, out);
    }
  });
}

void product_in_int8(const PackedView& w, const float* x, int64_t x_row, int64_t rows, const PackedResult& out) {
  const CodeRows codes(w, rows);
  for_rows(
      w, rows, [&](int64_t begin, int64_t end) { packed_kernels().quantize(w, x, x_row, begin, end, codes.view); });
  product_of_codes(w, codes.view, rows, out);
}

/// Rows as float, with zeros for padded inputs.
Tensor padded_rows(const Tensor& x, const PackedView& w) {
  const int64_t rows = x.numel() / w.inputs, inputs = w.padded_inputs();
  if (rows == 1 && inputs == w.inputs && x.scalar_type() == kFloat) {
    return x.reshape({1, inputs}).contiguous();
  }
  const int64_t stride = rows == 1 ? inputs : spread_rows(inputs, sizeof(float));
  const Tensor result = at::empty({rows, stride}, kFloat);
  result.narrow(1, 0, w.inputs).copy_(x.reshape({rows, w.inputs}));
  if (inputs > w.inputs) {
    result.narrow(1, w.inputs, inputs - w.inputs).zero_();
  }
  return result;
}

} // namespace

Tensor packed_product(const PackedView& w, const Tensor& x, const Tensor& bias, bool int8_activations) {
  const Tensor rows = padded_rows(x, w);
  const Tensor out = at::empty({rows.size(0), w.outputs}, kFloat);
  const PackedResult result{
      out.mutable_data_ptr<float>(), w.outputs, bias.defined() ? bias.const_data_ptr<float>() : nullptr};
  const auto product = int8_activations ? product_in_int8 : product_in_float;
  product(w, rows.const_data_ptr<float>(), rows.stride(0), rows.size(0), result);
  return out;
}

void packed_sums(const PackedView& w, const uint8_t* x, int64_t rows, const int32_t* shifts, float* out) {
  const CodeRows codes(w, rows);
  for_rows(
      w, rows, [&](int64_t begin, int64_t end) { packed_kernels().offset(w, x, w.inputs, begin, end, codes.view); });
  product_of_codes(w, codes.view, rows, PackedResult{out, w.outputs, nullptr, shifts});
}
} // namespace at::native

namespace at::quantized {
namespace {

void check_arguments(
    const Tensor& x, const PackedWeight& weight, const std::optional<Tensor>& bias, Activations activations) {
  TORCH_CHECK(weight.defined(), "packed_linear: the weight is undefined");
  TORCH_CHECK(
      x.device().is_cpu() && (x.scalar_type() == kFloat || x.scalar_type() == kBFloat16 || x.scalar_type() == kHalf),
      "packed_linear: x must be float32, bfloat16 or half on the CPU, got ", x.scalar_type(), " on ", x.device());
  TORCH_CHECK(
      x.dim() >= 1 && x.size(-1) == weight.inputs(), "packed_linear: x ", x.sizes(),
      " and the weight do not fit: the last dimension of x must be ", weight.inputs());
  if (bias.has_value() && bias->defined()) {
    TORCH_CHECK(
        bias->device().is_cpu() && bias->sizes() == IntArrayRef({weight.outputs()}), "packed_linear: bias must be [",
        weight.outputs(), "] on the CPU, got ", bias->sizes(), " on ", bias->device());
  }
  TORCH_CHECK(
      activations == Activations::Float || weight.bits() < 16,
      "packed_linear: activations of 8 bits take a weight of 8 or 4 bits, got one of ", weight.bits());
}

} // namespace

Tensor packed_linear(
    const Tensor& x, const PackedWeight& weight, const std::optional<Tensor>& bias, Activations activations) {
  check_arguments(x, weight, bias, activations);
  const AutoDispatchBelowAutograd not_recorded;
  DimVector sizes(x.sizes());
  sizes.back() = weight.outputs();
  const native::PackedView& w = weight.view();
  const bool has_bias = bias.has_value() && bias->defined();
  if (x.numel() == 0 || w.outputs == 0) {
    Tensor out = at::zeros(sizes, x.options());
    return has_bias ? out.add_(*bias) : out;
  }
  const Tensor added = has_bias ? bias->to(kFloat).contiguous() : Tensor();
  return native::packed_product(w, x.reshape({-1, w.inputs}), added, activations == Activations::Int8)
      .view(sizes)
      .to(x.scalar_type());
}

} // namespace at::quantized
