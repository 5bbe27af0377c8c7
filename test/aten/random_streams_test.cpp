// The CPU generator draws what PyTorch 2 draws for the same seed. The values here were recorded with PyTorch 2.15 on an
// AMD processor: on Intel ones its MKL builds draw bernoulli_(p), and dropout with it, from a generator of MKL's
// instead.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using torch::Tensor;

/// A call and its recorded results after manual_seed(0) and manual_seed(123), in row-major order.
template <class T>
struct Stream {
  std::string name;
  std::function<Tensor()> draw;
  std::vector<T> after_0;
  std::vector<T> after_123;
};

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const Tensor flat = tensor.to(c10::CppTypeToScalarType<T>::value).reshape({-1}).contiguous();
  return std::vector<T>(flat.const_data_ptr<T>(), flat.const_data_ptr<T>() + flat.numel());
}

/// Integers are equal. Floats may differ by the rounding of log and cos, in PyTorch by its vector versions of them.
void check_equal(const std::vector<int64_t>& got, const std::vector<int64_t>& want, const Tensor&) {
  CHECK(got == want);
}
void check_equal(const std::vector<double>& got, const std::vector<double>& want, const Tensor& drawn) {
  const double tolerance = drawn.scalar_type() == torch::kDouble ? 1e-14
      : drawn.scalar_type() == torch::kFloat                     ? 4e-6
                                                                 : 8e-3;
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": got " << got[i] << ", PyTorch draws " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= tolerance * std::max(std::abs(want[i]), 1.0));
  }
}

template <class T>
void check_streams(const std::vector<Stream<T>>& streams) {
  for (const Stream<T>& stream : streams) {
    for (const auto& [seed, want] : {std::pair(0, stream.after_0), std::pair(123, stream.after_123)}) {
      INFO(stream.name << ", seed " << seed);
      torch::manual_seed(seed);
      const Tensor drawn = stream.draw();
      check_equal(elements<T>(drawn), want, drawn);
    }
  }
}

} // namespace

TEST_CASE("uniform samples follow the stream of PyTorch", "[random]") {
  check_streams<double>({
      {"rand",
       [] { return torch::rand({5}); },
       {0.49625659, 0.768221796, 0.0884774327, 0.132030487, 0.307422817},
       {0.296111941, 0.516562283, 0.251670718, 0.68855679, 0.0739724636}},
      {"rand of doubles, which take 64 bits each",
       [] { return torch::rand({5}, torch::kDouble); },
       {0.9700530018065531, 0.707819864399788, 0.45938294312745087, 0.9207476841219603, 0.6450241201227648},
       {0.368895870664273, 0.013365949855291825, 0.5917800383018739, 0.09263931233897627, 0.472451921042887}},
      {"rand of halfs",
       [] { return torch::rand({5}, torch::kHalf); },
       {0.496337891, 0.768066406, 0.0885009766, 0.132080078, 0.307373047},
       {0.296142578, 0.516601562, 0.251708984, 0.688476562, 0.0739746094}},
      {"rand of bfloat16",
       [] { return torch::rand({5}, torch::kBFloat16); },
       {0.49609375, 0.76953125, 0.0883789062, 0.131835938, 0.306640625},
       {0.296875, 0.515625, 0.251953125, 0.6875, 0.0737304688}},
      {"uniform_",
       [] { return torch::empty({5}).uniform_(-2, 3); },
       {0.481282949, 1.84110904, -1.5576129, -1.33984756, -0.462885916},
       {-0.519440293, 0.582811415, -0.741646409, 1.44278395, -1.63013768}},
  });
}

