// Padding of the last dimensions. Paddings count elements before and after each dimension, the last dimension first.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/nn/options/padding.h>

#include <cstddef>

namespace torch::nn {

/// Continues with the mirror image, without the edge.
template <size_t D, typename Derived>
class TORCH_API ReflectionPadImpl : public Cloneable<Derived> {
 public:
  ReflectionPadImpl(ExpandingArray<D * 2> padding) : ReflectionPadImpl(ReflectionPadOptions<D>(padding)) {}
  explicit ReflectionPadImpl(const ReflectionPadOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  ReflectionPadOptions<D> options;
};

class TORCH_API ReflectionPad1dImpl : public ReflectionPadImpl<1, ReflectionPad1dImpl> {
 public:
  using ReflectionPadImpl<1, ReflectionPad1dImpl>::ReflectionPadImpl;
};
using ReflectionPad1d = BuiltinHolder<ReflectionPad1dImpl>;

class TORCH_API ReflectionPad2dImpl : public ReflectionPadImpl<2, ReflectionPad2dImpl> {
 public:
  using ReflectionPadImpl<2, ReflectionPad2dImpl>::ReflectionPadImpl;
};
using ReflectionPad2d = BuiltinHolder<ReflectionPad2dImpl>;

class TORCH_API ReflectionPad3dImpl : public ReflectionPadImpl<3, ReflectionPad3dImpl> {
 public:
  using ReflectionPadImpl<3, ReflectionPad3dImpl>::ReflectionPadImpl;
};
using ReflectionPad3d = BuiltinHolder<ReflectionPad3dImpl>;

/// Continues with the element at the edge.
template <size_t D, typename Derived>
class TORCH_API ReplicationPadImpl : public Cloneable<Derived> {
 public:
  ReplicationPadImpl(ExpandingArray<D * 2> padding) : ReplicationPadImpl(ReplicationPadOptions<D>(padding)) {}
  explicit ReplicationPadImpl(const ReplicationPadOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  ReplicationPadOptions<D> options;
};

class TORCH_API ReplicationPad1dImpl : public ReplicationPadImpl<1, ReplicationPad1dImpl> {
 public:
  using ReplicationPadImpl<1, ReplicationPad1dImpl>::ReplicationPadImpl;
};
using ReplicationPad1d = BuiltinHolder<ReplicationPad1dImpl>;

class TORCH_API ReplicationPad2dImpl : public ReplicationPadImpl<2, ReplicationPad2dImpl> {
 public:
  using ReplicationPadImpl<2, ReplicationPad2dImpl>::ReplicationPadImpl;
};
using ReplicationPad2d = BuiltinHolder<ReplicationPad2dImpl>;

class TORCH_API ReplicationPad3dImpl : public ReplicationPadImpl<3, ReplicationPad3dImpl> {
 public:
  using ReplicationPadImpl<3, ReplicationPad3dImpl>::ReplicationPadImpl;
};
using ReplicationPad3d = BuiltinHolder<ReplicationPad3dImpl>;

/// Continues with zeros.
template <size_t D, typename Derived>
class TORCH_API ZeroPadImpl : public Cloneable<Derived> {
 public:
  ZeroPadImpl(ExpandingArray<D * 2> padding) : ZeroPadImpl(ZeroPadOptions<D>(padding)) {}
  explicit ZeroPadImpl(const ZeroPadOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  ZeroPadOptions<D> options;
};

class TORCH_API ZeroPad1dImpl : public ZeroPadImpl<1, ZeroPad1dImpl> {
 public:
  using ZeroPadImpl<1, ZeroPad1dImpl>::ZeroPadImpl;
};
using ZeroPad1d = BuiltinHolder<ZeroPad1dImpl>;

class TORCH_API ZeroPad2dImpl : public ZeroPadImpl<2, ZeroPad2dImpl> {
 public:
  using ZeroPadImpl<2, ZeroPad2dImpl>::ZeroPadImpl;
};
using ZeroPad2d = BuiltinHolder<ZeroPad2dImpl>;

class TORCH_API ZeroPad3dImpl : public ZeroPadImpl<3, ZeroPad3dImpl> {
 public:
  using ZeroPadImpl<3, ZeroPad3dImpl>::ZeroPadImpl;
};
using ZeroPad3d = BuiltinHolder<ZeroPad3dImpl>;

/// Continues with a value.
template <size_t D, typename Derived>
class TORCH_API ConstantPadImpl : public Cloneable<Derived> {
 public:
  ConstantPadImpl(ExpandingArray<D * 2> padding, double value)
      : ConstantPadImpl(ConstantPadOptions<D>(padding, value)) {}
  explicit ConstantPadImpl(const ConstantPadOptions<D>& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  ConstantPadOptions<D> options;
};

class TORCH_API ConstantPad1dImpl : public ConstantPadImpl<1, ConstantPad1dImpl> {
 public:
  using ConstantPadImpl<1, ConstantPad1dImpl>::ConstantPadImpl;
};
using ConstantPad1d = BuiltinHolder<ConstantPad1dImpl>;

class TORCH_API ConstantPad2dImpl : public ConstantPadImpl<2, ConstantPad2dImpl> {
 public:
  using ConstantPadImpl<2, ConstantPad2dImpl>::ConstantPadImpl;
};
using ConstantPad2d = BuiltinHolder<ConstantPad2dImpl>;

class TORCH_API ConstantPad3dImpl : public ConstantPadImpl<3, ConstantPad3dImpl> {
 public:
  using ConstantPadImpl<3, ConstantPad3dImpl>::ConstantPadImpl;
};
using ConstantPad3d = BuiltinHolder<ConstantPad3dImpl>;

} // namespace torch::nn
