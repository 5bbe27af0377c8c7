#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>
#include <ATen/ParallelFuture.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <c10/util/Exception.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using c10::IValue;
using c10::ivalue::Future;
using Catch::Matchers::Contains;

namespace {

c10::intrusive_ptr<Future> future_of_int() {
  return c10::make_intrusive<Future>(c10::IntType::get());
}

std::exception_ptr error(const char* text) {
  return std::make_exception_ptr(std::runtime_error(text));
}

} // namespace

TEST_CASE("a task that is launched completes its future", "[future]") {
  bool ran = false;
  const auto future = at::intraop_launch_future([&] { ran = true; });
  future->wait();
  CHECK((ran && future->completed() && future->value().isNone()));
}

TEST_CASE("a future is waited for by other threads", "[future]") {
  const auto future = future_of_int();
  CHECK_FALSE(future->completed());
  CHECK_FALSE(future->hasValue());
  std::vector<int64_t> seen;
  future->addCallback([&](Future& done) { seen.push_back(done.value().toInt()); });
  future->addCallback([&](Future&) { seen.push_back(-1); }, /*uses_future=*/false);
  std::thread writer([&] { future->markCompleted(7); });
  future->wait();
  writer.join();
  CHECK(future->value().toInt() == 7);
  CHECK(future->constValue().toInt() == 7);
  CHECK(future->hasValue());
  CHECK(seen == std::vector<int64_t>{7, -1});
  future->addCallback([&](Future&) { seen.push_back(0); }); // runs at once
  CHECK(seen.back() == 0);
  CHECK_THROWS_WITH(future->markCompleted(8), Contains("completed Future"));
  CHECK_THROWS_WITH(future->setError(error("late")), Contains("late"));
  future->setErrorIfNeeded(error("late"));
  CHECK(future->value().toInt() == 7);
}