TEST_CASE("normal samples follow the stream of PyTorch", "[random]") {
  check_streams<double>({
      {"randn, fewer than 16",
       [] { return torch::randn({5}); },
       {1.54099607, -0.293428898, -2.17878938, 0.568431258, -1.08452237},
       {-0.111467116, 0.120362945, -0.369634509, -0.240417972, -1.19692433}},
      {"randn of doubles, fewer than 16",
       [] { return torch::randn({5}, torch::kDouble); },
       {1.5409961082440433, -0.2934289057609464, -2.1787893820745574, 0.5684312772806678, -1.084522342424021},
       {-0.11146711634581082, 0.12036294405744884, -0.36963450886574944, -0.24041797675874255, -1.1969243846077398}},
      {"randn, 16: all pairs from one block",
       [] { return torch::randn({16}); },
       {-1.12583983, -1.1523602, -0.250578582, -0.433878809, 0.848710358, 0.692009151, -0.31601277, -2.11521935,
        0.322274923, -1.26333475, 0.349983186, 0.30813393, 0.119841509, 1.2376579, 1.11677718, -0.247278154},
       {0.337370187, -0.177777216, -0.303527594, -0.588011861, 0.348605186, 0.660340965, -0.219637617, -0.379169822,
        0.767107069, -1.19250202, 0.69835192, -1.40972292, 0.179379612, 1.89514804, 0.495446384, 0.269198567}},
      {"randn, 20: the last 16 are drawn anew",
       [] { return torch::randn({20}); },
       {-1.12583983, -1.1523602,   -0.250578582, -0.433878809, 0.598839462, -1.55509508, -0.34136039,
        1.85300612,  0.468096405,  -0.157712445, 1.44366014,   0.266049415, 1.38936615,  1.58633423,
        0.946298361, -0.843676746, 0.931826591,  1.25900924,   2.00498056,  0.0537369028},
       {0.337370187,  -0.177777216, -0.303527594, -0.588011861, 1.58096957,   1.30103993,  1.27530122,
        -0.200953096, -0.160563782, -0.401488006, 0.69572413,   -1.80605268,  -1.15886784, 0.325471014,
        -0.63150537,  -2.83999395,  -0.784853339, -1.40957248,  -0.407626867, 0.795326114}},
      {"randn of doubles, 20",
       [] { return torch::randn({20}, torch::kDouble); },
       {-2.310411800234176,  -0.3732508612577643, -1.0608166785462863, 0.9995093547811761,  -0.019964750907762653,
        0.2102998901016947,  0.17718935139366584, -0.830510051008449,  0.23871805816817063, 0.7335283685272841,
        -1.3218818291421377, 1.3148113651971234,  -0.6870036940435463, 1.4880743158106724,  -0.4484158047114511,
        -0.8910030351707375, 0.6748575435940039,  1.0468653769814655,  0.15429517864658948, -0.7498915228391941},
       {0.9097575322111796,  0.1537571881236119,  0.6343517383098118,   0.3665487366903596, -0.7536409539336731,
        0.09738460503778217, -1.033437355203513,  0.1820242728888219,   -1.07450517806488,  0.9521867294080819,
        1.933601680166474,   -1.1461114911295558, -0.12594094733194452, 1.4189603684597678, -1.1131899891860184,
        0.954244852808496,   0.7112651202756335,  0.4269251632914044,   1.413019990423626,  -0.07914745139728685}},
      {"randn of halfs, 20",
       [] { return torch::randn({20}, torch::kHalf); },
       {-1.12597656,  -1.15234375, -0.250488281, -0.433837891, -1.35253906, -1.69628906, 0.566894531,
        0.793457031,  0.598632812, -1.5546875,   -0.341308594, 1.85253906,  0.75,        -0.585449219,
        -0.173339844, 0.18347168,  1.38964844,   1.5859375,    0.946289062, -0.84375},
       {0.337402344, -0.177734375, -0.303466797, -0.587890625, -0.0770263672, -1.02050781, -0.168945312,
        0.91796875,  1.58105469,   1.30078125,   1.27539062,   -0.200927734,  0.496582031, -1.57226562,
        0.966796875, -1.1484375,   -1.15917969,  0.325439453,  -0.631347656,  -2.83984375}},
      {"randn of bfloat16, 20",
       [] { return torch::randn({20}, torch::kBFloat16); },
       {-1.125,       -1.15625,   -0.25,      -0.43359375,  -1.3515625, -1.6953125, 0.56640625,
        0.79296875,   0.59765625, -1.5546875, -0.341796875, 1.8515625,  0.75,       -0.5859375,
        -0.173828125, 0.18359375, 1.390625,   1.5859375,    0.9453125,  -0.84375},
       {0.337890625, -0.177734375, -0.302734375, -0.58984375, -0.0771484375, -1.0234375, -0.168945312,
        0.91796875,  1.578125,     1.3046875,    1.2734375,   -0.201171875,  0.49609375, -1.5703125,
        0.96484375,  -1.1484375,   -1.15625,     0.326171875, -0.6328125,    -2.84375}},
      {"randn of complex numbers, fewer than 16 parts",
       [] { return torch::view_as_real(torch::randn({3}, torch::kComplexFloat)); },
       {1.08964884, -0.207485572, -1.54063678, 0.401941597, -0.766873121, -0.988956273},
       {-0.0788191557, 0.0851094574, -0.261371076, -0.170001179, -0.846353352, 0.147975788}},
      {"randn of complex numbers, 18 parts",
       [] { return torch::view_as_real(torch::randn({9}, torch::kComplexFloat)); },
       {-0.796088994, -0.814841688, 0.400682509, 0.561095119, 0.423443437, -1.0996182, -0.241378248, 1.31027317,
        0.330994129, -0.111519538, -0.122610018, 0.129738495, 0.98243022, 1.12170768, 0.669133961, -0.596569538,
        0.658900917, 0.890253961},
       {0.238556743, -0.125707477, -0.119470127, 0.648957551, 1.11791432, 0.919974148, 0.901774108, -0.142095298,
        -0.113535739, -0.283894897, 0.683469296, -0.811860383, -0.819443285, 0.230142757, -0.446541727, -2.00817895,
        -0.554975092, -0.996718228}},
      {"normal_ of a strided tensor, one by one",
       [] {
         return torch::empty({20, 2}).select(1, 0).normal_();
       },
       {1.54099607,  -0.293428898, -2.17878938,  0.568431258,  -1.08452237,  -1.39859545,  0.403346837,
        0.838026345, -0.719257593, -0.403343529, -0.596635342, 0.182036489,  -0.856674612, 1.10060418,
        -1.07118738, 0.122701243,  -0.566317499, 0.373114645,  -0.891995311, -1.50910771},
       {-0.111467116, 0.120362945, -0.369634509,  -0.240417972, -1.19692433,  0.20926936,  -0.972355008,
        -0.755045474, 0.323902756, -0.108522631,  0.210331157,  -0.390842825, 0.234973416, 0.665260434,
        0.352820754,  0.972821116, -0.0386162177, -0.886101425, -0.470900148, -0.426901072}},
      {"normal_ with mean and deviation",
       [] { return torch::empty({5}).normal_(2, 3); },
       {6.62298822, 1.11971331, -4.53636837, 3.70529389, -1.25356698},
       {1.66559863, 2.36108875, 0.891096473, 1.27874613, -1.59077311}},
      {"normal_ of doubles with mean and deviation, 17",
       [] { return torch::empty({17}, torch::kDouble).normal_(2, 3); },
       {-4.931235400702528, 0.10017617339747109, -1.7827739671583154, -0.18085318619623314, 1.940105747276712,
        2.630899670305084, 2.5315680541809975, -0.49153015302534697, 2.7161541745045117, 1.2719618526234269,
        -0.31903383188745427, -2.7855444642349205, -0.061011082130638994, 6.464222947432017, 0.6547525858656467,
        -0.6730091055122126, 4.0245726307820116},
       {4.729272596633539, -0.3304623297659677, 5.895260543530525, 0.10392232521998568, -0.2609228618010194,
        2.2921538151133465, -1.100312065610539, 2.546072818666466, -1.22351553419464, 3.2841135098404184,
        0.5468602621069637, 2.202021450286753, 1.6221771580041664, 6.256881105379303, -1.3395699675580552,
        4.862734558425488, 4.1337953608269}},
      {"normal of two tensors",
       [] { return at::normal(torch::arange(4.), torch::arange(1., 5.)); },
       {1.54099607, 0.413142204, -4.53636837, 5.27372503},
       {-0.111467116, 1.24072587, 0.891096473, 2.03832817}},
  });
}

