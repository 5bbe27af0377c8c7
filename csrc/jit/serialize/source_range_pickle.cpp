#include <csrc/jit/serialize/source_range_pickle.h>

#include <aten/core/ivalue.h>
#include <csrc/jit/types.h>
#include <csrc/serialize/pickler.h>

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::jit {

namespace {

// Note [Debug records]
// A record is ("FORMAT_WITH_STRING_TABLE", strings, ranges). A range is (offset in the code, place, tag), a place is
// (source, begin, end), a source is (numbers of the strings that make its text, number of its file's name, line that
// the text begins at). Strings are lines, so that sources which overlap share them.
class RangeTable {
 public:
  RangeTable() {
    number("");
  }
  void add(const TaggedRange& tagged) {
    std::optional<SourceRange> original;
    if (tagged.range.source()) {
      original = tagged.range.findSourceRangeThatGenerated();
    }
    const SourceRange& range = original ? *original : tagged.range;
    const auto begin = static_cast<int64_t>(range.start()), end = static_cast<int64_t>(range.end());
    const IValue place = c10::ivalue::Tuple::create({source(range.source()), begin, end});
    const auto tag = static_cast<int64_t>(ranges_.size());
    ranges_.emplace_back(c10::ivalue::Tuple::create({static_cast<int64_t>(tagged.bytes), place, tag}));
  }
  IValue finish() {
    std::vector<IValue> strings;
    for (const std::string* text : strings_) {
      strings.emplace_back(*text);
    }
    return c10::ivalue::Tuple::create(
        {IValue("FORMAT_WITH_STRING_TABLE"), IValue(c10::ivalue::Tuple::create(std::move(strings))),
         IValue(c10::ivalue::Tuple::create(std::move(ranges_)))});
  }

 private:
  int64_t number(std::string_view text) {
    const auto [place, is_new] = numbers_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()));
    if (is_new) {
      strings_.push_back(&place->first);
    }
    return place->second;
  }
  const IValue& source(const std::shared_ptr<Source>& source) {
    IValue& value = sources_[source.get()];
    if (value.isNone()) {
      c10::List<int64_t> lines;
      std::string_view rest = source ? source->text_str() : std::string_view();
      while (!rest.empty()) {
        const size_t newline = rest.find('\n');
        const size_t length = newline == std::string_view::npos ? rest.size() : newline + 1;
        lines.push_back(number(rest.substr(0, length)));
        rest.remove_prefix(length);
      }
      const int64_t name = number(source && source->filename() ? *source->filename() : std::string());
      const int64_t line = source ? static_cast<int64_t>(source->starting_line_no()) : 0;
      value = c10::ivalue::Tuple::create({lines, name, line});
      kept_.push_back(source);
    }
    return value;
  }

  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<const std::string*> strings_;
  std::unordered_map<const Source*, IValue> sources_;
  std::vector<std::shared_ptr<Source>> kept_;
  std::vector<IValue> ranges_;
};

} // namespace

std::string pickle_source_ranges(const SourceRangeRecords& ranges) {
  RangeTable table;
  for (const TaggedRange& range : ranges) {
    table.add(range);
  }
  serialize::Pickler pickler(serialize::Pickler::Style::TorchScript);
  pickler.push(table.finish());
  return pickler.finish();
}

} // namespace torch::jit
