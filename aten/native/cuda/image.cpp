#include <aten/native/cuda/image.h>

#include <aten/core/TensorBase.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

std::int64_t elements_of(const Image& image) {
  return std::int64_t{image.batch} * image.channels * image.size[0] * image.size[1] * image.size[2];
}

/// Halves the slowest dimension of more than one element until the box is small enough. `part.pixels` has where it
/// begins.
void cut_box(
    const Image& box, const ImagePart& part, std::int64_t most, c10::function_ref<void(const ImagePart&)> use) {
  if (elements_of(box) <= most) {
    ImagePart whole = part;
    whole.pixels = pixels_of(box);
    std::copy(part.pixels.first, part.pixels.first + 3, whole.pixels.first);
    return use(whole);
  }
  Image half = box;
  ImagePart begin = part;
  const auto both = [&](std::int32_t& size, int& first) {
    const std::int32_t all = size, front = size / 2;
    size = front;
    cut_box(half, begin, most, use);
    size = all - front;
    first += front;
    cut_box(half, begin, most, use);
  };
  if (box.batch > 1) {
    return both(half.batch, begin.n);
  }
  if (box.channels > 1) {
    return both(half.channels, begin.c);
  }
  const int d = box.size[0] > 1 ? 0 : box.size[1] > 1 ? 1 : 2;
  both(half.size[d], begin.pixels.first[d]);
}

} // namespace

Image image_of(const char* op, const TensorBase& t, int dims) {
  TORCH_CHECK(
      std::all_of(t.sizes().begin(), t.sizes().end(), [](int64_t size) { return size <= INT32_MAX; }), op,
      ": dimensions of images on CUDA have up to 2^31 - 1 elements, got sizes ", t.sizes());
  Image image;
  const auto rank = static_cast<int>(t.dim());
  for (int d = 0; d < dims; ++d) {
    image.size[3 - dims + d] = static_cast<std::int32_t>(t.size(rank - dims + d));
    image.of[3 - dims + d] = t.stride(rank - dims + d);
  }
  image.channels = static_cast<std::int32_t>(t.size(rank - dims - 1));
  image.of_channel = t.stride(rank - dims - 1);
  if (rank == dims + 2) {
    image.batch = static_cast<std::int32_t>(t.size(0));
    image.of_batch = t.stride(0);
  }
  return image;
}

Pixels pixels_of(const Image& image) {
  const std::int64_t count = elements_of(image);
  TORCH_CHECK(count <= kMostPixels, "on CUDA up to 2^31 - 1 elements of images are supported here, got ", count);
  Pixels pixels;
  pixels.count = static_cast<std::uint32_t>(count);
  pixels.channels_last = image.of_channel == 1 && image.channels > 1 && image.of[2] != 1;
  pixels.channels = FastDivider(image.channels);
  pixels.depth = FastDivider(image.size[0]);
  pixels.height = FastDivider(image.size[1]);
  pixels.width = FastDivider(image.size[2]);
  return pixels;
}

void each_part(const Image& image, std::int64_t most, c10::function_ref<void(const ImagePart&)> use) {
  cut_box(image, {}, most, use);
}

} // namespace at::native::cuda
