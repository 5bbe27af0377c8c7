// Symbols that code compares with, as constants: c10::prim::If, c10::aten::add, c10::attr::value.
#pragma once

#include <aten/core/symbol.h>
#include <c10/util/ArrayRef.h>

#define C10_FORALL_PRIM_SYMBOLS(_) \
  _(Assign)                        \
  _(AddStatValue)                  \
  _(AutogradAdd)                   \
  _(AutogradAnyNonZero)            \
  _(AutogradAllNonZero)            \
  _(AutogradZero)                  \
  _(BailOut)                       \
  _(BailoutTemplate)               \
  _(BroadcastSizes)                \
  _(CallFunction)                  \
  _(CallMethod)                    \
  _(Closure)                       \
  _(ConstantChunk)                 \
  _(Constant)                      \
  _(CreateObject)                  \
  _(CudaFusionGroup)               \
  _(DictConstruct)                 \
  _(DifferentiableGraph)           \
  _(Drop)                          \
  _(Enter)                         \
  _(EnumName)                      \
  _(EnumValue)                     \
  _(Eval)                          \
  _(Exit)                          \
  _(FallbackGraph)                 \
  _(ForkedSubgraph)                \
  _(FunctionalGraph)               \
  _(FunctionConstruct)             \
  _(FusedConcat)                   \
  _(FusionGroup)                   \
  _(GetAttr)                       \
  _(Guard)                         \
  _(HasAttr)                       \
  _(If)                            \
  _(IfThenElse)                    \
  _(IgnoredPythonOp)               \
  _(Jump)                          \
  _(JumpNZ)                        \
  _(JumpZ)                         \
  _(ListComprehension)             \
  _(ListConstruct)                 \
  _(ListUnpack)                    \
  _(Load)                          \
  _(LocalVariableScope)            \
  _(Loop)                          \
  _(LoopContinuation)              \
  _(ComprehensionScope)            \
  _(BreakStmt)                     \
  _(ContinueStmt)                  \
  _(MMBatchSide)                   \
  _(MMTreeReduce)                  \
  _(ModuleContainerIndex)          \
  _(NumToTensor)                   \
  _(Param)                         \
  _(Placeholder)                   \
  _(Print)                         \
  _(PythonOp)                      \
  _(RaiseException)                \
  _(ReductionSizes)                \
  _(RequiresGradCheck)             \
  _(Return)                        \
  _(ReturnStmt)                    \
  _(SetAttr)                       \
  _(Store)                         \
  _(StringIndex)                   \
  _(SumToSize)                     \
  _(TensorExprGroup)               \
  _(TensorExprDynamicGroup)        \
  _(TupleConstruct)                \
  _(TupleIndex)                    \
  _(TupleSlice)                    \
  _(TupleUnpack)                   \
  _(TypeCheck)                     \
  _(Uninitialized)                 \
  _(VarConcat)                     \
  _(VarStack)                      \
  _(With)                          \
  _(awaitable)                     \
  _(awaitable_nowait)              \
  _(awaitable_wait)                \
  _(awaitable_then)                \
  _(annotate)                      \
  _(autocast)                      \
  _(data)                          \
  _(device)                        \
  _(dtype)                         \
  _(enumerate)                     \
  _(fork)                          \
  _(forkClosure)                   \
  _(awaitableClosure)              \
  _(gradOf)                        \
  _(grad)                          \
  _(id)                            \
  _(index)                         \
  _(inductor_lookup)               \
  _(is_cpu)                        \
  _(is_cuda)                       \
  _(is_hpu)                        \
  _(is_ipu)                        \
  _(is_maia)                       \
  _(is_meta)                       \
  _(is_mkldnn)                     \
  _(is_mps)                        \
  _(is_mtia)                       \
  _(is_nested)                     \
  _(is_quantized)                  \
  _(is_sparse)                     \
  _(is_sparse_csr)                 \
  _(is_vulkan)                     \
  _(is_xla)                        \
  _(is_xpu)                        \
  _(isinstance)                    \
  _(itemsize)                      \
  _(layout)                        \
  _(max)                           \
  _(min)                           \
  _(name)                          \
  _(nbytes)                        \
  _(profile)                       \
  _(profile_ivalue)                \
  _(range)                         \
  _(range_constructor)             \
  _(requires_grad)                 \
  _(rangelist)                     \
  _(rpc_async)                     \
  _(rpc_remote)                    \
  _(rpc_sync)                      \
  _(shape)                         \
  _(tolist)                        \
  _(type)                          \
  _(unchecked_cast)                \
  _(unchecked_unwrap_optional)     \
  _(zip)

