#include "text/parquet_format.h"

#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace wt::text::parquet {
namespace {

namespace protocol = apache::thrift::protocol;
using apache::thrift::transport::TMemoryBuffer;
using Compact = protocol::TCompactProtocolT<TMemoryBuffer>;

// No file of text has more columns than this, or a deeper record; larger claims are damage.
constexpr uint32_t kMaxListItems = 1 << 24;
constexpr uint32_t kMaxDepth = 32;

// A compact-protocol reader over bytes in memory. Strings and lists can never be longer than the
// bytes there are, so a false size cannot make it allocate.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes)
      : size_(static_cast<uint32_t>(std::min<size_t>(bytes.size(), INT32_MAX))),
        buffer_(std::make_shared<TMemoryBuffer>(
            reinterpret_cast<uint8_t*>(const_cast<char*>(bytes.data())), size_,
            TMemoryBuffer::OBSERVE,  // only read from
            std::make_shared<apache::thrift::TConfiguration>(INT32_MAX))),
        in_(buffer_, static_cast<int32_t>(size_),
            static_cast<int32_t>(std::min(size_, kMaxListItems))) {
    in_.setRecurisionLimit(kMaxDepth);
  }

  size_t used() const { return size_ - buffer_->available_read(); }

  // Calls on_field(id, type) for each field; it reads the value and says true, or says false to
  // have it skipped.
  template <class OnField>
  void Struct(OnField on_field) {
    protocol::TInputRecursionTracker depth(in_);
    std::string name;
    protocol::TType type;
    int16_t id = 0;
    in_.readStructBegin(name);
    for (;;) {
      in_.readFieldBegin(name, type, id);
      if (type == protocol::T_STOP) break;
      if (!on_field(id, type)) in_.skip(type);
      in_.readFieldEnd();
    }
    in_.readStructEnd();
  }

  // Calls on_item() for each item of a list of `expected` items.
  template <class OnItem>
  void List(protocol::TType expected, OnItem on_item) {
    protocol::TType type;
    uint32_t size = 0;
    in_.readListBegin(type, size);
    for (uint32_t i = 0; i < size; ++i) {
      if (type == expected) {
        on_item();
      } else {
        in_.skip(type);
      }
    }
    in_.readListEnd();
  }

  // Each reads the value when the field has the type it should have.
  bool Get(protocol::TType type, int64_t* out) {
    int32_t narrow = 0;
    if (type == protocol::T_I64) return in_.readI64(*out), true;
    if (type == protocol::T_I32) return in_.readI32(narrow), *out = narrow, true;
    return false;
  }
  template <class Enum>
  bool GetEnum(protocol::TType type, Enum* out) {
    int32_t value = 0;
    if (type != protocol::T_I32) return false;
    in_.readI32(value);
    *out = static_cast<Enum>(value);
    return true;
  }
  bool Get(protocol::TType type, bool* out) {
    return type == protocol::T_BOOL && (in_.readBool(*out), true);
  }
  bool Get(protocol::TType type, std::string* out) {
    return type == protocol::T_STRING && (in_.readString(*out), true);
  }
  bool GetStrings(protocol::TType type, std::vector<std::string>* out) {
    if (type != protocol::T_LIST) return false;
    List(protocol::T_STRING, [&] { in_.readString(out->emplace_back()); });
    return true;
  }
  template <class OnItem>
  bool GetStructs(protocol::TType type, OnItem on_item) {
    if (type != protocol::T_LIST) return false;
    List(protocol::T_STRUCT, on_item);
    return true;
  }

 private:
  uint32_t size_;
  std::shared_ptr<TMemoryBuffer> buffer_;
  Compact in_;
};

SchemaElement ReadSchemaElement(Decoder& in) {
  SchemaElement element;
  in.Struct([&](int16_t id, protocol::TType type) {
    if (id == 1) return in.GetEnum(type, &element.type);
    if (id == 3) return in.GetEnum(type, &element.repetition);
    if (id == 4) return in.Get(type, &element.name);
    if (id == 5) return in.GetEnum(type, &element.children);
    return false;
  });
  return element;
}

void ReadColumnMetadata(Decoder& in, ColumnChunk* chunk) {
  in.Struct([&](int16_t id, protocol::TType type) {
    switch (id) {
      case 1:
        return in.GetEnum(type, &chunk->type);
      case 3:
        return in.GetStrings(type, &chunk->path);
      case 4:
        return in.GetEnum(type, &chunk->codec);
      case 5:
        return in.Get(type, &chunk->values);
      case 6:
        return in.Get(type, &chunk->uncompressed_bytes);
      case 7:
        return in.Get(type, &chunk->compressed_bytes);
      case 9:
        return in.Get(type, &chunk->data_offset);
      case 11:
        return in.Get(type, &chunk->dictionary_offset);
      default:
        return false;
    }
  });
}

