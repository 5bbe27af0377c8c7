#include <aten/native/onednn/conv.h>

#include <aten/native/onednn/Primitive.h>
#include <aten/native/onednn/Version.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/BFloat16.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace at::native::onednn {
namespace {

using dnnl::memory;

/// An operand as the caller has it and as the primitive wants it; `reorder` goes from the first to the second, or back
/// for the operand that is written.
struct Operand {
  memory::desc given, wanted, scratchpad;
  dnnl::reorder reorder;

  bool same() const {
    return given == wanted;
  }
};

struct ConvPrimitive {
  dnnl::primitive primitive;
  Operand src, weight, dst;
  memory::desc bias, scratchpad;
  bool fast = false;
};

/// What one primitive computes: a problem, or a part of one in the same tensors.
struct ConvPart {
  ConvProblem p; // of this part
  ConvPass pass;
  ConvLayout layout;
  bool has_bias;
  int64_t all_in_channels, all_out_channels; // of the tensors: they say how far images and windows lie apart
  bool writes_float; // a gradient of the weight in float, which is to be added to others
  bool adds_other; // of the epilogue
  Activation activation;
};

PrimitiveKey key_of(const ConvPart& part) {
  const ConvProblem& p = part.p;
  PrimitiveKey key;
  key.add(
      int64_t(p.dtype) | int64_t(part.pass) << 8 | int64_t(p.dims) << 12 |
      int64_t(part.layout.images_channels_last) << 16 | int64_t(part.layout.weight_channels_last) << 17 |
      int64_t(part.has_bias) << 18 | int64_t(part.writes_float) << 19 | int64_t(part.adds_other) << 20 |
      int64_t(part.activation) << 21);
  for (const int64_t size :
       {p.batch, p.in_channels, p.out_channels, p.groups, part.all_in_channels, part.all_out_channels}) {
    key.add(size);
  }
  for (const auto* a : {&p.in, &p.out, &p.kernel, &p.stride, &p.padding, &p.dilation}) {
    for (int d = 3 - p.dims; d < 3; ++d) {
      key.add((*a)[d]);
    }
  }
  return key;
}

memory::dims spatial(const ConvProblem& p, const std::array<int64_t, 3>& a) {
  return {a.begin() + (3 - p.dims), a.end()};
}

/// Sizes `lead`, then the spatial ones. The last of `lead` are channels, of the `all_channels` that the tensor has;
/// they are adjacent in a channels-last layout.
memory::desc describe(
    const ConvProblem& p,
    c10::ScalarType dtype,
    memory::dims lead,
    int64_t all_channels,
    const std::array<int64_t, 3>& space,
    bool channels_last) {
  memory::dims sizes = std::move(lead);
  const size_t channel = sizes.size() - 1;
  for (const int64_t s : spatial(p, space)) {
    sizes.push_back(s);
  }
  memory::dims strides(sizes.size());
  int64_t next = 1;
  if (channels_last) {
    strides[channel] = next;
    next *= all_channels;
  }
  for (size_t d = sizes.size(); d-- > 0;) {
    if (channels_last && d == channel) {
      continue;
    }
    strides[d] = next;
    next *= d == channel ? all_channels : sizes[d];
  }
  return {sizes, data_type_of(dtype), strides};
}

memory::desc any_layout(const memory::desc& d) {
  return {d.dims(), d.data_type(), memory::format_tag::any};
}

void plan_reorder(Operand& operand, bool written) {
  if (operand.same()) {
    return;
  }
  const memory::desc &from = written ? operand.wanted : operand.given, &to = written ? operand.given : operand.wanted;
  const dnnl::reorder::primitive_desc desc(cpu_engine(), from, cpu_engine(), to, primitive_attributes());
  operand.reorder = dnnl::reorder(desc);
  operand.scratchpad = desc.scratchpad_desc();
}

/// Whether oneDNN's kernels that serve inference alone, which it offers only when asked for, are the faster ones
/// (measured with version 2.6).
bool runs_as_inference(const ConvProblem& p) {
  constexpr int64_t kLeastChannels = 16, kShortestRow = 8, kLongestRow = 28;
  return p.dtype == c10::ScalarType::Float && p.kernel_size() > 1 && ConvProblem::product(p.stride) == 1 &&
      p.in_channels / p.groups >= kLeastChannels && p.out[2] >= kShortestRow && p.out[2] <= kLongestRow;
}

/// Whether each element of a kernel meets an element of the image in some window, along dimension d.
bool all_meet_image(const ConvProblem& p, int d) {
  for (int64_t k = 0; k < p.kernel[d]; ++k) {
    bool meets = false;
    for (int64_t window = 0; window < p.out[d] && !meets; ++window) {
      const int64_t place = window * p.stride[d] + k * p.dilation[d] - p.padding[d];
      meets = place >= 0 && place < p.in[d];
    }
    if (!meets) {
      return false;
    }
  }
  return true;
}

/// Whether oneDNN (2.6) gives the gradient of this weight. Its kernels for tiles of bfloat16 add up wrong rows under a
/// dilation where the channels fill no blocks, and leave elements unwritten that meet no pixel, or not in the first
/// window of a volume.
bool has_weight_gradient(const ConvProblem& p) {
  constexpr int64_t kBlock = 16;
  if (p.dtype != c10::ScalarType::BFloat16) {
    return true;
  }
  return (p.dilation[1] == 1 || p.in_channels / p.groups % kBlock == 0) && (p.stride[0] == 1 || p.padding[0] == 0) &&
      all_meet_image(p, 1) && all_meet_image(p, 2);
}

std::shared_ptr<const ConvPrimitive> make_convolution(const ConvPart& part) {
  const ConvProblem& p = part.p;
  const ConvPass pass = part.pass;
  const ConvLayout layout = part.layout;
  auto made = std::make_shared<ConvPrimitive>();
  if (pass == ConvPass::BackwardWeight && !has_weight_gradient(p)) {
    return made;
  }
  const int64_t outs = p.out_channels / p.groups, ins = p.in_channels / p.groups,
                all_ins = part.all_in_channels / p.groups;
  made->src.given =
      describe(p, p.dtype, {p.batch, p.in_channels}, part.all_in_channels, p.in, layout.images_channels_last);
  made->dst.given =
      describe(p, p.dtype, {p.batch, p.out_channels}, part.all_out_channels, p.out, layout.images_channels_last);
  const auto weight_of = [&](c10::ScalarType dtype) {
    const memory::dims sizes = p.groups == 1 ? memory::dims{outs, ins} : memory::dims{p.groups, outs, ins};
    return describe(p, dtype, sizes, all_ins, p.kernel, layout.weight_channels_last);
  };
  made->weight.given = weight_of(p.dtype);
  if (part.has_bias) {
    made->bias = memory::desc({p.out_channels}, data_type_of(p.dtype), memory::format_tag::a);
  }

  ConvGeometry g;
  // Images that are channels-last stay so: oneDNN's kernels for it are as fast as those for its own blocks.
  g.src = layout.images_channels_last ? made->src.given : any_layout(made->src.given);
  g.dst = layout.images_channels_last ? made->dst.given : any_layout(made->dst.given);
  g.weight = any_layout(made->weight.given);
  g.bias = made->bias;
  g.strides = spatial(p, p.stride);
  if (pass == ConvPass::Forward && runs_as_inference(p)) {
    g.forward = dnnl::prop_kind::forward_inference;
  }
  for (int d = 3 - p.dims; d < 3; ++d) {
    g.dilates.push_back(p.dilation[d] - 1);
    g.padding_left.push_back(p.padding[d]);
    // What the last window reaches beyond the image, which may be less than the padding, even negative.
    g.padding_right.push_back(
        (p.out[d] - 1) * p.stride[d] + p.dilation[d] * (p.kernel[d] - 1) + 1 - p.in[d] - p.padding[d]);
  }
  const auto adopt = [&](const auto& desc, const memory::desc& src, const memory::desc& weight,
                         const memory::desc& dst) {
    if (std::string_view(desc.impl_info_str()).find("ref") != std::string_view::npos) {
      return;
    }
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
  dnnl::primitive_attr attr = primitive_attributes();
  if (pass == ConvPass::Forward) {
    dnnl::post_ops ops;
    if (part.adds_other) {
      ops.append_binary(dnnl::algorithm::binary_add, made->dst.given);
    }
    add_activation(ops, part.activation);
    attr.set_post_ops(ops);
  }
  try {
    const auto forward = conv_forward_desc(cpu_engine(), g, attr);
    if (pass == ConvPass::Forward) {
      adopt(forward, forward.src_desc(), forward.weights_desc(), forward.dst_desc());
    } else if (pass == ConvPass::BackwardData) {
      const auto desc = conv_backward_data_desc(cpu_engine(), g, forward, attr);
      adopt(desc, desc.diff_src_desc(), desc.weights_desc(), desc.diff_dst_desc());
    } else {
      if (part.writes_float) {
        made->weight.given = weight_of(c10::ScalarType::Float);
        g.weight = any_layout(made->weight.given);
      }
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
  Binding(const Operand& operand, void* data, bool written) : operand_(&operand), written_(written) {
    given_ = memory(operand.given, cpu_engine(), data);
    if (operand.same()) {
      used_ = given_;
      return;
    }
    buffer_ = c10::GetCPUAllocator()->allocate(operand.wanted.get_size());
    used_ = memory(operand.wanted, cpu_engine(), buffer_.get());
    if (!written) {
      reorder(given_, used_);
    }
  }
  const Operand& operand() const {
    return *operand_;
  }
  memory& used() {
    return used_;
  }
  /// The same memory for another run that reads it; this one outlives it.
  Binding share() const {
    return Binding(*operand_, used_);
  }
  void finish() {
    if (written_ && !operand_->same()) {
      reorder(used_, given_);
    }
  }

 private:
  Binding(const Operand& operand, const memory& used) : operand_(&operand), written_(false), used_(used) {}

  void reorder(const memory& from, const memory& to) {
    const Scratchpad scratchpad(operand_->scratchpad);
    std::unordered_map<int, memory> args{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    if (scratchpad) {
      args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
    }
    operand_->reorder.execute(cpu_stream(), args);
  }

  const Operand* operand_;
  bool written_;
  c10::DataPtr buffer_;
  memory given_, used_;
};

std::shared_ptr<const ConvPrimitive> find(const ConvPart& part) {
  static auto* cache = new PrimitiveCache<ConvPrimitive>(1024);
  return cache->get(key_of(part), [&] { return make_convolution(part); });
}

struct Operands {
  void *src, *weight, *dst;
  const void* bias;
  const void* other; // of the epilogue
};

/// An operand that all parts read as a whole, brought to their layout once.
struct Shared {
  enum class Role : uint8_t { src, weight, dst };

  Role role;
  std::shared_ptr<const ConvPrimitive> owner; // of what `binding` refers to
  Binding binding;

  static const Operand& of(const ConvPrimitive& found, Role role) {
    return role == Role::src ? found.src : role == Role::weight ? found.weight : found.dst;
  }
};

/// Runs a part on the calling thread.
void run(const ConvPart& part, const Operands& operands, const Shared* shared) {
  const OneThread one_thread;
  const auto found = find(part);
  const bool backward = part.pass != ConvPass::Forward;
  const auto bind = [&](Shared::Role role, void* data, bool written) {
    const Operand& operand = Shared::of(*found, role);
    if (shared != nullptr && shared->role == role && shared->binding.operand().wanted == operand.wanted) {
      return shared->binding.share();
    }
    return Binding(operand, data, written);
  };
  Binding s = bind(Shared::Role::src, operands.src, part.pass == ConvPass::BackwardData),
          w = bind(Shared::Role::weight, operands.weight, part.pass == ConvPass::BackwardWeight),
          d = bind(Shared::Role::dst, operands.dst, !backward);
  std::unordered_map<int, memory> args{
      {part.pass == ConvPass::BackwardData ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, s.used()},
      {part.pass == ConvPass::BackwardWeight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, w.used()},
      {backward ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, d.used()}};
  if (part.has_bias) {
    args.emplace(DNNL_ARG_BIAS, memory(found->bias, cpu_engine(), const_cast<void*>(operands.bias)));
  }
  if (part.adds_other) {
    args.emplace(
        DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
        memory(found->dst.given, cpu_engine(), const_cast<void*>(operands.other)));
  }
  const Scratchpad scratchpad(found->scratchpad);
  if (scratchpad) {
    args.emplace(DNNL_ARG_SCRATCHPAD, scratchpad.memory());
  }
  found->primitive.execute(cpu_stream(), args);
  s.finish();
  w.finish();
  d.finish();
}

// Note [Parts of a convolution]
// Threads of the library take parts of a problem, each by a primitive for one thread. Parts are some images, few enough
// that they stay in the caches while they are brought to oneDNN's blocks of channels and back; or channels of the
// result, or of the gradient of the input, where there are fewer images than threads, or one image becomes a large one.
// What all parts read as a whole is brought to their layout once where threads run several of them.
//
// The gradient of the weight sums over images. Where it is small beside them, some images give a term each, in float,
// and the terms are added up in order: as many for any number of threads. Else it is cut by channels of the result, as
// its parts then need no sum, where there are enough of them to fill vectors. So bits do not depend on the number of
// threads.

/// How a problem is cut.
class ConvCut {
 public:
  ConvCut(const ConvProblem& p, ConvPass pass, ConvLayout layout, bool has_bias, const ConvEpilogue& epilogue)
      : whole_{p,
               pass,
               layout,
               has_bias,
               p.in_channels,
               p.out_channels,
               false,
               epilogue.other != nullptr,
               epilogue.activation} {
    // Products that are worth a part of their own.
    constexpr int64_t kTaskWork = int64_t{1} << 18;
    const int64_t work = p.batch * p.out_channels * p.out_size() * (p.in_channels / p.groups) * p.kernel_size();
    if (work < 2 * kTaskWork) {
      return;
    }
    const int threads = at::internal::threads_for(work, kTaskWork);
    const auto itemsize = static_cast<int64_t>(c10::elementSize(p.dtype));
    const int64_t src_bytes = p.in_channels * p.in_size() * itemsize,
                  dst_bytes = p.out_channels * p.out_size() * itemsize;
    if (pass == ConvPass::BackwardWeight) {
      cut_weight(threads, p.batch * (src_bytes + dst_bytes));
    } else {
      cut_images(threads, src_bytes, dst_bytes);
    }
  }

  int64_t parts() const {
    return at::divup(length_, step_);
  }
  /// Whether each part gives a term of the result, not a piece of it.
  bool sums() const {
    return sums_;
  }

  /// What all parts read as a whole.
  Shared::Role shared() const {
    if (along_ == Along::images) {
      return Shared::Role::weight;
    }
    return along_ == Along::in_channels ? Shared::Role::dst : Shared::Role::src;
  }

  ConvPart part(int64_t index) const {
    ConvPart part = whole_;
    part.writes_float = sums_;
    const int64_t length = std::min(step_, length_ - index * step_);
    (along_ == Along::images            ? part.p.batch
         : along_ == Along::in_channels ? part.p.in_channels
                                        : part.p.out_channels) = length;
    return part;
  }

  /// Where the operands of a part begin.
  Operands operands(int64_t index, const Operands& all) const {
    const ConvProblem& p = whole_.p;
    const int64_t first = index * step_;
    const auto from = [&](const void* data, int64_t elements) {
      return static_cast<char*>(const_cast<void*>(data)) +
          first * elements * static_cast<int64_t>(c10::elementSize(p.dtype));
    };
    switch (along_) {
      case Along::images:
        return {
            from(all.src, p.in_channels * p.in_size()), all.weight, from(all.dst, p.out_channels * p.out_size()),
            all.bias, all.other == nullptr ? nullptr : from(all.other, p.out_channels * p.out_size())};
      case Along::in_channels:
        return {
            from(all.src, p.in_size()), from(all.weight, whole_.layout.weight_channels_last ? 1 : p.kernel_size()),
            all.dst, all.bias, nullptr};
      case Along::out_channels:
        return {
            all.src, from(all.weight, p.in_channels * p.kernel_size()), from(all.dst, p.out_size()),
            whole_.has_bias ? from(all.bias, 1) : nullptr, nullptr};
    }
    return all;
  }

 private:
  enum class Along : uint8_t { images, in_channels, out_channels };
  /// Channels that a part should have at least.
  static constexpr int64_t kChannels = 16;
  /// Bytes of images of a part, and of its channels of one image (measured: oneDNN computes two images together best).
  static constexpr int64_t kImageBytes = int64_t{1} << 22, kChannelBytes = int64_t{1} << 20;

  bool has_channels() const {
    return whole_.p.groups == 1 && !whole_.layout.images_channels_last;
  }

  void cut_weight(int threads, int64_t image_bytes) {
    constexpr int64_t kTerms = 16, kFewTerms = 4, kSmall = 8;
    const ConvProblem& p = whole_.p;
    const int64_t weight_bytes = p.out_channels * (p.in_channels / p.groups) * p.kernel_size() * int64_t(sizeof(float));
    const int64_t cheap =
        std::min(p.batch, image_bytes / (kSmall * weight_bytes)); // terms that cost little beside the images
    if (cheap >= kFewTerms) {
      step_ = at::divup(p.batch, std::min(cheap, kTerms));
    } else if (has_channels() && p.out_channels >= 2 * kChannels) {
      cut_channels(Along::out_channels, p.out_channels, threads, threads);
    } else {
      // Terms of channels-last cost more, as long as there are few images to each.
      step_ = at::divup(p.batch, std::min(p.batch, whole_.layout.images_channels_last ? kFewTerms : kTerms));
    }
    sums_ = along_ == Along::images && parts() > 1;
  }

  void cut_images(int threads, int64_t src_bytes, int64_t dst_bytes) {
    const ConvProblem& p = whole_.p;
    const bool forward = whole_.pass == ConvPass::Forward;
    const auto [read, written] = forward ? std::pair(src_bytes, dst_bytes) : std::pair(dst_bytes, src_bytes);
    if (has_channels() && (p.batch < threads || (p.batch == 1 && 2 * read <= written))) {
      const int64_t parts =
          std::max<int64_t>(threads, p.batch == 1 && 2 * read <= written ? at::divup(written, kChannelBytes) : 1);
      if (forward) {
        cut_channels(Along::out_channels, p.out_channels, parts, threads);
      } else {
        cut_channels(Along::in_channels, p.in_channels, parts, threads);
      }
      return;
    }
    // As many for each thread.
    int64_t parts = threads;
    if (!whole_.layout.images_channels_last) {
      parts = at::divup(at::divup(p.batch * (read + written), kImageBytes), threads) * threads;
    }
    step_ = at::divup(p.batch, parts);
  }

  void cut_channels(Along along, int64_t channels, int64_t parts, int threads) {
    const auto step_of = [&](int64_t multiple) { return at::divup(at::divup(channels, parts), multiple) * multiple; };
    along_ = along;
    length_ = channels;
    step_ = step_of(joint_channels());
    if (this->parts() < threads) {
      step_ = step_of(kChannels);
    }
  }

  /// Channels that oneDNN's kernels compute together. Those for AVX2 take four vectors of 8, and a kernel of 7 x 7 over
  /// 3 channels takes 1.3 times as long in parts of 16 (measured); with AVX-512 a part of one vector costs nothing.
  static int64_t joint_channels() {
    constexpr auto kWide = static_cast<unsigned>(dnnl::cpu_isa::avx512_core);
    static const bool is_wide = (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kWide) == kWide;
    return is_wide ? kChannels : 2 * kChannels;
  }

  ConvPart whole_;
  Along along_ = Along::images;
  int64_t length_ = whole_.p.batch, step_ = std::max(int64_t{1}, length_);
  bool sums_ = false;
};

/// to = the sum of `count` rows of floats.
template <class T>
void add_rows(const float* rows, int64_t count, int64_t width, T* to) {
  at::parallel_for(0, width, at::internal::GRAIN_SIZE, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float sum = rows[i];
      for (int64_t row = 1; row < count; ++row) {
        sum += rows[row * width + i];
      }
      to[i] = static_cast<T>(sum);
    }
  });
}

} // namespace

bool convolution(
    const ConvProblem& p,
    ConvPass pass,
    ConvLayout layout,
    void* src,
    void* weight,
    void* dst,
    const void* bias,
    const ConvEpilogue& epilogue) try {
  if (!epilogue.is_empty() && (pass != ConvPass::Forward || !layout.images_channels_last)) {
    return false;
  }
  const OneThread one_thread;
  const ConvCut cut(p, pass, layout, bias != nullptr, epilogue);
  // There must be a primitive for each part before one is run.
  const auto first = find(cut.part(0));
  if (!first->fast || !find(cut.part(cut.parts() - 1))->fast) {
    return false;
  }
  const Operands all{src, weight, dst, bias, epilogue.other};
  std::optional<Shared> shared;
  // A thread that runs one part lays it out for itself, in its own cache.
  if (cut.parts() > at::get_num_threads() && !(cut.sums() || Shared::of(*first, cut.shared()).same())) {
    void* const data = cut.shared() == Shared::Role::src ? src : cut.shared() == Shared::Role::weight ? weight : dst;
    shared.emplace(cut.shared(), first, Binding(Shared::of(*first, cut.shared()), data, false));
  }
  const int64_t weights = p.out_channels * (p.in_channels / p.groups) * p.kernel_size();
  const c10::DataPtr terms = cut.sums()
      ? c10::GetCPUAllocator()->allocate(static_cast<size_t>(cut.parts() * weights) * sizeof(float))
      : c10::DataPtr();
  at::parallel_for(0, cut.parts(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Operands operands = cut.operands(i, all);
      if (cut.sums()) {
        operands.weight = static_cast<float*>(terms.get()) + i * weights;
      }
      run(cut.part(i), operands, shared ? &*shared : nullptr);
    }
  });
  if (!cut.sums()) {
    return true;
  }
  const auto* rows = static_cast<const float*>(terms.get());
  if (p.dtype == c10::ScalarType::BFloat16) {
    add_rows(rows, cut.parts(), weights, static_cast<c10::BFloat16*>(weight));
  } else {
    add_rows(rows, cut.parts(), weights, static_cast<float*>(weight));
  }
  return true;
} catch (const dnnl::error& failure) {
  raise(pass == ConvPass::Forward ? "convolution" : "convolution_backward", failure);
}

} // namespace at::native::onednn
