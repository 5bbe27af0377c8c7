#include "test/fuzz/check.h"

#include <ATen/Functions.h>
#include <c10/util/Exception.h>

#include <aten/core/random.h>

#include <algorithm>

#include "test/support/host_view.h"
#include "test/support/strict_allocator.h"
#include "test/fuzz/attempt.h"
#include "test/fuzz/compare.h"
#include "test/fuzz/device_check.h"
#include "test/fuzz/sparse.h"
#include "test/fuzz/tensors.h"
#include "test/fuzz/traits.h"

namespace fuzz {

namespace {

using at::Tensor;
using c10::ScalarType;
using test::StrictAllocator;

constexpr uint8_t kFirstFill = 0xFF; // NaN, -1
constexpr uint8_t kSecondFill = 0x5A; // 1.5e16, 90

/// What a tensor argument was before the call.
class Snapshot {
 public:
  Snapshot(const Tensor& tensor, bool written)
      : tensor_(tensor),
        written_(written),
        sizes_(tensor.sizes().vec()),
        strides_(tensor.strides().vec()),
        offset_(tensor.storage_offset()),
        dtype_(tensor.scalar_type()),
        version_(version_of(tensor)) {
    if (tensor.has_storage() && tensor.device().is_cpu()) {
      storage_ = tensor.storage();
      const auto* data = static_cast<const char*>(storage_.data());
      bytes_.assign(data, data + (data == nullptr ? 0 : storage_.nbytes()));
    }
  }

  const Tensor& tensor() const {
    return tensor_;
  }
  bool written() const {
    return written_;
  }
  bool shares_memory_with(const Snapshot& other) const {
    return storage_ && other.storage_ && storage_.unsafeGetStorageImpl() == other.storage_.unsafeGetStorageImpl();
  }

  std::string changed_metadata() const {
    if (tensor_.sizes() != c10::IntArrayRef(sizes_)) {
      return "sizes from " + test::show(sizes_) + " to " + test::show(tensor_.sizes());
    }
    if (tensor_.strides() != c10::IntArrayRef(strides_)) {
      return "strides from " + test::show(strides_) + " to " + test::show(tensor_.strides());
    }
    if (tensor_.storage_offset() != offset_) {
      return "the offset";
    }
    if (tensor_.scalar_type() != dtype_) {
      return "the dtype";
    }
    return {};
  }
  std::string changed_bytes() const {
    if (!storage_) {
      return {};
    }
    if (storage_.nbytes() != bytes_.size()) {
      return "the size of the storage";
    }
    const auto* now = static_cast<const char*>(storage_.data());
    for (size_t i = 0; i < bytes_.size(); ++i) {
      if (now[i] != bytes_[i]) {
        return "byte " + std::to_string(i) + " of " + std::to_string(bytes_.size());
      }
    }
    return {};
  }
  bool changed_version() const {
    return version_of(tensor_) != version_;
  }

 private:
  static int64_t version_of(const Tensor& tensor) {
    return tensor.is_inference() ? 0 : tensor._version();
  }

  Tensor tensor_;
  bool written_;
  Shape sizes_;
  Shape strides_;
  int64_t offset_;
  ScalarType dtype_;
  int64_t version_;
  c10::Storage storage_;
  std::vector<char> bytes_;
};

std::vector<Snapshot> snapshots_of(const Call& call) {
  const std::vector<bool> written = written_arguments(call.op.schema());
  std::vector<Snapshot> snapshots;
  const auto add = [&](const Tensor& tensor, bool is_written) {
    if (tensor.defined() && tensor.layout() == c10::kStrided) {
      snapshots.emplace_back(tensor, is_written);
    }
    if (is_sparse(tensor)) {
      for (const Tensor& part : members(tensor)) {
        snapshots.emplace_back(part, is_written);
      }
    }
  };
  for (size_t i = 0; i < call.args.size(); ++i) {
    const c10::IValue& value = call.args[i];
    if (value.isTensor()) {
      add(value.toTensor(), written[i]);
    }
    if (value.isTensorList() || value.isOptionalTensorList()) {
      for (const c10::IValue& item : value.toListRef()) {
        if (item.isTensor()) {
          add(item.toTensor(), written[i]);
        }
      }
    }
  }
  return snapshots;
}

class CaseCheck {
 public:
  CaseCheck(const Cases& cases, uint64_t index)
      : cases_(cases), index_(index), call_(cases.make(index)), schema_(call_.op.schema()) {}

