// The progress bar, as a terminal and as a pipe see it.
#include "datasets_for_tests.h"

#include <torch/progress.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace {

/// A stream whose text can be read.
class Captured {
 public:
  Captured() : stream_(open_memstream(&text_, &size_)) {}
  ~Captured() {
    std::fclose(stream_);
    std::free(text_);
  }
  std::FILE* stream() {
    return stream_;
  }
  std::string text() {
    std::fflush(stream_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* stream_;
};

torch::ProgressOptions to(Captured& out, bool terminal) {
  return torch::ProgressOptions().stream(out.stream()).terminal(terminal);
}

long lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

} // namespace

TEST_CASE("a pipe gets the first and the last line", "[progress]") {
  Captured out;
  torch::Progress bar(1000, to(out, false).label("train").unit("batches"));
  for (int i = 0; i < 1000; ++i) {
    bar.set("lr", 0.125).mean("loss", i);
    bar.advance();
  }
  CHECK(bar.done());
  bar.finish();
  bar.finish();
  const std::string text = out.text();
  CHECK(lines(text) == 2);
  CHECK(text.find('\r') == std::string::npos);
  CHECK_THAT(text, Catch::StartsWith("train    0%  1 batches  lr 0.125  loss 0  "));
  CHECK_THAT(text, Catch::Contains("\ntrain  100%  1000 batches  lr 0.125  loss 990  "));
  CHECK_THAT(text, Catch::Contains("batches/s  in 0:00\n"));
}

TEST_CASE("a terminal gets one line that fits", "[progress]") {
  Captured out;
  {
    torch::Progress bar(4, to(out, true).first(10));
    bar.set("state", "warming up");
    bar.advance(2);
    CHECK(bar.count() == 2);
    CHECK(bar.fraction() == 0.5);
    CHECK_FALSE(bar.done());
  }
  const std::string text = out.text();
  CHECK(lines(text) == 1);
  // The bar takes the room that the numbers leave.
  CHECK_THAT(text, Catch::Matches("\r\\[#+\\.+\\]  50%  12 steps  state warming up  [^]*"));
  CHECK_THAT(text, Catch::EndsWith("\033[K\n"));

  Captured narrow;
  torch::Progress long_bar(4, to(narrow, true));
  long_bar.set("text", std::string(200, 'x'));
  long_bar.advance();
  CHECK(narrow.text().size() <= 80 + 4);
}

TEST_CASE("work may be limited by time or by nothing", "[progress]") {
  Captured out;
  torch::Progress by_time(1000000, to(out, false).seconds(1e-9));
  CHECK(by_time.done());
  CHECK(by_time.fraction() == 1);
  torch::Progress endless(-1, to(out, false));
  endless.advance(5);
  CHECK_FALSE(endless.done());
  CHECK(endless.fraction() == 0);
  CHECK_THAT(out.text(), Catch::StartsWith("5 steps") && !Catch::Contains("left"));
  torch::Progress nothing(0, to(out, false));
  CHECK(nothing.done());
}

TEST_CASE("a loop over a loader is shown", "[progress]") {
  Captured out;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(test::Tens(6), 2);
  auto batches = torch::with_progress(*loader, 3, to(out, false).rate_unit("examples").rate_per_step(2));
  int sum = 0;
  for (auto& batch : batches) {
    sum += batch[0];
    batches.bar().set("sum", sum);
  }
  CHECK(sum == 60);
  CHECK(batches.bar().count() == 3);
  CHECK_THAT(out.text(), Catch::Contains("100%  3 steps  sum 60  ") && Catch::Contains("examples/s  in 0:00"));
}

TEST_CASE("durations read well", "[progress]") {
  CHECK(torch::format_duration(0) == "0:00");
  CHECK(torch::format_duration(61.6) == "1:02");
  CHECK(torch::format_duration(7384) == "2:03:04");
  CHECK(torch::format_duration(-5) == "0:00");
  CHECK(torch::format_duration(std::nan("")) == "0:00");
}
