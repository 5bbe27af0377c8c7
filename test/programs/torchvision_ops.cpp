// The operators of torchvision that recorded models call: nms, roi_align and box_iou_rotated, on the CPU.

#include <ATen/ATen.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

// ---- boxes [x1, y1, x2, y2]
// ------------------------------------------------------------------------------------------

/// Indices of boxes that are kept, best score first: those of which no better one that is kept overlaps by more than
/// `iou_threshold`.
at::Tensor nms(const at::Tensor& boxes, const at::Tensor& scores, double iou_threshold) {
  TORCH_CHECK(
      boxes.dim() == 2 && boxes.size(1) == 4, "nms: boxes should be a 2d tensor with 4 columns, got ", boxes.sizes());
  TORCH_CHECK(
      scores.dim() == 1 && scores.size(0) == boxes.size(0),
      "nms: scores should be a 1d tensor with one for each of the ", boxes.size(0), " boxes, got ", scores.sizes());
  const at::Tensor order = scores.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/true).contiguous();
  const at::Tensor b = boxes.to(at::kFloat).contiguous();
  const auto box = b.accessor<float, 2>();
  const auto place = order.accessor<int64_t, 1>();
  const auto area = [&](int64_t i) { return (box[i][2] - box[i][0]) * (box[i][3] - box[i][1]); };
  const int64_t count = boxes.size(0);
  std::vector<bool> suppressed(count, false);
  std::vector<int64_t> kept;
  for (int64_t p = 0; p < count; ++p) {
    const int64_t i = place[p];
    if (suppressed[i]) {
      continue;
    }
    kept.push_back(i);
    for (int64_t q = p + 1; q < count; ++q) {
      const int64_t j = place[q];
      const float width = std::max(0.f, std::min(box[i][2], box[j][2]) - std::max(box[i][0], box[j][0]));
      const float height = std::max(0.f, std::min(box[i][3], box[j][3]) - std::max(box[i][1], box[j][1]));
      const float inner = width * height;
      suppressed[j] = suppressed[j] || inner / (area(i) + area(j) - inner) > iou_threshold;
    }
  }
  return at::tensor(kept, at::kLong);
}

// ---- regions of interest
// ---------------------------------------------------------------------------------------------

struct RegionOptions {
  double spatial_scale;
  int64_t pooled_height;
  int64_t pooled_width;
  int64_t sampling_ratio;
  bool aligned;
};

/// The image at a point between its pixels: zero beyond a pixel outside.
double bilinear(const at::TensorAccessor<double, 2>& image, double y, double x) {
  const int64_t height = image.size(0), width = image.size(1);
  if (y < -1.0 || y > static_cast<double>(height) || x < -1.0 || x > static_cast<double>(width)) {
    return 0;
  }
  const auto split = [](double at, int64_t size) {
    at = std::max(at, 0.0);
    const int64_t low = std::min(static_cast<int64_t>(at), size - 1);
    const int64_t high = std::min(low + 1, size - 1);
    return std::tuple(low, high, low == size - 1 ? 0.0 : at - static_cast<double>(low));
  };
  const auto [top, bottom, down] = split(y, height);
  const auto [left, right, along] = split(x, width);
  return (1 - down) * ((1 - along) * image[top][left] + along * image[top][right]) +
      down * ((1 - along) * image[bottom][left] + along * image[bottom][right]);
}

/// The mean of points in each of pooled_height by pooled_width bins of the region `[image, x1, y1, x2, y2]`.
void pool_region(
    const at::TensorAccessor<double, 4>& images,
    const at::TensorAccessor<double, 1>& region,
    const RegionOptions& options,
    at::TensorAccessor<double, 3> out) {
  const double offset = options.aligned ? 0.5 : 0.0;
  const double left = region[1] * options.spatial_scale - offset, top = region[2] * options.spatial_scale - offset;
  double width = region[3] * options.spatial_scale - offset - left;
  double height = region[4] * options.spatial_scale - offset - top;
  if (!options.aligned) {
    width = std::max(width, 1.0);
    height = std::max(height, 1.0);
  }
  const double bin_height = height / static_cast<double>(options.pooled_height);
  const double bin_width = width / static_cast<double>(options.pooled_width);
  const auto samples = [&](double bin) {
    return options.sampling_ratio > 0 ? options.sampling_ratio : static_cast<int64_t>(std::ceil(bin));
  };
  const int64_t rows = samples(bin_height), columns = samples(bin_width);
  const double count = static_cast<double>(std::max<int64_t>(rows * columns, 1));
  const auto image = images[static_cast<int64_t>(region[0])];
  for (int64_t c = 0; c < out.size(0); ++c) {
    for (int64_t ph = 0; ph < options.pooled_height; ++ph) {
      for (int64_t pw = 0; pw < options.pooled_width; ++pw) {
        double sum = 0;
        for (int64_t i = 0; i < rows; ++i) {
          const double y = top + (static_cast<double>(ph) + (i + 0.5) / static_cast<double>(rows)) * bin_height;
          for (int64_t j = 0; j < columns; ++j) {
            const double x = left + (static_cast<double>(pw) + (j + 0.5) / static_cast<double>(columns)) * bin_width;
            sum += bilinear(image[c], y, x);
          }
        }
        out[c][ph][pw] = sum / count;
      }
    }
  }
}

