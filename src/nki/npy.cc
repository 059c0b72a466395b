#include "nki/npy.h"

#include <charconv>
#include <cstring>

#include "base/files.h"
#include "nki/dtype_names.h"

namespace wt::nki {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Descr {
  const char* text;
  DType dtype;
};
constexpr Descr kDescrs[] = {{"<f4", DType::kF32}, {"<f2", DType::kF16}, {"<i4", DType::kI32},
                             {"<i8", DType::kI64}, {"<i2", DType::kI16}, {"|i1", DType::kI8},
                             {"<u4", DType::kU32}, {"<u2", DType::kU16}, {"|u1", DType::kU8},
                             {"|b1", DType::kBool}};

// What follows 'key': in the header's dict.
std::string_view After(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}'", key));
  if (at == header.npos) return {};
  const size_t colon = header.find(':', at);
  if (colon == header.npos) return {};
  header.remove_prefix(colon + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

std::string Quoted(std::string_view text) {
  if (text.empty() || text[0] != '\'') return "";
  return std::string(text.substr(1, text.find('\'', 1) - 1));
}

bool ParseShape(std::string_view text, std::vector<int64_t>* shape) {
  if (text.empty() || text[0] != '(') return false;
  text = text.substr(1, text.find(')') - 1);
  while (!text.empty()) {
    int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) return false;
    shape->push_back(size);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
  }
  return true;
}

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t data = 0;  // where the bytes begin
};

Result<Header> ParseHeader(const std::string& path, std::string_view file) {
  const Status bad = Error(Code::kCorrupt, "{}: not a .npy file; numpy.save writes them", path);
  if (file.size() < 12 || !file.starts_with(kMagic)) return bad;
  const bool long_length = file[6] >= 2;
  const size_t start = long_length ? 12 : 10;
  size_t length = 0;
  std::memcpy(&length, file.data() + 8, long_length ? 4 : 2);
  if (start + length > file.size()) return bad;
  const std::string_view text = file.substr(start, length);
  Header header;
  header.descr = Quoted(After(text, "descr"));
  header.fortran = After(text, "fortran_order").starts_with("True");
  header.data = start + length;
  if (header.descr.empty() || !ParseShape(After(text, "shape"), &header.shape)) return bad;
  return header;
}

Result<DType> ParseDescr(const std::string& path, const std::string& descr,
                         std::optional<DType> as) {
  std::optional<DType> found;
  for (const Descr& row : kDescrs) {
    if (descr == row.text) found = row.dtype;
  }
  const bool raw = descr == "|V1" || descr == "|V2" || descr == "<V2";
  const int64_t width = raw ? descr[2] - '0' : found ? DTypeBytes(*found) : 0;
  if (as && (width == 0 || DTypeBytes(*as) != width)) {
    return Error(Code::kMismatch, "{}: elements '{}' read as {}; expected the same width", path,
                 descr, DTypeLongName(*as));
  }
  if (as) return *as;
  if (found) return *found;
  return Error(
      Code::kUnsupported,
      "{}: elements '{}' are of no NKI type; save float32, float16 or integers, or say what "
      "raw bytes are: name={}:bf16",
      path, descr, path);
}

}  // namespace

Result<HostArray> ReadNpy(const std::string& path, std::optional<DType> as) {
  WT_ASSIGN_OR_RETURN(const std::string file, ReadFile(path));
  WT_ASSIGN_OR_RETURN(const Header header, ParseHeader(path, file));
  if (header.fortran && header.shape.size() > 1) {
    return Error(Code::kUnsupported, "{}: columns first; save numpy.ascontiguousarray(…)", path);
  }
  HostArray array;
  WT_ASSIGN_OR_RETURN(array.dtype, ParseDescr(path, header.descr, as));
  array.shape = header.shape.empty() ? std::vector<int64_t>{1} : header.shape;
  int64_t bytes = DTypeBytes(array.dtype);
  for (const int64_t size : array.shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) bytes = -1;
    if (bytes < 0) break;
  }
  if (bytes < 0 || static_cast<size_t>(bytes) != file.size() - header.data) {
    return Error(Code::kCorrupt, "{}: {} bytes of elements; expected {} by its shape", path,
                 file.size() - header.data, bytes);
  }
  const auto* data = reinterpret_cast<const std::byte*>(file.data()) + header.data;
  array.bytes.assign(data, data + bytes);
  return array;
}

Status WriteNpy(const std::string& path, const HostArray& array) {
  std::string descr = fmt::format("|V{}", DTypeBytes(array.dtype));
  for (const Descr& row : kDescrs) {
    if (row.dtype == array.dtype) descr = row.text;
  }
  if (array.dtype == DType::kTF32) descr = "<f4";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                                   descr, fmt::join(array.shape, ", "));
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  const auto length = static_cast<uint16_t>(header.size());
  file.append(reinterpret_cast<const char*>(&length), 2);
  file += header;
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return WriteFileAtomic(path, file);
}

}  // namespace wt::nki