TEST_CASE("integer samples follow the stream of PyTorch", "[random]") {
  check_streams<int64_t>({
      {"randint", [] { return torch::randint(10, {8}); }, {4, 9, 3, 0, 3, 9, 7, 3}, {2, 9, 2, 0, 0, 2, 6, 7}},
      {"randint with a range beyond 32 bits",
       [] { return torch::randint(-5, int64_t{1} << 40, {4}); },
       {741234585336, 506077272957, 291397093751, 841111833108},
       {1093925388903, 542982144796, 947841103282, 990884957502}},
      {"randint, range 2^28",
       [] { return torch::randint(int64_t{1} << 28, {4}); },
       {130329135, 136432832, 195187451, 149257575},
       {109329773, 229655874, 14537826, 135937041}},
      {"randint, range 2^28 + 1",
       [] { return torch::randint((int64_t{1} << 28) + 1, {4}); },
       {265551859, 112682522, 112664408, 17699253},
       {29842996, 162098597, 263116498, 99274291}},
      {"randint, range 2^32 - 1",
       [] { return torch::randint((int64_t{1} << 32) - 1, {4}); },
       {608416988, 2402841398, 1978730047, 1684206635},
       {1758464876, 3069227712, 3941647422, 1161638648}},
      {"randint, range 2^32",
       [] { return torch::randint(int64_t{1} << 32, {4}); },
       {2546248239, 3626093760, 3684848379, 3638918503},
       {3062119789, 1840268610, 2967327842, 3088727057}},
      {"randint of bytes",
       [] { return torch::randint(200, {6}, torch::kByte); },
       {44, 39, 133, 160, 163, 179},
       {182, 189, 102, 10, 180, 42}},
      {"randint of floats",
       [] { return torch::randint(200, {6}, torch::kFloat); },
       {44, 39, 133, 160, 163, 179},
       {182, 189, 102, 10, 180, 42}},
      {"randperm", [] { return torch::randperm(10); }, {4, 1, 7, 5, 3, 9, 0, 8, 6, 2}, {2, 0, 8, 1, 3, 7, 4, 9, 5, 6}},
      {"randperm of int32",
       [] { return torch::randperm(7, torch::kInt); },
       {4, 0, 5, 3, 2, 6, 1},
       {2, 0, 4, 5, 3, 1, 6}},
      {"random_",
       [] { return torch::empty({4}, torch::kLong).random_(); },
       {900450186894289455, 3969543146641149120, 1895649597198586619, 827948490035658087},
       {3624216819017203053, 5278339153051796802, 4184670734919783522, 946590342492863505}},
      {"random_ of int32",
       [] { return torch::empty({4}, torch::kInt).random_(); },
       {209652396, 398764591, 924231285, 1478610112},
       {843828734, 914636141, 1228959102, 1840268610}},
      {"random_ of bytes",
       [] { return torch::empty({6}, torch::kByte).random_(); },
       {172, 47, 117, 192, 67, 251},
       {254, 109, 126, 66, 220, 98}},
      {"random_ of bool",
       [] { return torch::empty({10}, torch::kBool).random_(); },
       {0, 1, 1, 0, 1, 1, 1, 1, 1, 1},
       {0, 1, 0, 0, 0, 0, 0, 1, 1, 0}},
      {"random_ of floats",
       [] { return torch::empty({4}).random_(); },
       {8325664, 12888472, 1484222, 2214888},
       {4967756, 8666295, 4222261, 11551957}},
      {"random_ of doubles",
       [] { return torch::empty({4}, torch::kDouble).random_(); },
       {8737460674930124, 6375474555111176, 4137753702977065, 8293357854226700},
       {3322718611322843, 120389773574904, 5330280719962770, 834420745058216}},
      {"random_ of halfs",
       [] { return torch::empty({4}, torch::kHalf).random_(); },
       {1277, 1017, 1661, 999},
       {1870, 1984, 1686, 240}},
      {"random_ from 3 on",
       [] { return torch::empty({4}, torch::kLong).random_(3, std::optional<int64_t>()); },
       {900450186894289461, 3969543146641149126, 1895649597198586625, 827948490035658093},
       {3624216819017203059, 5278339153051796805, 4184670734919783525, 946590342492863511}},
      {"random_ from 3 to 9",
       [] { return torch::empty({8}, torch::kInt).random_(3, 9); },
       {5, 6, 8, 3, 4, 6, 4, 4},
       {7, 4, 3, 3, 7, 5, 3, 8}},
      // Bounds that the dtype rounds are moved inwards.
      {"random_ of halfs up to their largest",
       [] { return torch::empty({4}, torch::kHalf).random_(0, 65504); },
       {13104, 42144, 30576, 57984},
       {27648, 59808, 49664, 47104}},
      {"random_ of bfloat16 from 3 to 1000",
       [] { return torch::empty({4}, torch::kBFloat16).random_(3, 1000); },
       {312, 620, 512, 348},
       {178, 728, 460, 300}},
      {"random_ of floats over 2^41",
       [] { return torch::empty({4}, torch::kFloat).random_(-(int64_t{1} << 40) - 3, (int64_t{1} << 40) + 7); },
       {-358277054464, -593434378240, 291397107712, -258399797248},
       {1093925404672, 542982144000, 947841073152, -108626673664}},
  });
}

