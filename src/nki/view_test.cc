#include "nki/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace wt::nki {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A storage with a tensor behind it, as the session makes them.
struct Fake {
  chip::Tensor tensor;
  Storage storage;
  View view;

  Fake(chip::Memory memory, std::vector<int64_t> shape, DType dtype = DType::kF32) {
    int64_t bytes = 0;
    EXPECT_TRUE(TensorBytes(shape, dtype, &bytes).ok());
    const int64_t partitions = chip::IsOnChip(memory) ? shape[0] : 1;
    tensor.memory = storage.memory = memory;
    tensor.dtype = storage.dtype = dtype;
    tensor.partitions = static_cast<int>(partitions);
    storage.partitions = partitions;
    tensor.partition_bytes = storage.partition_bytes = bytes / partitions;
    storage.tensor = &tensor;
    storage.name = tensor.name = "t";
    view = WholeView(&storage, shape);
  }
};
Fake Sbuf(std::vector<int64_t> shape, DType dtype = DType::kF32) {
  return Fake(chip::Memory::kSbuf, std::move(shape), dtype);
}
Fake Hbm(std::vector<int64_t> shape, DType dtype = DType::kF32) {
  return Fake(chip::Memory::kHbm, std::move(shape), dtype);
}

std::vector<int64_t> Shape(const View& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}
std::vector<int64_t> Strides(const View& view) {
  return {view.strides.begin(), view.strides.begin() + view.rank};
}

IndexItem At(int64_t index) {
  IndexItem item;
  item.kind = IndexItem::kInteger;
  item.start = index;
  return item;
}
IndexItem All() { return {}; }
IndexItem Part(int64_t start, int64_t stop, int64_t step = 1) {
  IndexItem item;
  item.has_start = item.has_stop = true;
  item.start = start;
  item.stop = stop;
  item.step = step;
  return item;
}
IndexItem Kind(IndexItem::Kind kind, int64_t size = 0) {
  IndexItem item;
  item.kind = kind;
  item.stop = size;
  return item;
}

View IndexOf(const View& view, std::vector<IndexItem> items) {
  View result;
  const Status status = Index(view, items, &result);
  EXPECT_TRUE(status.ok()) << status.message();
  return result;
}
std::string IndexError(const View& view, std::vector<IndexItem> items) {
  View result;
  return Index(view, items, &result).message();
}

TEST(IndexTest, OnChipKeepsPartitionsAndTwoDimensions) {
  Fake t = Sbuf({64, 64, 64});
  EXPECT_THAT(Shape(IndexOf(t.view, {At(0), At(0), At(10)})), ElementsAre(1, 1));
  EXPECT_THAT(Shape(IndexOf(t.view, {All(), At(0)})), ElementsAre(64, 64));
  EXPECT_THAT(Shape(IndexOf(t.view, {All(), At(0), At(10)})), ElementsAre(64, 1));
  EXPECT_THAT(Shape(IndexOf(t.view, {At(0), Kind(IndexItem::kEllipsis), All()})),
              ElementsAre(1, 64, 64));
  EXPECT_THAT(Shape(IndexOf(t.view, {All(), All(), Part(0, 64, 2)})), ElementsAre(64, 64, 32));
}

TEST(IndexTest, HbmDropsDimensionsDownToOne) {
  Fake h = Hbm({4, 128, 32});
  const View row = IndexOf(h.view, {At(-1)});
  EXPECT_THAT(Shape(row), ElementsAre(128, 32));
  EXPECT_EQ(row.offset, 3 * 128 * 32);
  EXPECT_THAT(Shape(IndexOf(h.view, {At(0), At(1), At(2)})), ElementsAre(1));
}

TEST(IndexTest, NewAxisAndEllipsis) {
  Fake h = Hbm({4, 8});
  EXPECT_THAT(Shape(IndexOf(h.view, {Kind(IndexItem::kNewAxis), Kind(IndexItem::kEllipsis)})),
              ElementsAre(1, 4, 8));
  Fake t = Sbuf({4, 8});
  EXPECT_THAT(IndexError(t.view, {Kind(IndexItem::kNewAxis)}), HasSubstr("[partitions]"));
  EXPECT_THAT(IndexError(t.view, {Kind(IndexItem::kEllipsis), Kind(IndexItem::kEllipsis)}),
              HasSubstr("one at most"));
}

