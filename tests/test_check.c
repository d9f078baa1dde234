/* What a failing check prints: the expression, and what stood on both sides. */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static void fails(void)
{
    const char *text = "two words";
    const double x = 0.5;
    unsigned char n = 4;
    int minus = -1;
    size_t all = SIZE_MAX;

    CHECK_EQ(n, 3);
    CHECK(n && CMP(x, >, 0.5) && EQ(n, 4));
    CHECK(EQ((size_t)minus, all) && EQ(minus, all));
    CHECK(CMP(NAN, ==, NAN));
    CHECK(SAME(text, "two"));
    CHECK(HAS(text, "three"));
    CHECK(LACKS(text, "words"));
    CHECK(BEGINS(text, "twofold", 4));
    CHECK(BYTES(text, "two", 4));
    CHECK(text == NULL);
    CHECK_NEAR(x, 1, 0.1);
}

static const char printed[] =
    "EQ(n, 3)\n    n == 3: 4 and 3\n"
    "n && CMP(x, >, 0.5) && EQ(n, 4)\n    x > 0.5: 0.5 and 0.5\n"
    "EQ((size_t)minus, all) && EQ(minus, all)\n    minus == all: -1 and %zu\n"
    "CMP(NAN, ==, NAN)\n    NAN == NAN: nan and nan\n"
    "SAME(text, \"two\")\n    SAME(text, \"two\"):\n    \"two words\"\n    \"two\"\n"
    "HAS(text, \"three\")\n    text: \"two words\"\n"
    "LACKS(text, \"words\")\n    text: \"two words\"\n"
    "BEGINS(text, \"twofold\", 4)\n    text: \"two words\"\n    begins with \"twof\"\n"
    "BYTES(text, \"two\", 4)\n    text: byte 3 of 4: 32 and 0\n"
    "text == NULL\n"
    "x is 0.5, want 1\n";

/* Without "FILE:LINE: FUNCTION: ". */
static void strip(char *text)
{
    char *to = text;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *rest = strstr(line, ": fails: ");

        rest = rest ? rest + strlen(": fails: ") : line;
        memmove(to, rest, strlen(rest));
        to += strlen(rest);
        *to++ = '\n';
    }
    *to = 0;
}

int main(void)
{
    char got[4000], want[1000];
    FILE *file = tmpfile();
    const int terminal = dup(2);
    size_t n;

    if (!file || terminal < 0 || dup2(fileno(file), 2) < 0)
        return 2;
    fails();
    if (dup2(terminal, 2) < 0)
        return 2;
    rewind(file);
    n = fread(got, 1, sizeof(got) - 1, file);
    got[n] = 0;
    strip(got);
    snprintf(want, sizeof(want), printed, SIZE_MAX);
    n = (size_t)check_failed;
    check_failed = 0;
    CHECK(SAME(got, want));
    CHECK_EQ(n, 11);
    close(terminal);
    fclose(file);
    CHECK_DONE();
}
