// CRC-32C (Castagnoli), the checksum of TensorBoard's records and of our checkpoints.
#pragma once

#include <cstdint>
#include <string_view>

namespace wt {

// Of `bytes` appended to data whose checksum was `crc` (0 for none): pieces may come one by one.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);
// The plain twin, a bit at a time.
uint32_t Crc32cPlain(std::string_view bytes, uint32_t crc = 0);

}  // namespace wt
