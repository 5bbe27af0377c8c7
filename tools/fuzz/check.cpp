#include "tools/fuzz/check.h"

#include <ATen/Functions.h>
#include <c10/util/Exception.h>
#include <cxxabi.h>

#include <aten/random.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <typeinfo>

#include "test/support/compare.h"
#include "test/support/host_view.h"
#include "test/support/strict_allocator.h"
#include "tools/fuzz/sparse.h"
#include "tools/fuzz/tensors.h"

namespace fuzz {

namespace {

using at::Tensor;
using c10::ScalarType;
using test::StrictAllocator;

constexpr uint8_t kFirstFill = 0xFF;   // NaN, -1
constexpr uint8_t kSecondFill = 0x5A;  // 1.5e16, 90

// Operators whose results are not values: memory as it was found, or facts about strides, addresses and devices.
constexpr const char* kWithoutValues[] = {"empty", "new_empty", "resize", "set_", "data_ptr", "stride", "storage", "is_set_to",
                                          "is_contiguous", "is_non_overlapping", "_reshape_alias", "as_strided", "_debug",
                                          "_version", "is_same_size", "record_stream", "sym_stride", "is_set_to", "_empty",
                                          "slice_inverse", "_new_zeros_with_same_feature_meta", "_autocast_to_",
                                          // with parts that only some ways of computing fill in, or another factorization
                                          "_embedding_bag", "embedding_bag", "_linalg_",
                                          // what is left of a system without a solution; linalg_solve refuses those, and is compared
                                          "linalg_solve_ex"};
// Operators that a placing may forbid.
constexpr const char* kBoundToPlacing[] = {"view", "_unsafe_view", "_reshape_copy", "_reshape_alias", "contiguous", "istft",
                                             "max_unpool3d", "_assert_tensor_metadata", "_grouped_mm"};
// Operators that write to arguments whose schema does not say so, as in PyTorch: running statistics, storages that grow.
constexpr const char* kRandom[] = {"dropout", "rrelu", "rand", "multinomial"};
constexpr const char* kUndeclaredWriters[] = {"batch_norm", "instance_norm", "rrelu", "_copy_from", "set_", "_saturate_weight"};

template <size_t N>
bool named_like(const c10::FunctionSchema& schema, const char* const (&parts)[N]) {
  const std::string name = schema.name().substr(6);
  for (const char* part : parts)
    if (name.rfind(part, 0) == 0) return true;
  return false;
}

template <size_t N>
bool name_has(const c10::FunctionSchema& schema, const char* const (&parts)[N]) {
  for (const char* part : parts)
    if (schema.name().find(part) != std::string::npos) return true;
  return false;
}

std::string demangled(const std::type_info& type) {
  int status = 0;
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string text = name != nullptr ? name : type.name();
  std::free(name);
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n')).substr(0, 300);
}

/// Whether two elements may lie in one place (never wrong about tensors that expand or slide).
bool overlaps_itself(const Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != c10::kStrided) return false;
  int64_t reach = 1;
  std::vector<std::pair<int64_t, int64_t>> dims;
  for (int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.size(d) > 1) dims.emplace_back(tensor.stride(d), tensor.size(d));
  std::sort(dims.begin(), dims.end());
  for (const auto& [stride, size] : dims) {
    if (stride < reach) return true;
    reach += stride * (size - 1);
  }
  return false;
}

/// How an attempted call ended.
struct Attempt {
  bool succeeded = false;
  bool out_of_memory = false;
  bool missing = false;   // no such kernel
  std::string message;    // of a c10::Error
  std::string exception;  // type and text of any other exception
  Stack results;
};

template <class Call>
Attempt attempt(const Call& call) {
  Attempt end;
  try {
    call();
    end.succeeded = true;
  } catch (const c10::OutOfMemoryError& e) {
    end.out_of_memory = true;
    end.message = first_line(e.what_without_backtrace());
  } catch (const c10::NotImplementedError& e) {
    end.missing = true;
    end.message = first_line(e.what_without_backtrace());
  } catch (const c10::Error& e) {
    end.message = first_line(e.what_without_backtrace());
  } catch (const std::exception& e) {
    end.exception = demangled(typeid(e)) + ": " + first_line(e.what());
  } catch (...) {
    end.exception = "an exception of no known type";
  }
  return end;
}

Attempt attempt(const c10::OperatorHandle& op, Stack args) {
  Attempt end = attempt([&] { op.callBoxed(args); });
  if (end.succeeded) end.results = std::move(args);
  return end;
}

/// What a tensor argument was before the call.
class Snapshot {
 public:
  Snapshot(const Tensor& tensor, bool written)
      : tensor_(tensor), written_(written), sizes_(tensor.sizes().vec()), strides_(tensor.strides().vec()),
        offset_(tensor.storage_offset()), dtype_(tensor.scalar_type()), version_(version_of(tensor)) {
    if (tensor.has_storage() && tensor.device().is_cpu()) {
      storage_ = tensor.storage();
      const auto* data = static_cast<const char*>(storage_.data());
      bytes_.assign(data, data + (data == nullptr ? 0 : storage_.nbytes()));
    }
  }

