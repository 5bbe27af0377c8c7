#include "test/ops/samples.h"

#include <map>

#include "test/support/elements.h"

namespace test {

namespace {

std::map<std::string, const SampleSet*>& registry() {
  static std::map<std::string, const SampleSet*> sets;
  return sets;
}

constexpr c10::ScalarType kAllTypes[] = {
    c10::ScalarType::Bool,  c10::ScalarType::Byte,   c10::ScalarType::Char,         c10::ScalarType::Short,
    c10::ScalarType::Int,   c10::ScalarType::Long,   c10::ScalarType::Half,         c10::ScalarType::BFloat16,
    c10::ScalarType::Float, c10::ScalarType::Double, c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble};

} // namespace

SampleSet::SampleSet(const char* op, Make make, SampleTraits traits) : make_(std::move(make)), traits_(traits) {
  registry()[op] = this;
}

const SampleSet* SampleSet::find(const std::string& op) {
  const auto found = registry().find(op);
  return found == registry().end() ? nullptr : found->second;
}

SampleTraits traits_of(const OpRow& row) {
  const SampleSet* set = row.pointwise ? nullptr : SampleSet::find(row.name);
  if (set != nullptr) {
    return set->traits();
  }
  SampleTraits traits;
  traits.constants = row.constants;
  return traits;
}

std::vector<c10::ScalarType> dtypes_of(const OpRow& row, Purpose purpose) {
  DTypes dtypes = row.dtypes;
  if (dtypes == 0) {
    dtypes = dtype_bit(c10::ScalarType::Float) | dtype_bit(c10::ScalarType::Double);
  }
  // Integers are promoted to the default dtype, so the kernel need not know them.
  if (row.pointwise && row.result == Result::Float) {
    dtypes |= kBool | kIntegral;
  }
  const DTypes wanted = purpose == Purpose::Values
      ? kAll
      : dtype_bit(c10::ScalarType::Double) | dtype_bit(c10::ScalarType::ComplexDouble);
  std::vector<c10::ScalarType> chosen;
  for (const c10::ScalarType type : kAllTypes) {
    if ((dtypes & wanted & dtype_bit(type)) != 0) {
      chosen.push_back(type);
    }
  }
  return chosen;
}

std::vector<Sample> pointwise_samples(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose);

std::vector<Sample> samples_of(const OpRow& row, const BoxedOp& op, c10::ScalarType dtype, Purpose purpose) {
  if (row.pointwise) {
    return pointwise_samples(row, op, dtype, purpose);
  }
  const SampleSet* set = SampleSet::find(row.name);
  if (set == nullptr) {
    return {};
  }
  Random random(std::hash<std::string>()(row.name));
  std::vector<Sample> samples;
  for (Stack& args : set->make()(dtype, random)) {
    const std::string note = "sample " + std::to_string(samples.size());
    samples.push_back({op.complete(std::move(args)), note});
  }
  return samples;
}

} // namespace test
