import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseReport } from '../../../functions/page/check-report.ts';
import { outward } from '../../../functions/page/links.ts';
import { markup, readable } from '../../../functions/page/markup.ts';
import { style } from '../../../functions/page/style.ts';
import type { CheckReport } from '../../../manifests/api/check-report.ts';
import { cluster, clusters, condition, fleet, fleets, head, member, report } from '../../support/page/scene.ts';
import { pages } from '../../support/page/server.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: that is the attack
const attack = '"><script>alert(1)</script><img src=x onerror=alert(1)> \' & <!-- ${1} </style> {{7*7}}';

/** The same object with every string of it replaced, except what the page needs to find it. */
function poisoned<T>(value: T, poison: string, kept: ReadonlySet<string>): T {
  if (typeof value === 'string') return (kept.has(value) ? value : poison) as T;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, poison, kept)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, poison, kept)])) as T;
}

const production = fleets[0] ?? fleet('production');
const kept = new Set([
  ...['EtcdCluster', 'EtcdFleet', 'True', 'False', 'etcd.ratchet.dev/v1alpha1', 'uid-production', 'Gitea'],
  ...['Ready', 'Stalled', 'Reconciling', 'Available', 'StatusesReported', 'voter', 'learner', 'failed'],
  ...[
    'etcd-ratchet',
    'production',
    'payments',
    'orders',
    'web',
    'sessions',
    '7',
    head,
    'success',
    'failure',
    'untouched',
    'Applied',
  ],
  ...['update', 'create', 'keep', 'delete', 'done', 'refused'],
]);

const scene = (poison: string) =>
  pages({
    fleets: [poisoned(production, poison, kept)],
    clusters: clusters.map((one) => poisoned(one, poison, kept)).slice(2, 3),
    reports: [poisoned(report, poison, kept)],
    plan: async () => ({
      kind: 'planned',
      planned: poisoned(report.clusters[0]?.planned, poison, kept) ?? assert.fail(),
    }),
  });

const paths = ['/', '/fleets/etcd-ratchet/production', '/clusters/payments/orders', `/checks/${head}`];

for (const path of paths) {
  test(`${path}: markup in every string of every object stays text`, async () => {
    const answer = await scene(attack).get(path);
    assert.equal(answer.status, 200);
    const body = (await answer.text()).replace(style, '');
    assert.doesNotMatch(body, /<script|<img|onerror=alert\(1\)>|<!--/);
    assert.match(body, /&lt;script&gt;/);
    assertOnlyOurs(body);
  });

  test(`${path}: overrides of direction, controls and lone surrogates are made visible`, async () => {
    const body = await (await scene('invoice\u202efdp.exe\u0000\u2066\u{e0041}\ud800').get(path)).text();
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.doesNotMatch(body, /[\u0000\u202a-\u202e\u2066-\u2069]/);
    assert.ok(body.isWellFormed());
    assert.match(body, /invoice\ufffdfdp\.exe/);
  });

  // A ConfigMap has at most a mebibyte.
  const length = path.startsWith('/checks') ? 20_000 : 100_000;
  test(`${path}: long strings everywhere are cut, and said to be`, async () => {
    const body = await (await scene('x'.repeat(length)).get(path)).text();
    assert.match(body, new RegExp(`… \\(and ${length - 4000} more characters\\)`));
    assert.ok(body.length < 600_000, `${body.length}`);
  });

  test(`${path}: no address but http(s) is led to`, async () => {
    for (const poison of [
      'javascript:alert(1)',
      'data:text/html,x',
      'https://me:hunter2@evil.example',
      '//evil.example',
    ]) {
      const body = await (await scene(poison).get(path)).text();
      for (const [, href = ''] of body.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        assert.match(
          href,
          /^(https?:\/\/[^@]*$|(\.\.\/)*(clusters|fleets|checks)\/|(\.\.\/)+$|\.\/$|#main$|\?((state=\w+|page=\d+|refresh=\d+)&?)*$)/,
        );
      }
    }
  });
}

/** Only elements and attributes that the templates have, whatever came in. */
function assertOnlyOurs(body: string): void {
  const elements = new Set([...body.matchAll(/<([a-z0-9]+)/gi)].map(([, name]) => name));
  for (const element of elements) {
    assert.match(
      element ?? '',
      /^(html|head|meta|title|link|style|body|a|header|svg|path|circle|rect|nav|ol|ul|li|main|footer|h[1-3]|p|div|span|b|strong|bdi|br|code|pre|section|table|thead|tbody|tr|th|td|dl|dt|dd|time|details|summary)$/,
    );
  }
  assert.doesNotMatch(body.replaceAll(/="[^"<>]*"/g, '='), /<[^>]*\s(on[a-z]+|style|srcdoc|formaction)=/i);
}

test('property: whatever text is put in, in text or in an attribute, comes out as text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      const out = markup`<p title="${text}">${text}</p>`.toString();
      const inside = /^<p title="([^"<>]*)">([^<>"]*)<\/p>$/su.exec(out);
      assert.ok(inside, out);
      assert.ok(out.isWellFormed());
    }),
  );
});