  const Tensor& tensor() const { return tensor_; }
  bool written() const { return written_; }
  bool shares_memory_with(const Snapshot& other) const {
    return storage_ && other.storage_ && storage_.unsafeGetStorageImpl() == other.storage_.unsafeGetStorageImpl();
  }

  std::string changed_metadata() const {
    if (tensor_.sizes() != c10::IntArrayRef(sizes_)) return "sizes from " + test::show(sizes_) + " to " + test::show(tensor_.sizes());
    if (tensor_.strides() != c10::IntArrayRef(strides_))
      return "strides from " + test::show(strides_) + " to " + test::show(tensor_.strides());
    if (tensor_.storage_offset() != offset_) return "the offset";
    if (tensor_.scalar_type() != dtype_) return "the dtype";
    return {};
  }
  std::string changed_bytes() const {
    if (!storage_) return {};
    if (storage_.nbytes() != bytes_.size()) return "the size of the storage";
    const auto* now = static_cast<const char*>(storage_.data());
    for (size_t i = 0; i < bytes_.size(); ++i)
      if (now[i] != bytes_[i]) return "byte " + std::to_string(i) + " of " + std::to_string(bytes_.size());
    return {};
  }
  bool changed_version() const { return version_of(tensor_) != version_; }

 private:
  static int64_t version_of(const Tensor& tensor) { return tensor.is_inference() ? 0 : tensor._version(); }

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
    if (tensor.defined() && tensor.layout() == c10::kStrided) snapshots.emplace_back(tensor, is_written);
    if (is_sparse(tensor))
      for (const Tensor& part : members(tensor)) snapshots.emplace_back(part, is_written);
  };
  for (size_t i = 0; i < call.args.size(); ++i) {
    const c10::IValue& value = call.args[i];
    if (value.isTensor()) add(value.toTensor(), written[i]);
    if (value.isTensorList() || value.isOptionalTensorList())
      for (const c10::IValue& item : value.toListRef())
        if (item.isTensor()) add(item.toTensor(), written[i]);
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
    allocator.find_damage();  // of the case before
    const std::vector<Snapshot> before = snapshots_of(call_);
    const Attempt first = attempt(call_.op, call_.args);
    if (!first.exception.empty()) add("exception: " + first.exception, "");
    if (const std::string damage = allocator.find_damage(); !damage.empty()) add("writes outside its tensors", damage);
    check_inputs(before, first);
    if (first.succeeded) {
      verdict_.outcome = Outcome::Succeeded;
      if (check_results(first) && verdict_.findings.empty()) {
        check_gradient(first);
        check_without_data(first);
        if (call_.moderate) check_other_placing(first);
      }
    }
    if (!verdict_.findings.empty()) verdict_.outcome = Outcome::Failed;
    return std::move(verdict_);
  }

 private:
  void add(std::string kind, std::string what) { verdict_.findings.push_back({std::move(kind), std::move(what)}); }

