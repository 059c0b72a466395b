#include "nki/arg_spec.h"

#include <charconv>

#include "base/random.h"
#include "chip/convert.h"
#include "nki/dtype_names.h"
#include "nki/npy.h"
#include "nki/view.h"

namespace wt::nki {
namespace {

// By NumPy's name or by the short one: bfloat16, bf16.
std::optional<DType> DTypeByAnyName(std::string_view name) {
  if (const auto found = DTypeByLongName(name)) return found;
  const auto parsed = ParseDType(name);
  return parsed.ok() ? std::optional(*parsed) : std::nullopt;
}

// "128x512" or "128,512"; false when the text is no shape.
bool ParseShape(std::string_view text, std::vector<int64_t>* shape) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc()) return false;
    shape->push_back(size);
    at = next;
    if (at == end) return true;
    if (*at != 'x' && *at != ',') return false;
    ++at;
  }
  return false;
}

// FNV-1a: a stream of its own for every argument, whatever the others are.
uint64_t StreamOf(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

Result<KernelArg> ParseFile(const std::string& name, const std::string& value) {
  std::string path = value;
  std::optional<DType> as;
  if (const size_t colon = value.rfind(".npy:"); colon != value.npos) {
    path = value.substr(0, colon + 4);
    as = DTypeByAnyName(value.substr(colon + 5));
    if (!as) {
      return Error(Code::kInvalidArgument, "{}: {} is no element type; expected bf16, f8e5m2, …",
                   name, value.substr(colon + 5));
    }
  }
  WT_ASSIGN_OR_RETURN(HostArray array, ReadNpy(path, as));
  return KernelArg{name, std::move(array)};
}

}  // namespace

void FillRandom(HostArray* array, uint64_t seed, const std::string& name) {
  Philox random(seed, StreamOf(name));
  const int64_t count = array->elements();
  const int64_t item = DTypeBytes(array->dtype);
  array->bytes.resize(static_cast<size_t>(count * item));
  std::byte* to = array->bytes.data();
  for (int64_t i = 0; i < count; ++i, to += item) {
    if (IsFloat(array->dtype)) {
      const float value = random.NextNormal();
      chip::StoreFloats(array->dtype, to, 1, 1, &value);
    } else {
      const int64_t most = array->dtype == DType::kBool ? 2 : 100;
      const auto value = static_cast<int64_t>(random.NextBelow(static_cast<uint64_t>(most)));
      chip::StoreInts(array->dtype, to, 1, 1, &value);
    }
  }
}

Result<KernelArg> ParseKernelArg(const std::string& text, const ArgOptions& options) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) {
    return Error(
        Code::kInvalidArgument,
        "--arg {}: expected name=SHAPE:DTYPE (x=128x512:bf16), name=file.npy or name=value", text);
  }
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  if (value.find(".npy") != value.npos) return ParseFile(name, value);
  const size_t colon = value.find(':');
  HostArray array;
  if (colon == value.npos || !ParseShape(value.substr(0, colon), &array.shape)) {
    return KernelArg{name, value};
  }
  const auto dtype = DTypeByAnyName(value.substr(colon + 1));
  if (!dtype) {
    return Error(Code::kInvalidArgument,
                 "--arg {}: {} is no element type; expected f32, bf16, f16, f8e4m3, i32, u8, … or "
                 "NumPy's name",
                 text, value.substr(colon + 1));
  }
  array.dtype = *dtype;
  int64_t bytes = 0;
  WT_RETURN_IF_ERROR(TensorBytes(array.shape, array.dtype, &bytes).WithContext("--arg " + text));
  if (options.values) FillRandom(&array, options.seed, name);
  return KernelArg{name, std::move(array)};
}

}  // namespace wt::nki
