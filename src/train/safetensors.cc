#include "train/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/crc32c.h"

namespace wt::train {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as in the format's own reader
constexpr size_t kDataAlignment = 64;
constexpr char kMetadataKey[] = "__metadata__";

struct DTypeSpelling {
  DType dtype;
  const char* text;
};
constexpr DTypeSpelling kSpellings[] = {
    {DType::kF32, "F32"}, {DType::kBF16, "BF16"}, {DType::kF16, "F16"}, {DType::kI32, "I32"},
    {DType::kI64, "I64"}, {DType::kU8, "U8"},     {DType::kU16, "U16"}};

const char* Spelling(DType dtype) {
  for (const auto& known : kSpellings) {
    if (known.dtype == dtype) return known.text;
  }
  WT_CHECK(false, "dtype {} has no spelling", DTypeName(dtype));
}

Result<DType> ParseSpelling(const std::string& text) {
  for (const auto& known : kSpellings) {
    if (text == known.text) return known.dtype;
  }
  return Error(Code::kUnsupported, "dtype {}; expected F32, BF16, F16, I32, I64, U8 or U16", text);
}

// Bytes of a tensor, or -1 when they do not fit int64 or a dimension is negative.
int64_t CheckedBytes(DType dtype, const std::vector<int64_t>& shape) {
  int64_t bytes = DTypeBytes(dtype);
  bool fits = true;
  for (const int64_t n : shape) {
    fits = fits && n >= 0 && !__builtin_mul_overflow(bytes, n, &bytes);
  }
  return fits ? bytes : -1;
}

std::string HeaderText(const std::vector<TensorInfo>& order, const Metadata& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadataKey] = metadata;
  int64_t offset = 0;
  for (const TensorInfo& info : order) {
    header[info.name] = {{"dtype", Spelling(info.dtype)},
                         {"shape", info.shape},
                         {"data_offsets", {offset, offset + info.bytes()}}};
    offset += info.bytes();
  }
  std::string text = header.dump();
  while ((text.size() + 8) % kDataAlignment) text += ' ';  // the format allows trailing spaces
  return text;
}

// JSON in which no object has the same key twice; discarded otherwise.
Json ParseUnique(std::string_view text, std::string* duplicate) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event != Json::parse_event_t::key) return true;
    if (!keys.back().insert(parsed.get<std::string>()).second && duplicate->empty()) {
      *duplicate = parsed.get<std::string>();
    }
    return true;
  };
  return Json::parse(text.begin(), text.end(), watch, false);
}

Result<Metadata> ParseMetadata(const Json& json) {
  Metadata metadata;
  if (!json.is_object()) return Error(Code::kCorrupt, "__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return Error(Code::kCorrupt, "__metadata__.{} is not a string", key);
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Whole numbers from 0 that fit int64.
Result<std::vector<int64_t>> ParseNumbers(const Json& entry, const char* key) {
  std::vector<int64_t> numbers;
  const bool is_list = entry.contains(key) && entry[key].is_array();
  for (size_t i = 0; is_list && i < entry[key].size(); ++i) {
    const Json& item = entry[key][i];
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) break;
    numbers.push_back(static_cast<int64_t>(item.get<uint64_t>()));
  }
  if (!is_list || numbers.size() != entry[key].size()) {
    return Error(Code::kCorrupt, "{} is not a list of whole numbers", key);
  }
  return numbers;
}

struct Entry {
  TensorInfo info;
  int64_t begin, end;  // bytes of the data part
};

Result<Entry> ParseEntry(const std::string& name, const Json& json) {
  if (!json.is_object() || json.size() != 3 || !json.contains("dtype") ||
      !json["dtype"].is_string()) {
    return Error(Code::kCorrupt, "expected an object of dtype, shape and data_offsets");
  }
  Entry entry;
  entry.info.name = name;
  WT_ASSIGN_OR_RETURN(entry.info.dtype, ParseSpelling(json["dtype"].get<std::string>()));
  WT_ASSIGN_OR_RETURN(entry.info.shape, ParseNumbers(json, "shape"));
  WT_ASSIGN_OR_RETURN(const auto offsets, ParseNumbers(json, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    return Error(Code::kCorrupt, "data_offsets is not a pair [begin, end]");
  }
  entry.begin = offsets[0], entry.end = offsets[1];
  const int64_t bytes = CheckedBytes(entry.info.dtype, entry.info.shape);
  if (bytes != entry.end - entry.begin) {
    return Error(Code::kCorrupt, "data_offsets span {} bytes; shape {} of {} needs {}",
                 entry.end - entry.begin, ShapeText(entry.info.shape), DTypeName(entry.info.dtype),
                 bytes < 0 ? "too many" : fmt::format("{}", bytes));
  }
  return entry;
}

// Sorted by place, the tensors must follow one another from the first byte to the last.
Status CheckTiling(std::vector<Entry>* entries, size_t data_bytes) {
  std::stable_sort(entries->begin(), entries->end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  int64_t at = 0;
  for (const Entry& entry : *entries) {
    if (entry.begin != at) {
      return Error(Code::kCorrupt, "tensor {} begins at byte {} of the data; expected {} ({})",
                   entry.info.name, entry.begin, at,
                   entry.begin < at ? "it overlaps the one before" : "there is a gap before it");
    }
    at = entry.end;
  }
  if (static_cast<size_t>(at) != data_bytes) {
    return Error(Code::kCorrupt,
                 "the header describes {} bytes of data, the file has {}: it was cut short or "
                 "something was appended",
                 at, data_bytes);
  }
  return {};
}

Result<SafetensorsIndex> ParseHeader(std::string_view header, std::span<const std::byte> data) {
  std::string duplicate;
  SafetensorsIndex index;
  std::vector<Entry> entries;
  const Json json = ParseUnique(header, &duplicate);
  if (!json.is_object()) return Error(Code::kCorrupt, "the header is not a JSON object");
  if (!duplicate.empty()) return Error(Code::kCorrupt, "the header has {} twice", duplicate);
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadataKey) {
      WT_ASSIGN_OR_RETURN(index.metadata, ParseMetadata(value));
      continue;
    }
    auto entry = ParseEntry(name, value);
    if (!entry.ok()) return entry.status().WithContext("tensor " + name);
    entries.push_back(std::move(*entry));
  }
  WT_RETURN_IF_ERROR(CheckTiling(&entries, data.size()));
  for (Entry& entry : entries) {
    const auto begin = static_cast<size_t>(entry.begin), end = static_cast<size_t>(entry.end);
    index.tensors.push_back({std::move(entry.info), data.subspan(begin, end - begin)});
  }
  return index;
}

}  // namespace