#define C10_FORALL_ATTR_SYMBOLS(_) \
  _(Subgraph)                      \
  _(ReverseSubgraph)               \
  _(a)                             \
  _(arg_names)                     \
  _(allow_zero_dim)                \
  _(axis)                          \
  _(beg)                           \
  _(broadcast)                     \
  _(cache_id)                      \
  _(chunks)                        \
  _(device)                        \
  _(dim)                           \
  _(dims)                          \
  _(end)                           \
  _(f_real_inputs)                 \
  _(fallback)                      \
  _(ignored_args)                  \
  _(inplace)                       \
  _(inputs)                        \
  _(keepdim)                       \
  _(kinds)                         \
  _(name)                          \
  _(out)                           \
  _(perm)                          \
  _(python_module)                 \
  _(scope)                         \
  _(sizes)                         \
  _(slot)                          \
  _(starts)                        \
  _(step)                          \
  _(symbolic_shape_inputs)         \
  _(types)                         \
  _(value)                         \
  _(varname)

#define C10_FORALL_ATEN_SYMBOLS(_) \
  _(Bool)                          \
  _(Complex)                       \
  _(ComplexImplicit)               \
  _(Delete)                        \
  _(Float)                         \
  _(FloatImplicit)                 \
  _(Int)                           \
  _(IntImplicit)                   \
  _(IntConstructor)                \
  _(ScalarImplicit)                \
  _(Size)                          \
  _(__and__)                       \
  _(__contains__)                  \
  _(__derive_index)                \
  _(__getitem__)                   \
  _(__interpolate)                 \
  _(__is__)                        \
  _(__isnot__)                     \
  _(__lshift__)                    \
  _(__not__)                       \
  _(__or__)                        \
  _(__range_length)                \
  _(__round_to_zero_floordiv)      \
  _(__rshift__)                    \
  _(__upsample)                    \
  _(__xor__)                       \
  _(_assert)                       \
  _(_get_tracing_state)            \
  _(_set_item)                     \
  _(_unwrap_optional)              \
  _(abs)                           \
  _(add)                           \
  _(add_)                          \
  _(addmm)                         \
  _(alpha_dropout)                 \
  _(append)                        \
  _(arange)                        \
  _(as_tensor)                     \
  _(backward)                      \
  _(batch_norm)                    \
  _(bin)                           \
  _(bitwise_not)                   \
  _(capitalize)                    \
  _(cat)                           \
  _(chr)                           \
  _(chunk)                         \
  _(clear)                         \
  _(contiguous)                    \
  _(conv1d)                        \
  _(conv2d)                        \
  _(conv3d)                        \
  _(copy)                          \
  _(copy_)                         \
  _(detach)                        \
  _(device)                        \
  _(dict)                          \
  _(dim)                           \
  _(div)                           \
  _(divmod)                        \
  _(dropout)                       \
  _(embedding)                     \
  _(eq)                            \
  _(expand)                        \
  _(expand_as)                     \
  _(extend)                        \
  _(feature_alpha_dropout)         \
  _(feature_dropout)               \
  _(floordiv)                      \
  _(format)                        \
  _(ge)                            \
  _(get)                           \
  _(get_device)                    \
  _(gt)                            \
  _(has_torch_function)            \
  _(hash)                          \
  _(hex)                           \
  _(index)                         \
  _(index_put_)                    \
  _(insert)                        \
  _(is_autocast_cpu_enabled)       \
  _(is_autocast_enabled)           \
  _(is_floating_point)             \
  _(is_scripting)                  \
  _(items)                         \
  _(join)                          \
  _(keys)                          \
  _(le)                            \
  _(len)                           \
  _(linear)                        \
  _(list)                          \
  _(list_with_default)             \
  _(lt)                            \
  _(manual_seed)                   \
  _(mathremainder)                 \
  _(matmul)                        \
  _(max)                           \
  _(min)                           \
  _(mm)                            \
  _(mul)                           \
  _(mul_)                          \
  _(ne)                            \
  _(neg)                           \
  _(numel)                         \
  _(oct)                           \
  _(ord)                           \
  _(percentFormat)                 \
  _(permute)                       \
  _(pop)                           \
  _(popitem)                       \
  _(pow)                           \
  _(relu)                          \
  _(relu_)                         \
  _(remainder)                     \
  _(remove)                        \
  _(reshape)                       \
  _(reverse)                       \
  _(round)                         \
  _(rsub)                          \
  _(rrelu)                         \
  _(save)                          \
  _(select)                        \
  _(setdefault)                    \
  _(size)                          \
  _(slice)                         \
  _(softmax)                       \
  _(sort)                          \
  _(sorted)                        \
  _(split)                         \
  _(squeeze)                       \
  _(stack)                         \
  _(str)                           \
  _(storage_offset)                \
  _(sub)                           \
  _(sum)                           \
  _(t)                             \
  _(tensor)                        \
  _(to)                            \
  _(transpose)                     \
  _(type_as)                       \
  _(unchecked_cast)                \
  _(unsqueeze)                     \
  _(update)                        \
  _(values)                        \
  _(view)                          \
  _(wait)                          \
  _(warn)                          \
  _(zeros)                         \
  _(zeros_like)

