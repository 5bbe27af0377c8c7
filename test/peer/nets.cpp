// Six nets trained for fifty steps: a variational autoencoder, recurrent nets over packed sequences that are not
// sorted, a residual net with channels last, a transformer with masks, Q learning with a target net, a critic with a
// gradient penalty.
#include <torch/torch.h>

#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

namespace {

struct VAEImpl : nn::Module {
  nn::Linear fc1{nullptr}, mu{nullptr}, logvar{nullptr};
  nn::Sequential dec;
  VAEImpl() {
    fc1 = register_module("fc1", nn::Linear(64, 32));
    mu = register_module("mu", nn::Linear(32, 4));
    logvar = register_module("logvar", nn::Linear(32, 4));
    dec = register_module("dec", nn::Sequential({{"a", nn::Linear(4, 32)}, {"b", nn::Linear(32, 64)}}));
  }
  std::tuple<Tensor, Tensor, Tensor> forward(Tensor x) {
    auto h = F::elu(fc1(x.flatten(1)), F::ELUFuncOptions().alpha(0.7));
    auto m = mu(h), lv = logvar(h);
    auto z = m + torch::exp(0.5 * lv) * torch::randn_like(m);
    return {torch::sigmoid(dec->forward(z)), m, lv};
  }
};
TORCH_MODULE(VAE);

void vae() {
  torch::manual_seed(11);
  VAE net;
  torch::optim::AdamW opt(net->parameters(), torch::optim::AdamWOptions(3e-3).betas({0.85, 0.98}).weight_decay(1e-2));
  auto data = torch::rand({40, 1, 8, 8}).pow(2);
  for (int i = 0; i < 50; ++i) {
    auto x = data.slice(0, (i % 4) * 10, (i % 4) * 10 + 10);
    opt.zero_grad();
    auto [out, m, lv] = net(x);
    auto bce = F::binary_cross_entropy(out, x.flatten(1), F::BinaryCrossEntropyFuncOptions().reduction(torch::kSum));
    auto kld = -0.5 * torch::sum(1 + lv - m.pow(2) - lv.exp());
    auto loss = (bce + kld) / x.size(0);
    loss.backward();
    auto norm = nn::utils::clip_grad_norm_(net->parameters(), 5.0);
    opt.step();
    report::number("vae " + std::to_string(i), loss.item<float>());
    report::number("vae norm", norm);
  }
  for (auto& p : net->named_parameters()) {
    report::close("vae " + p.key(), p.value());
  }
}

struct CharNetImpl : nn::Module {
  nn::Embedding emb;
  nn::LSTM lstm;
  nn::GRU gru;
  nn::Linear out;
  nn::Dropout drop;
  CharNetImpl(int64_t n, int64_t h)
      : emb(nn::EmbeddingOptions(n, 12).padding_idx(0)),
        lstm(nn::LSTMOptions(12, h).num_layers(2).dropout(0.2).bidirectional(true).batch_first(true)),
        gru(nn::GRUOptions(2 * h, h).batch_first(true)),
        out(h, n),
        drop(0.1) {
    register_module("emb", emb);
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("out", out);
    register_module("drop", drop);
  }
  Tensor forward(const Tensor& x, const Tensor& lengths) {
    auto packed = nn::utils::rnn::pack_padded_sequence(emb(x), lengths, true, false);
    auto [y, state] = lstm->forward_with_packed_input(packed);
    auto [y2, h2] = gru->forward_with_packed_input(y);
    auto [padded, l] = nn::utils::rnn::pad_packed_sequence(y2, true, 0.0, x.size(1));
    return out(drop(padded)) + 0.1 * std::get<0>(state).mean() + 0.01 * h2.sum();
  }
};
TORCH_MODULE(CharNet);

void charnet() {
  torch::manual_seed(12);
  const std::string text =
      "the quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs. sphinx of black quartz, "
      "judge my vow.";
  std::map<char, int64_t> ids;
  for (char c : text) {
    ids.emplace(c, static_cast<int64_t>(ids.size()) + 1);
  }
  CharNet net(static_cast<int64_t>(ids.size()) + 1, 10);
  net->train();
  torch::optim::RMSprop opt(
      net->parameters(), torch::optim::RMSpropOptions(5e-3).alpha(0.95).momentum(0.1).centered(true));
  torch::optim::StepLR sched(opt, 20, 0.5);
  for (int i = 0; i < 50; ++i) {
    std::vector<Tensor> xs, ys;
    std::vector<int64_t> len;
    for (int k = 0; k < 4; ++k) {
      const int64_t n = 3 + (i * 7 + k * 5) % 9, at = (i * 13 + k * 17) % (static_cast<int64_t>(text.size()) - 13);
      std::vector<int64_t> a, b;
      for (int64_t j = 0; j < n; ++j) {
        a.push_back(ids[text[at + j]]);
        b.push_back(ids[text[at + j + 1]]);
      }
      xs.push_back(torch::tensor(a));
      ys.push_back(torch::tensor(b));
      len.push_back(n);
    }
    auto x = nn::utils::rnn::pad_sequence(xs, true), y = nn::utils::rnn::pad_sequence(ys, true, 0);
    opt.zero_grad(false);
    auto logits = net(x, torch::tensor(len));
    auto loss =
        F::cross_entropy(logits.transpose(1, 2), y, F::CrossEntropyFuncOptions().ignore_index(0).label_smoothing(0.05));
    loss.backward();
    nn::utils::clip_grad_value_(net->parameters(), 0.2);
    opt.step();
    sched.step();
    report::number("charnet " + std::to_string(i), loss.item().toDouble());
  }
  report::close("charnet emb", net->emb->weight);
}

struct BlockImpl : nn::Module {
  nn::Conv2d c1, c2;
  nn::BatchNorm2d b1, b2;
  nn::Sequential down{nullptr};
  BlockImpl(int64_t in, int64_t out, int64_t stride)
      : c1(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)),
        c2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)),
        b1(out),
        b2(out) {
    register_module("c1", c1);
    register_module("b1", b1);
    register_module("c2", c2);
    register_module("b2", b2);
    if (stride != 1 || in != out) {
      down = register_module(
          "down",
          nn::Sequential(nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)), nn::BatchNorm2d(out)));
    }
  }
  Tensor forward(Tensor x) {
    auto y = b2(c2(torch::relu(b1(c1(x)))));
    return torch::relu(y + (down.is_empty() ? x : down->forward(x)));
  }
};
TORCH_MODULE(Block);