  Verdict run() {
    StrictAllocator& allocator = StrictAllocator::install();
    allocator.set_fill(kFirstFill);
    allocator.find_damage(); // of the case before
    const std::vector<Snapshot> before = snapshots_of(call_);
    const Attempt first = attempt(call_.op, call_.args);
    if (!first.exception.empty()) {
      add("exception: " + first.exception, "");
    }
    if (const std::string damage = allocator.find_damage(); !damage.empty()) {
      add("writes outside its tensors", damage);
    }
    check_inputs(before, first);
    if (first.succeeded) {
      verdict_.outcome = Outcome::Succeeded;
      if (check_results(first) && verdict_.findings.empty()) {
        check_gradient(first);
        check_without_data(first);
        if (call_.moderate) {
          check_other_placing(first);
        }
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

  void check_inputs(const std::vector<Snapshot>& before, const Attempt& end) {
    if (writes_undeclared(schema_) || sets_storage(schema_)) {
      return;
    }
    for (const Snapshot& input : before) {
      bool may_change = input.written();
      bool tied = false;
      for (const Snapshot& other : before) {
        tied |= &other != &input && input.shares_memory_with(other);
        may_change |= other.written() && (input.shares_memory_with(other) || other.tensor().is_same(input.tensor()));
      }
      if (may_change && end.succeeded) {
        continue;
      }
      if (may_change && (end.out_of_memory || !end.exception.empty() || found_on_the_way(end))) {
        continue;
      }
      const std::string who = may_change ? "a refused call changed its output" : "changed an input";
      if (const std::string what = input.changed_metadata(); !what.empty()) {
        add(who + ": metadata", what + refusal(end));
      }
      if (const std::string what = input.changed_bytes(); !what.empty()) {
        add(who + ": bytes", what + refusal(end));
      }
      if (!may_change && !tied && input.changed_version()) {
        add(who + ": version", refusal(end));
      }
    }
  }
  /// An integer divisor of zero is met among the elements, when those before it are written, as in PyTorch.
  static bool found_on_the_way(const Attempt& end) {
    return end.message.find("ZeroDivisionError") == 0;
  }
  static std::string refusal(const Attempt& end) {
    return end.succeeded ? "" : " | " + end.message;
  }

  /// Whether the results are tensors that may be read.
  bool check_results(const Attempt& end) {
    if (end.results.size() != schema_.returns().size() && !schema_.is_varret()) {
      add("wrong number of results", std::to_string(end.results.size()));
    }
    for (const Tensor& result : test::tensors_of(end.results)) {
      if (is_sparse(result) && !may_break_promises() && !broken_promise(result).empty()) {
        return add("a sparse result that breaks the promises of its layout", broken_promise(result)), false;
      }
      if (!result.defined() || result.layout() != c10::kStrided) {
        continue;
      }
      for (const int64_t size : result.sizes()) {
        if (size < 0) {
          return add("a result of negative size", describe(result)), false;
        }
      }
      if (!result.device().is_cpu() || !result.has_storage()) {
        continue;
      }
      const int64_t end_of_elements = extent(result.sizes(), result.strides(), result.storage_offset());
      const bool empty = result.numel() == 0;
      if (!empty &&
          (end_of_elements < 0 ||
           end_of_elements * result.element_size() > static_cast<int64_t>(result.storage().nbytes()))) {
        return add("a result that its storage does not hold", describe(result)), false;
      }
    }
    return true;
  }

  /// Whether the call was given what no sparse tensor may hold, or says that it does not look.
  bool may_break_promises() const {
    for (const char* part : {"unsafe", "_with_dims", "_coalesced", "set_"}) {
      if (schema_.name().find(part) != std::string::npos) {
        return true;
      }
    }
    const std::vector<Tensor> tensors = test::tensors_of(call_.args);
    return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
      return is_sparse(tensor) && !broken_promise(tensor).empty();
    });
  }

  /// Gradients of what the call gave: they may be refused, too.
  void check_gradient(const Attempt& end) {
    for (const Tensor& result : test::tensors_of(end.results)) {
      if (!is_plain(result) || !result.requires_grad() || result.grad_fn() == nullptr) {
        continue;
      }
      const Attempt gradient = attempt([&] { result.backward(at::ones_like(result)); });
      if (!gradient.exception.empty()) {
        add("exception in the gradient: " + gradient.exception, "");
      }
      if (const std::string damage = StrictAllocator::install().find_damage(); !damage.empty()) {
        add("the gradient writes outside its tensors", damage);
      }
      return;
    }
  }

  void check_without_data(const Attempt& real) {
    if (!has_values(schema_)) {
      return;
    }
    Call again = cases_.make(index_);
    const std::vector<Tensor> tensors = test::tensors_of(again.args);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].defined() && (!is_plain(tensors[i]) || tensors[i].is_conj() || tensors[i].is_neg())) {
        return;
      }
      for (size_t j = 0; j < i; ++j) {
        if (shares_storage(tensors[i], tensors[j])) {
          return;
        }
      }
    }
    for (const Tensor& tensor : test::tensors_of(real.results)) {
      if (tensor.defined() && !tensor.device().is_cpu()) {
        return;
      }
    }
    bool has_tensors = false;
    Stack args = test::with_tensors(again.args, [&](const Tensor& tensor) {
      has_tensors = true;
      return on_meta(tensor);
    });
    for (size_t i = 0; i < args.size(); ++i) {
      if (schema_.arguments()[i].name() == "device") {
        args[i] = c10::Device(c10::DeviceType::Meta);
      }
    }
    if (!has_tensors && !schema_.argumentIndexWithName("device").has_value()) {
      return;
    }
    const Attempt meta = attempt(call_.op, std::move(args));
    if (!meta.exception.empty()) {
      return add("exception without data: " + meta.exception, "");
    }
    if (meta.missing || meta.out_of_memory) {
      return;
    }
    // What depends on values, or takes a vector that must be on the CPU, says so; an undefined tensor can be left, not
    // moved.
    bool needs_data = false;
    for (const char* word : {"meta", "CPU", "tensor does not have a device"}) {
      needs_data = needs_data || meta.message.find(word) != std::string::npos;
    }
    if (!meta.succeeded && needs_data) {
      return;
    }
    if (!meta.succeeded) {
      return add("refused without data only", meta.message);
    }
    const std::vector<Tensor> got = test::tensors_of(meta.results);
    const std::vector<Tensor> want = test::tensors_of(real.results);
    if (got.size() != want.size()) {
      return add("another number of results without data", "");
    }
    for (size_t i = 0; i < got.size(); ++i) {
      if (const std::string what = difference_without_data(got[i], want[i]); !what.empty()) {
        return add("other results without data: " + what.substr(0, what.find(' ')), what);
      }
    }
  }
  static std::string difference_without_data(const Tensor& meta, const Tensor& real) {
    if (meta.defined() != real.defined()) {
      return "definedness";
    }
    if (!real.defined()) {
      return {};
    }
    if (meta.scalar_type() != real.scalar_type()) {
      return "dtype " + test::dtype_name(meta.scalar_type()) + ", with data " + test::dtype_name(real.scalar_type());
    }
    if (meta.sizes() != real.sizes()) {
      return "sizes " + test::show(meta.sizes()) + ", with data " + test::show(real.sizes());
    }
    for (int64_t d = 0; d < real.dim() && real.numel() > 0; ++d) {
      if (real.size(d) > 1 && meta.stride(d) != real.stride(d)) {
        return "strides " + test::show(meta.strides()) + ", with data " + test::show(real.strides()) + " sizes " +
            test::show(real.sizes());
      }
    }
    return {};
  }

