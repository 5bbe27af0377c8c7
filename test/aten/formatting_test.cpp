// Tensors on streams, byte for byte as libtorch 2 prints them. The strings are what libtorch printed for the same
// calls.
#include <torch/torch.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <iomanip>
#include <sstream>
#include <string>

using at::Tensor;

namespace {

struct Printed {
  const char* name;
  std::function<Tensor()> tensor;
  std::string text;
};

std::string to_text(const Tensor& t) {
  std::ostringstream out;
  out << t;
  return out.str();
}

Tensor complex_of(const Tensor& real, const Tensor& imag) {
  return at::view_as_complex(at::stack({real, imag}, -1));
}

void check(std::initializer_list<Printed> all) {
  for (const Printed& one : all) {
    INFO(one.name);
    CHECK(to_text(one.tensor()) == one.text);
  }
}

} // namespace

TEST_CASE("numbers are printed with all their digits", "[formatting]") {
  check({
      {"0-dim double", [] { return torch::scalar_tensor(3.5, torch::kDouble); },
       "3.5\n"
       "[ CPUDoubleType{} ]"},
      {"0-dim float", [] { return torch::scalar_tensor(0.1, torch::kFloat); },
       "0.10000000149011612\n"
       "[ CPUFloatType{} ]"},
      {"0-dim int", [] { return torch::scalar_tensor(-7, torch::kLong); },
       "-7\n"
       "[ CPULongType{} ]"},
      {"0-dim bool", [] { return torch::scalar_tensor(true, torch::kBool); },
       "1\n"
       "[ CPUBoolType{} ]"},
      {"0-dim large", [] { return torch::scalar_tensor(123456789, torch::kLong); },
       "123456789\n"
       "[ CPULongType{} ]"},
      {"0-dim nan", [] { return torch::scalar_tensor(std::nan(""), torch::kFloat); },
       "nan\n"
       "[ CPUFloatType{} ]"},
      {"0-dim inf", [] { return torch::scalar_tensor(-INFINITY, torch::kFloat); },
       "-inf\n"
       "[ CPUFloatType{} ]"},
      {"0-dim complex", [] { return torch::full({}, c10::complex<double>(1.5, -2), torch::kComplexDouble); },
       "1.5\n"
       "[ CPUComplexDoubleType{} ]"},
  });
}