struct ResNetImpl : nn::Module {
  nn::Sequential body;
  nn::Linear fc;
  ResNetImpl()
      : body(
            nn::Conv2d(nn::Conv2dOptions(3, 8, 3).padding(1).bias(false)),
            nn::BatchNorm2d(8),
            nn::ReLU(nn::ReLUOptions(true)),
            nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)),
            Block(8, 8, 1),
            Block(8, 16, 2),
            nn::AdaptiveAvgPool2d(1),
            nn::Flatten()),
        fc(16, 5) {
    register_module("body", body);
    register_module("fc", fc);
    for (auto& m : modules(false)) {
      if (auto* c = m->as<nn::Conv2d>()) {
        nn::init::kaiming_normal_(c->weight, 0, torch::kFanOut, torch::kReLU);
      } else if (auto* b = m->as<nn::BatchNorm2d>()) {
        nn::init::constant_(b->weight, 1);
        nn::init::constant_(b->bias, 0);
      }
    }
  }
  Tensor forward(Tensor x) {
    return fc(body->forward(x));
  }
};
TORCH_MODULE(ResNet);

void resnet() {
  torch::manual_seed(13);
  ResNet net;
  for (auto& p : net->parameters()) {
    if (p.dim() == 4) {
      p.set_data(p.contiguous(torch::MemoryFormat::ChannelsLast));
    }
  }
  torch::optim::SGD opt(
      net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true).weight_decay(5e-4));
  auto x = torch::randn({24, 3, 12, 12}).contiguous(torch::MemoryFormat::ChannelsLast);
  auto y = torch::randint(0, 5, {24}, torch::kLong);
  for (int i = 0; i < 50; ++i) {
    auto a = x.narrow(0, (i % 3) * 8, 8), b = y.narrow(0, (i % 3) * 8, 8);
    if (i % 2) {
      a = a.flip({3});
    }
    opt.zero_grad();
    auto o = net(a);
    auto loss = nn::CrossEntropyLoss(nn::CrossEntropyLossOptions().label_smoothing(0.1))(o, b);
    loss.backward();
    opt.step();
    for (auto& g : opt.param_groups()) {
      static_cast<torch::optim::SGDOptions&>(g.options()).lr() *= 0.98;
    }
    report::number("resnet " + std::to_string(i), loss.item<double>());
  }
  report::shape("resnet conv", net->body->ptr<BlockImpl>(4)->c1->weight);
  net->eval();
  torch::NoGradGuard guard;
  report::close("resnet eval", net(x));
  for (auto& b : net->named_buffers()) {
    report::close("resnet " + b.key(), b.value());
  }
}

