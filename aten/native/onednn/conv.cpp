#include <aten/native/onednn/conv.h>

#include <aten/Parallel.h>
#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>
#include <c10/core/CPUAllocator.h>

#include <string_view>

namespace at::native::onednn {
namespace {

using dnnl::memory;

/// An operand as the caller has it and as the primitive wants it; `reorder` goes from the first to the second, or back
/// for the operand that is written.
struct Operand {
  memory::desc given, wanted, scratchpad;
  dnnl::reorder reorder;

  bool same() const { return given == wanted; }
};

struct ConvPrimitive {
  dnnl::primitive primitive;
  Operand src, weight, dst;
  memory::desc bias, scratchpad;
  bool fast = false;
};

PrimitiveKey key_of(const ConvProblem& p, ConvPass pass, ConvLayout layout, bool has_bias) {
  PrimitiveKey key;
  key.add(
      int64_t(p.dtype) | int64_t(pass) << 8 | int64_t(p.dims) << 12 | int64_t(layout.images_channels_last) << 16 |
      int64_t(layout.weight_channels_last) << 17 | int64_t(has_bias) << 18 | int64_t(primitive_threads()) << 20);
  for (const int64_t size : {p.batch, p.in_channels, p.out_channels, p.groups}) key.add(size);
  for (const auto* a : {&p.in, &p.out, &p.kernel, &p.stride, &p.padding, &p.dilation}) {
    for (int d = 3 - p.dims; d < 3; ++d) key.add((*a)[d]);
  }
  return key;
}

memory::dims spatial(const ConvProblem& p, const std::array<int64_t, 3>& a) {
  return {a.begin() + (3 - p.dims), a.end()};
}

/// Sizes `lead`, then the spatial ones. `channel` is the dimension that is adjacent in a channels-last layout.
memory::desc describe(const ConvProblem& p, memory::dims lead, const std::array<int64_t, 3>& space, bool channels_last) {
  memory::dims sizes = std::move(lead);
  const size_t channel = sizes.size() - 1;
  for (const int64_t s : spatial(p, space)) sizes.push_back(s);
  memory::dims strides(sizes.size());
  int64_t next = 1;
  if (channels_last) {
    strides[channel] = next;
    next *= sizes[channel];
  }
  for (size_t d = sizes.size(); d-- > 0;) {
    if (channels_last && d == channel) continue;
    strides[d] = next;
    next *= sizes[d];
  }
  return {sizes, data_type_of(p.dtype), strides};
}

memory::desc any_layout(const memory::desc& d) {
  return {d.dims(), d.data_type(), memory::format_tag::any};
}

void plan_reorder(Operand& operand, bool written) {
  if (operand.same()) return;
  const memory::desc &from = written ? operand.wanted : operand.given, &to = written ? operand.given : operand.wanted;
  const dnnl::reorder::primitive_desc desc(cpu_engine(), from, cpu_engine(), to, primitive_attributes());
  operand.reorder = dnnl::reorder(desc);
  operand.scratchpad = desc.scratchpad_desc();
}

std::shared_ptr<const ConvPrimitive> make_convolution(const ConvProblem& p, ConvPass pass, ConvLayout layout, bool has_bias) {
  auto made = std::make_shared<ConvPrimitive>();
  const int64_t outs = p.out_channels / p.groups, ins = p.in_channels / p.groups;
  made->src.given = describe(p, {p.batch, p.in_channels}, p.in, layout.images_channels_last);
  made->dst.given = describe(p, {p.batch, p.out_channels}, p.out, layout.images_channels_last);
  made->weight.given = p.groups == 1 ? describe(p, {outs, ins}, p.kernel, layout.weight_channels_last)
                                     : describe(p, {p.groups, outs, ins}, p.kernel, layout.weight_channels_last);
  if (has_bias) made->bias = memory::desc({p.out_channels}, data_type_of(p.dtype), memory::format_tag::a);

  ConvGeometry g;
  // Images that are channels last stay so: oneDNN's kernels for it are as fast as those for its own blocks.
  g.src = layout.images_channels_last ? made->src.given : any_layout(made->src.given);
  g.dst = layout.images_channels_last ? made->dst.given : any_layout(made->dst.given);
  g.weight = any_layout(made->weight.given);
  g.bias = made->bias;
  g.strides = spatial(p, p.stride);
  for (int d = 3 - p.dims; d < 3; ++d) {
    g.dilates.push_back(p.dilation[d] - 1);
    g.padding_left.push_back(p.padding[d]);
    // What the last window reaches beyond the image, which may be less than the padding, even negative.
    g.padding_right.push_back((p.out[d] - 1) * p.stride[d] + p.dilation[d] * (p.kernel[d] - 1) + 1 - p.in[d] - p.padding[d]);
  }
  const auto adopt = [&](const auto& desc, const memory::desc& src, const memory::desc& weight, const memory::desc& dst) {
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) return;
    made->src.wanted = src;
    made->weight.wanted = weight;
    made->dst.wanted = dst;
    plan_reorder(made->src, pass == ConvPass::BackwardData);
    plan_reorder(made->weight, pass == ConvPass::BackwardWeight);
    plan_reorder(made->dst, pass == ConvPass::Forward);
    made->primitive = dnnl::primitive(desc.get());
    made->scratchpad = desc.scratchpad_desc();
    made->fast = true;
  };
  const dnnl::primitive_attr attr = primitive_attributes();
  try {
    const auto forward = conv_forward_desc(cpu_engine(), g, attr);
    if (pass == ConvPass::Forward) {
      adopt(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc());
    } else if (pass == ConvPass::BackwardData) {
      const auto desc = conv_backward_data_desc(cpu_engine(), g, forward, attr);
      adopt(desc, desc.diff_src_desc(), desc.weights_desc(), desc.diff_dst_desc());
    } else {
      const auto desc = conv_backward_weights_desc(cpu_engine(), g, forward, attr);
      adopt(desc, desc.src_desc(), desc.diff_weights_desc(), desc.diff_dst_desc());
    }
  } catch (const dnnl::error&) {
    // Not implemented for this CPU or these sizes: the caller has own kernels.
    made->fast = false;
  }
  return made;
}

/// The memory of one operand for one run, reordered on the way in or out where the layouts differ.
class Binding {
 public:
  Binding(const Operand& operand, void* data, bool written) : operand_(operand), written_(written) {
    given_ = memory(operand.given, cpu_engine(), data);
    if (operand.same()) {
      used_ = given_;
      return;
    }
    buffer_ = c10::GetCPUAllocator()->allocate(operand.wanted.get_size());
    used_ = memory(operand.wanted, cpu_engine(), buffer_.get());
    if (!written) reorder(given_, used_);
  }
  memory& used() { return used_; }
  void finish() {
    if (written_ && !operand_.same()) reorder(used_, given_);
  }

