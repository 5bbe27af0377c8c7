// Checkpoints: saved by some ranks, loaded by others, by PyTorch too, and whole at any time.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <csrc/distributed/checkpoint/metadata.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace checkpoint = torch::distributed::checkpoint;
namespace dist = torch::distributed;
namespace fs = std::filesystem;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::Mlp;
using test::rows;

namespace {

struct Folder {
  Folder() {
    static int n = 0;
    path = fs::temp_directory_path() / ("checkpoint_" + std::to_string(::getpid()) + "_" + std::to_string(n++));
    fs::create_directory(path);
  }
  ~Folder() {
    fs::remove_all(path);
  }
  std::string operator/(const std::string& name) const {
    return (path / name).string();
  }
  fs::path path;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

at::Tensor numbers(at::IntArrayRef sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) {
    numel *= size;
  }
  return torch::arange(numel).to(at::kFloat).view(sizes);
}

} // namespace

TEST_CASE("What some ranks save, any number of ranks load", "[distributed][checkpoint]") {
  const Folder folder;
  const int savers = GENERATE(1, 3);
  const int loaders = GENERATE(1, 2, 4);
  CAPTURE(savers, loaders);
  const auto cut = numbers({10, 4});
  test::with_rank_threads(savers, [&](int rank, const GroupPtr& group) {
    const auto mesh = dist::DeviceMesh::from_group(group);
    const auto part = dist::distribute_tensor(cut, mesh, {dist::Shard(0)});
    c10::IValue step = 7;
    checkpoint::State state;
    state.add("cut", part).add("whole", numbers({3})).add("empty", torch::empty({0, 2})).add("step", &step);
    state.add("half", numbers({4}).to(at::kBFloat16));
    checkpoint::save(state, folder / "c", group);
    (void)rank;
  });
  CHECK(fs::exists(folder / "c/.metadata"));
  test::with_rank_threads(loaders, [&](int, const GroupPtr& group) {
    const auto mesh = dist::DeviceMesh::from_group(group);
    for (const int64_t dim : {0, 1}) {
      auto part = dist::distribute_tensor(torch::zeros({10, 4}), mesh, {dist::Shard(dim)});
      auto whole = torch::zeros({3});
      auto half = torch::zeros({4}, at::kBFloat16);
      auto empty = torch::empty({0, 2});
      c10::IValue step;
      checkpoint::State state;
      state.add("cut", part).add("whole", whole).add("step", &step).add("half", half).add("empty", empty);
      checkpoint::load(state, folder / "c");
      expect(part.full_tensor().equal(cut));
      expect(whole.equal(numbers({3})));
      expect(half.equal(numbers({4}).to(at::kBFloat16)));
      expect(step.isInt() && step.toInt() == 7);
    }
  });
}

TEST_CASE("Training goes on from a checkpoint as if it had not stopped", "[distributed][checkpoint]") {
  const Folder folder;
  const auto step = [](Mlp& net, torch::optim::Optimizer& optimizer) {
    optimizer.zero_grad();
    net->forward(rows(4)).square().mean().backward();
    optimizer.step();
  };
  Mlp net;
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(0.01));
  step(net, optimizer);
  optimizer.param_groups()[0].options().set_lr(0.02);
  checkpoint::save(checkpoint::State().add("model", net).add("optim", optimizer, net), folder / "c");
  step(net, optimizer);
  Mlp other;
  torch::optim::Adam second(other->parameters(), torch::optim::AdamOptions(0.5));
  checkpoint::load(checkpoint::State().add("model", other).add("optim", second, other), folder / "c");
  step(other, second);
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    CHECK(other->parameters()[i].equal(net->parameters()[i]));
  }
}

TEST_CASE("A save in the background writes what there was when it began", "[distributed][checkpoint]") {
  const Folder folder;
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    auto weight = torch::full({1000}, 1.f);
    checkpoint::State state;
    state.add("weight", weight);
    for (int round = 1; round <= 3; ++round) {
      const auto future = checkpoint::async_save(state, folder / "c", group);
      weight.add_(1); // and a collective of the program meanwhile
      auto one = torch::ones({1});
      dist::all_reduce(one, dist::ReduceOp::SUM, group);
      future->waitAndThrow();
      auto loaded = torch::zeros({1000});
      checkpoint::load(checkpoint::State().add("weight", loaded), folder / "c");
      expect(loaded[0].item<float>() == float(round));
      dist::barrier(group);
    }
    // An error of the last one is told by the next.
    std::ofstream(folder / "file") << "x";
    dist::barrier(group);
    checkpoint::async_save(state, folder / "file", group);
    expect_error([&] { checkpoint::save(state, folder / "c", group); }, {"rank 0 has failed", "is no checkpoint"});
    checkpoint::save(state, folder / "c", group);
    (void)rank;
  });
  // Nothing but the checkpoint is left.
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    ++count;
    INFO(entry.path());
    CHECK((entry.path().filename() == "c" || entry.path().filename() == "file"));
  }
  CHECK(count == 2);
}