TEST_CASE("vectors are printed one element a line", "[formatting]") {
  check({
      {"1-D ints",
       [] {
         return torch::tensor({1, -2, 30}, torch::kLong);
       },
       "  1\n"
       " -2\n"
       " 30\n"
       "[ CPULongType{3} ]"},
      {"1-D ints of one digit", [] { return torch::arange(5); },
       " 0\n"
       " 1\n"
       " 2\n"
       " 3\n"
       " 4\n"
       "[ CPULongType{5} ]"},
      {"1-D int8",
       [] {
         return torch::tensor({-128, 127}, torch::kLong).to(torch::kChar);
       },
       "-128\n"
       " 127\n"
       "[ CPUCharType{2} ]"},
      {"1-D bytes",
       [] {
         return torch::tensor({0, 255}, torch::kLong).to(torch::kByte);
       },
       "   0\n"
       " 255\n"
       "[ CPUByteType{2} ]"},
      {"1-D shorts",
       [] {
         return torch::tensor({-3000, 7}, torch::kLong).to(torch::kShort);
       },
       "-3000\n"
       "    7\n"
       "[ CPUShortType{2} ]"},
      {"1-D int32",
       [] {
         return torch::tensor({100000, 7}, torch::kLong).to(torch::kInt);
       },
       " 100000\n"
       "      7\n"
       "[ CPUIntType{2} ]"},
      {"1-D large ints",
       [] {
         return torch::tensor({int64_t(12345678901), int64_t(1)}, torch::kLong);
       },
       " 1.2346e+10\n"
       " 1.0000e+00\n"
       "[ CPULongType{2} ]"},
      {"1-D ints, nine digits",
       [] {
         return torch::tensor({int64_t(123456789), int64_t(1)}, torch::kLong);
       },
       "1.23457e+08\n"
       "         1\n"
       "[ CPULongType{2} ]"},
      {"1-D ints, ten digits",
       [] {
         return torch::tensor({int64_t(1234567890), int64_t(1)}, torch::kLong);
       },
       " 1.2346e+09\n"
       " 1.0000e+00\n"
       "[ CPULongType{2} ]"},
      {"1-D floats",
       [] {
         return torch::tensor({0.5, -1.25, 3.0}, torch::kFloat);
       },
       " 0.5000\n"
       "-1.2500\n"
       " 3.0000\n"
       "[ CPUFloatType{3} ]"},
      {"1-D integral floats",
       [] {
         return torch::tensor({1.0, -2.0, 3.0}, torch::kFloat);
       },
       " 1\n"
       "-2\n"
       " 3\n"
       "[ CPUFloatType{3} ]"},
      {"1-D small floats",
       [] {
         return torch::tensor({0.001, 0.002}, torch::kFloat);
       },
       "0.001 *\n"
       " 1.0000\n"
       " 2.0000\n"
       "[ CPUFloatType{2} ]"},
      {"1-D tiny floats",
       [] {
         return torch::tensor({1e-7, 2e-7}, torch::kDouble);
       },
       "1e-07 *\n"
       " 1.0000\n"
       " 2.0000\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D wide range",
       [] {
         return torch::tensor({1e-5, 1000.0}, torch::kDouble);
       },
       " 1.0000e-05\n"
       " 1.0000e+03\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D huge",
       [] {
         return torch::tensor({1.5e10, 2.5e11}, torch::kDouble);
       },
       " 1.5000e+10\n"
       " 2.5000e+11\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D with a scale",
       [] {
         return torch::tensor({123456.5, 234567.25}, torch::kDouble);
       },
       "100000 *\n"
       " 1.2346\n"
       " 2.3457\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D thousands",
       [] {
         return torch::tensor({1234.5, 2345.25}, torch::kDouble);
       },
       " 1234.5000\n"
       " 2345.2500\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D three-digit exponents",
       [] {
         return torch::tensor({1e-150, 1e150}, torch::kDouble);
       },
       " 1.0000e-150\n"
       " 1.0000e+150\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D denormal",
       [] {
         return torch::tensor({5e-324, 1e-310}, torch::kDouble);
       },
       " 4.9407e-324\n"
       " 1.0000e-310\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D nan and inf",
       [] {
         return torch::tensor({std::nan(""), HUGE_VAL, -HUGE_VAL, 1.0}, torch::kDouble);
       },
       "nan\n"
       "inf\n"
       "-inf\n"
       " 1\n"
       "[ CPUDoubleType{4} ]"},
      {"1-D nan and fractions",
       [] {
         return torch::tensor({std::nan(""), 0.5, -HUGE_VAL}, torch::kDouble);
       },
       "    nan\n"
       " 0.5000\n"
       "   -inf\n"
       "[ CPUDoubleType{3} ]"},
      {"1-D all nan", [] { return torch::full({2}, std::nan(""), torch::kFloat); },
       "nan\n"
       "nan\n"
       "[ CPUFloatType{2} ]"},
      {"1-D all inf", [] { return torch::full({2}, INFINITY, torch::kFloat); },
       "inf\n"
       "inf\n"
       "[ CPUFloatType{2} ]"},
      {"1-D negative only",
       [] {
         return torch::tensor({-123.5, -4.25}, torch::kDouble);
       },
       "-123.5000\n"
       "  -4.2500\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D negative integers",
       [] {
         return torch::tensor({-8., -60.}, torch::kDouble);
       },
       " -8\n"
       "-60\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D zeros", [] { return torch::zeros({3}); },
       " 0\n"
       " 0\n"
       " 0\n"
       "[ CPUFloatType{3} ]"},
      {"1-D zero and fraction",
       [] {
         return torch::tensor({0.0, 0.25}, torch::kDouble);
       },
       " 0.0000\n"
       " 0.2500\n"
       "[ CPUDoubleType{2} ]"},
      {"1-D bools",
       [] {
         return torch::tensor({1, 0, 1}, torch::kLong).to(torch::kBool);
       },
       " 1\n"
       " 0\n"
       " 1\n"
       "[ CPUBoolType{3} ]"},
      {"1-D half",
       [] {
         return torch::tensor({0.5, 1.5}, torch::kDouble).to(torch::kHalf);
       },
       " 0.5000\n"
       " 1.5000\n"
       "[ CPUHalfType{2} ]"},
      {"1-D bfloat16",
       [] {
         return torch::tensor({0.1, 1.5}, torch::kDouble).to(torch::kBFloat16);
       },
       " 0.1001\n"
       " 1.5000\n"
       "[ CPUBFloat16Type{2} ]"},
      {"1-D complex float",
       [] {
         return complex_of(torch::tensor({1.0, -0.5}, torch::kFloat), torch::tensor({2.0, 0.25}, torch::kFloat));
       },
       " 1.0000\n"
       "-0.5000\n"
       "[ CPUComplexFloatType{2} ]"},
      {"1-D complex double",
       [] { return complex_of(torch::tensor({100.25}, torch::kDouble), torch::tensor({-2.0}, torch::kDouble)); },
       " 100.2500\n"
       "[ CPUComplexDoubleType{1} ]"},
      {"1-D complex integers",
       [] {
         return complex_of(torch::tensor({1.0, 20.0}, torch::kDouble), torch::tensor({-2.0, 3.0}, torch::kDouble));
       },
       "  1\n"
       " 20\n"
       "[ CPUComplexDoubleType{2} ]"},
      {"1-D complex with a scale",
       [] { return complex_of(torch::tensor({123456.5}, torch::kDouble), torch::tensor({-2.0}, torch::kDouble)); },
       "100000 *\n"
       " 1.2346\n"
       "[ CPUComplexDoubleType{1} ]"},
  });
}