 private:
  void reorder(const memory& from, const memory& to) {
    const Scratchpad scratchpad(operand_.scratchpad);
    std::unordered_map<int, memory> args{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    if (scratchpad) args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
    operand_.reorder.execute(cpu_stream(), args);
  }

  const Operand& operand_;
  const bool written_;
  c10::DataPtr buffer_;
  memory given_, used_;
};

} // namespace

namespace {

std::shared_ptr<const ConvPrimitive> find(const ConvProblem& p, ConvPass pass, ConvLayout layout, bool has_bias) {
  static auto* cache = new PrimitiveCache<ConvPrimitive>(1024);
  return cache->get(key_of(p, pass, layout, has_bias), [&] { return make_convolution(p, pass, layout, has_bias); });
}

/// Runs a whole problem or some images of one on the calling thread and its team.
bool run(const ConvProblem& p, ConvPass pass, ConvLayout layout, void* src, void* weight, void* dst, const void* bias) {
  const auto found = find(p, pass, layout, bias != nullptr);
  if (!found->fast) return false;
  Binding s(found->src, src, pass == ConvPass::BackwardData), w(found->weight, weight, pass == ConvPass::BackwardWeight),
      d(found->dst, dst, pass == ConvPass::Forward);
  const bool backward = pass != ConvPass::Forward;
  std::unordered_map<int, memory> args{
      {pass == ConvPass::BackwardData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, s.used()},
      {pass == ConvPass::BackwardWeight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w.used()},
      {backward ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, d.used()}};
  if (bias != nullptr) args.emplace(DNNL_ARG_BIAS, memory(found->bias, cpu_engine(), const_cast<void*>(bias)));
  const Scratchpad scratchpad(found->scratchpad);
  if (scratchpad) args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
  found->primitive.execute(cpu_stream(), args);
  s.finish();
  w.finish();
  d.finish();
  return true;
}

} // namespace

bool convolution(const ConvProblem& p, ConvPass pass, ConvLayout layout, void* src, void* weight, void* dst, const void* bias) {
  // Products that are worth a thread.
  constexpr int64_t kTaskWork = int64_t{1} << 18;
  const int64_t work = p.batch * p.out_channels * p.out_size() * (p.in_channels / p.groups) * p.kernel_size();
  const int threads = at::internal::threads_for(work, kTaskWork);
  // The gradient of the weight sums over the images: that is left to oneDNN's threads, and so are single images.
  if (threads == 1 || p.batch < threads || pass == ConvPass::BackwardWeight) {
    const Team team(threads);
    return run(p, pass, layout, src, weight, dst, bias);
  }
  const Team alone(1);
  const int64_t images = at::divup(p.batch, threads);
  ConvProblem part = p, last = p;
  part.batch = images;
  last.batch = p.batch % images == 0 ? images : p.batch % images;
  if (!find(part, pass, layout, bias != nullptr)->fast || !find(last, pass, layout, bias != nullptr)->fast) return false;
  const auto itemsize = static_cast<int64_t>(c10::elementSize(p.dtype));
  const int64_t src_bytes = p.in_channels * p.in_size() * itemsize;
  const int64_t dst_bytes = p.out_channels * p.out_size() * itemsize;
  at::parallel_for(0, at::divup(p.batch, images), 1, [&](int64_t first_part, int64_t last_part) {
    const Team each_alone(1);
    for (int64_t i = first_part; i < last_part; ++i) {
      const int64_t first = i * images;
      run(first + images <= p.batch ? part : last, pass, layout, static_cast<char*>(src) + first * src_bytes, weight,
          static_cast<char*>(dst) + first * dst_bytes, bias);
    }
  });
  return true;
}

} // namespace at::native::onednn
