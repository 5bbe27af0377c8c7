// Archives as libtorch wrote them before 1.5: lists of tensors by name, without groups and options.
#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <sstream>

namespace {

using torch::Tensor;

void write_list(torch::serialize::OutputArchive& archive, const std::string& key, const std::vector<Tensor>& tensors) {
  archive.write(key + "/size", torch::tensor(static_cast<int64_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i) {
    archive.write(key + "/" + std::to_string(i), tensors[i], /*is_buffer=*/true);
  }
}

void write_steps(torch::serialize::OutputArchive& archive, const std::vector<int64_t>& steps) {
  std::vector<Tensor> tensors;
  for (const int64_t step : steps) {
    tensors.push_back(torch::tensor(step));
  }
  write_list(archive, "step_buffers", tensors);
}

torch::serialize::InputArchive reopened(torch::serialize::OutputArchive& written) {
  std::stringstream stream;
  written.save_to(stream);
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  return archive;
}

std::vector<Tensor> two_parameters() {
  return {torch::zeros({2}, torch::requires_grad()), torch::zeros({1}, torch::requires_grad())};
}

template <class State>
State& state_of(torch::optim::Optimizer& optimizer, const Tensor& param) {
  return static_cast<State&>(*optimizer.state().at(param.unsafeGetTensorImpl()));
}

const Tensor kFirst = torch::tensor({1.f, 2.f}), kSecond = torch::tensor({3.f});

} // namespace

TEST_CASE("optimizers go on from archives of libtorch before 1.5", "[optim][state]") {
  const std::vector<Tensor> params = two_parameters();
  torch::serialize::OutputArchive out;

  SECTION("SGD") {
    write_list(out, "momentum_buffers", {kFirst, kSecond});
    auto in = reopened(out);
    torch::optim::SGD sgd(params, torch::optim::SGDOptions(0.5).momentum(0.5));
    sgd.load(in);
    CHECK(torch::equal(state_of<torch::optim::SGDParamState>(sgd, params[1]).momentum_buffer(), kSecond));
    for (const Tensor& p : params) {
      p.mutable_grad() = torch::zeros_like(p);
    }
    sgd.step();
    CHECK(torch::equal(params[0].detach(), kFirst * -0.25));
  }
  SECTION("Adam, without amsgrad for the second parameter") {
    write_steps(out, {7, 8});
    write_list(out, "exp_average_buffers", {kFirst, kSecond});
    write_list(out, "exp_average_sq_buffers", {kFirst * 2, kSecond * 2});
    write_list(out, "max_exp_average_sq_buffers", {kFirst * 3});
    auto in = reopened(out);
    torch::optim::Adam adam(params);
    adam.load(in);
    auto& first = state_of<torch::optim::AdamParamState>(adam, params[0]);
    auto& second = state_of<torch::optim::AdamParamState>(adam, params[1]);
    CHECK(first.step() == 7);
    CHECK(second.step() == 8);
    CHECK(torch::equal(first.exp_avg(), kFirst));
    CHECK(torch::equal(second.exp_avg_sq(), kSecond * 2));
    CHECK(torch::equal(first.max_exp_avg_sq(), kFirst * 3));
    CHECK_FALSE(second.max_exp_avg_sq().defined());
  }
  SECTION("Adagrad") {
    write_steps(out, {3, 4});
    write_list(out, "sum_buffers", {kFirst, kSecond});
    auto in = reopened(out);
    torch::optim::Adagrad adagrad(params);
    adagrad.load(in);
    CHECK(state_of<torch::optim::AdagradParamState>(adagrad, params[1]).step() == 4);
    CHECK(torch::equal(state_of<torch::optim::AdagradParamState>(adagrad, params[0]).sum(), kFirst));
  }
  SECTION("RMSprop") {
    write_list(out, "square_average_buffers", {kFirst, kSecond});
    write_list(out, "momentum_buffers", {kFirst * 2, kSecond * 2});
    write_list(out, "grad_average_buffers", {kFirst * 3, kSecond * 3});
    auto in = reopened(out);
    torch::optim::RMSprop rmsprop(params);
    rmsprop.load(in);
    auto& first = state_of<torch::optim::RMSpropParamState>(rmsprop, params[0]);
    CHECK(torch::equal(first.square_avg(), kFirst));
    CHECK(torch::equal(first.momentum_buffer(), kFirst * 2));
    CHECK(torch::equal(first.grad_avg(), kFirst * 3));
  }
  SECTION("LBFGS, which kept one state") {
    const Tensor flat = torch::arange(3, torch::kFloat);
    out.write("d", flat, /*is_buffer=*/true);
    out.write("t", torch::tensor(0.5), /*is_buffer=*/true);
    out.write("H_diag", torch::tensor(2.f), /*is_buffer=*/true);
    out.write("prev_flat_grad", flat * 2, /*is_buffer=*/true);
    out.write("prev_loss", torch::tensor(1.5), /*is_buffer=*/true);
    write_list(out, "old_dirs", {flat, flat * 3});
    write_list(out, "old_stps", {flat});
    auto in = reopened(out);
    torch::optim::LBFGS lbfgs(params);
    lbfgs.load(in);
    auto& state = state_of<torch::optim::LBFGSParamState>(lbfgs, params[0]);
    CHECK(torch::equal(state.d(), flat));
    CHECK(state.t() == 0.5);
    CHECK(state.prev_loss() == 1.5);
    REQUIRE(state.old_dirs().size() == 2);
    CHECK(torch::equal(state.old_dirs()[1], flat * 3));
    CHECK(state.old_stps().size() == 1);
  }
  SECTION("what is no optimizer, and state of too many parameters, leave it as it was") {
    torch::optim::SGD sgd(params, torch::optim::SGDOptions(0.5).momentum(0.5));
    auto nothing = reopened(out);
    CHECK_THROWS_WITH(sgd.load(nothing), Catch::Contains("pytorch_version"));
    torch::serialize::OutputArchive three;
    write_list(three, "momentum_buffers", {kFirst, kSecond, kSecond});
    auto in = reopened(three);
    CHECK_THROWS_WITH(sgd.load(in), Catch::Contains("state of 3 parameters"));
    CHECK(sgd.state().empty());
  }
}

TEST_CASE("lists of numbers are lists of tensors in archives", "[optim][state]") {
  torch::serialize::OutputArchive out;
  torch::optim::serialize(out, "steps", std::vector<int64_t>{4, 5});
  auto in = reopened(out);
  Tensor second;
  in.read("steps/1", second, /*is_buffer=*/true);
  CHECK(second.item<int64_t>() == 5);
  std::vector<int64_t> steps;
  torch::optim::serialize(in, "steps", steps);
  CHECK(steps == std::vector<int64_t>{4, 5});
}