TEST(IndexTest, RefusesWhatLeavesTheTensor) {
  Fake t = Sbuf({128, 100});
  EXPECT_THAT(Shape(IndexOf(t.view, {All(), Part(64, 128)})), ElementsAre(128, 36));
  EXPECT_THAT(IndexError(t.view, {All(), Part(100, 128)}), HasSubstr("[out-of-bounds]"));
  IndexItem exact = Part(64, 128);
  exact.exact = true;
  EXPECT_THAT(IndexError(t.view, {All(), exact}), HasSubstr("min(stop, 100)"));
  EXPECT_THAT(IndexError(t.view, {At(128)}), HasSubstr("expected -128 to 127"));
  EXPECT_THAT(IndexError(t.view, {All(), Part(5, 5)}), HasSubstr("is empty"));
  EXPECT_THAT(IndexError(t.view, {All(), Part(5, 9, 0)}), HasSubstr("step of at least 1"));
  EXPECT_THAT(IndexError(t.view, {All(), All(), All()}), HasSubstr("at most 2"));
}

TEST(IndexTest, RegisterIndexIsAnOffsetOfTheDimension) {
  Fake h = Hbm({4, 128, 32});
  const View row = IndexOf(h.view, {Kind(IndexItem::kDynamic)});
  EXPECT_THAT(Shape(row), ElementsAre(128, 32));
  EXPECT_EQ(row.indirect, Indirect::kScalar);
  EXPECT_EQ(row.indirect_unit, 128 * 32);
  const View part = IndexOf(h.view, {All(), Kind(IndexItem::kDynamicSlice, 16)});
  EXPECT_THAT(Shape(part), ElementsAre(4, 16, 32));
  EXPECT_EQ(part.indirect_unit, 32);
  EXPECT_THAT(IndexError(part, {All(), Part(0, 8)}), HasSubstr("at run time"));
  EXPECT_THAT(Shape(IndexOf(part, {Part(0, 2), All(), Part(0, 8)})), ElementsAre(2, 16, 8));
  EXPECT_THAT(IndexError(Sbuf({4, 8}).view, {Kind(IndexItem::kDynamic)}),
              HasSubstr("cannot choose partitions"));
}

TEST(ViewTest, ChainOfTheGuide) {
  Fake t = Sbuf({128, 4, 16});
  View permuted, picked = IndexOf(t.view, {Part(0, 64), All(), All()});
  ASSERT_TRUE(Permute(picked, std::vector<int64_t>{0, 2, 1}, &permuted).ok());
  EXPECT_THAT(Shape(permuted), ElementsAre(64, 16, 4));
  EXPECT_FALSE(IsContiguous(permuted));
  EXPECT_THAT(Shape(IndexOf(permuted, {All(), At(0), All()})), ElementsAre(64, 4));
}

TEST(ViewTest, ReshapeNeedsNoCopyOrRefuses) {
  Fake t = Sbuf({128, 4, 6});
  View result;
  ASSERT_TRUE(Reshape(t.view, std::vector<int64_t>{128, 2, -1}, &result).ok());
  EXPECT_THAT(Shape(result), ElementsAre(128, 2, 12));
  EXPECT_THAT(Strides(result), ElementsAre(24, 12, 1));
  EXPECT_THAT(Reshape(t.view, std::vector<int64_t>{64, 48}, &result).message(),
              HasSubstr("first size must be 128"));
  EXPECT_THAT(Reshape(t.view, std::vector<int64_t>{128, 25}, &result).message(),
              HasSubstr("[shape]"));
  const View sliced = IndexOf(t.view, {All(), All(), Part(0, 3)});
  EXPECT_THAT(Reshape(sliced, std::vector<int64_t>{128, 12}, &result).message(),
              HasSubstr("without moving data"));
}

