// No header with inline functions of the library: the linker would keep one copy for all instruction sets.
#include <csrc/llm/cpu/attention_rows.h>

#include <cstring>

namespace torch::llm::CPU_CAPABILITY {

namespace {

constexpr float kLowest = -3.0e38f;

// exp for x <= 0 within 2 ulp, 0 below -87: 2^n * p(r), as float bits.
inline float exp_nonpositive(float x) {
  const float limited = x < -87.0f ? -87.0f : x;
  const float shifted = limited * 1.44269504f + 12582912.0f; // rounds to a whole number
  const float whole = shifted - 12582912.0f;
  const float rest = (limited - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float sum = 1.0f / 720;
  sum = sum * rest + 1.0f / 120;
  sum = sum * rest + 1.0f / 24;
  sum = sum * rest + 1.0f / 6;
  sum = sum * rest + 0.5f;
  sum = sum * rest + 1.0f;
  sum = sum * rest + 1.0f;
  const int32_t bits = (static_cast<int32_t>(whole) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  return x < -87.0f ? 0.0f : sum * power;
}

constexpr int64_t kLanes = 16;

float dot(const float* a, const float* b, int64_t count) {
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t j = 0; j < kLanes; ++j) {
      lanes[j] += a[i + j] * b[i + j];
    }
  }
  float sum = 0;
  for (; i < count; ++i) {
    sum += a[i] * b[i];
  }
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; ++j) {
      lanes[j] += lanes[j + width];
    }
  }
  return sum + lanes[0];
}

float capped(float score, float cap) {
  // tanh(x) = sign(x) * (1 - e) / (1 + e) with e = exp(-2 |x|)
  const float x = score / cap, magnitude = x < 0 ? -x : x;
  const float e = exp_nonpositive(-2 * magnitude);
  const float value = cap * (1 - e) / (1 + e);
  return x < 0 ? -value : value;
}

void scores_of_row(const QueryRows& queries, const KeyRun& run, int64_t row, float* scores) {
  const float* const query = queries.query + row * queries.dim;
  for (int64_t j = run.first[row]; j < run.last[row]; ++j) {
    scores[j] = dot(query, run.keys + j * run.stride, queries.dim);
  }
  if (queries.softcap > 0) {
    for (int64_t j = run.first[row]; j < run.last[row]; ++j) {
      scores[j] = capped(scores[j], queries.softcap);
    }
  }
}

void gather_values(float* to, const float* weights, const KeyRun& run, int64_t first, int64_t last, int64_t dim) {
  int64_t j = first;
  for (; j + 4 <= last; j += 4) {
    const float *const v0 = run.values + j * run.stride, *const v1 = v0 + run.stride, *const v2 = v1 + run.stride,
                       *const v3 = v2 + run.stride;
    const float w0 = weights[j], w1 = weights[j + 1], w2 = weights[j + 2], w3 = weights[j + 3];
#pragma omp simd
    for (int64_t i = 0; i < dim; ++i) {
      to[i] += w0 * v0[i] + w1 * v1[i] + w2 * v2[i] + w3 * v3[i];
    }
  }
  for (; j < last; ++j) {
    const float* const v = run.values + j * run.stride;
    const float w = weights[j];
#pragma omp simd
    for (int64_t i = 0; i < dim; ++i) {
      to[i] += w * v[i];
    }
  }
}

} // namespace

void attend(const QueryRows& queries, const KeyRun& run) {
  float scores[kKeyRun];
  for (int64_t row = 0; row < queries.rows; ++row) {
    const int64_t first = run.first[row], last = run.last[row];
    if (first >= last) {
      continue;
    }
    scores_of_row(queries, run, row, scores);
    float peak = kLowest;
    for (int64_t j = first; j < last; ++j) {
      peak = scores[j] > peak ? scores[j] : peak;
    }
    float* const gathered = queries.gathered + row * queries.dim;
    const float old = queries.peak[row];
    if (peak > old) {
      const float shrink = exp_nonpositive(old - peak);
      queries.total[row] *= shrink;
      queries.peak[row] = peak;
#pragma omp simd
      for (int64_t i = 0; i < queries.dim; ++i) {
        gathered[i] *= shrink;
      }
    } else {
      peak = old;
    }
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (int64_t j = first; j < last; ++j) {
      scores[j] = exp_nonpositive(scores[j] - peak);
      total += scores[j];
    }
    queries.total[row] += total;
    gather_values(gathered, scores, run, first, last, queries.dim);
  }
}

namespace {

void widen_bfloat16(const uint16_t* from, int64_t dim, float* to) {
#pragma omp simd
  for (int64_t i = 0; i < dim; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

void widen_half(const _Float16* from, int64_t dim, float* to) {
#pragma omp simd
  for (int64_t i = 0; i < dim; ++i) {
    to[i] = static_cast<float>(from[i]);
  }
}

void widen_int8(const int8_t* from, float scale, int64_t dim, float* to) {
#pragma omp simd
  for (int64_t i = 0; i < dim; ++i) {
    to[i] = scale * static_cast<float>(from[i]);
  }
}

// Bits of float8_e4m3fn, moved into a float's exponent and mantissa, are 2^120 too small; 0x7f is NaN.
void widen_float8(const uint8_t* from, int64_t dim, float* to) {
#pragma omp simd
  for (int64_t i = 0; i < dim; ++i) {
    const uint32_t code = from[i], magnitude = code & 0x7f;
    const uint32_t bits = magnitude << 20;
    float value;
    std::memcpy(&value, &bits, sizeof bits);
    value *= 0x1p120f;
    value = magnitude == 0x7f ? __builtin_nanf("") : value;
    to[i] = (code & 0x80) != 0 ? -value : value;
  }
}

} // namespace

void widen(const StoredRows& from, int64_t rows, int64_t dim, float* to) {
  for (int64_t row = 0; row < rows; ++row, to += dim) {
    const int64_t offset = row * from.stride;
    switch (from.kind) {
      case Stored::Float:
        std::memcpy(to, static_cast<const float*>(from.data) + offset, static_cast<size_t>(dim) * sizeof(float));
        break;
      case Stored::BFloat16:
        widen_bfloat16(static_cast<const uint16_t*>(from.data) + offset, dim, to);
        break;
      case Stored::Half:
        widen_half(static_cast<const _Float16*>(from.data) + offset, dim, to);
        break;
      case Stored::Int8:
        widen_int8(static_cast<const int8_t*>(from.data) + offset, from.scales[row * from.scale_stride], dim, to);
        break;
      case Stored::Float8:
        widen_float8(static_cast<const uint8_t*>(from.data) + offset, dim, to);
        break;
    }
  }
}

void turn(const HeadRows& rows, const float* cos, const float* sin, int64_t pairs) {
  for (int64_t token = 0; token < rows.tokens; ++token, cos += pairs, sin += pairs) {
    for (int64_t head = 0; head < rows.heads; ++head) {
      float* const first = rows.data + token * rows.token_stride + head * rows.head_stride;
      float* const second = first + pairs;
#pragma omp simd
      for (int64_t i = 0; i < pairs; ++i) {
        const float a = first[i], b = second[i];
        first[i] = a * cos[i] - b * sin[i];
        second[i] = b * cos[i] + a * sin[i];
      }
    }
  }
}

} // namespace torch::llm::CPU_CAPABILITY
