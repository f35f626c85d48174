#pragma once

#include "rpc/bytes.h"

namespace autodeploy {

/** Reads a message in eRPC's basic codec. After a read beyond the end all is zero and empty. */
class Reader {
   public:
    explicit Reader(Bytes message) : rest_(message) {}

    uint8_t u8();
    uint32_t u32();
    int32_t i32() { return static_cast<int32_t>(u32()); }
    Bytes binary();

    /** Reads a list and returns its length; `to` gets the first `most` of it. */
    uint32_t list(uint32_t *to, size_t most);

    /** Whether nothing is left. */
    bool at_end() const { return rest_.size == 0; }

    /** Whether all reads were good and nothing is left. */
    bool complete() const { return good_ && rest_.size == 0; }

   private:
    Bytes take(size_t bytes);

    Bytes rest_;
    bool good_ = true;
};

/** Writes a message in eRPC's basic codec into a buffer, and remembers when it did not fit. */
class Writer {
   public:
    Writer(uint8_t *buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) {}

    void u8(uint8_t value);
    void u32(uint32_t value);
    void i32(int32_t value) { u32(static_cast<uint32_t>(value)); }
    void u64(uint64_t value);
    void f32(float value);
    void bytes(Bytes bytes);
    void binary(Bytes bytes);
    void string(const char *text);
    void zeros(size_t bytes);

    bool fits() const { return fits_; }
    size_t size() const { return size_; }
    size_t room() const { return capacity_ - size_; }

    /** Goes back to an earlier size, when all was well. */
    void cut(size_t size);

    /** Replaces a number that was written at `position`. */
    void patch_u32(size_t position, uint32_t value) { store_u32(buffer_ + position, value); }

    /** Changes how many bytes the buffer takes. */
    void limit(size_t capacity) { capacity_ = capacity; }

   private:
    uint8_t *take(size_t bytes);

    uint8_t *buffer_;
    size_t capacity_;
    size_t size_ = 0;
    bool fits_ = true;
};

}  // namespace autodeploy
