// A small Parquet writer for tests alone: it shares no code with the reader, so that each checks
// the other, and it can be told to write every layout the reader claims to know.
#pragma once

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wt::text {

using Texts = std::vector<std::optional<std::string>>;

struct TestParquetOptions {
  bool v2 = false;
  bool dictionary = false;
  bool delta_lengths = false;
  bool optional = true;
  bool crc = false;
  int codec = 0;  // 0 none, 1 Snappy, 2 gzip, 6 Zstandard
  size_t group_rows = 1024;
  size_t page_rows = 100;
  std::string column = "text";
  bool other_column = true;  // a fixed-width column before the text
};

// Thrift's compact protocol, as much as Parquet needs.
class CompactWriter {
 public:
  std::string bytes;

  void Varint(uint64_t v) {
    for (; v >= 0x80; v >>= 7) bytes += static_cast<char>(v | 0x80);
    bytes += static_cast<char>(v);
  }
  void Zigzag(int64_t v) {
    Varint((static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63));
  }
  void Field(int id, int type) {
    bytes += static_cast<char>((id - last_) << 4 | type);
    last_ = id;
  }
  void I32(int id, int64_t v) { Field(id, 5), Zigzag(v); }
  void I64(int id, int64_t v) { Field(id, 6), Zigzag(v); }
  void Bool(int id, bool v) { Field(id, v ? 1 : 2); }
  void Raw(std::string_view s) { Varint(s.size()), bytes += s; }
  void String(int id, std::string_view s) { Field(id, 8), Raw(s); }
  void ListOf(int id, int type, size_t n) {
    Field(id, 9);
    bytes += static_cast<char>((n < 15 ? n : 15) << 4 | static_cast<size_t>(type));
    if (n >= 15) Varint(n);
  }
  // A struct whose fields `body` writes; as field `id`, or as an item of a list when id is 0.
  template <class Body>
  void Struct(int id, Body body) {
    if (id > 0) Field(id, 12);
    const int outer = last_;
    last_ = 0;
    body();
    bytes += '\0';
    last_ = outer;
  }

 private:
  int last_ = 0;
};

class TestParquetWriter {
 public:
  explicit TestParquetWriter(TestParquetOptions options) : o_(std::move(options)) {}

  std::string Write(const Texts& texts) {
    file_ = "PAR1";
    size_t n = texts.size();
    for (size_t i = 0; i < n; i += o_.group_rows) {
      WriteGroup(Texts(texts.begin() + static_cast<long>(i),
                       texts.begin() + static_cast<long>(std::min(n, i + o_.group_rows))));
    }
    const std::string footer = Footer(static_cast<int64_t>(n));
    file_ += footer;
    AppendU32(&file_, static_cast<uint32_t>(footer.size()));
    return file_ + "PAR1";
  }

 private:
  struct Chunk {
    int64_t start, data, dictionary, bytes, raw_bytes, rows;
  };

  static void AppendU32(std::string* out, uint32_t v) {
    for (int i = 0; i < 4; ++i) *out += static_cast<char>(v >> (8 * i));
  }

  std::string Compress(const std::string& raw) const {
    std::string out;
    if (o_.codec == 1) return snappy::Compress(raw.data(), raw.size(), &out), out;
    if (o_.codec == 6) {
      out.resize(ZSTD_compressBound(raw.size()));
      out.resize(ZSTD_compress(out.data(), out.size(), raw.data(), raw.size(), 3));
      return out;
    }
    if (o_.codec != 2) return raw;
    z_stream z = {};
    deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    out.resize(deflateBound(&z, raw.size()));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
    z.avail_in = static_cast<uInt>(raw.size());
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    deflate(&z, Z_FINISH);
    out.resize(z.total_out);
    deflateEnd(&z);
    return out;
  }

  // Bits as one packed run, or as repeated runs: both forms in turn.
  static std::string Runs(const std::vector<uint32_t>& values, int width, bool packed) {
    CompactWriter out;
    if (packed) {
      const size_t groups = (values.size() + 7) / 8;
      out.Varint(groups << 1 | 1);
      std::vector<uint8_t> bits(groups * static_cast<size_t>(width));
      for (size_t i = 0; i < values.size(); ++i)
        for (size_t b = 0; b < static_cast<size_t>(width); ++b) {
          const size_t at = i * static_cast<size_t>(width) + b;
          bits[at / 8] = static_cast<uint8_t>(bits[at / 8] | ((values[i] >> b & 1) << (at % 8)));
        }
      out.bytes.append(bits.begin(), bits.end());
      return out.bytes;
    }
    for (size_t i = 0; i < values.size();) {
      size_t j = i;
      while (j < values.size() && values[j] == values[i]) ++j;
      out.Varint((j - i) << 1);
      for (int b = 0; b < width; b += 8) out.bytes += static_cast<char>(values[i] >> b);
      i = j;
    }
    return out.bytes;
  }

  static std::string Plain(const std::vector<std::string>& values) {
    std::string out;
    for (const std::string& v : values) AppendU32(&out, static_cast<uint32_t>(v.size())), out += v;
    return out;
  }

  // DELTA_LENGTH_BYTE_ARRAY with blocks of 128 in 4 miniblocks, every width 32.
  static std::string DeltaLengths(const std::vector<std::string>& values) {
    CompactWriter out;
    const auto length = [&](size_t i) { return static_cast<int64_t>(values[i].size()); };
    out.Varint(128), out.Varint(4), out.Varint(values.size());
    out.Zigzag(values.empty() ? 0 : length(0));
    for (size_t i = 1; i < values.size(); i += 128) {
      const int64_t least = -(1 << 20);
      out.Zigzag(least);
      out.bytes += std::string(4, 32);
      // The last block has only the miniblocks it needs, the last of them filled up.
      const size_t end = i + std::min<size_t>(128, (values.size() - i + 31) / 32 * 32);
      for (size_t j = i; j < end; ++j)
        AppendU32(&out.bytes,
                  j < values.size() ? static_cast<uint32_t>(length(j) - length(j - 1) - least) : 0);
    }
    for (const std::string& v : values) out.bytes += v;
    return out.bytes;
  }

  void WriteGroup(const Texts& texts) {
    Chunk chunk = {};
    chunk.start = static_cast<int64_t>(file_.size());
    chunk.rows = static_cast<int64_t>(texts.size());
    indices_.clear();
    if (o_.dictionary) WriteDictionary(texts, &chunk);
    chunk.data = static_cast<int64_t>(file_.size());
    for (size_t i = 0; i < texts.size(); i += o_.page_rows) {
      packed_ = !packed_;
      WritePage(Texts(texts.begin() + static_cast<long>(i),
                      texts.begin() + static_cast<long>(std::min(texts.size(), i + o_.page_rows))),
                &chunk);
    }
    chunk.bytes = static_cast<int64_t>(file_.size()) - chunk.start;
    chunks_.push_back(chunk);
  }

  template <class Body>
  void PageOf(int type, const std::string& levels, const std::string& raw, Chunk* chunk,
              Body body) {
    const std::string stored = levels + Compress(raw);
    CompactWriter out;
    out.Struct(0, [&] {
      out.I32(1, type);
      out.I32(2, static_cast<int64_t>(levels.size() + raw.size()));
      out.I32(3, static_cast<int64_t>(stored.size()));
      if (o_.crc) {
        out.I32(4, static_cast<int32_t>(crc32(0, reinterpret_cast<const Bytef*>(stored.data()),
                                              static_cast<uInt>(stored.size()))));
      }
      body(out);
    });
    file_ += out.bytes + stored;
    chunk->raw_bytes += static_cast<int64_t>(out.bytes.size() + levels.size() + raw.size());
  }

  void WriteDictionary(const Texts& texts, Chunk* chunk) {
    std::vector<std::string> words;
    for (const auto& text : texts) {
      if (!text || indices_.contains(*text)) continue;
      indices_[*text] = static_cast<uint32_t>(words.size());
      words.push_back(*text);
    }
    chunk->dictionary = static_cast<int64_t>(file_.size());
    PageOf(2, "", Plain(words), chunk, [&](CompactWriter& out) {
      out.Struct(7, [&] { out.I32(1, static_cast<int64_t>(words.size())), out.I32(2, 0); });
    });
  }

  std::string Values(const Texts& texts) const {
    std::vector<std::string> present;
    std::vector<uint32_t> indices;
    for (const auto& text : texts) {
      if (!text) continue;
      present.push_back(*text);
      if (o_.dictionary) indices.push_back(indices_.at(*text));
    }
    if (o_.delta_lengths) return DeltaLengths(present);
    if (!o_.dictionary) return Plain(present);
    int width = 0;
    while (indices_.size() > size_t{1} << width) ++width;
    return static_cast<char>(width) + Runs(indices, width, packed_);
  }

  void WritePage(const Texts& texts, Chunk* chunk) {
    const int encoding = o_.delta_lengths ? 6 : o_.dictionary ? 8 : 0;
    const auto rows = static_cast<int64_t>(texts.size());
    std::vector<uint32_t> present;
    int64_t nulls = 0;
    for (const auto& text : texts) present.push_back(text.has_value()), nulls += !text;
    std::string levels = o_.optional ? Runs(present, 1, packed_) : "";
    if (o_.v2) {
      PageOf(3, levels, Values(texts), chunk, [&](CompactWriter& out) {
        out.Struct(8, [&] {
          out.I32(1, rows), out.I32(2, nulls), out.I32(3, rows), out.I32(4, encoding);
          out.I32(5, static_cast<int64_t>(levels.size())), out.I32(6, 0), out.Bool(7, true);
        });
      });
      return;
    }
    std::string raw;
    if (o_.optional) AppendU32(&raw, static_cast<uint32_t>(levels.size())), raw += levels;
    PageOf(0, "", raw + Values(texts), chunk, [&](CompactWriter& out) {
      out.Struct(5, [&] {
        out.I32(1, rows), out.I32(2, encoding), out.I32(3, 3), out.I32(4, 3);
        out.Struct(5, [&] { out.String(1, "most"), out.String(2, "least"); });  // statistics
      });
    });
  }

  void ColumnRecord(CompactWriter& out, const Chunk& chunk) const {
    out.Struct(0, [&] {
      out.I64(2, chunk.start);
      out.Struct(3, [&] {
        out.I32(1, 6);
        out.ListOf(2, 5, 2), out.Zigzag(0), out.Zigzag(3);
        out.ListOf(3, 8, 1), out.Raw(o_.column);
        out.I32(4, o_.codec), out.I64(5, chunk.rows), out.I64(6, chunk.raw_bytes);
        out.I64(7, chunk.bytes), out.I64(9, chunk.data);
        if (o_.dictionary) out.I64(11, chunk.dictionary);
      });
    });
  }

  // Points at bytes that are none: the reader must never look at it.
  static void OtherColumnRecord(CompactWriter& out) {
    out.Struct(0, [&] {
      out.I64(2, -5);
      out.Struct(3, [&] {
        out.I32(1, 1), out.ListOf(2, 5, 0), out.ListOf(3, 8, 1), out.Raw("score");
        out.I32(4, 5), out.I64(5, 1), out.I64(6, 1), out.I64(7, 1), out.I64(9, -5);
      });
    });
  }

  std::string Footer(int64_t rows) const {
    CompactWriter out;
    const size_t columns = o_.other_column ? 2 : 1;
    out.Struct(0, [&] {
      out.I32(1, 1);
      out.ListOf(2, 12, 1 + columns);
      out.Struct(0, [&] { out.String(4, "schema"), out.I32(5, static_cast<int64_t>(columns)); });
      if (o_.other_column)
        out.Struct(0, [&] { out.I32(1, 1), out.I32(3, 0), out.String(4, "score"); });
      out.Struct(0, [&] {
        out.I32(1, 6), out.I32(3, o_.optional ? 1 : 0), out.String(4, o_.column), out.I32(6, 0);
      });
      out.I64(3, rows);
      out.ListOf(4, 12, chunks_.size());
      for (const Chunk& chunk : chunks_) {
        out.Struct(0, [&] {
          out.ListOf(1, 12, columns);
          if (o_.other_column) OtherColumnRecord(out);
          ColumnRecord(out, chunk);
          out.I64(2, chunk.raw_bytes), out.I64(3, chunk.rows);
        });
      }
      out.String(6, "test writer");
    });
    return out.bytes;
  }

  TestParquetOptions o_;
  std::string file_;
  std::vector<Chunk> chunks_;
  std::map<std::string, uint32_t> indices_;
  bool packed_ = false;
};

}  // namespace wt::text
