#include "namespace_cases.h"

namespace namespaces {

namespace fft = torch::fft;

// A transform with its defaults and with every argument, of one dimension ...
#define ALONG_ONE(name, tag, x, norm)                                                   \
  cases.add("fft." #name tag, [](const Tensors& in) { return fft::name(in[0]); }, {x}); \
  cases.add("fft." #name tag ", n, dim, norm", [](const Tensors& in) { return fft::name(in[0], 5, 0, norm); }, {x})
// ... and of two and more.
#define ALONG_MORE(name, x)                                                                          \
  cases.add("fft." #name "2", [](const Tensors& in) { return fft::name##2(in[0]); }, {x});           \
  cases.add(                                                                                         \
      "fft." #name "2, s, dim, norm",                                                                \
      [](const Tensors& in) {                                                                        \
        return fft::name##2(in[0], torch::IntArrayRef({4, 3}), torch::IntArrayRef({1, 0}), "ortho"); \
      },                                                                                             \
      {x});                                                                                          \
  cases.add("fft." #name "n", [](const Tensors& in) { return fft::name##n(in[0]); }, {x});           \
  cases.add("fft." #name "n, s, dim, norm", [](const Tensors& in) { return fft::name##n(in[0], 5, 0, "forward"); }, {x})

std::vector<Case> fft_cases() {
  Cases cases;
  const Tensor real = wave({3, 4}), complex = complex_wave({3, 4});
  ALONG_ONE(fft, "", complex, "ortho");
  ALONG_ONE(ifft, "", complex, "ortho");
  ALONG_ONE(hfft, "", complex, "ortho");
  ALONG_ONE(irfft, "", complex, "ortho");
  ALONG_ONE(rfft, ", real", real, "forward");
  ALONG_ONE(ihfft, ", real", real, "forward");
  ALONG_ONE(fft, ", real", real, "forward");
  ALONG_MORE(fft, complex);
  ALONG_MORE(ifft, complex);
  ALONG_MORE(hfft, complex);
  ALONG_MORE(irfft, complex);
  ALONG_MORE(rfft, real);
  ALONG_MORE(ihfft, real);
  cases.add("fft.fftfreq", [](const Tensors&) { return fft::fftfreq(5, 0.5, torch::kDouble); }, {});
  cases.add("fft.fftfreq, whole", [](const Tensors&) { return fft::fftfreq(4, torch::kDouble); }, {});
  cases.add("fft.rfftfreq", [](const Tensors&) { return fft::rfftfreq(5, 0.5, torch::kDouble); }, {});
  cases.add("fft.rfftfreq, whole", [](const Tensors&) { return fft::rfftfreq(4, torch::kDouble); }, {});
  cases.add("fft.fftshift", [](const Tensors& in) { return fft::fftshift(in[0]); }, {real});
  cases.add("fft.fftshift, dim", [](const Tensors& in) { return fft::fftshift(in[0], 1); }, {complex});
  cases.add("fft.ifftshift", [](const Tensors& in) { return fft::ifftshift(in[0]); }, {real});
  cases.add("fft.ifftshift, dim", [](const Tensors& in) { return fft::ifftshift(in[0], 0); }, {complex});
  return cases.take();
}

#undef ALONG_ONE
#undef ALONG_MORE

} // namespace namespaces