TEST_CASE("coin flips follow the stream of PyTorch", "[random]") {
  check_streams<double>({
      {"bernoulli_(p)",
       [] { return torch::empty({10}).bernoulli_(0.3); },
       {0, 0, 0, 0, 0, 0, 1, 0, 0, 1},
       {0, 1, 0, 1, 0, 0, 0, 0, 0, 1}},
      {"bernoulli_(p) of doubles",
       [] { return torch::empty({10}, torch::kDouble).bernoulli_(0.3); },
       {0, 0, 0, 0, 0, 0, 1, 0, 0, 1},
       {0, 1, 0, 1, 0, 0, 0, 0, 0, 1}},
      {"bernoulli_(p) of integers",
       [] { return torch::empty({10}, torch::kLong).bernoulli_(0.3); },
       {0, 0, 0, 0, 0, 0, 1, 0, 0, 1},
       {0, 1, 0, 1, 0, 0, 0, 0, 0, 1}},
      {"bernoulli of floats: one draw of 32 bits each",
       [] { return at::bernoulli(torch::linspace(0.05, 0.95, 10)); },
       {0, 0, 1, 1, 1, 0, 1, 0, 1, 1},
       {0, 0, 0, 0, 1, 0, 1, 1, 1, 1}},
      {"bernoulli of doubles: 64 bits each",
       [] { return at::bernoulli(torch::linspace(0.05, 0.95, 10, torch::kDouble)); },
       {0, 0, 0, 0, 0, 0, 1, 1, 1, 1},
       {0, 1, 0, 1, 0, 1, 1, 1, 0, 1}},
      {"bernoulli with p",
       [] { return at::bernoulli(torch::zeros({10}), 0.7); },
       {0, 0, 1, 0, 1, 0, 1, 1, 1, 1},
       {1, 1, 1, 1, 1, 1, 1, 1, 0, 1}},
      {"dropout",
       [] { return at::dropout(torch::ones({16}), 0.4, true); },
       {0, 0, 1.66666663, 0, 0, 0, 1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663,
        0, 1.66666663, 1.66666663},
       {1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663, 0, 1.66666663, 0, 1.66666663, 0,
        1.66666663, 1.66666663, 1.66666663, 1.66666663, 1.66666663}},
  });
}

