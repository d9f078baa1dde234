/* The page of validate: words and tables in one file, with the sections that are drawn
 * where they belong. */
#include "report/page.h"

#include <math.h>
#include <string.h>

#include "report/svg.h"
#include "report/units.h"

static const char style[] =
    ":root{color-scheme:light dark;--back:#fdfdfb;--ink:#1c1d21;--soft:#5d6069;"
    "--rule:#dcdcd6;--measured:#3c3f48;--sum:#2f6fb3;--predicted:#c76a15;"
    "--band:#2f6fb31c;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#16171a;--ink:#e8e8e4;"
    "--soft:#a3a6ae;--rule:#34363c;--measured:#c9ccd4;--sum:#6aa8e8;"
    "--predicted:#ef9a4d;--band:#6aa8e826;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.25rem 4rem;max-width:56rem;"
    "background:var(--back);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}\n"
    "h2{font-size:1.15rem;margin:2.6rem 0 .4rem}\n"
    "p{margin:.4rem 0 .9rem;max-width:44rem}.soft{color:var(--soft)}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;"
    "font-size:.875rem;margin:.6rem 0 1rem}\n"
    "th,td{padding:.28rem .8rem .28rem 0;text-align:right;white-space:nowrap;"
    "border-bottom:1px solid var(--rule)}\n"
    "th{font-weight:600;color:var(--soft)}\n"
    "th:first-child,td:first-child{text-align:left}\n"
    "td.why{text-align:left;white-space:normal;color:var(--soft)}\n"
    "code{font-size:.85em;overflow-wrap:anywhere}\n"
    "figure{margin:.8rem 0 1.4rem}figcaption{color:var(--soft);font-size:.875rem;"
    "max-width:44rem}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),"
    "1fr));"
    "gap:1rem}.cards h3{font-size:.9rem;margin:0}\n"
    "svg{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"
    "\"Segoe UI\",\"DejaVu Sans\",sans-serif}\n"
    "text{fill:var(--ink)}text.small{fill:var(--soft);font-size:11px}"
    "text.label{font-weight:600}text.back{paint-order:stroke;stroke:var(--back);"
    "stroke-width:4px}\n"
    "line.grid{stroke:var(--rule)}line.axis{stroke:var(--soft)}"
    "line.one{stroke:var(--soft);stroke-dasharray:4 3}\n"
    "rect.measured,circle.measured{fill:var(--measured)}"
    "rect.sum,circle.sum{fill:var(--sum)}"
    "rect.predicted,circle.predicted{fill:var(--predicted)}"
    "circle.beyond{fill:none;stroke:var(--measured)}\n"
    "rect.band{fill:var(--band)}line.error{stroke:var(--ink);stroke-width:1.2}"
    "line.under{stroke:var(--back);stroke-width:3.5}path.sum{stroke-dasharray:6 3}\n"
    "path.line{fill:none;stroke-width:1.6;stroke-linejoin:round}"
    "path.measured{stroke:var(--measured)}path.sum{stroke:var(--sum)}"
    "path.predicted,path.fit{stroke:var(--predicted)}\n"
    "path.round{stroke-width:1.3}text.key{font-size:11px;font-weight:600}"
    ".r0{stroke:#2f6fb3}.r1{stroke:#c76a15}.r2{stroke:#3a8f5c}.r3{stroke:#a34a9b}"
    ".r4{stroke:#8a7a1f}.r5{stroke:#5b6bd0}\n"
    "text.r0{fill:#2f6fb3}text.r1{fill:#c76a15}text.r2{fill:#3a8f5c}"
    "text.r3{fill:#a34a9b}text.r4{fill:#8a7a1f}text.r5{fill:#5b6bd0}"
    "text.key{stroke:none}\n"
    ".keys{display:flex;flex-wrap:wrap;gap:1.2rem;font-size:.875rem;margin:.3rem 0}"
    ".keys i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;"
    "border-radius:2px}\n";

static void put_cell(FILE *fp, const char *s)
{
    fputs("<td>", fp);
    ft__put_xml(fp, s);
    fputs("</td>", fp);
}

/* ---- parts ---- */

static void put_head(FILE *fp, const ft__validation_page *p)
{
    const ft_validated *v = &p->v[0];

    fprintf(fp,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\"/>\n<title>foretell validate</title>\n<style>\n%s"
            "</style>\n</head>\n<body>\n<h1>Summed, measured, predicted</h1>\n<p "
            "class=\"soft\">%zu %s, %s",
            style, p->n,
            p->datasets ? "measurements"
            : p->n == 1 ? "network"
                        : "networks",
            v->mode == FT_MODE_TRAINING ? "one training step" : "one forward pass");
    if (!p->datasets) {
        char text[320];

        snprintf(text, sizeof(text), ", %s %s, %s, %s", v->engine, v->engine_version,
                 v->setting, v->device);
        ft__put_xml(fp, text);
    }
    fputs(".</p>\n", fp);
}