TEST_CASE("matrices are printed row by row, wide ones in groups of columns", "[formatting]") {
  check({
      {"2-D complex",
       [] {
         return complex_of(torch::tensor({1.0, -0.5}, torch::kDouble), torch::tensor({2.0, 0.25}, torch::kDouble))
             .reshape({2, 1});
       },
       " 1.0000\n"
       "-0.5000\n"
       "[ CPUComplexDoubleType{2,1} ]"},
      {"2-D ints",
       [] {
         return torch::arange(6).reshape({2, 3});
       },
       " 0  1  2\n"
       " 3  4  5\n"
       "[ CPULongType{2,3} ]"},
      {"2-D floats",
       [] {
         return torch::arange(6, torch::kFloat).div(4).reshape({3, 2});
       },
       " 0.0000  0.2500\n"
       " 0.5000  0.7500\n"
       " 1.0000  1.2500\n"
       "[ CPUFloatType{3,2} ]"},
      {"2-D with a scale",
       [] {
         return torch::tensor({123456.5, -2.0, 3.0, 4.0}, torch::kDouble).reshape({2, 2});
       },
       " 1.2346e+05 -2.0000e+00\n"
       " 3.0000e+00  4.0000e+00\n"
       "[ CPUDoubleType{2,2} ]"},
      {"2-D scientific",
       [] {
         return torch::tensor({1e-6, 2.5, 3.0, 4e3}, torch::kDouble).reshape({2, 2});
       },
       " 1.0000e-06  2.5000e+00\n"
       " 3.0000e+00  4.0000e+03\n"
       "[ CPUDoubleType{2,2} ]"},
      {"2-D wide",
       [] {
         return torch::arange(60, torch::kDouble).div(8).reshape({2, 30});
       },
       "Columns 1 to 10 0.0000  0.1250  0.2500  0.3750  0.5000  0.6250  0.7500  0.8750  1.0000  1.1250\n"
       " 3.7500  3.8750  4.0000  4.1250  4.2500  4.3750  4.5000  4.6250  4.7500  4.8750\n"
       "\n"
       "Columns 11 to 20 1.2500  1.3750  1.5000  1.6250  1.7500  1.8750  2.0000  2.1250  2.2500  2.3750\n"
       " 5.0000  5.1250  5.2500  5.3750  5.5000  5.6250  5.7500  5.8750  6.0000  6.1250\n"
       "\n"
       "Columns 21 to 30 2.5000  2.6250  2.7500  2.8750  3.0000  3.1250  3.2500  3.3750  3.5000  3.6250\n"
       " 6.2500  6.3750  6.5000  6.6250  6.7500  6.8750  7.0000  7.1250  7.2500  7.3750\n"
       "[ CPUDoubleType{2,30} ]"},
      {"2-D wide ints",
       [] {
         return torch::arange(120).reshape({2, 60});
       },
       "Columns 1 to 16   0    1    2    3    4    5    6    7    8    9   10   11   12   13   14   15\n"
       "  60   61   62   63   64   65   66   67   68   69   70   71   72   73   74   75\n"
       "\n"
       "Columns 17 to 32  16   17   18   19   20   21   22   23   24   25   26   27   28   29   30   31\n"
       "  76   77   78   79   80   81   82   83   84   85   86   87   88   89   90   91\n"
       "\n"
       "Columns 33 to 48  32   33   34   35   36   37   38   39   40   41   42   43   44   45   46   47\n"
       "  92   93   94   95   96   97   98   99  100  101  102  103  104  105  106  107\n"
       "\n"
       "Columns 49 to 60  48   49   50   51   52   53   54   55   56   57   58   59\n"
       " 108  109  110  111  112  113  114  115  116  117  118  119\n"
       "[ CPULongType{2,60} ]"},
      {"2-D wide with a scale",
       [] {
         return torch::arange(30, torch::kDouble).mul(12345.5).reshape({2, 15});
       },
       "Columns 1 to 6 0.0000e+00  1.2346e+04  2.4691e+04  3.7036e+04  4.9382e+04  6.1728e+04\n"
       " 1.8518e+05  1.9753e+05  2.0987e+05  2.2222e+05  2.3456e+05  2.4691e+05\n"
       "\n"
       "Columns 7 to 12 7.4073e+04  8.6418e+04  9.8764e+04  1.1111e+05  1.2346e+05  1.3580e+05\n"
       " 2.5926e+05  2.7160e+05  2.8395e+05  2.9629e+05  3.0864e+05  3.2098e+05\n"
       "\n"
       "Columns 13 to 15 1.4815e+05  1.6049e+05  1.7284e+05\n"
       " 3.3333e+05  3.4567e+05  3.5802e+05\n"
       "[ CPUDoubleType{2,15} ]"},
      {"2-D one column",
       [] {
         return torch::arange(3, torch::kFloat).reshape({3, 1});
       },
       " 0\n"
       " 1\n"
       " 2\n"
       "[ CPUFloatType{3,1} ]"},
      {"2-D transposed",
       [] {
         return torch::arange(6).reshape({2, 3}).t();
       },
       " 0  3\n"
       " 1  4\n"
       " 2  5\n"
       "[ CPULongType{3,2} ]"},
  });
}

