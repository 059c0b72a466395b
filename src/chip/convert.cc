#include "chip/convert.h"

#include <cstring>
#include <type_traits>

#include "chip/codec.h"

namespace wt::chip {
WT_CLONES void LoadFloats(DType dtype, const std::byte* from, int64_t step, int64_t n, float* to) {
  WithCodec(
      dtype, [=](auto codec) __attribute__((always_inline)) {
        using Codec = decltype(codec);
        const auto* source = reinterpret_cast<const typename Codec::Storage*>(from);
        WithStep(
            step, [=](auto fixed) __attribute__((always_inline)) {
#pragma GCC ivdep
              for (int64_t i = 0; i < n; ++i) to[i] = Codec::ToFloat(source[i * fixed]);
            });
      });
}

WT_CLONES void StoreFloats(DType dtype, std::byte* to, int64_t step, int64_t n, const float* from) {
  WithCodec(
      dtype, [=](auto codec) __attribute__((always_inline)) {
        using Codec = decltype(codec);
        auto* target = reinterpret_cast<typename Codec::Storage*>(to);
        WithStep(
            step, [=](auto fixed) __attribute__((always_inline)) {
#pragma GCC ivdep
              for (int64_t i = 0; i < n; ++i) target[i * fixed] = Codec::FromFloat(from[i]);
            });
      });
}

namespace {

int64_t Truncate(float value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63f) return std::numeric_limits<int64_t>::max();
  if (value <= -0x1p63f) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

}  // namespace

void LoadInts(DType dtype, const std::byte* from, int64_t step, int64_t n, int64_t* to) {
  WithCodec(dtype, [=](auto codec) {
    using Codec = decltype(codec);
    using Storage = typename Codec::Storage;
    const auto* source = reinterpret_cast<const Storage*>(from);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Codec, IntCodec<Storage>>) {
        to[i] = static_cast<int64_t>(source[i * step]);
      } else {
        to[i] = Truncate(Codec::ToFloat(source[i * step]));
      }
    }
  });
}

void StoreInts(DType dtype, std::byte* to, int64_t step, int64_t n, const int64_t* from) {
  WithCodec(dtype, [=](auto codec) {
    using Codec = decltype(codec);
    using Storage = typename Codec::Storage;
    auto* target = reinterpret_cast<Storage*>(to);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<Codec, IntCodec<Storage>>) {
        target[i * step] = static_cast<Storage>(from[i]);
      } else {
        target[i * step] = Codec::FromFloat(static_cast<float>(from[i]));
      }
    }
  });
}

namespace {

template <class Word>
void LoadWords(const std::byte* from, int64_t step, int64_t n, uint32_t* to) {
  const auto load = [&](int64_t stride) {
    for (int64_t i = 0; i < n; ++i) {
      Word word;
      std::memcpy(&word, from + i * stride, sizeof word);
      to[i] = word;
    }
  };
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
  step == 1 ? load(kBytes) : load(step * kBytes);  // a constant stride vectorises
}

template <class Word>
void StoreWords(std::byte* to, int64_t step, int64_t n, const uint32_t* from) {
  const auto store = [&](int64_t stride) {
    for (int64_t i = 0; i < n; ++i) {
      const auto word = static_cast<Word>(from[i]);
      std::memcpy(to + i * stride, &word, sizeof word);
    }
  };
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Word));
  step == 1 ? store(kBytes) : store(step * kBytes);
}

}  // namespace

void LoadBits(DType dtype, const std::byte* from, int64_t step, int64_t n, uint32_t* to) {
  switch (DTypeBytes(dtype)) {
    case 1:
      return LoadWords<uint8_t>(from, step, n, to);
    case 2:
      return LoadWords<uint16_t>(from, step, n, to);
    default:
      return LoadWords<uint32_t>(from, step, n, to);
  }
}

void StoreBits(DType dtype, std::byte* to, int64_t step, int64_t n, const uint32_t* from) {
  switch (DTypeBytes(dtype)) {
    case 1:
      return StoreWords<uint8_t>(to, step, n, from);
    case 2:
      return StoreWords<uint16_t>(to, step, n, from);
    default:
      return StoreWords<uint32_t>(to, step, n, from);
  }
}

void StoreNumber(DType dtype, double number, int64_t n, std::byte* to) {
  const size_t bytes = static_cast<size_t>(DTypeBytes(dtype));
  const auto value = static_cast<float>(number);
  const auto integer = static_cast<int64_t>(number);
  if (n == 0) return;
  if (IsInteger(dtype) && number == std::floor(number)) {
    StoreInts(dtype, to, 1, 1, &integer);
  } else {
    StoreFloats(dtype, to, 1, 1, &value);
  }
  for (size_t i = bytes; i < static_cast<size_t>(n) * bytes; ++i) to[i] = to[i - bytes];
}

}  // namespace wt::chip