struct SeqImpl : nn::Module {
  nn::Embedding src, tgt;
  nn::Transformer tr;
  nn::Linear out;
  Tensor pe;
  SeqImpl()
      : src(15, 16),
        tgt(15, 16),
        tr(nn::TransformerOptions(16, 4, 2, 2).dim_feedforward(32).dropout(0.1).activation(torch::kGELU)),
        out(16, 15) {
    register_module("src", src);
    register_module("tgt", tgt);
    register_module("tr", tr);
    register_module("out", out);
    auto pos = torch::arange(20).unsqueeze(1).to(torch::kFloat),
         div = torch::exp(torch::arange(0, 16, 2) * (-std::log(10000.0) / 16));
    pe = torch::zeros({20, 1, 16});
    pe.index_put_(
        {torch::indexing::Slice(), 0, torch::indexing::Slice(0, torch::indexing::None, 2)}, torch::sin(pos * div));
    pe.index_put_(
        {torch::indexing::Slice(), 0, torch::indexing::Slice(1, torch::indexing::None, 2)}, torch::cos(pos * div));
    pe = register_buffer("pe", pe);
  }
  Tensor forward(const Tensor& s, const Tensor& t) {
    auto se = src(s) * 4.0 + pe.slice(0, 0, s.size(0)), te = tgt(t) * 4.0 + pe.slice(0, 0, t.size(0));
    auto tm = nn::TransformerImpl::generate_square_subsequent_mask(t.size(0));
    auto spad = s.eq(0).t(), tpad = t.eq(0).t();
    auto h = tr->forward(se, te, {}, tm, {}, spad, tpad, spad);
    return out(h);
  }
};
TORCH_MODULE(Seq);

void transformer() {
  torch::manual_seed(14);
  Seq net;
  torch::optim::Adam opt(net->parameters(), torch::optim::AdamOptions(1e-3).betas({0.9, 0.98}).eps(1e-9).amsgrad(true));
  auto s = torch::randint(1, 15, {7, 6}), t = torch::randint(1, 15, {6, 6});
  for (int k = 1; k < 6; ++k) {
    s.slice(0, 7 - k + 1).select(1, k).zero_();
    t.slice(0, 6 - k / 2).select(1, k).zero_();
  }
  for (int i = 0; i < 50; ++i) {
    auto loss = F::cross_entropy(
        net(s, t.slice(0, 0, 5)).flatten(0, 1), t.slice(0, 1).flatten(), F::CrossEntropyFuncOptions().ignore_index(0));
    opt.zero_grad();
    loss.backward();
    opt.step();
    report::number("transformer " + std::to_string(i), loss.item<double>());
  }
  net->eval();
  torch::NoGradGuard g;
  report::close("transformer eval", net(s, t));
}

struct QImpl : nn::Cloneable<QImpl> {
  nn::Linear a{nullptr}, v{nullptr}, adv{nullptr};
  QImpl() {
    reset();
  }
  void reset() override {
    a = register_module("a", nn::Linear(4, 24));
    v = register_module("v", nn::Linear(24, 1));
    adv = register_module("adv", nn::Linear(24, 3));
  }
  Tensor forward(Tensor x) {
    x = torch::tanh(a(x));
    auto d = adv(x);
    return v(x) + d - d.mean(1, true);
  }
};
TORCH_MODULE(Q);

