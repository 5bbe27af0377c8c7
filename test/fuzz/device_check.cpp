#include "test/fuzz/device_check.h"

#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "test/ops/determined.h"
#include "test/support/compare.h"
#include "test/support/elements.h"
#include "test/support/device_rules.h"
#include "test/support/host_view.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/compare.h"
#include "test/fuzz/device.h"
#include "test/fuzz/sparse.h"
#include "test/fuzz/tensors.h"
#include "test/fuzz/traits.h"

namespace fuzz {

namespace {

using at::Tensor;

constexpr Sides kSides{"on the device", "on the CPU"};

bool contains_any(const std::string& text, std::initializer_list<const char*> parts) {
  return std::any_of(
      parts.begin(), parts.end(), [&](const char* part) { return text.find(part) != std::string::npos; });
}

/// Does a refusal say that there is no kernel for a dtype or a setting?
bool says_unsupported(const Attempt& end) {
  return end.missing || contains_any(end.message, {"not implemented", "not supported", "Unsupported dtype"});
}

class DeviceCheck {
 public:
  DeviceCheck(c10::Device device, const Cases& cases, uint64_t index)
      : device_(device),
        cases_(cases),
        index_(index),
        call_(cases.make(index)),
        schema_(call_.op.schema()),
        copies_(device) {}

  Verdict run() {
    const std::vector<Tensor> tensors = test::tensors_of(call_.args);
    if (std::any_of(
            tensors.begin(), tensors.end(), [](const Tensor& t) { return t.defined() && !t.device().is_cpu(); })) {
      return {};
    }
    const Stack args = copies_.arguments(call_);
    const Attempt host = attempt(call_.op, call_.args);
    if (host.out_of_memory || !host.exception.empty()) {
      return {};
    }
    if (host.succeeded) {
      verdict_.outcome = Outcome::Succeeded;
    }
    const Attempt there = attempt_on(device_, call_.op, args);
    if (!there.exception.empty()) {
      add("exception on the device: " + there.exception, "");
    }
    compare_refusals(host, there);
    if (!writes_undeclared(schema_) && !sets_storage(schema_)) {
      compare_inputs();
    }
    if (host.succeeded && there.succeeded) {
      compare_layouts(host, there);
      if (verdict_.findings.empty()) {
        compare_values(host, there, args);
      }
      if (verdict_.findings.empty()) {
        compare_gradients(host, there);
      }
    }
    if (!verdict_.findings.empty()) {
      verdict_.outcome = Outcome::Failed;
    }
    return std::move(verdict_);
  }

 private:
  void add(std::string kind, std::string what) {
    verdict_.findings.push_back({std::move(kind), std::move(what)});
  }

  void compare_refusals(const Attempt& host, const Attempt& there) {
    // Only memory of the CPU is pinned; kernels refuse outputs whose elements share memory, for which the CPU has an
    // order; and a number that is passed as a tensor stays on the CPU.
    const bool by_nature = contains_any(there.message, {"can be pinned", "single memory location"}) ||
        (has_number() && contains_any(there.message, {"device", "CPU"}));
    if (host.succeeded && !there.succeeded && there.exception.empty() && !by_nature) {
      add(says_unsupported(there) ? "not supported on the device" : "refused on the device only", there.message);
    }
    if (!host.succeeded && there.succeeded && all_moderate(cases_.make(index_)) &&
        !test::only_host_looks(host.message)) {
      add(says_unsupported(host) ? "not supported on the CPU" : "refused on the CPU only", host.message);
    }
  }

  bool has_number() const {
    const std::vector<Tensor> tensors = test::tensors_of(call_.args);
    return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
      return t.defined() && t.unsafeGetTensorImpl()->is_wrapped_number();
    });
  }

  /// Storages that no written argument lies in keep their bytes.
  void compare_inputs() {
    const std::vector<bool> written = written_arguments(schema_);
    std::vector<const c10::StorageImpl*> outputs;
    for (size_t i = 0; i < call_.args.size(); ++i) {
      if (!written[i]) {
        continue;
      }
      for (const Tensor& tensor : test::tensors_of({call_.args[i]})) {
        for (const Tensor& part : is_sparse(tensor) ? members(tensor) : std::vector<Tensor>{tensor}) {
          if (part.defined() && part.has_storage()) {
            outputs.push_back(part.storage().unsafeGetStorageImpl());
          }
        }
      }
    }
    for (const DeviceCopies::Memory& memory : copies_.memory()) {
      if (std::find(outputs.begin(), outputs.end(), memory.host.unsafeGetStorageImpl()) != outputs.end()) {
        continue;
      }
      if (bytes_of(memory.device) != bytes_of(memory.host)) {
        add("changed an input on the device", "");
      }
    }
  }