TEST(ViewTest, BroadcastExpandSqueezeFlatten) {
  Fake t = Sbuf({128, 64});
  View expanded, repeated, flat, squeezed;
  ASSERT_TRUE(ExpandDim(t.view, 1, &expanded).ok());
  ASSERT_TRUE(Broadcast(expanded, 1, 8, &repeated).ok());
  EXPECT_THAT(Shape(repeated), ElementsAre(128, 8, 64));
  EXPECT_THAT(Strides(repeated), ElementsAre(64, 0, 1));
  EXPECT_THAT(FlattenDims(repeated, 1, 2, &flat).message(), HasSubstr("do not continue"));
  ASSERT_TRUE(SqueezeDim(expanded, 1, &squeezed).ok());
  EXPECT_THAT(Shape(squeezed), ElementsAre(128, 64));
  EXPECT_THAT(ExpandDim(t.view, 0, &flat).message(), HasSubstr("[partitions]"));
  EXPECT_THAT(Broadcast(t.view, 1, 8, &flat).message(), HasSubstr("size 1"));
}

TEST(ViewTest, ReinterpretScalesTheLastDimension) {
  Fake t = Sbuf({128, 64});
  View bytes, back;
  ASSERT_TRUE(Reinterpret(t.view, DType::kU8, &bytes).ok());
  EXPECT_THAT(Shape(bytes), ElementsAre(128, 256));
  EXPECT_THAT(Strides(bytes), ElementsAre(256, 1));
  ASSERT_TRUE(Reinterpret(IndexOf(bytes, {All(), Part(4, 12)}), DType::kF32, &back).ok());
  EXPECT_EQ(back.offset, 1);
  EXPECT_THAT(Reinterpret(IndexOf(bytes, {All(), Part(2, 10)}), DType::kF32, &back).message(),
              HasSubstr("multiples of 4"));
  EXPECT_THAT(Reinterpret(IndexOf(t.view, {All(), Part(0, 64, 2)}), DType::kU8, &back).message(),
              HasSubstr("not contiguous"));
}

TEST(ViewTest, WiderElementsNeedAnAlignedAddress) {
  Fake t(chip::Memory::kSbuf, {128, 64}, DType::kBF16);
  t.tensor.address = chip::Address{0, 10006};
  View view;
  EXPECT_TRUE(Reinterpret(t.view, DType::kU16, &view).ok());
  EXPECT_THAT(Reinterpret(t.view, DType::kF32, &view).message(),
              HasSubstr("begins at byte 10006 of its partitions; float32 needs a multiple of 4"));
}

TEST(ViewTest, RearrangeSplitsPermutesAndMerges) {
  Fake t = Sbuf({128, 24});
  View result;
  const std::vector<std::pair<std::string, int64_t>> sizes = {{"h", 4}};
  ASSERT_TRUE(Rearrange(t.view, {{"b"}, {"h", "w"}}, {{"b"}, {"w"}, {"h"}}, sizes, &result).ok());
  EXPECT_THAT(Shape(result), ElementsAre(128, 6, 4));
  EXPECT_THAT(Strides(result), ElementsAre(24, 1, 6));
  EXPECT_THAT(Rearrange(t.view, {{"b"}, {"h", "w"}}, {{"b"}, {"w"}, {"h"}}, {}, &result).message(),
              HasSubstr("all but one"));
  EXPECT_THAT(Rearrange(t.view, {{"b"}, {"h"}}, {{"b"}, {"x"}}, {}, &result).message(),
              HasSubstr("each name once"));
}

TEST(ViewTest, ApAddressesTheStorage) {
  Fake t = Sbuf({128, 256});
  const View inner = IndexOf(t.view, {All(), Part(8, 16)});
  ApArguments ap;
  ap.pattern = {{256, 128}, {2, 64}};
  View result;
  ASSERT_TRUE(Ap(inner, ap, &result).ok());
  EXPECT_EQ(result.offset, 8);  // none given: where the view starts
  ap.offset = 3;
  ASSERT_TRUE(Ap(inner, ap, &result).ok());
  EXPECT_EQ(result.offset, 3);
  EXPECT_THAT(Shape(result), ElementsAre(128, 64));
  chip::AccessPattern pattern;
  ASSERT_TRUE(ToAccessPattern(result, &pattern).ok());
  EXPECT_EQ(pattern.dims[0].step, 1);
  EXPECT_EQ(pattern.dims[1].step, 2);
  ap.pattern = {{255, 128}, {1, 4}};
  ASSERT_TRUE(Ap(t.view, ap, &result).ok());
  EXPECT_THAT(ToAccessPattern(result, &pattern).message(), HasSubstr("stride must be 256"));
}

