#include "chip/convert.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace wt::chip {
namespace {

template <class T>
T ReadAs(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void WriteAs(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

// Nearest even, saturating; NaN becomes 0, which no document promises.
template <class T>
T RoundToInt(float value) {
  constexpr double kLow = std::numeric_limits<T>::min();
  constexpr double kHigh = std::numeric_limits<T>::max();
  const double rounded = std::nearbyint(static_cast<double>(value));
  if (std::isnan(rounded)) return 0;
  if (rounded <= kLow) return std::numeric_limits<T>::min();
  if (rounded >= kHigh) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

// How one element type is read and written; `Storage` is what lies in memory.
template <class T>
struct IntCodec {
  using Storage = T;
  static float ToFloat(T value) { return static_cast<float>(value); }
  static T FromFloat(float value) { return RoundToInt<T>(value); }
  static int64_t ToInt(T value) { return static_cast<int64_t>(value); }
  static T FromInt(int64_t value) { return static_cast<T>(value); }
};

struct BoolCodec {
  using Storage = uint8_t;
  static float ToFloat(uint8_t value) { return value != 0; }
  static uint8_t FromFloat(float value) { return value != 0; }
  static int64_t ToInt(uint8_t value) { return value != 0; }
  static uint8_t FromInt(int64_t value) { return value != 0; }
};

// Floats: integers go through double, so that rounding happens once.
template <class S, float (*Decode)(S), S (*Encode)(float)>
struct FloatCodec {
  using Storage = S;
  static float ToFloat(S bits) { return Decode(bits); }
  static S FromFloat(float value) { return Encode(value); }
  static int64_t ToInt(S bits) {
    const float value = Decode(bits);
    if (std::isnan(value)) return 0;
    if (value >= 9.2233720368547758e18f) return std::numeric_limits<int64_t>::max();
    if (value <= -9.2233720368547758e18f) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(value);
  }
  static S FromInt(int64_t value) { return Encode(static_cast<float>(value)); }
};

float DecodeF32(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t EncodeF32(float value) { return std::bit_cast<uint32_t>(value); }
uint32_t EncodeTF32(float value) { return std::bit_cast<uint32_t>(RoundToTF32(value)); }
float DecodeBF16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint16_t EncodeBF16(float value) { return BF16(value).bits; }
float DecodeF16(uint16_t bits) { return std::bit_cast<F16>(bits); }
uint16_t EncodeF16(float value) { return F16(value).bits; }

// Calls fn with the codec of `dtype`.
template <class Fn>
void WithCodec(DType dtype, const Fn& fn) {
  switch (dtype) {
    case DType::kF32:
      return fn(FloatCodec<uint32_t, DecodeF32, EncodeF32>());
    case DType::kTF32:
      return fn(FloatCodec<uint32_t, DecodeF32, EncodeTF32>());
    case DType::kBF16:
      return fn(FloatCodec<uint16_t, DecodeBF16, EncodeBF16>());
    case DType::kF16:
      return fn(FloatCodec<uint16_t, DecodeF16, EncodeF16>());
    case DType::kF8E4M3:
      return fn(FloatCodec<uint8_t, DecodeF8E4M3, EncodeF8E4M3>());
    case DType::kF8E4M3FN:
      return fn(FloatCodec<uint8_t, DecodeF8E4M3FN, EncodeF8E4M3FN>());
    case DType::kF8E5M2:
      return fn(FloatCodec<uint8_t, DecodeF8E5M2, EncodeF8E5M2>());
    case DType::kF8E8M0:
      return fn(FloatCodec<uint8_t, DecodeF8E8M0, EncodeF8E8M0>());
    case DType::kI8:
      return fn(IntCodec<int8_t>());
    case DType::kI16:
      return fn(IntCodec<int16_t>());
    case DType::kI32:
      return fn(IntCodec<int32_t>());
    case DType::kI64:
      return fn(IntCodec<int64_t>());
    case DType::kU8:
      return fn(IntCodec<uint8_t>());
    case DType::kU16:
      return fn(IntCodec<uint16_t>());
    case DType::kU32:
    case DType::kF8E4M3FNx4:
    case DType::kF8E5M2x4:
      return fn(IntCodec<uint32_t>());
    case DType::kF4E2M1FNx4:
      return fn(IntCodec<uint16_t>());
    case DType::kBool:
      return fn(BoolCodec());
  }
}

}  // namespace

void LoadFloats(DType dtype, const std::byte* from, int64_t step, int64_t n, float* to) {
  WithCodec(dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using S = typename Codec::Storage;
    for (int64_t i = 0; i < n; ++i)
      to[i] = Codec::ToFloat(ReadAs<S>(from + i * step * int64_t(sizeof(S))));
  });
}

void StoreFloats(DType dtype, std::byte* to, int64_t step, int64_t n, const float* from) {
  WithCodec(dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using S = typename Codec::Storage;
    for (int64_t i = 0; i < n; ++i)
      WriteAs<S>(to + i * step * int64_t(sizeof(S)), Codec::FromFloat(from[i]));
  });
}

void LoadInts(DType dtype, const std::byte* from, int64_t step, int64_t n, int64_t* to) {
  WithCodec(dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using S = typename Codec::Storage;
    for (int64_t i = 0; i < n; ++i)
      to[i] = Codec::ToInt(ReadAs<S>(from + i * step * int64_t(sizeof(S))));
  });
}

void StoreInts(DType dtype, std::byte* to, int64_t step, int64_t n, const int64_t* from) {
  WithCodec(dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using S = typename Codec::Storage;
    for (int64_t i = 0; i < n; ++i)
      WriteAs<S>(to + i * step * int64_t(sizeof(S)), Codec::FromInt(from[i]));
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
