// Moves of elements as they are, bit by bit, between two walks.
#pragma once

#include "chip/rows.h"

namespace wt::chip {

// Copies row p of `from` to row p of `to`, for all rows; rows that either side skips stay as they
// are. Requires element types of one size, equal rows and row_elements.
void CopyRows(const Walk& to, const Walk& from, Overlap overlap);

// A walk's elements in order, packed; `bytes` holds elements() of them.
void GatherBytes(const Walk& walk, std::byte* bytes);
void ScatterBytes(const Walk& walk, const std::byte* bytes);
// The same row_elements() in every row.
void FillRows(const Walk& walk, const std::byte* row);

// to[j, i] = from[i, j], packed elements of 1, 2, 4 or 8 bytes.
void TransposeElements(const std::byte* from, int64_t rows, int64_t columns, int64_t bytes,
                       std::byte* to);

}  // namespace wt::chip