TEST_CASE("tensors of more dimensions are printed slice by slice", "[formatting]") {
  check({
      {"3-D",
       [] {
         return torch::arange(12, torch::kFloat).div(2).reshape({2, 2, 3});
       },
       "(1,.,.) = \n"
       " 0.0000  0.5000  1.0000\n"
       "  1.5000  2.0000  2.5000\n"
       "\n"
       "(2,.,.) = \n"
       " 3.0000  3.5000  4.0000\n"
       "  4.5000  5.0000  5.5000\n"
       "[ CPUFloatType{2,2,3} ]"},
      {"3-D with a scale",
       [] {
         return torch::arange(8, torch::kDouble).mul(123456.5).reshape({2, 2, 2});
       },
       "(1,.,.) = \n"
       " 0.0000e+00  1.2346e+05\n"
       "  2.4691e+05  3.7037e+05\n"
       "\n"
       "(2,.,.) = \n"
       "100000 *\n"
       "  4.9383  6.1728\n"
       "   7.4074  8.6420\n"
       "[ CPUDoubleType{2,2,2} ]"},
      {"3-D wide",
       [] {
         return torch::arange(60, torch::kDouble).div(8).reshape({1, 2, 30});
       },
       "(1,.,.) = \n"
       "Columns 1 to 9  0.0000  0.1250  0.2500  0.3750  0.5000  0.6250  0.7500  0.8750  1.0000\n"
       "  3.7500  3.8750  4.0000  4.1250  4.2500  4.3750  4.5000  4.6250  4.7500\n"
       "\n"
       "Columns 10 to 18  1.1250  1.2500  1.3750  1.5000  1.6250  1.7500  1.8750  2.0000  2.1250\n"
       "  4.8750  5.0000  5.1250  5.2500  5.3750  5.5000  5.6250  5.7500  5.8750\n"
       "\n"
       "Columns 19 to 27  2.2500  2.3750  2.5000  2.6250  2.7500  2.8750  3.0000  3.1250  3.2500\n"
       "  6.0000  6.1250  6.2500  6.3750  6.5000  6.6250  6.7500  6.8750  7.0000\n"
       "\n"
       "Columns 28 to 30  3.3750  3.5000  3.6250\n"
       "  7.1250  7.2500  7.3750\n"
       "[ CPUDoubleType{1,2,30} ]"},
      {"3-D wide with a scale",
       [] {
         return torch::arange(60, torch::kDouble).mul(12345.5).reshape({1, 2, 30});
       },
       "(1,.,.) = \n"
       "Columns 1 to 6  0.0000e+00  1.2346e+04  2.4691e+04  3.7036e+04  4.9382e+04  6.1728e+04\n"
       "  3.7036e+05  3.8271e+05  3.9506e+05  4.0740e+05  4.1975e+05  4.3209e+05\n"
       "\n"
       "Columns 7 to 12  7.4073e+04  8.6418e+04  9.8764e+04  1.1111e+05  1.2346e+05  1.3580e+05\n"
       "  4.4444e+05  4.5678e+05  4.6913e+05  4.8147e+05  4.9382e+05  5.0617e+05\n"
       "\n"
       "Columns 13 to 18  1.4815e+05  1.6049e+05  1.7284e+05  1.8518e+05  1.9753e+05  2.0987e+05\n"
       "  5.1851e+05  5.3086e+05  5.4320e+05  5.5555e+05  5.6789e+05  5.8024e+05\n"
       "\n"
       "Columns 19 to 24  2.2222e+05  2.3456e+05  2.4691e+05  2.5926e+05  2.7160e+05  2.8395e+05\n"
       "  5.9258e+05  6.0493e+05  6.1728e+05  6.2962e+05  6.4197e+05  6.5431e+05\n"
       "\n"
       "Columns 25 to 30  2.9629e+05  3.0864e+05  3.2098e+05  3.3333e+05  3.4567e+05  3.5802e+05\n"
       "  6.6666e+05  6.7900e+05  6.9135e+05  7.0369e+05  7.1604e+05  7.2838e+05\n"
       "[ CPUDoubleType{1,2,30} ]"},
      {"4-D",
       [] {
         return torch::arange(16).reshape({2, 2, 2, 2});
       },
       "(1,1,.,.) = \n"
       " 0  1\n"
       "  2  3\n"
       "\n"
       "(2,1,.,.) = \n"
       "  8   9\n"
       "  10  11\n"
       "\n"
       "(1,2,.,.) = \n"
       " 4  5\n"
       "  6  7\n"
       "\n"
       "(2,2,.,.) = \n"
       " 12  13\n"
       "  14  15\n"
       "[ CPULongType{2,2,2,2} ]"},
      {"5-D",
       [] {
         return torch::arange(4).reshape({2, 1, 1, 2, 1});
       },
       "(1,1,1,.,.) = \n"
       " 0\n"
       "  1\n"
       "\n"
       "(2,1,1,.,.) = \n"
       " 2\n"
       "  3\n"
       "[ CPULongType{2,1,1,2,1} ]"},
      {"3-D different ranges",
       [] {
         return torch::tensor({1.0, 2.0, 0.5, 1e7}, torch::kDouble).reshape({2, 1, 2});
       },
       "(1,.,.) = \n"
       " 1  2\n"
       "\n"
       "(2,.,.) = \n"
       " 5.0000e-01  1.0000e+07\n"
       "[ CPUDoubleType{2,1,2} ]"},
  });
}