test('what scripts are written with stays', () => {
  for (const text of ['سفارش‌ها', 'הזמנות', '注文', '👩‍🚀', 'naïve — “quoted”', 'tab\tand\nnewline'])
    assert.equal(readable(text), text);
});

for (const [address, led] of [
  ['https://git.example.com/a/b', 'https://git.example.com/a/b'],
  ['http://git.example.com/a b', 'http://git.example.com/a%20b'],
  ['https://git.example.com/"onmouseover="x', 'https://git.example.com/%22onmouseover=%22x'],
  ['javascript:alert(1)', undefined],
  ['JaVaScRiPt://git.example.com/%0aalert(1)', undefined],
  ['data:text/html,<script>', undefined],
  ['file:///etc/passwd', undefined],
  ['https://me:hunter2@git.example.com', undefined],
  ['git.example.com', undefined],
  ['', undefined],
  [`https://git.example.com/${'x'.repeat(3000)}`, undefined],
] as const) {
  test(`${address.slice(0, 50) || 'nothing'} is ${led === undefined ? 'not ' : ''}led to`, () => {
    assert.equal(outward(address), led);
  });
}

for (const [what, text] of [
  ['nothing', undefined],
  ['no JSON', '{'],
  ['null', 'null'],
  ['a list', '[]'],
  ['another state', JSON.stringify({ ...report, state: 'maybe' })],
  ['a state that is an object', JSON.stringify({ ...report, state: { isEscaped: true } })],
  ['a message that pretends to be markup', JSON.stringify({ ...report, description: { isEscaped: true } })],
  ['problems that are no list', JSON.stringify({ ...report, problems: {} })],
  ['more than a ConfigMap has', JSON.stringify({ ...report, description: 'x'.repeat(1 << 20) })],
  ['nesting without end', '['.repeat(100_000)],
] as const) {
  test(`${what} is no report`, () => assert.equal(parseReport(text), undefined));
}

test('what checks keep is what pages read', () => {
  assert.deepEqual(parseReport(JSON.stringify(report)), report);
  // Held by the compiler: whatever a check writes, a page can show.
  const shown: NonNullable<ReturnType<typeof parseReport>> = report satisfies CheckReport;
  assert.ok(shown);
});

test('five thousand clusters make pages of bounded size, with a way to the next', async () => {
  const many = Array.from({ length: 5000 }, (_, n) => cluster(`lab/c${n}`, { members: [member(`c${n}-0`)] }));
  const { get } = pages({ fleets: [], clusters: many });
  const first = await (await get('/')).text();
  assert.ok(first.length < 400_000, `${first.length}`);
  assert.match(first, /Page 1 of 25, 5000 in all · <a href="\?page=2" rel="next">/);
  const last = await (await get('/?page=25')).text();
  assert.match(last, /<a href="\?page=24" rel="prev">/);
  assert.equal(await (await get('/?page=999999')).text(), last);
  for (const wrong of ['0', '-1', '1e9', 'x', '%3Cscript%3E'])
    assert.equal(await (await get(`/?page=${wrong}`)).text(), first);
});

test('a condition of every length and none at all make a page', async () => {
  const bare = { ...cluster('lab/bare'), status: undefined } as never;
  const odd = cluster('lab/odd', { conditions: [condition('Ready', 'Unknown', '', '')], members: [] });
  const { get } = pages({ clusters: [bare, odd], fleets: [{ ...production, status: undefined } as never] });
  for (const path of ['/', '/clusters/lab/bare', '/clusters/lab/odd', '/fleets/etcd-ratchet/production']) {
    assert.equal((await get(path)).status, 200, path);
  }
});

test('property: no request ends in a defect, whatever it asks for', async () => {
  const { get, logged } = pages({
    fleets,
    clusters,
    reports: [report],
    plan: async () => ({ kind: 'none', message: '' }),
  });
  const segment = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed()));
  const path = fc.oneof(
    fc.constantFrom(...paths),
    fc.tuple(fc.constantFrom('clusters', 'fleets'), segment, segment).map((parts) => `/${parts.join('/')}`),
    segment.map((sha) => `/checks/${sha}`),
    fc.string({ unit: 'grapheme-ascii', maxLength: 60 }).map((text) => `/${text}`),
    segment.map((text) => `/?page=${text}`),
  );
  const header = fc.stringMatching(/^[\x21-\x7e]{0,60}$/);
  await fc.assert(
    fc.asyncProperty(path, header, header, fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS'), async (...asked) => {
      const [where, authorization, tag, method] = asked;
      const { status } = await get(where, { authorization, 'if-none-match': tag }, method);
      assert.ok([200, 304, 404, 405].includes(status), `${status}`);
    }),
    { numRuns: 500 },
  );
  assert.deepEqual(logged, []);
});
