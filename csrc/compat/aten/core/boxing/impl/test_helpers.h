// What tests of operators and kernels written for libtorch with googletest call; needs <gtest/gtest.h> and
// <gmock/gmock.h>.
#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/irange.h>
#include <c10/core/TypeMeta.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

template <class... Inputs>
std::vector<c10::IValue> makeStack(Inputs&&... inputs) {
  return {std::forward<Inputs>(inputs)...};
}

/// A float tensor of one element on the CPU with the keys given; without the autograd keys unless `requires_grad`.
inline at::Tensor dummyTensor(c10::DispatchKeySet ks, bool requires_grad = false) {
  c10::Allocator* const allocator = c10::GetCPUAllocator();
  const auto dtype = caffe2::TypeMeta::Make<float>();
  const size_t bytes = dtype.itemsize();
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, allocator->allocate(bytes), allocator, /*resizable=*/true);
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), ks, dtype);
  if (!requires_grad) {
    tensor.unsafeGetTensorImpl()->remove_autograd_key();
  }
  return tensor;
}
inline at::Tensor dummyTensor(c10::DispatchKey dispatch_key, bool requires_grad = false) {
  return dummyTensor(c10::DispatchKeySet(dispatch_key), requires_grad);
}

/// Calls an operator boxed; gives what it leaves on the stack.
template <class... Args>
std::vector<c10::IValue> callOp(const c10::OperatorHandle& op, Args... args) {
  auto stack = makeStack(std::forward<Args>(args)...);
  op.callBoxed(&stack);
  return stack;
}

template <class Result, class... Args>
Result callOpUnboxed(const c10::OperatorHandle& op, Args... args) {
  return op.typed<Result(Args...)>().call(std::forward<Args>(args)...);
}

template <class Result, class... Args>
Result callOpUnboxedWithDispatchKey(const c10::OperatorHandle& op, c10::DispatchKey dispatchKey, Args... args) {
  return op.typed<Result(Args...)>().callWithDispatchKey(dispatchKey, std::forward<Args>(args)...);
}

template <class Result, class... Args>
Result callOpUnboxedWithPrecomputedDispatchKeySet(const c10::OperatorHandle& op, c10::DispatchKeySet ks, Args... args) {
  return op.typed<Result(Args...)>().redispatch(ks, std::forward<Args>(args)...);
}

inline void expectDoesntFindKernel(const char* op_name, c10::DispatchKey dispatch_key) {
  auto op = c10::Dispatcher::singleton().findSchema({op_name, ""});
  EXPECT_ANY_THROW(callOp(*op, dummyTensor(dispatch_key), 5););
}

inline void expectDoesntFindOperator(const char* op_name) {
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({op_name, ""}).has_value());
}

template <class Exception, class Functor>
void expectThrows(Functor&& functor, const char* expectMessageContains) {
  try {
    std::forward<Functor>(functor)();
  } catch (const Exception& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(expectMessageContains));
    return;
  }
  ADD_FAILURE() << "expected an exception whose message contains \"" << expectMessageContains << "\", and none came";
}

template <class T, size_t N>
void expectListEquals(c10::ArrayRef<T> expected, std::array<T, N> actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (const auto i : c10::irange(expected.size())) {
    EXPECT_EQ(expected[i], actual[i]);
  }
}
template <class T>
void expectListEquals(c10::ArrayRef<T> expected, c10::ArrayRef<T> actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (const auto i : c10::irange(expected.size())) {
    EXPECT_EQ(expected[i], actual[i]);
  }
}
template <class T>
void expectListEquals(c10::ArrayRef<T> expected, c10::List<T> actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (const auto i : c10::irange(expected.size())) {
    EXPECT_EQ(expected[i], actual.get(i));
  }
}
template <class T>
void expectListEquals(c10::ArrayRef<T> expected, std::vector<T> actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (const auto i : c10::irange(expected.size())) {
    EXPECT_EQ(expected[i], actual[i]);
  }
}

inline c10::DispatchKey extractDispatchKey(const at::Tensor& t) {
  return c10::legacyExtractDispatchKey(t.key_set());
}
