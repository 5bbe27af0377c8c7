#include <aten/native/onednn/quantized_conv.h>

#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>
#include <aten/core/TensorOperators.h>
#include <aten/parallel/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace at::native::onednn {

using dnnl::memory;
using quantized::ImageAxis;

#if DNNL_VERSION_MAJOR == 2

struct BytePrimitive {
  std::vector<int64_t> key;
  dnnl::convolution_forward primitive; // null: there is no kernel
  memory::desc src, dst, scratchpad;
  memory weight;
  Tensor bias; // as it is added to sums; undefined where there is none
};

/// A range of images, or of the outputs of one image along its first dimension.
struct BytePart {
  int64_t batch;
  std::array<ImageAxis, 3> axes;
  std::array<int64_t, 3> padding_right;
  const uint8_t* src;
  uint8_t* dst;
};

/// Primitives are made for this.
struct ByteProblem {
  const QuantizedConvolution::Call& call;
  const Tensor &weight, &scales, &bias;
  int64_t spatial_dims;

  /// What a step of the sums of an output stands for.
  Tensor sum_scales() const {
    return (scales * static_cast<double>(static_cast<float>(call.src_scale))).expand({outputs()}).contiguous();
  }
  int64_t groups() const {
    return weight.size(0);
  }
  int64_t inputs() const {
    return groups() * weight.size(5);
  }
  int64_t outputs() const {
    return groups() * weight.size(1);
  }
  /// `lead`, then the spatial sizes.
  template <class F>
  memory::dims sizes(memory::dims lead, const F& size_of) const {
    for (int64_t d = 3 - spatial_dims; d < 3; ++d) {
      lead.push_back(size_of(static_cast<size_t>(d)));
    }
    return lead;
  }
  memory::desc images(
      int64_t batch, int64_t channels, const std::array<ImageAxis, 3>& axes, int64_t ImageAxis::*size) const {
    return {
        sizes({batch, channels}, [&](size_t d) { return axes[d].*size; }), memory::data_type::u8,
        spatial_dims == 2 ? memory::format_tag::nhwc : memory::format_tag::ndhwc};
  }
  memory::dims weight_sizes() const {
    memory::dims lead{weight.size(1), weight.size(5)};
    if (groups() > 1) {
      lead.insert(lead.begin(), groups());
    }
    return sizes(std::move(lead), [&](size_t d) { return weight.size(static_cast<int64_t>(d) + 2); });
  }
  memory::dims weight_strides() const {
    memory::dims lead{weight.stride(1), weight.stride(5)};
    if (groups() > 1) {
      lead.insert(lead.begin(), weight.stride(0));
    }
    return sizes(std::move(lead), [&](size_t d) { return weight.stride(static_cast<int64_t>(d) + 2); });
  }
};

struct QuantizedConvolution::Cache {
  static constexpr size_t kMost = 16;
  std::mutex mutex;
  std::vector<std::shared_ptr<const BytePrimitive>> primitives;

  std::shared_ptr<const BytePrimitive> get(const ByteProblem& p, const BytePart& part);
};

namespace {

std::vector<int64_t> key_of(const QuantizedConvolution::Call& call, const BytePart& part) {
  PrimitiveKey numbers;
  numbers.add(call.src_scale);
  numbers.add(call.dst_scale);
  std::vector<int64_t> key(numbers.words.begin(), numbers.words.begin() + numbers.used);
  key.insert(key.end(), {call.src_zero, call.dst_zero, int64_t(call.relu), part.batch});
  for (size_t d = 0; d < 3; ++d) {
    const ImageAxis& a = part.axes[d];
    key.insert(key.end(), {a.in, a.out, a.stride, a.padding, a.dilation, part.padding_right[d]});
  }
  return key;
}

memory reordered(const ByteProblem& p, const memory::desc& wanted) {
  const memory::desc desc(p.weight_sizes(), memory::data_type::s8, p.weight_strides());
  memory given(desc, cpu_engine(), const_cast<void*>(p.weight.const_data_ptr()));
  memory result(wanted, cpu_engine());
  dnnl::reorder(given, result).execute(cpu_stream(), given, result);
  cpu_stream().wait();
  return result;
}

dnnl::primitive_attr attributes_of(const ByteProblem& p) {
  const QuantizedConvolution::Call& call = p.call;
  dnnl::primitive_attr attr = primitive_attributes();
  // In the order of IntegerMatrix::requantize.
  const Tensor factors = p.sum_scales() / static_cast<double>(static_cast<float>(call.dst_scale));
  const float* const first = factors.const_data_ptr<float>();
  attr.set_output_scales(1 << 1, std::vector<float>(first, first + p.outputs()));
  if (call.src_zero != 0) {
    attr.set_zero_points(DNNL_ARG_SRC, 0, {static_cast<int32_t>(call.src_zero)});
  }
  if (call.dst_zero != 0) {
    attr.set_zero_points(DNNL_ARG_DST, 0, {static_cast<int32_t>(call.dst_zero)});
  }
  if (call.relu) {
    dnnl::post_ops ops;
    ops.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attr.set_post_ops(ops);
  }
  return attr;
}

// The matrix-tile (AMX) kernels of oneDNN 2.6 go wrong for images with a zero point that are padded, but not along the
// width, or of three dimensions: they compute other numbers, and write beyond their scratchpad. Asking for the kernels
// behind these crashes there as well, so the caller's own products serve.
bool is_broken(const ByteProblem& p, const BytePart& part, std::string_view kernel) {
  const auto is_padded = [&](size_t d) { return part.axes[d].padding > 0 || part.padding_right[d] > 0; };
  const bool is_padded_beside_width = is_padded(0) || is_padded(1);
  return p.call.src_zero != 0 && is_padded_beside_width && (p.spatial_dims == 3 || !is_padded(2)) &&
      kernel.find("amx") != std::string_view::npos;
}

} // namespace

