import { createHash } from 'node:crypto';

/** All of it, in every page: one request, and nothing that a browser has to fetch from anywhere else. */
export const style = `
:root{color-scheme:light dark;
--paper:#f6f7f6;--card:#fff;--ink:#1b2421;--quiet:#566560;--line:#dfe5e2;--link:#0b6353;--wash:#eef2f0;
--good:#17653f;--good-bg:#e2f3e8;--busy:#7a4b00;--busy-bg:#fcefd5;--bad:#a3212b;--bad-bg:#fde8e8;--calm:#47555f;--calm-bg:#e9edf0;
--dot-good:#2a9d62;--dot-busy:#d18a12;--dot-bad:#d13b46;--dot-calm:#8795a0}
@media (prefers-color-scheme:dark){:root{
--paper:#111715;--card:#19211e;--ink:#e4ebe8;--quiet:#9fafa9;--line:#2b3632;--link:#71d3bd;--wash:#202a26;
--good:#86dcab;--good-bg:#173326;--busy:#f0c070;--busy-bg:#382a10;--bad:#ffa4a6;--bad-bg:#431d20;--calm:#b7c4cd;--calm-bg:#28323a;
--dot-good:#4cc485;--dot-busy:#e5a53a;--dot-bad:#f3676e;--dot-calm:#8596a2}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:.2em;text-decoration-thickness:1px;text-decoration-color:color-mix(in srgb,currentColor 45%,transparent)}
a:hover{text-decoration-color:currentColor}
a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem .75rem;z-index:1}
header,main,footer{max-width:70rem;margin:0 auto;padding:0 1.25rem}
header{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem .75rem;padding-top:1.25rem;padding-bottom:.25rem;font-size:.9375rem}
header svg{width:1.375rem;height:1.375rem;display:block;color:var(--link)}
.brand{display:inline-flex;align-items:center;gap:.5rem;font-weight:600;color:var(--ink);text-decoration:none;min-height:1.75rem}
header ol{list-style:none;display:flex;flex-wrap:wrap;gap:0 .5rem;margin:0;padding:0}
header li::before{content:"/";color:var(--quiet);margin-right:.5rem}
main{padding-top:.75rem;padding-bottom:1rem}
footer{padding-top:.5rem;padding-bottom:2.5rem;color:var(--quiet);font-size:.875rem}
h1{font-size:1.75rem;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin:.5rem 0 .25rem}
h2{font-size:1.125rem;line-height:1.3;font-weight:650;margin:0}
h3{font-size:1rem;font-weight:600;margin:1rem 0 .25rem}
p{margin:.25rem 0}
.quiet{color:var(--quiet)}.small{font-size:.875rem}
.lead{font-size:1.0625rem;max-width:52rem;margin-bottom:1rem;text-wrap:pretty}
code,.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.875em}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--wash);border-radius:8px;font-size:.875rem;white-space:pre-wrap}pre code{font-size:inherit}
pre.command{color:var(--ink);-webkit-user-select:all;user-select:all;cursor:copy}.command span{display:inline-block;max-width:100%}
.title{display:flex;flex-wrap:wrap;align-items:center;gap:.375rem .75rem;margin-top:.5rem}.title h1,.title h2{margin:0}
.badge{display:inline-flex;align-items:center;gap:.4375rem;padding:.0625rem .625rem;border-radius:99px;font-size:.875rem;font-weight:550;white-space:nowrap}
.badge::before{content:"";width:.5rem;height:.5rem;border-radius:50%;flex:none}
.good{color:var(--good);background:var(--good-bg)}.busy{color:var(--busy);background:var(--busy-bg)}
.bad{color:var(--bad);background:var(--bad-bg)}.calm{color:var(--calm);background:var(--calm-bg)}
.badge.good::before{background:var(--dot-good)}.badge.busy::before{background:var(--dot-busy)}
.badge.bad::before{background:var(--dot-bad)}.badge.calm::before{background:var(--dot-calm)}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;margin:1rem 0;padding:1rem 1.25rem 1.125rem}
.card>.title{margin:0 0 .5rem}
.sums{list-style:none;display:flex;flex-wrap:wrap;gap:.5rem;margin:.75rem 0 1rem;padding:0}
.sums a{display:block;padding:.25rem .875rem;border-radius:10px;font-size:.9375rem;text-decoration:none}.sums a:hover{text-decoration:underline}.sums [aria-current]{outline:2px solid}.sums b{font-weight:650;font-variant-numeric:tabular-nums}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.concerns{list-style:none;margin:1rem 0;padding:0;display:grid;gap:.625rem}
.concern{color:var(--ink);background:var(--card);border:1px solid var(--line);border-left:4px solid;border-radius:10px;padding:.625rem 1rem .75rem}
.concern.bad{border-left-color:var(--dot-bad)}.concern.busy{border-left-color:var(--dot-busy)}
.concern strong{font-weight:650}.concern .badge{float:right;margin-left:.75rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(13rem,100%),1fr));gap:.75rem 1.5rem;margin:0}
.facts dt{color:var(--quiet);font-size:.8125rem}.facts dd{margin:0}
.wide{grid-column:1/-1}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th{font-size:.8125rem;font-weight:550;color:var(--quiet);text-align:left;white-space:nowrap}
th,td{padding:.5rem .75rem .5rem 0;vertical-align:top;border-top:1px solid var(--line)}
thead th{border-top:0;padding-top:.125rem;padding-bottom:.375rem}
tbody th{font-size:1rem;font-weight:550;color:var(--ink);white-space:normal}
th:last-child,td:last-child{padding-right:0}
.nowrap{white-space:nowrap}
tbody tr:last-child>*{padding-bottom:.125rem}.steps>li:last-child,.past>li:last-child,.problems li:last-child{padding-bottom:0}
.clusters{table-layout:fixed}.clusters th:nth-child(1){width:23%}.clusters th:nth-child(2){width:30%}.clusters th:nth-child(3){width:7%}.clusters th:nth-child(4){width:16%}.clusters th:nth-child(5){width:14%}.clusters th:nth-child(6){width:10%}
.sub{margin-bottom:.75rem}
.at{color:var(--quiet);font-size:.875rem;white-space:nowrap}td .at,dd .at,.past .at{display:block}.said .at,.small .at{display:inline}.said .at::before,.small .at::before{content:"("}.said .at::after,.small .at::after{content:")"}
.said p{margin:0}.said{display:block;color:var(--quiet);font-size:.875rem;max-width:34rem}
.bar{display:block;width:7rem;max-width:100%;height:4px;margin-top:.375rem;border-radius:2px;color:var(--link)}
.bar .all{fill:var(--line)}.bar .file{fill:currentColor;opacity:.45}.bar .used{fill:currentColor}
.steps,.past{margin:.25rem 0 0;padding:0;list-style:none}
.steps{counter-reset:step}
.steps>li,.past>li{padding:.5rem 0;border-top:1px solid var(--line)}
.steps>li:first-child,.past>li:first-child{border-top:0}
.steps>li{counter-increment:step;display:grid;grid-template-columns:2.25rem 1fr}
.steps>li::before{content:counter(step);color:var(--quiet);font-variant-numeric:tabular-nums;font-size:.875rem;padding-top:.0625rem}
.past>li{display:grid;grid-template-columns:11rem 1fr;gap:0 .75rem}
.past>li>:first-child{color:var(--quiet);font-size:.875rem;padding-top:.0625rem}
.end{margin-top:.75rem;padding:.5rem .875rem;border-radius:8px}
details>summary{cursor:pointer;padding:.25rem 0}
details>summary h3{display:inline;margin:0}
details .steps{margin-top:.5rem}
.empty{color:var(--quiet);padding:.5rem 0}
.problems{margin:.25rem 0 0;padding:0;list-style:none}.problems li{padding:.5rem 0;border-top:1px solid var(--line)}.problems li:first-child{border-top:0}
.more{margin-top:.75rem}
@media (max-width:44rem){
body{font-size:1rem}header,main,footer{padding-left:1rem;padding-right:1rem}h1{font-size:1.5rem}.card{padding:.875rem 1rem 1rem;border-radius:10px}
table,tbody,tr,th,td{display:block}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tbody tr{padding:.75rem 0;border-top:1px solid var(--line)}tbody tr:first-child{border-top:0;padding-top:.25rem}
th,td{border:0;padding:.125rem 0}tbody th{padding-bottom:.25rem}
td[data-label]{display:grid;grid-template-columns:6.5rem 1fr;gap:.75rem;justify-items:start;align-items:baseline}td[data-label]::before{content:attr(data-label);color:var(--quiet);font-size:.875rem}
.facts{grid-template-columns:repeat(auto-fill,minmax(min(8rem,100%),1fr));gap:.75rem 1rem}.facts .long{grid-column:1/-1}
.clusters tr{display:flex;flex-wrap:wrap;gap:.125rem 1rem;align-items:baseline}.clusters tr>th,.clusters tr>.state{width:100%!important}
.clusters td.state{display:block}.clusters td.state::before{content:none}.clusters td:not(.state){display:flex;gap:.375rem}
.clusters td.none{display:none}.past>li{grid-template-columns:1fr}.concern .badge{float:none;margin:0 0 .25rem;display:flex;width:max-content}}
@media print{body{background:#fff}.card{break-inside:avoid}}
`;

/** What a Content-Security-Policy must name for the browser to take it. */
export const styleHash = `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