TEST_CASE("tensors without elements, of other dtypes and kinds", "[formatting]") {
  check({
      {"empty", [] { return torch::zeros({0}); }, "[ CPUFloatType{0} ]"},
      {"empty 2-D",
       [] {
         return torch::zeros({0, 3});
       },
       "[ CPUFloatType{0,3} ]"},
      {"empty 2-D columns",
       [] {
         return torch::zeros({3, 0});
       },
       "[ CPUFloatType{3,0} ]"},
      {"empty 3-D",
       [] {
         return torch::zeros({2, 0, 3});
       },
       "[ CPUFloatType{2,0,3} ]"},
      {"empty long", [] { return torch::zeros({0}, torch::kLong); }, "[ CPULongType{0} ]"},
      {"undefined", [] { return torch::Tensor(); }, "[ Tensor (undefined) ]"},
      {"requires grad", [] { return torch::ones({2}, torch::requires_grad()); },
       " 1\n"
       " 1\n"
       "[ CPUFloatType{2} ]"},
      {"expanded", [] { return torch::ones({1}).expand({3}); },
       " 1\n"
       " 1\n"
       " 1\n"
       "[ CPUFloatType{3} ]"},
      {"conjugate view",
       [] { return complex_of(torch::tensor({1.0}, torch::kDouble), torch::tensor({2.0}, torch::kDouble)).conj(); },
       " 1\n"
       "[ CPUComplexDoubleType{1} ]"},
      {"uint16", [] { return torch::arange(3).to(torch::kUInt16); },
       " 0\n"
       " 1\n"
       " 2\n"
       "[ CPUUInt16Type{3} ]"},
      {"uint64", [] { return torch::arange(3).to(torch::kUInt64); },
       " 0\n"
       " 1\n"
       " 2\n"
       "[ CPUUInt64Type{3} ]"},
      {"uint32", [] { return torch::tensor({7}).to(torch::kUInt32); },
       " 7\n"
       "[ CPUUInt32Type{1} ]"},
      {"float8",
       [] {
         return torch::tensor({0.5, 2.0}).to(torch::kFloat8_e4m3fn);
       },
       " 0.5000\n"
       " 2.0000\n"
       "[ CPUFloat8_e4m3fnType{2} ]"},
  });
}