  void check_inputs(const std::vector<Snapshot>& before, const Attempt& end) {
    if (name_has(schema_, kUndeclaredWriters) || sets_storage()) return;
    for (const Snapshot& input : before) {
      bool may_change = input.written();
      bool tied = false;
      for (const Snapshot& other : before) {
        tied |= &other != &input && input.shares_memory_with(other);
        may_change |= other.written() && (input.shares_memory_with(other) || other.tensor().is_same(input.tensor()));
      }
      if (may_change && end.succeeded) continue;
      if (may_change && (end.out_of_memory || !end.exception.empty() || found_on_the_way(end))) continue;
      const std::string who = may_change ? "a refused call changed its output" : "changed an input";
      if (const std::string what = input.changed_metadata(); !what.empty()) add(who + ": metadata", what + refusal(end));
      if (const std::string what = input.changed_bytes(); !what.empty()) add(who + ": bytes", what + refusal(end));
      if (!may_change && !tied && input.changed_version()) add(who + ": version", refusal(end));
    }
  }
  /// An integer divisor of zero is met among the elements, when those before it are written, as in PyTorch.
  static bool found_on_the_way(const Attempt& end) { return end.message.find("ZeroDivisionError") == 0; }
  static std::string refusal(const Attempt& end) { return end.succeeded ? "" : " | " + end.message; }

  /// Whether the results are tensors that may be read.
  bool check_results(const Attempt& end) {
    if (end.results.size() != schema_.returns().size() && !schema_.is_varret())
      add("wrong number of results", std::to_string(end.results.size()));
    for (const Tensor& result : test::tensors_of(end.results)) {
      if (is_sparse(result) && !may_break_promises() && !broken_promise(result).empty())
        return add("a sparse result that breaks the promises of its layout", broken_promise(result)), false;
      if (!result.defined() || result.layout() != c10::kStrided) continue;
      for (const int64_t size : result.sizes())
        if (size < 0) return add("a result of negative size", describe(result)), false;
      if (!result.device().is_cpu() || !result.has_storage()) continue;
      const int64_t end_of_elements = extent(result.sizes(), result.strides(), result.storage_offset());
      const bool empty = result.numel() == 0;
      if (!empty && (end_of_elements < 0 ||
                     end_of_elements * result.element_size() > static_cast<int64_t>(result.storage().nbytes())))
        return add("a result that its storage does not hold", describe(result)), false;
    }
    return true;
  }