TEST(ViewTest, ScalarOffsetCountsItsDimension) {
  Fake h = Hbm({512, 512});
  ApArguments ap;
  ap.pattern = {{512, 128}, {1, 256}};
  ap.indirect = Indirect::kScalar;
  View result;
  ASSERT_TRUE(Ap(h.view, ap, &result).ok());
  EXPECT_EQ(result.indirect_unit, 512);
  Fake offsets = Sbuf({64, 1}, DType::kI32);
  ASSERT_TRUE(VectorSelect(h.view, 0, offsets.view, &result).ok());
  EXPECT_THAT(Shape(result), ElementsAre(64, 512));
  EXPECT_THAT(VectorSelect(offsets.view, 0, offsets.view, &result).message(),
              HasSubstr("[memory]"));
}

TEST(ViewTest, PatternOfAPartitionWindow) {
  Fake t = Sbuf({128, 2, 32}, DType::kBF16);
  chip::AccessPattern pattern;
  ASSERT_TRUE(
      ToAccessPattern(IndexOf(t.view, {Part(32, 64), At(1), Part(4, 20, 2)}), &pattern).ok());
  EXPECT_EQ(pattern.start_partition, 32);
  EXPECT_EQ(pattern.offset, 36);
  EXPECT_EQ(pattern.num_dims, 2);
  EXPECT_EQ(pattern.dims[0].size, 32);
  EXPECT_EQ(pattern.dims[1].step, 2);
  EXPECT_EQ(pattern.dims[1].size, 8);
}

TEST(ViewTest, SevenDimensionsMergeToSix) {
  Fake h = Hbm({2, 3, 4, 5, 2, 3, 2});
  chip::AccessPattern pattern;
  ASSERT_TRUE(ToAccessPattern(h.view, &pattern).ok());
  EXPECT_EQ(pattern.num_dims, 1);
  EXPECT_EQ(pattern.elements(), h.view.size());
  View mixed;
  ASSERT_TRUE(Permute(h.view, std::vector<int64_t>{6, 5, 4, 3, 2, 1, 0}, &mixed).ok());
  EXPECT_THAT(ToAccessPattern(mixed, &pattern).message(), HasSubstr("at most 6"));
}

// The plain twin: every element's place, by the definition of a view.
std::vector<int64_t> Places(const View& view) {
  std::vector<int64_t> places(1, view.offset);
  for (int i = 0; i < view.rank; ++i) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t k = 0; k < view.shape[i]; ++k) next.push_back(place + k * view.strides[i]);
    }
    places = std::move(next);
  }
  return places;
}

// Reshaping and merging change no element's place; slicing and permuting choose among them.
TEST(ViewTest, RandomChainsKeepPlaces) {
  std::mt19937 random(7);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  for (int round = 0; round < 500; ++round) {
    Fake h = Hbm({2 + below(3), 2 + below(3), 6, 4});
    View view = h.view;
    for (int step = 0; step < 6; ++step) {
      const std::vector<int64_t> before = Places(view);
      View next;
      const int64_t dim = below(view.rank);
      if (below(2) == 0 && view.rank < kMaxRank && view.shape[dim] % 2 == 0) {
        ASSERT_TRUE(ReshapeDim(view, dim, std::vector<int64_t>{2, -1}, &next).ok());
        ASSERT_EQ(Places(next), before);
      } else if (below(2) == 0 && dim + 1 < view.rank) {
        if (!FlattenDims(view, dim, dim + 1, &next).ok()) continue;
        ASSERT_EQ(Places(next), before);
      } else if (below(3) == 0) {
        std::vector<int64_t> order(view.rank);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        ASSERT_TRUE(Permute(view, order, &next).ok());
      } else {
        const int64_t start = below(view.shape[dim]);
        ASSERT_TRUE(Slice(view, dim, start, view.shape[dim], 1 + below(2), &next).ok());
      }
      view = next;
      std::vector<int64_t> sizes = Shape(view);
      std::shuffle(sizes.begin(), sizes.end(), random);
      if (View reshaped; Reshape(view, sizes, &reshaped).ok()) {
        ASSERT_EQ(Places(reshaped), Places(view));
      }
    }
  }
}

}  // namespace
}  // namespace wt::nki