TEST_CASE("the length of lines can be chosen", "[formatting]") {
  struct Line {
    const char* name;
    std::function<Tensor()> tensor;
    int64_t length;
    std::string text;
  };
  const std::initializer_list<Line> all = {
      {"matrix in 40 characters",
       [] {
         return torch::arange(20, torch::kDouble).div(8).reshape({2, 10});
       },
       40,
       "Columns 1 to 5 0.0000  0.1250  0.2500  0.3750  0.5000\n"
       " 1.2500  1.3750  1.5000  1.6250  1.7500\n"
       "\n"
       "Columns 6 to 10 0.6250  0.7500  0.8750  1.0000  1.1250\n"
       " 1.8750  2.0000  2.1250  2.2500  2.3750\n"
       "[ CPUDoubleType{2,10} ]"},
      {"matrix in 20 characters",
       [] {
         return torch::arange(6, torch::kDouble).div(8).reshape({2, 3});
       },
       20,
       "Columns 1 to 2 0.0000  0.1250\n"
       " 0.3750  0.5000\n"
       "\n"
       "Columns 3 to 3 0.2500\n"
       " 0.6250\n"
       "[ CPUDoubleType{2,3} ]"},
      {"matrix in 200 characters",
       [] {
         return torch::arange(60).reshape({2, 30});
       },
       200,
       "  0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15  16  17  18  19  20  21  22  23  24  25  26  "
       "27  28  29\n"
       " 30  31  32  33  34  35  36  37  38  39  40  41  42  43  44  45  46  47  48  49  50  51  52  53  54  55  56  "
       "57  58  59\n"
       "[ CPULongType{2,30} ]"},
      {"slices in 20 characters",
       [] {
         return torch::arange(12, torch::kDouble).div(8).reshape({2, 2, 3});
       },
       20,
       "(1,.,.) = \n"
       "Columns 1 to 2  0.0000  0.1250\n"
       "  0.3750  0.5000\n"
       "\n"
       "Columns 3 to 3  0.2500\n"
       "  0.6250\n"
       "\n"
       "(2,.,.) = \n"
       "Columns 1 to 2  0.7500  0.8750\n"
       "  1.1250  1.2500\n"
       "\n"
       "Columns 3 to 3  1.0000\n"
       "  1.3750\n"
       "[ CPUDoubleType{2,2,3} ]"},
      {"vector", [] { return torch::arange(3); }, 10,
       " 0\n"
       " 1\n"
       " 2\n"
       "[ CPULongType{3} ]"},
  };
  for (const Line& one : all) {
    INFO(one.name);
    std::ostringstream out;
    at::print(out, one.tensor(), one.length);
    CHECK(out.str() == one.text);
  }
}

