// Writes the same texts with three other programs' Parquet writers, in the layouts that corpora come
// in, for other_writers_test.cc: node write.mjs OUT_FOLDER. Beside the .parquet files goes
// expected.jsonl, one {"text": string or null} a row.
import { DuckDBInstance } from "@duckdb/node-api";
import { tableFromArrays, tableToIPC, vectorFromArray, Utf8 } from "apache-arrow";
import { parquetWriteBuffer } from "hyparquet-writer";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import parquet from "parquet-wasm/node";

const out = process.argv[2];
fs.mkdirSync(out, { recursive: true });

// 5000 rows: words that repeat, paragraphs of every length up to 6000 characters, empty texts,
// letters of two to four bytes, nulls.
let state = 12345;
const random = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
const words = ["the", "tunnel", "naïve", "wind", "Überbau", "日本", "😀", "of", "a", "measured"];
const sentence = (n) => Array.from({ length: n }, () => words[random(words.length)]).join(" ");
const texts = Array.from({ length: 5000 }, (_, i) => {
  const kind = random(10);
  if (kind === 0) return null;
  if (kind === 1) return "";
  if (kind < 5) return `repeated ${random(30)}`;
  return `${i}: ${sentence(random(kind === 9 ? 1000 : 60))}.\n`;
});
const whole = texts.map((t) => t ?? "(null)");
fs.writeFileSync(path.join(out, "expected.jsonl"),
  texts.map((text) => JSON.stringify({ text })).join("\n") + "\n");

// DuckDB. Its writer chooses dictionaries by itself; version 2 writes DELTA_LENGTH_BYTE_ARRAY.
const db = await (await DuckDBInstance.create(":memory:")).connect();
await db.run(`create table t as select row_number() over () as n, json->>'text' as text, 0.5 as score
  from read_csv('${out}/expected.jsonl', delim = '\\x01', quote = '', escape = '', header = false,
                columns = {'json': 'varchar'}, max_line_size = 10000000)`);
for (const codec of ["uncompressed", "snappy", "zstd", "gzip"]) {
  for (const version of ["V1", "V2"]) {
    await db.run(`copy (select score, text, n from t order by n) to
      '${out}/duckdb_${codec}_${version}.parquet'
      (format parquet, codec '${codec}', row_group_size 2048, parquet_version ${version})`);
  }
}

// The Rust implementation. The first is how nanochat's shards are laid out: zstd, row groups of
// 1024, no dictionary, one required or optional text column.
const table = (rows) => parquet.Table.fromIPCStream(tableToIPC(
  tableFromArrays({ text: vectorFromArray(rows, new Utf8()) }), "stream"));
const { Encoding, WriterVersion, WriterPropertiesBuilder } = parquet;
const rust = (name, build) => {
  const properties = build(new WriterPropertiesBuilder().setMaxRowGroupSize(1024)).build();
  fs.writeFileSync(path.join(out, `rust_${name}.parquet`), parquet.writeParquet(table(texts), properties));
};
for (const [name, codec] of Object.entries({ none: 0, snappy: 1, gzip: 2, zstd: 5 })) {
  for (const dictionary of [false, true]) {
    for (const version of ["V1", "V2"]) {
      rust(`${name}_${dictionary ? "dictionary" : "plain"}_${version}`, (b) => b.setCompression(codec)
        .setDictionaryEnabled(dictionary).setDataPageSizeLimit(20000).setWriteBatchSize(64)
        .setWriterVersion(version === "V1" ? WriterVersion.V1 : WriterVersion.V2)
        .setEncoding(Encoding.PLAIN));
    }
  }
}

// hyparquet-writer (JavaScript): Snappy, row groups of its own size, and zlib through node.
const js = (name, data, options) => fs.writeFileSync(path.join(out, `js_${name}.parquet`),
  Buffer.from(parquetWriteBuffer({ columnData: [
    { name: "id", data: data.map((_, i) => `urn:${i}`), type: "STRING" },
    { name: "text", data, type: "STRING", ...options.column }], ...options.file })));
js("snappy", texts, { column: {}, file: { rowGroupSize: 700, pageSize: 30000 } });
js("delta", texts, { column: { encoding: "DELTA_LENGTH_BYTE_ARRAY" }, file: { rowGroupSize: 1024 } });
js("gzip", texts, { column: {}, file: { codec: "GZIP", compressors: { GZIP: (b) => zlib.gzipSync(b) } } });
js("required", whole, { column: { nullable: false }, file: { codec: "UNCOMPRESSED" } });