static void put_summary(FILE *fp, const ft__validation_page *p)
{
    fputs("<h2>How far off</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>against "
          "measured</th><th>networks</th><th>MAPE</th><th>median</th><th>max</th><th>"
          "bias</th><th>R2</th></tr></thead>\n<tbody>\n",
          fp);
    for (int q = 0; q < FT_QUANTITY_COUNT; q++)
        for (int e = 0; e < FT_ESTIMATOR_COUNT; e++) {
            const ft_errors *x = &p->errors[q][e];

            if (!x->n)
                continue;
            fprintf(fp, "<tr><td>%s, %s</td><td>%zu</td>",
                    ft_name(FT_NAMES_QUANTITY, (ft_quantity)q),
                    ft_name(FT_NAMES_ESTIMATOR, (ft_estimator)e), x->n);
            put_cell(fp, ft__text_percent(x->mape).s);
            put_cell(fp, ft__text_percent(x->median_ape).s);
            put_cell(fp, ft__text_percent(x->max_ape).s);
            put_cell(fp, ft__text_signed(x->bias).s);
            put_cell(fp, ft__text_plain(x->r2).s);
            fputs("</tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

/* ---- tables ---- */

static void put_networks(FILE *fp, const ft__validation_page *p)
{
    fputs("<h2>Networks</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>network</th>"
          "<th></th><th>measured</th><th>sum</th><th>error</th><th>predicted</th><th>"
          "error</th><th>operations priced</th></tr></thead>\n<tbody>\n",
          fp);
    for (size_t i = 0; i < p->n; i++)
        for (int q = 0; q < FT_QUANTITY_COUNT; q++) {
            const ft_validated *v = &p->v[i];
            char label[600];

            if (isnan(v->measured[q].value) && isnan(v->sum[q].value))
                continue;
            ft__validation_label(label, sizeof(label), p, v);
            fputs("<tr>", fp);
            put_cell(fp, q ? "" : label);
            put_cell(fp, ft_name(FT_NAMES_QUANTITY, (ft_quantity)q));
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->measured[q].value).s);
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->sum[q].value).s);
            put_cell(fp, ft__text_signed(
                             ft__validation_error(v, (ft_quantity)q, FT_ESTIMATOR_SUM))
                             .s);
            put_cell(fp, ft__quantity_text((ft_quantity)q, v->predicted[q].value).s);
            put_cell(fp, ft__text_signed(ft__validation_error(v, (ft_quantity)q,
                                                              FT_ESTIMATOR_PREDICTION))
                             .s);
            if (q == FT_QUANTITY_TIME)
                fprintf(fp, "<td>%u of %u</td>", v->n_priced, v->n_ops);
            else
                put_cell(fp, "");
            fputs("</tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

static void put_kinds(FILE *fp, const ft__validation_page *p)
{
    enum { MOST = 20 };
    bool fitted = p->n_kinds && isfinite(p->kind[0].factor);

    fprintf(
        fp,
        "<h2>Kinds</h2>\n<p>%s</p>\n<div class=\"wide\"><table>\n<thead><tr><th>kind"
        "</th><th>networks</th><th>share of sum</th>%s</tr></thead>\n<tbody>\n",
        fitted
            ? "Which kinds explain the difference: how long each takes in the "
              "networks over how long it takes alone (non-negative least squares, "
              "held at 1 where the networks say nothing), and what that adds."
            : "Shares of the sum. Which kinds explain the difference is computed from "
              "three networks on.",
        fitted ? "<th>in the network/alone</th><th>adds to the difference</th>" : "");
    for (size_t i = 0; i < p->n_kinds && i < MOST; i++) {
        const ft_kind_effect *k = &p->kind[i];

        fprintf(fp, "<tr><td>%s%s%s</td><td>%zu</td><td>%.1f %%</td>",
                ft_kind_name(k->kind), k->phase == FT_PHASE_FORWARD ? "" : " ",
                k->phase == FT_PHASE_FORWARD ? "" : ft_phase_name(k->phase),
                k->n_networks, 100 * k->share);
        if (fitted) {
            fprintf(fp, "<td>%.3f</td>", k->factor);
            put_cell(fp, ft__text_signed(k->effect).s);
        }
        fputs("</tr>\n", fp);
    }
    fputs("</tbody></table></div>\n", fp);
}

static void put_unpriced(FILE *fp, const ft__validation_page *p)
{
    enum { MOST = 20 };
    size_t n = 0;

    for (size_t i = 0; i < p->n; i++)
        n += p->v[i].n_unpriced;
    if (!n)
        return;
    fputs("<h2>Not in the sums</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>"
          "operation</th><th>count</th><th>network</th><th>why</th></tr></thead>\n"
          "<tbody>\n",
          fp);
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->v[i].n_unpriced && j < MOST; j++) {
            const ft_unpriced *u = &p->v[i].unpriced[j];
            char spec[2048];

            ft_op_print(&u->op, spec, sizeof(spec));
            fputs("<tr><td class=\"why\"><code>", fp);
            ft__put_xml(fp, spec);
            fprintf(fp, "</code></td><td>%llu</td>", (unsigned long long)u->count);
            put_cell(fp, p->v[i].name);
            fputs("<td class=\"why\">", fp);
            ft__put_xml(fp, u->why);
            fputs("</td></tr>\n", fp);
        }
    fputs("</tbody></table></div>\n", fp);
}

void ft__page_write(FILE *fp, const ft__validation_page *p)
{
    put_head(fp, p);
    put_summary(fp, p);
    ft__page_results(fp, p);
    put_networks(fp, p);
    put_kinds(fp, p);
    put_unpriced(fp, p);
    ft__page_measuring(fp, p);
    fputs("</body>\n</html>\n", fp);
}