TEST_CASE("A crash while saving leaves the old checkpoint or the new one", "[distributed][checkpoint]") {
  const Folder folder;
  const auto state_of = [](at::Tensor& tensor) { return checkpoint::State().add("weight", tensor); };
  auto first = torch::full({200000}, 1.f);
  checkpoint::save(state_of(first), folder / "c");
  std::ofstream(folder / "c/notes.txt") << "mine";
  int old = 0;
  for (int delay = 0; delay < 24; ++delay) {
    const pid_t child = ::fork();
    if (child == 0) {
      at::set_num_threads(1);
      for (float value = 2;; ++value) {
        auto next = torch::full({200000}, value);
        checkpoint::save(state_of(next), folder / "c");
      }
    }
    ::usleep(2000 + 1500 * delay);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    auto loaded = torch::zeros({200000});
    checkpoint::load(state_of(loaded), folder / "c");
    CHECK(loaded.min().item<float>() == loaded.max().item<float>());
    old += loaded[0].item<float>() == 1;
  }
  INFO(old << " times the old one");
  // The next save clears up.
  checkpoint::save(state_of(first), folder / "c");
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder.path)) {
    INFO(entry.path());
    ++count;
  }
  CHECK(count == 1);
  CHECK(bytes_of(folder / "c/notes.txt") == "mine");
}

TEST_CASE("A rank that cannot write ends the save on all ranks and leaves the old one", "[distributed][checkpoint]") {
  const Folder folder;
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    auto weight = torch::full({30}, 1.f);
    const auto mesh = dist::DeviceMesh::from_group(group);
    const auto part = dist::distribute_tensor(weight, mesh, {dist::Shard(0)});
    checkpoint::save(checkpoint::State().add("weight", part), folder / "c", group);
    if (rank != 2) {
      expect_error(
          [&] {
            checkpoint::save(
                checkpoint::State().add("weight", part), folder / "c", group, std::chrono::milliseconds(300));
          },
          {rank == 0 ? "rank 2 has not written its part within 0.3 s" : "the old checkpoint stays"});
    }
    auto loaded = torch::zeros({30});
    checkpoint::load(checkpoint::State().add("weight", loaded), folder / "c");
    expect(loaded.equal(weight));
  });
}

TEST_CASE("Checkpoints that do not fit are refused before anything changes", "[distributed][checkpoint]") {
  const Folder folder;
  c10::IValue step = 7;
  checkpoint::save(checkpoint::State().add("weight", numbers({4})).add("step", &step), folder / "c");
  const auto refused = [&](const checkpoint::State& state, const std::string& words) {
    CHECK_THROWS_WITH(checkpoint::load(state, folder / "c"), Catch::Contains(words));
  };
  auto four = torch::zeros({4});
  auto five = torch::zeros({5});
  c10::IValue value;
  refused(checkpoint::State().add("weight", four).add("bias", five), "Missing key in checkpoint state_dict: bias.");
  refused(checkpoint::State().add("weight", five), "Size mismatch between saved [4] and current: [5] for weight");
  refused(checkpoint::State().add("step", four), "step is no tensor");
  refused(checkpoint::State().add("weight", &value), "weight is a tensor");
  CHECK(four.equal(torch::zeros({4})));
  CHECK_THROWS_WITH(checkpoint::load(checkpoint::State(), folder / "d"), Catch::Contains("has no file .metadata"));
  fs::create_directory(folder / "other");
  std::ofstream(folder / "other/file") << "x";
  CHECK_THROWS_WITH(
      checkpoint::save(checkpoint::State().add("weight", four), folder / "other"), Catch::Contains("is no checkpoint"));
  CHECK_THROWS_WITH(
      checkpoint::State().add("weight", four).add("weight", four), Catch::Contains("duplicated flatten key weight"));
  fs::resize_file(folder / "c/__0_0.distcp", 100);
  refused(checkpoint::State().add("weight", four), "it is cut off");
}

TEST_CASE("Damaged lists of checkpoints give errors, and no class but theirs is known", "[distributed][checkpoint]") {
  const Folder folder;
  c10::IValue step = 7;
  checkpoint::save(checkpoint::State().add("weight", numbers({4, 2})).add("step", &step), folder / "c");
  const std::string good = bytes_of(folder / "c/.metadata");
  const auto metadata = checkpoint::read_metadata(good, "good");
  CHECK(metadata.entries.size() == 2);
  CHECK(checkpoint::write_metadata(metadata) == good);
  CHECK_THROWS_WITH(
      checkpoint::read_metadata(
          "\x80\x02"
          "cposix\nsystem\n(S'x'\ntR.",
          "bad"),
      Catch::Contains("'posix.system'"));
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {1, 0x55, 0x80}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      try {
        checkpoint::read_metadata(bad, "bad");
      } catch (const c10::Error&) {
        ++refused;
      }
    }
    try {
      checkpoint::read_metadata(std::string_view(good).substr(0, i), "cut");
      FAIL("a part of a list was taken for a whole one");
    } catch (const c10::Error&) {
    }
  }
  CHECK(refused > static_cast<int>(good.size()));
}