  void check_other_placing(const Attempt& first) {
    if (!has_values(schema_) || sets_storage(schema_) || is_named_random(schema_) || has_generator(call_)) {
      return;
    }
    if (writes_over_itself(call_)) {
      return;
    }
    constexpr Sides kSides{"placed otherwise", "as drawn"};
    StrictAllocator::install().set_fill(kSecondFill);
    const Call other = cases_.make(index_, Variant::PlacedOtherwise);
    const Attempt second = attempt(other.op, other.args);
    if (!second.exception.empty()) {
      return add("exception: " + second.exception, "placed otherwise");
    }
    if (const std::string damage = StrictAllocator::install().find_damage(); !damage.empty()) {
      return add("writes outside its tensors", damage + ", placed otherwise");
    }
    if (!second.succeeded) {
      if (!is_bound_to_placing(schema_)) {
        add("refused by strides", second.message);
      }
      return;
    }
    const std::string what = difference(second.results, first.results, kSides);
    if (what.empty() || !all_moderate(other) || depends_on_seed(cases_, index_)) {
      return;
    }
    add("results depend on strides or on unset memory", what);
  }

  const Cases& cases_;
  uint64_t index_;
  Call call_;
  const c10::FunctionSchema& schema_;
  Verdict verdict_;
};

} // namespace

Verdict run_case(const Cases& cases, uint64_t index, c10::Device device) {
  return device.is_cpu() ? CaseCheck(cases, index).run() : verdict_on(device, cases, index);
}

} // namespace fuzz