TEST_CASE("a line holds one column at least", "[formatting]") {
  for (const int64_t length : {5, 1, 0, -3}) {
    std::ostringstream out;
    at::print(out, torch::arange(4).reshape({2, 2}), length);
    CHECK(out.str() == "Columns 1 to 1 0\n 2\n\nColumns 2 to 2 1\n 3\n[ CPULongType{2,2} ]");
  }
}

TEST_CASE("the stream keeps its format", "[formatting]") {
  std::ostringstream out;
  out << std::hex << std::setprecision(3) << std::showpos << std::setfill('*');
  out << torch::tensor({1.5, 2.25}) << ' ' << std::setw(6) << 255 << ' ' << 3.14159;
  CHECK(
      out.str() ==
      " 1.5000\n"
      " 2.2500\n"
      "[ CPUFloatType{2} ] ****ff +3.14");

  std::ostringstream width;
  width << std::setw(8) << torch::arange(2) << "|" << torch::tensor(1.0);
  CHECK(
      width.str() ==
      " 0\n"
      " 1\n"
      "[ CPULongType{2} ]       |1\n"
      "[ CPUFloatType{} ]");

  std::ostringstream scientific;
  scientific << std::scientific << torch::tensor(1.5) << " " << 2.5;
  CHECK(
      scientific.str() ==
      "1.5\n"
      "[ CPUFloatType{} ] 2.500000e+00");
}

TEST_CASE("numbers are printed without exponents where that is asked for", "[formatting]") {
  const auto text = [](const Tensor& t) {
    std::ostringstream out;
    out << t;
    return out.str();
  };
  at::set_printoption_sci_mode(false);
  const std::string integers = text(torch::tensor({1e10, 1.0}));
  const std::string fractions = text(torch::tensor({1e10, 0.5}));
  at::set_printoption_sci_mode(true);
  CHECK(integers == "10000000000.0000\n     1.0000\n[ CPUFloatType{2} ]");
  CHECK(fractions == "10000000000.0000\n     0.5000\n[ CPUFloatType{2} ]");
  CHECK(text(torch::tensor({1e10, 1.0})) == " 1.0000e+10\n 1.0000e+00\n[ CPUFloatType{2} ]");
}

TEST_CASE("tensors name their type", "[formatting]") {
  CHECK(torch::ones(1).toString() == "CPUFloatType");
  CHECK(torch::Tensor().toString() == "UndefinedType");
  CHECK(torch::empty({1}, torch::kMeta).toString() == "MetaFloatType");
}