TEST_CASE("other distributions follow the stream of PyTorch", "[random]") {
  check_streams<double>({
      {"exponential_",
       [] { return torch::empty({5}).exponential_(1.5); },
       {2.33888412, 0.820256531, 0.410029382, 1.69007909, 0.690470278},
       {0.306856275, 0.00897071883, 0.597299397, 0.0648101568, 0.426343501}},
      {"exponential_ of doubles",
       [] { return torch::empty({5}, torch::kDouble).exponential_(1.5); },
       {2.338884124471761, 0.8202565094531178, 0.41002939592934096, 1.6900790961439212, 0.6904702905485386},
       {0.30685627155774314, 0.008970718776209027, 0.597299418695196, 0.06481015789773037, 0.4263435152286461}},
      {"log_normal_",
       [] { return torch::empty({5}).log_normal_(0.5, 0.25); },
       {2.4235878, 1.53210521, 0.956286848, 1.90048254, 1.25717783},
       {1.60341096, 1.69908643, 1.50319278, 1.55254495, 1.22234225}},
      {"cauchy_",
       [] { return torch::empty({5}).cauchy_(0.5, 2); },
       {21.6954594, 2.02953458, 0.243401319, 8.36614704, 1.47997785},
       {-0.373726279, -47.1019707, 1.09320188, -6.17689848, 0.326476872}},
      {"geometric_",
       [] { return torch::empty({8}).geometric_(0.2); },
       {1, 2, 4, 1, 2, 2, 8, 5},
       {5, 20, 3, 11, 4, 3, 3, 3}},
      {"multinomial without replacement",
       [] {
         return at::multinomial(torch::tensor({0.1f, 0.2f, 0.3f, 0.4f, 0.5f}), 4);
       },
       {2, 4, 1, 3},
       {1, 3, 4, 2}},
      {"multinomial, one sample a row",
       [] {
         return at::multinomial(torch::tensor({0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 5.f, 4.f, 3.f, 2.f, 1.f}).view({2, 5}), 1);
       },
       {2, 1},
       {1, 4}},
      {"multinomial with replacement",
       [] {
         return at::multinomial(torch::tensor({0.1f, 0.2f, 0.3f, 0.4f, 0.5f}), 10, true);
       },
       {4, 4, 3, 4, 3, 4, 1, 2, 3, 2},
       {2, 0, 3, 1, 3, 3, 3, 3, 4, 0}},
      {"multinomial of doubles with replacement",
       [] {
         return at::multinomial(torch::tensor({0.1, 0.2, 0.3, 0.4, 0.5}, torch::kDouble), 10, true);
       },
       {4, 4, 3, 4, 3, 4, 1, 2, 3, 2},
       {2, 0, 3, 1, 3, 3, 3, 3, 4, 0}},
      {"poisson",
       [] {
         return at::poisson(torch::tensor({0.5f, 3.f, 9.f, 10.f, 20.f, 100.f}));
       },
       {2, 4, 9, 7, 13, 91},
       {0, 0, 9, 7, 15, 107}},
  });
}