  void compare_layouts(const Attempt& host, const Attempt& there) {
    const std::vector<Tensor> got = test::tensors_of(there.results), want = test::tensors_of(host.results);
    if (got.size() != want.size()) {
      return add("another number of results on the device", "");
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i].defined() != want[i].defined()) {
        return add("only one of the results is defined", "");
      }
      if (!got[i].defined()) {
        continue;
      }
      if (want[i].device().is_cpu() && got[i].device() != device_ && !has_number() && !gives_to_host() &&
          !is_of_host(got[i])) {
        return add("a result for inputs on the device is on " + got[i].device().str(), "");
      }
      if (got[i].scalar_type() != want[i].scalar_type() && schema_.name().find("autocast") == std::string::npos) {
        return add(
            "another dtype on the device",
            test::dtype_name(got[i].scalar_type()) + ", on the CPU " + test::dtype_name(want[i].scalar_type()));
      }
      if (got[i].sizes() != want[i].sizes()) {
        return add(
            "other sizes on the device", test::show(got[i].sizes()) + ", on the CPU " + test::show(want[i].sizes()));
      }
      if (got[i].layout() != want[i].layout()) {
        return add("another layout on the device", "");
      }
      if (got[i].requires_grad() != want[i].requires_grad()) {
        return add("only one of the results requires grad", "");
      }
      if (want[i].layout() == c10::kStrided && has_other_strides(got[i], want[i])) {
        return add(
            "other strides on the device",
            test::show(got[i].strides()) + ", on the CPU " + test::show(want[i].strides()) + " sizes " +
                test::show(want[i].sizes()));
      }
    }
  }
  static bool has_other_strides(const Tensor& got, const Tensor& want) {
    for (int64_t d = 0; d < want.dim() && want.numel() > 0; ++d) {
      if (want.size(d) > 1 && got.stride(d) != want.stride(d)) {
        return true;
      }
    }
    return false;
  }
  bool gives_to_host() const {
    return contains_any(schema_.name(), {"_to_cpu", "_shape_as_tensor"});
  }
  /// An argument that stayed on the CPU, or a view of one.
  bool is_of_host(const Tensor& result) const {
    const std::vector<Tensor> inputs = test::tensors_of(call_.args);
    return std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
      return shares_storage(input, result) && !copies_.copy_of(input).defined();
    });
  }

  /// Whether the arguments determine the values. Numbers beyond the moderate ones may be infinite on the way.
  bool has_determined_values() const {
    return call_.moderate && has_values(schema_) && !is_named_random(schema_) && !has_generator(call_) &&
        !writes_over_itself(call_) && !test::any_write_may_stay(full_name(schema_)) &&
        all_moderate(cases_.make(index_)) &&
        std::all_of(call_.args.begin(), call_.args.end(), [](const c10::IValue& value) {
             return !value.isDouble() || !(std::abs(value.toDouble()) > 1e4);
           });
  }

  void compare_values(const Attempt& host, const Attempt& there, const Stack& args) {
    if (!has_determined_values()) {
      return;
    }
    std::string what = difference(determined(brought_back(there.results)), determined(host.results), kSides);
    for (size_t i = 0; i < args.size() && what.empty(); ++i) {
      if (written_arguments(schema_)[i] && !is_result(args[i], there)) {
        what = difference(brought_back({args[i]}), {call_.args[i]}, kSides);
      }
    }
    if (!what.empty() && !depends_on_seed(cases_, index_)) {
      add("other values on the device", what);
    }
  }
  static bool is_result(const c10::IValue& argument, const Attempt& end) {
    const std::vector<Tensor> results = test::tensors_of(end.results);
    return argument.isTensor() &&
        std::any_of(results.begin(), results.end(), [&](const Tensor& t) { return t.is_same(argument.toTensor()); });
  }
  /// What is free in the results is taken out of them; `out` forms follow the same rules.
  Stack determined(const Stack& results) const {
    std::string name = full_name(schema_).substr(6);
    for (const char* out : {"_values", ".values"}) {
      if (const size_t at = name.rfind(out); at != std::string::npos && at + 7 == name.size()) {
        name.resize(at);
      }
    }
    Stack plain;
    const auto op = test::BoxedOp::find(full_name(schema_).substr(6));
    for (Tensor& tensor : test::determined(name, *op, cases_.make(index_).args, test::tensors_of(results))) {
      plain.emplace_back(std::move(tensor));
    }
    return plain;
  }

  void compare_gradients(const Attempt& host, const Attempt& there) {
    const std::vector<Tensor> results = test::tensors_of(host.results), copies = test::tensors_of(there.results);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined() || !results[i].requires_grad() || results[i].grad_fn() == nullptr ||
          !is_plain(results[i])) {
        continue;
      }
      const Attempt of_host = attempt([&] { results[i].backward(at::ones_like(results[i])); });
      const Attempt of_copy = attempt([&] {
        copies[i].backward(at::ones_like(copies[i]));
        wait_for(device_);
      });
      if (!of_copy.exception.empty()) {
        return add("exception in the gradient on the device: " + of_copy.exception, "");
      }
      if (of_host.succeeded != of_copy.succeeded && !says_unsupported(of_host) && !of_host.out_of_memory) {
        return add(
            says_unsupported(of_copy) ? "not supported on the device" : "a gradient refused by one of the devices",
            of_host.message + of_copy.message);
      }
      if (of_host.succeeded && of_copy.succeeded && has_determined_values()) {
        compare_leaves();
      }
      return;
    }
  }
  void compare_leaves() {
    for (const Tensor& leaf : test::tensors_of(call_.args)) {
      if (!leaf.defined() || !leaf.requires_grad() || !leaf.is_leaf()) {
        continue;
      }
      const Tensor copy = copies_.copy_of(leaf);
      if (!copy.defined()) {
        continue;
      }
      const std::string what = difference(brought_back({copy.grad()}), {leaf.grad()}, kSides);
      if (!what.empty() && !depends_on_seed(cases_, index_)) {
        return add("another gradient on the device", what);
      }
    }
  }

  c10::Device device_;
  const Cases& cases_;
  uint64_t index_;
  Call call_;
  const c10::FunctionSchema& schema_;
  DeviceCopies copies_;
  Verdict verdict_;
};

} // namespace

Verdict verdict_on(c10::Device device, const Cases& cases, uint64_t index) {
  return DeviceCheck(device, cases, index).run();
}

} // namespace fuzz
