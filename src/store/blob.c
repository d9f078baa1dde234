/* Readings <-> the bytes that a store keeps of them. */
#include "store/blob.h"

#include <stdlib.h>
#include <string.h>

static void put(unsigned char *p, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

static void put_f64(unsigned char *p, double d)
{
    uint64_t v;

    memcpy(&v, &d, sizeof(v));
    put(p, v, 8);
}

static double get_f64(const unsigned char *p)
{
    uint64_t v = get(p, 8);
    double d;

    memcpy(&d, &v, sizeof(d));
    return d;
}

unsigned char *ft__readings_encode(const ft_reading *r, size_t n)
{
    unsigned char *data =
        n <= SIZE_MAX / FT__READING_BYTES ? malloc(n * FT__READING_BYTES + 1) : NULL;

    for (size_t i = 0; data && i < n; i++) {
        unsigned char *p = data + i * FT__READING_BYTES;

        put_f64(p, r[i].value);
        put_f64(p + 8, r[i].start_s);
        put(p + 16, r[i].iterations, 8);
    }
    return data;
}

unsigned char *ft__rounds_encode(const ft_reading *r, size_t n, int *bad)
{
    unsigned char *data;
    size_t zero = 0;

    while (zero < n && r[zero].round == 0 && r[zero].marks == 0)
        zero++;
    *bad = 0;
    if (zero == n)
        return NULL;
    data = malloc(n * FT__ROUND_BYTES);
    *bad = data == NULL;
    for (size_t i = 0; data && i < n; i++) {
        put(data + i * FT__ROUND_BYTES, r[i].round, 4);
        put(data + i * FT__ROUND_BYTES + 4, r[i].marks, 4);
    }
    return data;
}

void ft__readings_decode(ft_reading *r, size_t n, const unsigned char *data)
{
    for (size_t i = 0; i < n; i++, data += FT__READING_BYTES)
        r[i] = (ft_reading){.value = get_f64(data),
                            .start_s = get_f64(data + 8),
                            .iterations = get(data + 16, 8)};
}

void ft__rounds_decode(ft_reading *r, size_t n, const unsigned char *data)
{
    for (size_t i = 0; i < n; i++, data += FT__ROUND_BYTES) {
        r[i].round = (uint32_t)get(data, 4);
        r[i].marks = (uint32_t)get(data + 4, 4);
    }
}