void dqn() {
  torch::manual_seed(15);
  Q online;
  auto target = std::dynamic_pointer_cast<QImpl>(online->clone());
  torch::optim::Adam opt(online->parameters(), 2e-3);
  struct Step {
    Tensor s;
    int64_t a;
    float r;
    Tensor n;
    bool done;
  };
  std::deque<Step> replay;
  std::mt19937 gen(3);
  Tensor s = torch::zeros({4});
  for (int i = 0; i < 120; ++i) {
    int64_t a;
    {
      torch::NoGradGuard g;
      a = gen() % 10 < 3 ? gen() % 3 : std::get<1>(online(s.unsqueeze(0)).max(1)).item<int64_t>();
    }
    auto n = 0.9 * s.roll(1) + 0.1 * (a - 1) + 0.05 * torch::randn({4});
    const float r = -n.abs().sum().item<float>();
    replay.push_back({s, a, r, n, i % 15 == 14});
    if (replay.size() > 64) {
      replay.pop_front();
    }
    s = i % 15 == 14 ? torch::randn({4}) : n;
    if (replay.size() < 16 || i < 70) {
      continue;
    }
    std::vector<Tensor> ss, nexts;
    std::vector<int64_t> as;
    std::vector<float> rs, ds;
    for (int k = 0; k < 16; ++k) {
      auto& e = replay[gen() % replay.size()];
      ss.push_back(e.s);
      nexts.push_back(e.n);
      as.push_back(e.a);
      rs.push_back(e.r);
      ds.push_back(e.done);
    }
    auto q = online(torch::stack(ss)).gather(1, torch::tensor(as).unsqueeze(1)).squeeze(1);
    Tensor next;
    {
      torch::NoGradGuard g;
      auto best = online(torch::stack(nexts)).argmax(1, true);
      next = target->forward(torch::stack(nexts)).gather(1, best).squeeze(1);
    }
    auto y = torch::tensor(rs) + 0.95 * (1 - torch::tensor(ds)) * next;
    auto loss = F::smooth_l1_loss(q, y.detach());
    opt.zero_grad();
    loss.backward();
    for (auto& p : online->parameters()) {
      p.mutable_grad().clamp_(-1, 1);
    }
    opt.step();
    {
      torch::NoGradGuard g;
      auto tp = target->parameters(), op = online->parameters();
      for (size_t k = 0; k < tp.size(); ++k) {
        tp[k].mul_(0.9).add_(op[k], 0.1);
      }
    }
    report::number("dqn " + std::to_string(i), loss.item<double>());
  }
  for (auto& p : target->named_parameters()) {
    report::close("dqn " + p.key(), p.value());
  }
}

void wgan() {
  torch::manual_seed(16);
  nn::Sequential gen(
      nn::Linear(6, 16), nn::BatchNorm1d(16), nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)),
      nn::Linear(16, 8), nn::Tanh());
  nn::Sequential dis(nn::Linear(8, 16), nn::LayerNorm(nn::LayerNormOptions({16})), nn::SiLU(), nn::Linear(16, 1));
  torch::optim::Adam og(gen->parameters(), torch::optim::AdamOptions(1e-3).betas({0.5, 0.9})),
      od(dis->parameters(), torch::optim::AdamOptions(1e-3).betas(std::make_tuple(0.5, 0.9)));
  for (int i = 0; i < 50; ++i) {
    auto real = torch::randn({12, 8}) * 0.3 + 0.2, fake = gen->forward(torch::randn({12, 6})).detach();
    auto eps = torch::rand({12, 1});
    auto mid = (eps * real + (1 - eps) * fake).requires_grad_();
    auto out = dis->forward(mid);
    auto grads = torch::autograd::grad({out}, {mid}, {torch::ones_like(out)}, true, true);
    auto penalty = (grads[0].norm(2, 1) - 1).pow(2).mean() * 10;
    auto dl = dis->forward(fake).mean() - dis->forward(real).mean() + penalty;
    od.zero_grad();
    dl.backward();
    od.step();
    auto gl = -dis->forward(gen->forward(torch::randn({12, 6}))).mean();
    og.zero_grad();
    gl.backward();
    og.step();
    std::printf("~ wgan %d %.7g %.7g\n", i, dl.item<double>(), gl.item<double>());
  }
}

} // namespace

int main() {
  vae();
  charnet();
  resnet();
  transformer();
  dqn();
  wgan();
}