// Made under a lock: a primitive takes milliseconds, and threads would all make the same.
std::shared_ptr<const BytePrimitive> QuantizedConvolution::Cache::get(const ByteProblem& p, const BytePart& part) {
  std::vector<int64_t> key = key_of(p.call, part);
  const std::lock_guard<std::mutex> lock(mutex);
  for (const auto& found : primitives) {
    if (found->key == key) {
      return found;
    }
  }
  auto made = std::make_shared<BytePrimitive>();
  made->key = std::move(key);
  made->src = p.images(part.batch, p.inputs(), part.axes, &ImageAxis::in);
  made->dst = p.images(part.batch, p.outputs(), part.axes, &ImageAxis::out);
  ConvGeometry g;
  g.forward = dnnl::prop_kind::forward_inference;
  g.src = made->src;
  g.dst = made->dst;
  g.weight = memory::desc(p.weight_sizes(), memory::data_type::s8, memory::format_tag::any);
  if (p.bias.defined()) {
    made->bias = p.bias / p.sum_scales();
    g.bias = memory::desc({p.outputs()}, memory::data_type::f32, memory::format_tag::a);
  }
  g.strides = p.sizes({}, [&](size_t d) { return part.axes[d].stride; });
  g.dilates = p.sizes({}, [&](size_t d) { return part.axes[d].dilation - 1; });
  g.padding_left = p.sizes({}, [&](size_t d) { return part.axes[d].padding; });
  g.padding_right = p.sizes({}, [&](size_t d) { return part.padding_right[d]; });
  try {
    const auto desc = conv_forward_desc(cpu_engine(), g, attributes_of(p));
    const std::string_view kernel = desc.impl_info_str();
    if (kernel.find("ref") == std::string_view::npos && !is_broken(p, part, kernel)) {
      made->scratchpad = desc.scratchpad_desc();
      const memory::desc wanted = desc.weights_desc();
      for (const auto& other : primitives) {
        if (other->primitive && other->weight.get_desc() == wanted) {
          made->weight = other->weight;
        }
      }
      if (!made->weight) {
        made->weight = reordered(p, wanted);
      }
      made->primitive = dnnl::convolution_forward(desc);
    }
  } catch (const dnnl::error&) {
    // no kernel for these sizes
  }
  if (primitives.size() == kMost) {
    primitives.erase(primitives.begin());
  }
  primitives.push_back(made);
  return made;
}