TEST_CASE("many threads may wait for a future, and one of many completes it", "[future]") {
  for (int round = 0; round < 50; ++round) {
    const auto future = future_of_int();
    std::atomic<int> called{0}, refused{0}, good{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        future->addCallback([&](Future& done) { called += done.value().toInt() >= 0; });
        try {
          future->markCompleted(i);
        } catch (const c10::Error&) {
          ++refused;
        }
        future->wait();
        good += future->value().toInt() < 4;
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    CHECK(called == 4);
    CHECK(refused == 3);
    CHECK(good == 4);
  }
}

TEST_CASE("then makes futures of what callbacks return", "[future]") {
  const auto future = future_of_int();
  const auto next = future->then([](Future& done) { return IValue(done.value().toInt() + 1); }, c10::IntType::get());
  const auto async = next->thenAsync(
      [](Future& done) {
        auto inner = future_of_int();
        inner->markCompleted(done.value().toInt() * 10);
        return inner;
      },
      c10::IntType::get());
  const auto with_storages = future->then(
      [](Future& done) { return std::make_tuple(done.value(), std::vector<Future::WeakStorage>()); },
      c10::IntType::get());
  const auto failing = future->then([](Future&) -> IValue { TORCH_CHECK_VALUE(false, "no way"); }, c10::IntType::get());
  const auto after = failing->then([](Future& done) { return done.value(); }, c10::IntType::get());
  future->markCompleted(7);
  CHECK(next->value().toInt() == 8);
  CHECK(async->value().toInt() == 80);
  CHECK(with_storages->value().toInt() == 7);
  CHECK(failing->hasError());
  CHECK_THROWS_AS(failing->waitAndThrow(), c10::ValueError);
  CHECK_THAT(after->tryRetrieveErrorMessage(), Contains("no way"));
}

TEST_CASE("a future says what keeps it from giving a value", "[future]") {
  const auto future = future_of_int();
  CHECK_THROWS_WITH(future->value(), Contains("not complete"));
  CHECK_THROWS_WITH(future->storages(), Contains("must be complete"));
  CHECK_THROWS_WITH(future->tryRetrieveErrorMessage(), Contains("No error present"));
  CHECK_THROWS_WITH(future->setError(nullptr), Contains("no exception"));
  future->setError(std::make_exception_ptr(Future::FutureError("custom")));
  CHECK(future->tryRetrieveErrorMessage() == "custom");
  CHECK_THROWS_AS(future->value(), Future::FutureError);
  CHECK_THROWS_WITH(future->constValue(), Contains("custom"));
  CHECK_THROWS_WITH(future->setError(error("second")), Contains("custom") && Contains("second"));
  const auto on = [](std::vector<c10::Device> devices) {
    c10::make_intrusive<Future>(c10::NoneType::get(), std::move(devices));
  };
  CHECK_THROWS_WITH(on({c10::Device("meta:0"), c10::Device("cpu:0")}), Contains("same type"));
  CHECK_THROWS_WITH(on({c10::Device("cpu")}), Contains("indices"));
}

TEST_CASE("a value may be a future", "[future][ivalue]") {
  const auto future = future_of_int();
  IValue value(future);
  CHECK(value.isFuture());
  CHECK(value.tagKind() == "Future");
  CHECK(value.type()->annotation_str() == "Future[int]");
  CHECK(value.toFuture().get() == future.get());
  CHECK(value.use_count() == 2);
  CHECK(value.to<c10::intrusive_ptr<Future>>().get() == future.get());
  CHECK(value.is(IValue(future)));
  CHECK(value.deepcopy().is(value));
  CHECK_THROWS_AS(IValue(1).toFuture(), c10::TypeError);
  IValue::HashAliasedIValues inside;
  CHECK_THROWS_WITH(value.getSubValues(inside), Contains("Future"));
  c10::List<c10::intrusive_ptr<Future>> list(c10::FutureType::create(c10::IntType::get()));
  list.push_back(future);
  CHECK(list.get(0).get() == future.get());
  value = IValue();
  CHECK(future.use_count() == 2);
}

TEST_CASE("futures are arguments of their type", "[future]") {
  const c10::FunctionSchema schema = torch::jit::parseSchema("testing::wait(Future(int) a, Future(t) b) -> t");
  const IValue number(future_of_int()), text(c10::make_intrusive<Future>(c10::StringType::get()));
  const auto check = [&](const IValue& value, size_t i) {
    schema.checkArg(value, schema.arguments()[i], std::nullopt);
  };
  CHECK_NOTHROW(check(number, 0));
  CHECK_NOTHROW(check(text, 1));
  CHECK_THROWS_AS(check(text, 0), c10::TypeError);
  CHECK_THROWS_AS(check(IValue(1), 1), c10::TypeError);
}

TEST_CASE("all of some futures, or the first of them", "[future]") {
  using Futures = c10::List<c10::intrusive_ptr<Future>>;
  Futures futures(c10::FutureType::create(c10::IntType::get()));
  CHECK(c10::collectAll(futures)->completed());
  CHECK(c10::collectAny(futures)->value().isNone());
  for (int i = 0; i < 3; ++i) {
    futures.push_back(future_of_int());
  }
  const auto all = c10::collectAll(futures);
  const auto any = c10::collectAny(futures);
  CHECK(all->elementType()->annotation_str() == "List[Future[int]]");
  CHECK(any->elementType()->annotation_str() == "int");
  std::thread other([&] {
    futures.get(1)->markCompleted(IValue(7));
    futures.get(0)->markCompleted(IValue(5));
    futures.get(2)->markCompleted(IValue(6));
  });
  all->waitAndThrow();
  other.join();
  CHECK(any->value().toInt() == 7);
  CHECK(all->value().toList().get(2).toFuture()->value().toInt() == 6);

  Futures failing(c10::FutureType::create(c10::IntType::get()));
  for (int i = 0; i < 2; ++i) {
    failing.push_back(future_of_int());
  }
  const auto failed = c10::collectAll(failing);
  const auto first = c10::collectAny(failing);
  failing.get(1)->setError(error("no"));
  CHECK(failed->hasError());
  CHECK(first->tryRetrieveErrorMessage() == "no");
  failing.get(0)->setError(error("neither"));
  CHECK(failed->tryRetrieveErrorMessage() == "no");
}

TEST_CASE("a call put off runs when it is waited for", "[future][ivalue]") {
  int calls = 0;
  const auto await = c10::make_intrusive<c10::Await>(c10::IntType::get(), [&] { return IValue(++calls); });
  CHECK_FALSE(await->completed());
  CHECK_THROWS_WITH(await->value(), Contains("Await must be completed"));
  CHECK(await->wait().toInt() == 1);
  CHECK(await->wait().toInt() == 1);
  CHECK(await->value().toInt() == 1);

  IValue value(await);
  CHECK(value.isAwait());
  CHECK(value.tagKind() == "Await");
  CHECK(value.type()->annotation_str() == "Await[int]");
  CHECK(value.toAwait().get() == await.get());
  CHECK(value.is(IValue(await)));
  CHECK_THROWS_AS(IValue(1).toAwait(), c10::TypeError);
  const c10::FunctionSchema schema = torch::jit::parseSchema("testing::run(Await(int) a) -> int");
  CHECK_NOTHROW(schema.checkArg(value, schema.arguments()[0], std::nullopt));
  CHECK_THROWS_AS(schema.checkArg(IValue(1), schema.arguments()[0], std::nullopt), c10::TypeError);

  const auto empty = c10::make_intrusive<c10::Await>(c10::IntType::get());
  CHECK_THROWS_WITH(empty->wait(), Contains("no function to call"));
  empty->markCompleted(IValue(3));
  CHECK(empty->wait().toInt() == 3);
}