namespace c10 {

namespace detail {
enum class KnownSymbol : uint32_t {
  Invalid,
#define C10_ENUMERATOR(name) prim_##name,
  C10_FORALL_PRIM_SYMBOLS(C10_ENUMERATOR)
#undef C10_ENUMERATOR
#define C10_ENUMERATOR(name) attr_##name,
      C10_FORALL_ATTR_SYMBOLS(C10_ENUMERATOR)
#undef C10_ENUMERATOR
#define C10_ENUMERATOR(name) aten_##name,
          C10_FORALL_ATEN_SYMBOLS(C10_ENUMERATOR)
#undef C10_ENUMERATOR
              Count
};

/// The constants of <aten/core/operator_symbols.h> have the numbers that follow.
constexpr uint32_t kFirstOperatorSymbol = static_cast<uint32_t>(KnownSymbol::Count);
/// What they stand for, sorted: "aten::tanh", "attr::alpha".
ArrayRef<const char*> operator_symbol_names();
} // namespace detail

#define C10_SYMBOL_CONSTANT(name) \
  constexpr Symbol name(static_cast<uint32_t>(detail::KnownSymbol::C10_SYMBOL_PREFIX(name)));
namespace prim {
#define C10_SYMBOL_PREFIX(name) prim_##name
C10_FORALL_PRIM_SYMBOLS(C10_SYMBOL_CONSTANT)
#undef C10_SYMBOL_PREFIX
} // namespace prim
namespace attr {
#define C10_SYMBOL_PREFIX(name) attr_##name
C10_FORALL_ATTR_SYMBOLS(C10_SYMBOL_CONSTANT)
#undef C10_SYMBOL_PREFIX
} // namespace attr
namespace aten {
#define C10_SYMBOL_PREFIX(name) aten_##name
C10_FORALL_ATEN_SYMBOLS(C10_SYMBOL_CONSTANT)
#undef C10_SYMBOL_PREFIX
} // namespace aten
#undef C10_SYMBOL_CONSTANT

} // namespace c10
