// Options of padding modules and of F::pad. Paddings count elements before and after each dimension, the last dimension
// first: left, right, top, bottom, front, back.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/types.h>

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

namespace torch::nn {

/// Options of ReflectionPad1d, 2d, 3d: the padding mirrors the input, without its border.
template <size_t D>
struct ReflectionPadOptions {
  ReflectionPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  /// Elements before and after, the last dimension first: {left, right, top, bottom, front, back}. Throws when used
  /// unless smaller than the input.
  TORCH_ARG(ExpandingArray<D * 2>, padding);
};

using ReflectionPad1dOptions = ReflectionPadOptions<1>;
using ReflectionPad2dOptions = ReflectionPadOptions<2>;
using ReflectionPad3dOptions = ReflectionPadOptions<3>;

/// Options of ReplicationPad1d, 2d, 3d: the padding repeats the border.
template <size_t D>
struct ReplicationPadOptions {
  ReplicationPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  /// Elements before and after, the last dimension first.
  TORCH_ARG(ExpandingArray<D * 2>, padding);
};

using ReplicationPad1dOptions = ReplicationPadOptions<1>;
using ReplicationPad2dOptions = ReplicationPadOptions<2>;
using ReplicationPad3dOptions = ReplicationPadOptions<3>;

/// Options of ZeroPad1d, 2d, 3d.
template <size_t D>
struct ZeroPadOptions {
  ZeroPadOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  /// Elements before and after, the last dimension first; negative ones cut.
  TORCH_ARG(ExpandingArray<D * 2>, padding);
};

using ZeroPad1dOptions = ZeroPadOptions<1>;
using ZeroPad2dOptions = ZeroPadOptions<2>;
using ZeroPad3dOptions = ZeroPadOptions<3>;

/// Options of ConstantPad1d, 2d, 3d.
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  /// Elements before and after, the last dimension first; negative ones cut.
  TORCH_ARG(ExpandingArray<D * 2>, padding);
  /// What the padding holds.
  TORCH_ARG(double, value);
};

using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

namespace functional {

/// Options of F::pad.
struct TORCH_API PadFuncOptions {
  using mode_t = enumtype::Choice<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad);
  /// Elements before and after, the last dimension first: {left, right, top, bottom, ...}.
  TORCH_ARG(std::vector<int64_t>, pad);
  /// kConstant, kReflect, kReplicate or kCircular.
  TORCH_ARG(mode_t, mode) = torch::kConstant;
  /// What fills in mode kConstant; others throw for a value that is not 0.
  TORCH_ARG(double, value) = 0;
};

} // namespace functional
} // namespace torch::nn
