#ifndef ORT_PB_H
#define ORT_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As much of protocol buffers as ONNX files need: written message by message,
 * read field by field. */

/* Bytes that grow; zero to begin. Once `bad` (out of memory) it stays so. */
typedef struct ft__pb {
    unsigned char *s;
    size_t len, cap;
    bool bad;
} ft__pb;
void ft__pb_free(ft__pb *b);
/* Room for n more bytes, to be filled by the caller; NULL: out of memory. */
void *ft__pb_room(ft__pb *b, size_t n);
void ft__pb_raw(ft__pb *b, const void *bytes, size_t n);
void ft__pb_int(ft__pb *b, uint32_t field, int64_t value);
void ft__pb_float(ft__pb *b, uint32_t field, float value);
void ft__pb_bytes(ft__pb *b, uint32_t field, const void *bytes, size_t n);
void ft__pb_text(ft__pb *b, uint32_t field, const char *text);
/* Tag and length of a bytes field; its n bytes follow. */
void ft__pb_head(ft__pb *b, uint32_t field, size_t n);
/* A message inside a message; empties it. */
void ft__pb_message_take(ft__pb *b, uint32_t field, ft__pb *part);

/* One field as it stands in a message. */
typedef struct ft__pb_field {
    uint32_t number;
    uint32_t wire;              /* 0 varint, 1 eight bytes, 2 bytes, 5 four bytes */
    uint64_t value;             /* of wire 0 */
    const unsigned char *bytes; /* of wire 2 */
    size_t n;
    const unsigned char *from; /* the whole field, tag and all */
    const unsigned char *to;
} ft__pb_field;

typedef struct ft__pb_reader {
    const unsigned char *at, *end;
    bool bad; /* the bytes are no message */
} ft__pb_reader;
/* false: no field is left, or the message is bad. */
bool ft__pb_next(ft__pb_reader *r, ft__pb_field *out);
/* One varint of a packed field. */
bool ft__pb_varint(ft__pb_reader *r, uint64_t *out);

#endif