// More draws than the twister makes at a time.
TEST_CASE("far samples follow the stream of PyTorch", "[random]") {
  const auto last = [](const Tensor& drawn, int64_t count) { return drawn.slice(0, drawn.size(0) - count); };
  check_streams<double>({
      {"rand",
       [=] { return last(torch::rand({3000}), 4); },
       {0.845196187, 0.2716254, 0.301693439, 0.081194222},
       {0.146342397, 0.00915747881, 0.972089171, 0.678815901}},
      {"rand of doubles",
       [=] { return last(torch::rand({3000}, torch::kDouble), 4); },
       {0.47986831844469491, 0.76086799860613441, 0.14019005942709939, 0.27597298173592144},
       {0.8281501981998125, 0.86271306356324995, 0.1831555534694268, 0.80174296431220349}},
      {"uniform_",
       [=] { return last(torch::empty({3000}).uniform_(-2, 3), 4); },
       {2.225981, -0.641873002, -0.491532803, -1.59402895},
       {-1.26828802, -1.95421267, 2.86044598, 1.39407945}},
      {"randn",
       [=] { return last(torch::randn({3000}), 4); },
       {1.64215636, -0.326587737, 0.366865069, -0.724487603},
       {0.179605499, -0.119386099, -0.123755634, -0.956761718}},
      {"randn of doubles",
       [=] { return last(torch::randn({3000}, torch::kDouble), 4); },
       {-0.15907231711177147, -0.15272983277879126, 0.53003086140615396, -0.37839959633914722},
       {-2.3437956836425178, -0.060051685128858404, -1.5375808292586959, 1.0000287639406265}},
      {"randn of halfs",
       [=] { return last(torch::randn({3000}, torch::kHalf), 4); },
       {-1.87988281, 0.287109375, 0.261962891, -0.358154297},
       {0.0708007812, 0.0482788086, 0.213745117, 0.569335938}},
      {"bernoulli_",
       [=] { return last(torch::empty({3000}).bernoulli_(0.3), 12); },
       {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1},
       {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0}},
      {"exponential_",
       [=] { return last(torch::empty({3000}).exponential_(1.5), 4); },
       {0.435782164, 0.953826368, 0.100695945, 0.215284377},
       {1.17408967, 1.32378805, 0.134871066, 1.078794}},
      {"geometric_",
       [=] { return last(torch::empty({3000}).geometric_(0.2), 6); },
       {3, 3, 4, 2, 9, 6},
       {4, 3, 1, 1, 8, 1}},
  });
  check_streams<int64_t>({
      {"randint",
       [=] { return last(torch::randint(1000, {3000}), 6); },
       {19, 651, 199, 326, 104, 877},
       {722, 631, 58, 197, 390, 385}},
      {"randint with a range beyond 32 bits",
       [=] { return last(torch::randint(-5, int64_t{1} << 40, {3000}), 4); },
       {89305668473, 33666926946, 480381861912, 847298144496},
       {226913030567, 379772163971, 451075444470, 965733694321}},
      {"randperm",
       [=] { return last(torch::randperm(3000), 6); },
       {2315, 2791, 2682, 2481, 2576, 477},
       {30, 403, 2192, 1979, 1662, 1606}},
  });
}