int64_t TensorInfo::bytes() const {
  const int64_t bytes = CheckedBytes(dtype, shape);
  WT_CHECK(bytes >= 0, "tensor {} of shape {} has no size", name, ShapeText(shape));
  return bytes;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t n : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", n);
  return "[" + text + "]";
}

Result<SafetensorsWriter> SafetensorsWriter::Create(const std::string& path,
                                                    std::vector<TensorInfo> tensors,
                                                    const Metadata& metadata) {
  std::set<std::string> names = {kMetadataKey};
  for (const TensorInfo& info : tensors) {
    if (!names.insert(info.name).second) {
      return Error(Code::kInvalidArgument, "{}: tensor name {} is given twice or reserved", path,
                   info.name);
    }
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return DTypeBytes(a.dtype) > DTypeBytes(b.dtype);
  });
  WT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  SafetensorsWriter writer(std::move(file), std::move(tensors));
  const std::string header = HeaderText(writer.order_, metadata);
  const uint64_t length = header.size();
  for (const TensorInfo& info : writer.order_) {
    writer.expected_ += static_cast<uint64_t>(info.bytes());
  }
  writer.expected_ += 8 + length;
  WT_RETURN_IF_ERROR(writer.Append(&length, 8));
  WT_RETURN_IF_ERROR(writer.Append(header.data(), header.size()));
  return writer;
}

Status SafetensorsWriter::Append(const void* data, size_t bytes) {
  WT_RETURN_IF_ERROR(file_.Append(data, bytes));
  crc_ = Crc32c({static_cast<const char*>(data), bytes}, crc_);
  written_ += bytes;
  return {};
}

Status SafetensorsWriter::Commit() {
  WT_CHECK(written_ == expected_, "{} bytes were appended, the header says {}", written_,
           expected_);
  return file_.Commit();
}

Result<SafetensorsIndex> ParseSafetensors(std::string_view bytes) {
  uint64_t length = 0;
  if (bytes.size() < 8) {
    return Error(Code::kCorrupt, "{} bytes; expected a safetensors file of at least 8",
                 bytes.size());
  }
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeaderBytes || length > bytes.size() - 8) {
    return Error(Code::kCorrupt,
                 "its first 8 bytes say {} bytes of header, the file has {}: it is no safetensors "
                 "file or was cut short",
                 length, bytes.size());
  }
  return ParseHeader(bytes.substr(8, length), std::as_bytes(std::span(bytes)).subspan(8 + length));
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  WT_ASSIGN_OR_RETURN(auto mapping, MappedFile::Open(path));
  auto index = ParseSafetensors(mapping->text());
  if (!index.ok()) return index.status().WithContext(path);
  return SafetensorsFile(std::move(mapping), std::move(*index));
}

SafetensorsFile::SafetensorsFile(std::shared_ptr<const MappedFile> file, SafetensorsIndex index)
    : file_(std::move(file)), index_(std::move(index)) {
  for (size_t i = 0; i < index_.tensors.size(); ++i) by_name_[index_.tensors[i].info.name] = i;
}

const SafetensorsTensor* SafetensorsFile::Find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &index_.tensors[found->second];
}

uint32_t SafetensorsFile::Crc32cOfFile() const { return Crc32c(file_->text()); }

}  // namespace wt::train
