#include <csrc/jit/serialize/debug_records.h>

#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/unpickler.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace torch::jit {

namespace {

// A record is a tuple of (offset, (source, start, end), ...), where a source is (text, name, first line). Since
// PyTorch 1.10 the texts are lists of numbers of strings, and the record is (this mark, strings, such a tuple).
constexpr const char* kWithStrings = "FORMAT_WITH_STRING_TABLE";

// A record may name one long string many times.
constexpr size_t kMaxExpansion = 64;
constexpr size_t kFreeText = size_t{1} << 20;

class RecordReader {
 public:
  explicit RecordReader(const std::string& pickle) : text_left_(kFreeText + kMaxExpansion * pickle.size()) {
    const auto no_storage = [](const std::string&, const std::string&, uint64_t) -> c10::Storage {
      TORCH_CHECK(false, "a debug record holds no tensors");
    };
    const c10::IValue root =
        serialize::Unpickler(pickle, "debug record", serialize::Unpickler::Style::TorchScript, no_storage).parse();
    const auto& elements = root.toTupleRef().elements();
    const bool with_strings =
        elements.size() == 3 && elements[0].isString() && elements[0].toStringRef() == kWithStrings;
    if (with_strings) {
      for (const c10::IValue& text : elements[1].toTupleRef().elements()) {
        strings_.push_back(&text.toStringRef());
      }
    }
    for (const c10::IValue& record : (with_strings ? elements[2].toTupleRef() : root.toTupleRef()).elements()) {
      const auto& fields = record.toTupleRef().elements();
      TORCH_CHECK(fields.size() >= 2, "a range of a debug record is not complete");
      ranges.push_back(TaggedRange{static_cast<size_t>(fields[0].toInt()), range(fields[1])});
    }
    std::stable_sort(
        ranges.begin(), ranges.end(), [](const TaggedRange& a, const TaggedRange& b) { return a.bytes < b.bytes; });
  }

  std::vector<TaggedRange> ranges;

 private:
  SourceRange range(const c10::IValue& value) {
    const auto& fields = value.toTupleRef().elements();
    TORCH_CHECK(fields.size() == 3, "a range of a debug record is not complete");
    const std::shared_ptr<Source> source = this->source(fields[0]);
    const size_t end = std::min(static_cast<uint64_t>(fields[2].toInt()), static_cast<uint64_t>(source->size()));
    return SourceRange(source, std::min(static_cast<uint64_t>(fields[1].toInt()), static_cast<uint64_t>(end)), end);
  }

  // The same tuple stands in many ranges.
  std::shared_ptr<Source> source(const c10::IValue& value) {
    const c10::ivalue::Tuple& tuple = value.toTupleRef();
    std::shared_ptr<Source>& known = sources_[&tuple];
    if (!known) {
      const auto& fields = tuple.elements();
      TORCH_CHECK(fields.size() == 3, "a source of a debug record is not complete");
      const std::optional<std::string> name = fields[1].isNone() ? std::nullopt : std::optional(string(fields[1]));
      known = std::make_shared<Source>(text(fields[0]), name, static_cast<size_t>(fields[2].toInt()));
      kept_.push_back(value);
    }
    return known;
  }

  const std::string& string(const c10::IValue& value) const {
    if (value.isString()) {
      return value.toStringRef();
    }
    const int64_t number = value.toInt();
    TORCH_CHECK(
        number >= 0 && static_cast<uint64_t>(number) < strings_.size(), "Text table index is out of range: ", number);
    return *strings_[static_cast<size_t>(number)];
  }

  std::string text(const c10::IValue& value) {
    std::string text;
    const auto append = [&](const std::string& part) {
      TORCH_CHECK(part.size() <= text_left_, "a debug record stands for far more text than its size explains");
      text_left_ -= part.size();
      text += part;
    };
    if (value.isString()) {
      append(value.toStringRef());
    } else {
      for (const c10::IValue& part : value.toListRef()) {
        append(string(part));
      }
    }
    return text;
  }

  size_t text_left_;
  std::vector<const std::string*> strings_;
  std::map<const c10::ivalue::Tuple*, std::shared_ptr<Source>> sources_;
  std::vector<c10::IValue> kept_;
};

struct DebugRecord final : SourceRangeUnpickler {
  explicit DebugRecord(std::function<std::string()> record) : record(std::move(record)) {}

  std::optional<SourceRange> findSourceRangeThatGenerated(const SourceRange& range) override {
    const std::lock_guard<std::mutex> lock(mutex);
    if (record) {
      try {
        ranges = RecordReader(record()).ranges;
      } catch (const c10::Error&) {
        ranges.clear();
      }
      record = nullptr;
    }
    const auto after = std::upper_bound(
        ranges.begin(), ranges.end(), range.start(),
        [](size_t offset, const TaggedRange& tagged) { return offset < tagged.bytes; });
    if (after == ranges.begin()) {
      return std::nullopt;
    }
    return (after - 1)->range;
  }

  std::mutex mutex;
  std::function<std::string()> record;
  std::vector<TaggedRange> ranges;
};

} // namespace

std::shared_ptr<SourceRangeUnpickler> debugRecord(std::function<std::string()> record) {
  return std::make_shared<DebugRecord>(std::move(record));
}

} // namespace torch::jit