  /// Whether the call was given what no sparse tensor may hold, or says that it does not look.
  bool may_break_promises() const {
    constexpr const char* kUnchecked[] = {"unsafe", "_with_dims", "_coalesced", "set_"};
    if (name_has(schema_, kUnchecked)) return true;
    const std::vector<Tensor> tensors = test::tensors_of(call_.args);
    return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
      return is_sparse(tensor) && !broken_promise(tensor).empty();
    });
  }

  /// Gradients of what the call gave: they may be refused, too.
  void check_gradient(const Attempt& end) {
    for (const Tensor& result : test::tensors_of(end.results)) {
      if (!is_plain(result) || !result.requires_grad() || result.grad_fn() == nullptr) continue;
      const Attempt gradient = attempt([&] { result.backward(at::ones_like(result)); });
      if (!gradient.exception.empty()) add("exception in the gradient: " + gradient.exception, "");
      if (const std::string damage = StrictAllocator::install().find_damage(); !damage.empty())
        add("the gradient writes outside its tensors", damage);
      return;
    }
  }

  void check_without_data(const Attempt& real) {
    if (named_like(schema_, kWithoutValues)) return;
    Call again = cases_.make(index_);
    const std::vector<Tensor> tensors = test::tensors_of(again.args);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].defined() && (!is_plain(tensors[i]) || tensors[i].is_conj() || tensors[i].is_neg())) return;
      for (size_t j = 0; j < i; ++j)
        if (shares_storage(tensors[i], tensors[j])) return;
    }
    for (const Tensor& tensor : test::tensors_of(real.results))
      if (tensor.defined() && !tensor.device().is_cpu()) return;
    bool has_tensors = false;
    Stack args = test::with_tensors(again.args, [&](const Tensor& tensor) {
      has_tensors = true;
      return on_meta(tensor);
    });
    for (size_t i = 0; i < args.size(); ++i)
      if (schema_.arguments()[i].name() == "device") args[i] = c10::Device(c10::DeviceType::Meta);
    if (!has_tensors && !schema_.argumentIndexWithName("device").has_value()) return;
    const Attempt meta = attempt(call_.op, std::move(args));
    if (!meta.exception.empty()) return add("exception without data: " + meta.exception, "");
    if (meta.missing || meta.out_of_memory) return;
    // What depends on values, or takes a vector that must be on the CPU, says so; an undefined tensor can be left, not moved.
    bool needs_data = false;
    for (const char* word : {"meta", "CPU", "tensor does not have a device"})
      needs_data = needs_data || meta.message.find(word) != std::string::npos;
    if (!meta.succeeded && needs_data) return;
    if (!meta.succeeded) return add("refused without data only", meta.message);
    const std::vector<Tensor> got = test::tensors_of(meta.results);
    const std::vector<Tensor> want = test::tensors_of(real.results);
    if (got.size() != want.size()) return add("another number of results without data", "");
    for (size_t i = 0; i < got.size(); ++i)
      if (const std::string what = difference_without_data(got[i], want[i]); !what.empty())
        return add("other results without data: " + what.substr(0, what.find(' ')), what);
  }
  static std::string difference_without_data(const Tensor& meta, const Tensor& real) {
    if (meta.defined() != real.defined()) return "definedness";
    if (!real.defined()) return {};
    if (meta.scalar_type() != real.scalar_type())
      return "dtype " + test::dtype_name(meta.scalar_type()) + ", with data " + test::dtype_name(real.scalar_type());
    if (meta.sizes() != real.sizes()) return "sizes " + test::show(meta.sizes()) + ", with data " + test::show(real.sizes());
    for (int64_t d = 0; d < real.dim() && real.numel() > 0; ++d)
      if (real.size(d) > 1 && meta.stride(d) != real.stride(d))
        return "strides " + test::show(meta.strides()) + ", with data " + test::show(real.strides()) + " sizes " +
               test::show(real.sizes());
    return {};
  }

  void check_other_placing(const Attempt& first) {
    if (named_like(schema_, kWithoutValues) || sets_storage() || name_has(schema_, kRandom) || has_generator()) return;
    if (writes_over_itself()) return;
    StrictAllocator::install().set_fill(kSecondFill);
    const Call other = cases_.make(index_, Variant::PlacedOtherwise);
    const Attempt second = attempt(other.op, other.args);
    if (!second.exception.empty()) return add("exception: " + second.exception, "placed otherwise");
    if (const std::string damage = StrictAllocator::install().find_damage(); !damage.empty())
      return add("writes outside its tensors", damage + ", placed otherwise");
    if (!second.succeeded) {
      if (!named_like(schema_, kBoundToPlacing)) add("refused by strides", second.message);
      return;
    }
    const std::string what = difference(second, first);
    if (what.empty() || !all_moderate(other) || is_random()) return;
    add("results depend on strides or on unset memory", what);
  }

  /// The functional form of set_ lets the storage grow too, and shows what memory it finds.
  bool sets_storage() const { return schema_.name() == "aten::set"; }

  /// Whether the values follow from the seed of the default generator.
  bool is_random() const {
    const auto run = [&](uint64_t seed) {
      at::manual_seed(seed);
      return attempt(call_.op, cases_.make(index_).args);
    };
    const Attempt first = run(1);
    bool differs = false;
    for (uint64_t seed = 2; seed < 8 && !differs; ++seed) differs = !difference(run(seed), first).empty();
    return differs && difference(run(1), first).empty();
  }
  /// Whether numbers are small enough for the order of sums not to matter, and that of products: infinity times a later 0
  /// is NaN, an earlier 0 stays 0.
  bool all_moderate(const Call& call) const {
    const double limit = schema_.name() == "aten::prod" ? 1.5 : 1e4;
    for (const Tensor& tensor : test::tensors_of(call.args)) {
      if (!is_plain(tensor) || !has_elements_to_read(tensor.scalar_type())) continue;
      const test::HostView view(tensor);
      for (int64_t i = 0; i < tensor.numel(); ++i)
        if (!(std::abs(view.number(i)) < limit)) return false;
    }
    return true;
  }
  /// Or a probability, at which nothing may be left whatever the seed.
  bool has_generator() const {
    for (size_t i = 0; i < schema_.arguments().size(); ++i) {
      if (schema_.arguments()[i].type()->str().find("Generator") != std::string::npos) return true;
      if (schema_.arguments()[i].name() == "dropout_p" && call_.args[i].isDouble() && call_.args[i].toDouble() != 0) return true;
    }
    return false;
  }
  /// Elements of an output share memory in a way that operators need not notice: the last write wins. The scatter family
  /// writes to a copy that keeps the strides. index_put may name a position more than once, and the last in memory wins.
  bool writes_over_itself() const {
    if (schema_.name().find("index_put") != std::string::npos)
      for (size_t i = 0; i < call_.args.size(); ++i)
        if (schema_.arguments()[i].name() == "accumulate" && call_.args[i].isBool() && !call_.args[i].toBool()) return true;
    std::vector<bool> written = written_arguments(schema_);
    if (schema_.name().find("_scatter") != std::string::npos) written.assign(written.size(), true);
    if (name_has(schema_, kUndeclaredWriters)) written.assign(written.size(), true);
    for (size_t i = 0; i < call_.args.size(); ++i)
      if (written[i] && call_.args[i].isTensor() && overlaps_itself(call_.args[i].toTensor())) return true;
    return false;
  }

  static std::string difference(const Attempt& got, const Attempt& want) {
    const std::vector<Tensor> a = test::tensors_of(got.results);
    const std::vector<Tensor> b = test::tensors_of(want.results);
    if (a.size() != b.size()) return "the number of results";
    for (size_t i = 0; i < a.size(); ++i)
      if (const std::string what = difference(a[i], b[i]); !what.empty()) return what;
    return {};
  }

  /// Elements of a tensor that is not coalesced have no order: nothing where its dtype cannot be coalesced.
  static std::vector<Tensor> sorted_members(const Tensor& sparse) {
    if (sparse.layout() != c10::kSparse || !broken_promise(sparse).empty()) return members(sparse);
    std::vector<Tensor> parts;
    attempt([&] { parts = members(sparse.detach().coalesce()); });
    return parts;
  }

  static bool has_nan(std::complex<double> x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
  /// Far looser than the tests of values: other strides may mean another order of sums.
  static std::string difference(const Tensor& got, const Tensor& want) {
    if (got.defined() != want.defined()) return "definedness";
    if (is_sparse(got) && is_sparse(want) && got.layout() == want.layout()) {
      const std::vector<Tensor> parts = sorted_members(got), others = sorted_members(want);
      for (size_t i = 0; i < parts.size(); ++i)
        if (const std::string what = difference(parts[i], others[i]); !what.empty()) return what + " of a member";
      return {};
    }
    if (!is_plain(got) || !is_plain(want)) return {};
    if (got.sizes() != want.sizes()) return "sizes " + test::show(got.sizes()) + " and " + test::show(want.sizes());
    if (got.scalar_type() != want.scalar_type()) return "dtypes";
    constexpr int64_t kCompared = 1 << 16;
    if (!has_elements_to_read(got.scalar_type()) || got.numel() > kCompared) return {};
    const test::HostView a(got);
    const test::HostView b(want);
    double largest = 0;
    for (int64_t i = 0; i < want.numel(); ++i) {
      const double size = std::abs(b.number(i));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
    // Results may be wider than the numbers that they were computed from.
    const double rtol = std::max(test::tolerance_for(want.scalar_type()).rtol, test::tolerance_for(c10::kFloat).rtol);
    const bool exact = c10::isIntegralType(want.scalar_type(), /*includeBool=*/true);
    const double tolerance = exact ? 0 : 200 * rtol * (largest + 1);
    for (int64_t i = 0; i < want.numel(); ++i) {
      const std::complex<double> x = a.number(i);
      const std::complex<double> y = b.number(i);
      if (x == y || (has_nan(x) && has_nan(y))) continue;
      if (std::isfinite(std::abs(x)) && std::isfinite(std::abs(y)) && std::abs(x - y) <= tolerance) continue;
      char text[200];
      std::snprintf(
          text, sizeof text, "at %s: %g%+gj placed otherwise, %g%+gj as drawn", test::show_position(i, want.sizes()).c_str(),
          x.real(), x.imag(), y.real(), y.imag());
      return text;
    }
    return {};
  }

  const Cases& cases_;
  uint64_t index_;
  Call call_;
  const c10::FunctionSchema& schema_;
  Verdict verdict_;
};

}  // namespace

Verdict run_case(const Cases& cases, uint64_t index) {
  return CaseCheck(cases, index).run();
}

}  // namespace fuzz