namespace {

void run_part(const BytePrimitive& found, const BytePart& part) {
  std::unordered_map<int, memory> args{
      {DNNL_ARG_SRC, memory(found.src, cpu_engine(), const_cast<uint8_t*>(part.src))},
      {DNNL_ARG_WEIGHTS, found.weight},
      {DNNL_ARG_DST, memory(found.dst, cpu_engine(), part.dst)}};
  if (found.bias.defined()) {
    const memory::desc desc({found.bias.numel()}, memory::data_type::f32, memory::format_tag::a);
    args.emplace(DNNL_ARG_BIAS, memory(desc, cpu_engine(), const_cast<void*>(found.bias.const_data_ptr())));
  }
  const Scratchpad scratchpad(found.scratchpad);
  if (scratchpad) {
    args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
  }
  found.primitive.execute(cpu_stream(), args);
  cpu_stream().wait();
}

int64_t right_padding(const ImageAxis& a) {
  return (a.out - 1) * a.stride + a.dilation * (a.kernel - 1) + 1 - a.in - a.padding;
}

/// Parts for the library's threads: images, or rows of a single one.
std::vector<BytePart> parts_of(const ByteProblem& p) {
  const QuantizedConvolution::Call& call = p.call;
  BytePart whole{call.batch, {call.axes[0], call.axes[1], call.axes[2]}, {}, call.src, call.dst};
  int64_t src_size = p.inputs(), dst_size = p.outputs();
  for (size_t d = 0; d < 3; ++d) {
    whole.padding_right[d] = right_padding(whole.axes[d]);
    src_size *= whole.axes[d].in;
    dst_size *= whole.axes[d].out;
  }
  constexpr int64_t kLeastWork = int64_t(1) << 20; // multiply-adds that are worth a task
  const int64_t work = dst_size / std::max<int64_t>(1, p.groups()) * p.weight[0][0].numel() * call.batch;
  const int64_t threads = at::in_parallel_region() ? 1 : std::min<int64_t>(at::get_num_threads(), work / kLeastWork);
  const auto first = static_cast<size_t>(3 - p.spatial_dims); // the dimension that is cut
  const ImageAxis& axis = whole.axes[first];
  std::vector<BytePart> parts;
  if (threads <= 1) {
    return {whole};
  }
  if (call.batch > 1) {
    const int64_t step = at::divup(call.batch, threads);
    for (int64_t image = 0; image < call.batch; image += step) {
      BytePart part = whole;
      part.batch = std::min(step, call.batch - image);
      part.src += image * src_size;
      part.dst += image * dst_size;
      parts.push_back(part);
    }
    return parts;
  }
  const int64_t step = at::divup(axis.out, threads), src_row = src_size / axis.in, dst_row = dst_size / axis.out;
  for (int64_t row = 0; row < axis.out; row += step) {
    BytePart part = whole;
    ImageAxis& own = part.axes[first];
    own.out = std::min(step, axis.out - row);
    const int64_t begin = row * axis.stride - axis.padding;
    const int64_t end = begin + (own.out - 1) * axis.stride + axis.dilation * (axis.kernel - 1) + 1;
    const int64_t first_in = std::max<int64_t>(0, begin), last_in = std::min(axis.in, end);
    if (first_in >= last_in) {
      return {whole}; // a part of nothing but padding
    }
    own.in = last_in - first_in;
    own.padding = first_in - begin;
    part.padding_right[first] = right_padding(own);
    part.src += first_in * src_row;
    part.dst += row * dst_row;
    parts.push_back(part);
  }
  return parts;
}

} // namespace

bool QuantizedConvolution::available() {
  static const bool found = [] {
    constexpr auto kVnni = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_vnni);
    return (static_cast<unsigned>(effective_cpu_isa()) & kVnni) == kVnni;
  }();
  return found;
}

bool QuantizedConvolution::run(const Call& call) const try {
  const OneThread one_thread;
  const ByteProblem problem{call, weight_, scales_, bias_, spatial_dims_};
  const std::vector<BytePart> parts = parts_of(problem);
  std::vector<std::shared_ptr<const BytePrimitive>> primitives;
  for (const BytePart& part : parts) {
    primitives.push_back(cache_->get(problem, part));
    if (!primitives.back()->primitive) {
      return false;
    }
  }
  if (parts.size() == 1) {
    run_part(*primitives[0], parts[0]);
    return true;
  }
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    const OneThread own_thread;
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      run_part(*primitives[i], parts[i]);
    }
  });
  return true;
} catch (const dnnl::error& failure) {
  raise("quantized::conv", failure);
}

#else

// Scales and zero points of version 3 are arguments; the caller has kernels of its own.
struct QuantizedConvolution::Cache {};
bool QuantizedConvolution::available() {
  return false;
}
bool QuantizedConvolution::run(const Call&) const {
  return false;
}

#endif

QuantizedConvolution::QuantizedConvolution(Tensor weight, Tensor scales, Tensor bias, int64_t spatial_dims)
    : weight_(std::move(weight)),
      scales_(std::move(scales)),
      bias_(std::move(bias)),
      spatial_dims_(spatial_dims),
      cache_(std::make_unique<Cache>()) {}
QuantizedConvolution::~QuantizedConvolution() = default;

} // namespace at::native::onednn