at::Tensor roi_align(
    const at::Tensor& input,
    const at::Tensor& rois,
    double spatial_scale,
    int64_t pooled_height,
    int64_t pooled_width,
    int64_t sampling_ratio,
    bool aligned) {
  TORCH_CHECK(input.dim() == 4, "roi_align: input must have 4 dimensions, got ", input.sizes());
  TORCH_CHECK(rois.dim() == 2 && rois.size(1) == 5, "roi_align: rois must have shape [K, 5], got ", rois.sizes());
  const RegionOptions options{spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned};
  const at::Tensor images = input.to(at::kDouble).contiguous(), regions = rois.to(at::kDouble).contiguous();
  const at::Tensor out = at::zeros({rois.size(0), input.size(1), pooled_height, pooled_width}, images.options());
  const auto image = images.accessor<double, 4>();
  const auto region = regions.accessor<double, 2>();
  auto pooled = out.accessor<double, 4>();
  for (int64_t k = 0; k < rois.size(0); ++k) {
    TORCH_CHECK_INDEX(
        region[k][0] >= 0 && region[k][0] < input.size(0), "roi_align: no image ", region[k][0], " in a batch of ",
        input.size(0));
    pool_region(image, region[k], options, pooled[k]);
  }
  return out.to(input.scalar_type());
}

// ---- rotated boxes [x, y, width, height, degrees]
// --------------------------------------------------------------------

using Point = std::array<double, 2>;
using Polygon = std::vector<Point>;

Polygon corners(const at::TensorAccessor<double, 1>& box) {
  const double angle = box[4] * 3.14159265358979323846 / 180.0;
  const double c = std::cos(angle) / 2, s = std::sin(angle) / 2;
  const double w = box[2], h = box[3];
  return {
      {box[0] + s * h + c * w, box[1] + c * h - s * w},
      {box[0] - s * h + c * w, box[1] - c * h - s * w},
      {box[0] - s * h - c * w, box[1] - c * h + s * w},
      {box[0] + s * h - c * w, box[1] + c * h + s * w}};
}

double area(const Polygon& polygon) {
  double twice = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    twice += a[0] * b[1] - a[1] * b[0];
  }
  return std::abs(twice) / 2;
}

/// What of `polygon` lies on the inner side of the line from `a` to `b`.
Polygon cut(const Polygon& polygon, const Point& a, const Point& b, double inner) {
  const auto side = [&](const Point& p) {
    return inner * ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]));
  };
  Polygon kept;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
    const double at_p = side(p), at_q = side(q);
    if (at_p >= 0) {
      kept.push_back(p);
    }
    if ((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0)) {
      const double t = at_p / (at_p - at_q);
      kept.push_back({p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])});
    }
  }
  return kept;
}

double overlap(const Polygon& a, const Polygon& b) {
  double twice = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    twice += b[i][0] * b[(i + 1) % 4][1] - b[i][1] * b[(i + 1) % 4][0];
  }
  Polygon inside = a;
  for (size_t i = 0; i < b.size() && !inside.empty(); ++i) {
    inside = cut(inside, b[i], b[(i + 1) % b.size()], twice >= 0 ? 1.0 : -1.0);
  }
  return inside.size() > 2 ? area(inside) : 0;
}

at::Tensor box_iou_rotated(const at::Tensor& boxes1, const at::Tensor& boxes2) {
  const at::Tensor first = boxes1.to(at::kDouble).contiguous(), second = boxes2.to(at::kDouble).contiguous();
  const at::Tensor out = at::zeros({boxes1.size(0), boxes2.size(0)}, at::kDouble);
  const auto a = first.accessor<double, 2>(), b = second.accessor<double, 2>();
  auto ious = out.accessor<double, 2>();
  for (int64_t i = 0; i < boxes1.size(0); ++i) {
    for (int64_t j = 0; j < boxes2.size(0); ++j) {
      const double sizes = a[i][2] * a[i][3] + b[j][2] * b[j][3];
      const double inner = overlap(corners(a[i]), corners(b[j]));
      ious[i][j] = sizes - inner > 0 ? inner / (sizes - inner) : 0;
    }
  }
  return out.to(boxes1.scalar_type());
}

TORCH_LIBRARY(torchvision, library) {
  library.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor");
  library.def(
      "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
      "int sampling_ratio, bool aligned) -> Tensor");
  library.def("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor");
}

TORCH_LIBRARY_IMPL(torchvision, CPU, library) {
  library.impl("nms", nms);
  library.impl("roi_align", roi_align);
  library.impl("box_iou_rotated", box_iou_rotated);
}

} // namespace