ColumnChunk ReadColumnChunk(Decoder& in) {
  ColumnChunk chunk;
  in.Struct([&](int16_t id, protocol::TType type) {
    if (id == 1) return in.Get(type, &chunk.file_path);
    if (id == 3 && type == protocol::T_STRUCT) return ReadColumnMetadata(in, &chunk), true;
    return false;
  });
  return chunk;
}

RowGroup ReadRowGroup(Decoder& in, const std::string& column) {
  RowGroup group;
  in.Struct([&](int16_t id, protocol::TType type) {
    if (id == 1) {
      return in.GetStructs(type, [&] {
        ColumnChunk chunk = ReadColumnChunk(in);
        if (!chunk.path.empty() && chunk.path[0] == column)
          group.columns.push_back(std::move(chunk));
      });
    }
    if (id == 3) return in.Get(type, &group.rows);
    return false;
  });
  return group;
}

// The three headers of data and dictionary pages, of which a page has one.
void ReadDataHeader(Decoder& in, PageHeader* page) {
  page->has_body = true;
  in.Struct([&](int16_t id, protocol::TType type) {
    if (id == 1) return in.Get(type, &page->values);
    if (id == 2) return in.GetEnum(type, &page->encoding);
    if (id == 3 && page->type == PageType::kData) return in.GetEnum(type, &page->level_encoding);
    return false;
  });
}

void ReadDataHeaderV2(Decoder& in, PageHeader* page) {
  page->has_body = true;
  in.Struct([&](int16_t id, protocol::TType type) {
    switch (id) {
      case 1:
        return in.Get(type, &page->values);
      case 4:
        return in.GetEnum(type, &page->encoding);
      case 5:
        return in.Get(type, &page->definition_bytes);
      case 6:
        return in.Get(type, &page->repetition_bytes);
      case 7:
        return in.Get(type, &page->compressed);
      default:
        return false;
    }
  });
}

bool ReadPageField(Decoder& in, PageHeader* page, int16_t id, protocol::TType type) {
  int32_t crc = 0;
  switch (id) {
    case 1:
      return in.GetEnum(type, &page->type);
    case 2:
      return in.Get(type, &page->uncompressed_bytes);
    case 3:
      return in.Get(type, &page->compressed_bytes);
    case 4:
      page->has_crc = in.GetEnum(type, &crc);
      page->crc = static_cast<uint32_t>(crc);
      return page->has_crc;
    default:
      break;
  }
  if (type != protocol::T_STRUCT) return false;
  const bool expected = (id == 5 && page->type == PageType::kData) ||
                        (id == 7 && page->type == PageType::kDictionary);
  if (expected) return ReadDataHeader(in, page), true;
  if (id == 8 && page->type == PageType::kDataV2) return ReadDataHeaderV2(in, page), true;
  return false;
}

}  // namespace

std::string CodecName(Codec codec) {
  static constexpr const char* kNames[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                           "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
  const auto i = static_cast<uint32_t>(codec);
  return i < std::size(kNames) ? kNames[i] : fmt::format("codec {}", i);
}

std::string EncodingName(Encoding encoding) {
  static constexpr const char* kNames[] = {
      "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
      "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
      "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};
  const auto i = static_cast<uint32_t>(encoding);
  return i < std::size(kNames) ? kNames[i] : fmt::format("encoding {}", i);
}

Result<FileMetadata> ReadFileMetadata(std::string_view bytes, const std::string& column) try {
  FileMetadata metadata;
  Decoder in(bytes);
  in.Struct([&](int16_t id, protocol::TType type) {
    switch (id) {
      case 2:
        return in.GetStructs(type, [&] { metadata.schema.push_back(ReadSchemaElement(in)); });
      case 3:
        return in.Get(type, &metadata.rows);
      case 4:
        return in.GetStructs(type,
                             [&] { metadata.row_groups.push_back(ReadRowGroup(in, column)); });
      case 6:
        return in.Get(type, &metadata.created_by);
      default:
        return false;
    }
  });
  return metadata;
} catch (const std::exception& error) {
  return Error(Code::kCorrupt, "{}", error.what());
}

Result<PageHeader> ReadPageHeader(std::string_view bytes, size_t* used) try {
  PageHeader page;
  Decoder in(bytes);
  in.Struct([&](int16_t id, protocol::TType type) { return ReadPageField(in, &page, id, type); });
  *used = in.used();
  return page;
} catch (const std::exception& error) {
  return Error(Code::kCorrupt, "{}", error.what());
}

}  // namespace wt::text::parquet