TEST_CASE("samplers share one stream", "[random]") {
  check_streams<double>({
      {"an odd normal sample waits while others are drawn",
       [] {
         return [] {
           Tensor a = torch::randn({3}), b = torch::rand({2}), c = torch::randn({2});
           return torch::cat({a, b, c, torch::randint(100, {2}).to(torch::kFloat)});
         }();
       },
       {1.54099607, -0.293428898, -2.17878938, 0.455627978, 0.632306278, 0.568431258, 0.160381258, 78, 76},
       {-0.111467116, 0.120362945, -0.369634509, 0.184056461, 0.726446748, -0.240417972, -1.35010278, 12, 49}},
  });
}

// The state is the bytes of a Mersenne Twister and of a waiting normal sample, as PyTorch saves them in checkpoints.
TEST_CASE("a generator's state is PyTorch's, byte for byte", "[random]") {
  torch::Generator generator = at::make_generator<at::CPUGeneratorImpl>();
  generator.set_current_seed(123);
  torch::randn({3}, generator);
  const Tensor state = generator.get_state();
  REQUIRE(state.scalar_type() == torch::kByte);
  REQUIRE(state.sizes() == at::IntArrayRef{5056});
  // FNV-1a over all bytes.
  uint64_t hash = 14695981039346656037u;
  for (int64_t i = 0; i < state.numel(); ++i) {
    hash = (hash ^ state.const_data_ptr<uint8_t>()[i]) * 1099511628211u;
  }
  CHECK(hash == 3611388139848690403u);
}

TEST_CASE("a generator's state can be taken, set and cloned", "[random]") {
  torch::Generator generator = at::make_generator<at::CPUGeneratorImpl>();
  generator.set_current_seed(123);
  torch::randn({3}, generator); // a second sample of the pair waits
  const Tensor state = generator.get_state();
  torch::Generator clone = generator.clone();
  const Tensor next = torch::randn({3}, generator);
  const std::vector<double> recorded = {-0.240417972, -1.19692433, 0.20926936};
  check_equal(elements<double>(next), recorded, next);

  CHECK(torch::equal(torch::randn({3}, clone), next));
  CHECK_FALSE(torch::equal(torch::randn({3}, clone), next));
  generator.set_state(state);
  CHECK(torch::equal(torch::randn({3}, generator), next));
  torch::Generator other = at::make_generator<at::CPUGeneratorImpl>();
  other.set_state(state);
  CHECK(torch::equal(torch::randn({3}, other), next));
  CHECK(other.current_seed() == 123);
}

TEST_CASE("seeds may be negative and reseeding forgets a waiting sample", "[random]") {
  torch::manual_seed(-5);
  const Tensor drawn = torch::rand({3});
  check_equal(elements<double>(drawn), {0.930815101, 0.660724223, 0.980768859}, drawn);
  torch::manual_seed(7);
  const Tensor first = torch::randn({2});
  torch::randn({1});
  torch::manual_seed(7);
  CHECK(torch::equal(torch::randn({2}), first));
}

TEST_CASE("a generator of its own leaves the default one alone", "[random]") {
  torch::manual_seed(0);
  const Tensor want = torch::rand({4});
  torch::manual_seed(0);
  torch::Generator generator = at::make_generator<at::CPUGeneratorImpl>(0);
  CHECK(torch::equal(torch::rand({4}, generator), want));
  CHECK(torch::equal(torch::rand({4}), want));
}
