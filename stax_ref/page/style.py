"""style: how the page looks, on light and dark screens.

Holds one text of CSS. Colours have names, so that a second table of them is all a dark screen
needs. Not here: sizes of pictures (``drawing``, ``timeline``).
"""

from __future__ import annotations

STYLE = """
:root {
  --page: #fcfcfb; --ink: #1f1f1d; --soft: #66655f; --line: #d8d7d2; --panel: #f3f2ee;
  --node: #fff; --wire: #807e76; --peak: #f7dede; --live: #9a98a8;
  --input: #dfe8f6; --input-edge: #5b86c4; --register: #ecebe6; --register-edge: #a3a199;
  --row: #d6efe2; --row-edge: #2f9a6c; --arena: #fbe4cd; --arena-edge: #cf7827;
  --output: #e7dff6; --output-edge: #7c5cc4;
  --pointwise: #5b86c4; --reduction: #c8503f; --extern: #77756d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #171716; --ink: #ecebe6; --soft: #a09e96; --line: #3b3a36; --panel: #211f1e;
    --node: #2a2927; --wire: #8d8b83; --peak: #46282a; --live: #77758a;
    --input: #22344d; --input-edge: #6f9bd8; --register: #33322f; --register-edge: #7b7972;
    --row: #17392b; --row-edge: #45b685; --arena: #452c14; --arena-edge: #e0924a;
    --output: #33274f; --output-edge: #a48be0;
    --pointwise: #6f9bd8; --reduction: #e0705f; --extern: #8d8b83;
  }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font: 600 1.35rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .6rem; border-bottom: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem }
a { color: inherit }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0 }
.cards p { flex: 1 1 14rem; margin: 0; padding: .7rem .9rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px }
.cards strong { display: block; font-size: 1.3rem }
.cards span, .note, figcaption { color: var(--soft); font-size: .88rem }
figure { margin: 1rem 0 }
figcaption { margin-bottom: .3rem }
.scroll, pre { overflow: auto; max-height: 44rem; border: 1px solid var(--line);
  border-radius: 8px }
.pair { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start }
.pair figure { max-width: 100%; margin: 0 }
.pair .scroll { max-height: 60rem }
.scroll { background: var(--page) }
pre { margin: .5rem 0; padding: .8rem; background: var(--panel) }
pre, .code td, svg text { font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", monospace }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th { position: sticky; top: 0; background: var(--panel); text-align: left; font-weight: 600 }
th, td { padding: .28rem .8rem; border-bottom: 1px solid var(--line); vertical-align: top }
tbody tr:last-child td { border-bottom: 0 }
td { overflow-wrap: anywhere }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
.code td { white-space: pre-wrap; border-bottom: 0; padding: .05rem .8rem }
.code td:first-child { color: var(--soft) }
.code td:first-child, .code th:first-child { text-align: right }
.time { margin-bottom: 0 }
.scroll + .scroll { margin-top: .8rem }
summary { cursor: pointer; padding: .15rem 0 }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .88rem; color: var(--soft) }
.legend i { display: inline-block; width: 1.4rem; height: .75rem; margin-right: .4rem;
  border: 1px solid var(--register-edge); border-radius: .4rem; vertical-align: -1px }
.legend i.weak { height: 0; border-width: 0 0 2px; border-style: dashed; border-radius: 0;
  vertical-align: 4px }
svg { display: block }
svg text { fill: var(--ink) }
svg .place { fill: var(--soft) }
svg .name, svg .title { font-weight: 600 }
svg .middle { text-anchor: middle }
svg .end { text-anchor: end }
.kernel { fill: var(--panel); stroke: var(--wire); stroke-width: 1.5 }
.outside { stroke-dasharray: 6 4 }
.node { fill: var(--node); stroke: var(--line) }
.stripe { fill: var(--extern) }
.pointwise { fill: var(--pointwise) }
.reduction { fill: var(--reduction) }
.wire { fill: none; stroke: var(--wire); stroke-width: 1.3 }
.wire.weak { stroke-dasharray: 5 4 }
.head { fill: var(--wire) }
.grid { fill: none; stroke: var(--line) }
.peak { fill: var(--peak) }
.live { fill: var(--live) }
.chip, .bar { fill: var(--register); stroke: var(--register-edge) }
.input { fill: var(--input); stroke: var(--input-edge) }
.row { fill: var(--row); stroke: var(--row-edge) }
.arena { fill: var(--arena); stroke: var(--arena-edge) }
.output { fill: var(--output); stroke: var(--output-edge) }
.legend i.input { background: var(--input); border-color: var(--input-edge) }
.legend i.register { background: var(--register) }
.legend i.row { background: var(--row); border-color: var(--row-edge) }
.legend i.arena { background: var(--arena); border-color: var(--arena-edge) }
.legend i.output { background: var(--output); border-color: var(--output-edge) }
"""
