#include "digits.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <vector>

namespace mnist {

namespace {

constexpr int kSide = 28;

struct Point {
  double x, y;
};
using Stroke = std::vector<Point>;

Stroke ellipse(Point center, double width, double height) {
  Stroke points;
  for (int i = 0; i <= 16; ++i) {
    const double angle = 2 * 3.14159265358979 * i / 16;
    points.push_back({center.x + width * std::cos(angle), center.y + height * std::sin(angle)});
  }
  return points;
}

/// The strokes of each digit in the unit square; y points down.
const std::vector<std::vector<Stroke>>& digit_strokes() {
  static const std::vector<std::vector<Stroke>> digits{
      {ellipse({.5, .5}, .26, .4)},
      {{{.36, .26}, {.55, .1}, {.55, .9}}},
      {{{.25, .27}, {.4, .11}, {.64, .13}, {.72, .3}, {.6, .52}, {.25, .9}, {.77, .9}}},
      {{{.27, .15}, {.55, .1}, {.7, .26}, {.6, .44}, {.42, .48}, {.65, .56}, {.73, .75}, {.55, .9}, {.26, .85}}},
      {{{.62, .9}, {.62, .1}, {.22, .62}, {.8, .62}}},
      {{{.7, .1}, {.32, .1}, {.3, .45}, {.55, .42}, {.72, .6}, {.65, .85}, {.4, .9}, {.25, .8}}},
      {{{.65, .12}, {.4, .3}, {.28, .6}, {.35, .85}, {.58, .9}, {.7, .7}, {.58, .53}, {.33, .6}}},
      {{{.25, .1}, {.75, .1}, {.45, .9}}},
      {ellipse({.5, .3}, .18, .2), ellipse({.5, .7}, .22, .2)},
      {{{.68, .33}, {.5, .48}, {.32, .35}, {.38, .15}, {.58, .1}, {.68, .3}, {.65, .6}, {.52, .9}}},
  };
  return digits;
}

double distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / std::max(dx * dx + dy * dy, 1e-12);
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) {}

  void write(const std::string& prefix, int64_t count) {
    std::string images = big_endian(2051) + big_endian(count) + big_endian(kSide) + big_endian(kSide);
    std::string labels = big_endian(2049) + big_endian(count);
    for (int64_t i = 0; i < count; ++i) {
      const auto digit = static_cast<size_t>(random_() % 10);
      draw(digit, images);
      labels += static_cast<char>(digit);
    }
    write_file(prefix + "-images-idx3-ubyte", images);
    write_file(prefix + "-labels-idx1-ubyte", labels);
  }

 private:
  // Not a std:: distribution: those differ between standard libraries.
  double uniform(double from, double to) {
    return from + (to - from) * (random_() / 4294967296.0);
  }

  static std::string big_endian(int64_t number) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0}) {
      bytes += static_cast<char>(number >> shift);
    }
    return bytes;
  }

  static void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << bytes;
    if (!file.flush()) {
      throw std::runtime_error("cannot write " + path);
    }
  }

  void draw(size_t digit, std::string& out) {
    std::vector<Stroke> strokes = digit_strokes()[digit];
    const double angle = uniform(-.25, .25), slant = uniform(-.25, .25);
    const double width = uniform(.7, 1), height = uniform(.75, 1);
    const Point shift{uniform(-.08, .08), uniform(-.06, .06)};
    for (Stroke& stroke : strokes) {
      for (Point& point : stroke) {
        const double y = (point.y - .5) * height + uniform(-.02, .02);
        const double x = (point.x - .5) * width - slant * y + uniform(-.02, .02);
        point = {
            .5 + x * std::cos(angle) - y * std::sin(angle) + shift.x,
            .5 + x * std::sin(angle) + y * std::cos(angle) + shift.y};
      }
    }
    const double radius = uniform(.025, .06);
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        const Point pixel{(column + .5) / kSide, (row + .5) / kSide};
        double nearest = 1;
        for (const Stroke& stroke : strokes) {
          for (size_t i = 1; i < stroke.size(); ++i) {
            nearest = std::min(nearest, distance(pixel, stroke[i - 1], stroke[i]));
          }
        }
        const double ink = std::clamp((radius - nearest) * kSide + .5, 0.0, 1.0);
        const double noise = uniform(0, .06);
        out += static_cast<char>(static_cast<int>(255 * std::min(1.0, ink + noise)));
      }
    }
  }

  std::mt19937 random_;
};

} // namespace

void write_drawn_digits(const std::string& folder, int64_t train, int64_t test, uint32_t seed) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Writer writer(seed);
  writer.write(folder + "/train", train);
  writer.write(folder + "/t10k", test);
}

} // namespace mnist
