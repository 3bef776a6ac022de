import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Hono } from 'hono';
import type { Page } from 'puppeteer-core';
import { repositoryFiles } from '../../../manifests/documentation.ts';
import { openBrowser } from '../../support/page/browser.ts';
import { contrasts } from '../../support/page/contrast.ts';
import { before, cluster, clusters, fleets, head, plan, reports } from '../../support/page/scene.ts';
import { pages, served } from '../../support/page/server.ts';

/** Nothing can be broken into lines by itself: whatever has no room must break it. */
const long = cluster(`${'n'.repeat(60)}/${'c'.repeat(48)}`, { leader: `${'c'.repeat(48)}-1` });
const young = cluster('lab/young');
Object.assign(young.metadata, { creationTimestamp: before(0.3) });
const scene = pages({ fleets, clusters: [...clusters, long, young], reports, plan: async () => plan });
/** As behind a proxy that puts it below a path of its own, and strips that. */
const prefix = '/ops/etcd';
const server = await served(new Hono().mount(prefix, (request) => scene.app.fetch(request)));
const address = `${server.address}${prefix}`;
const browser = await openBrowser();
after(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

const documentation = `${repositoryFiles}/docs/`;
const paths = {
  'the first page': '/',
  'a fleet': '/fleets/etcd-ratchet/production',
  'a cluster': '/clusters/payments/orders',
  'a cluster with long names': `/clusters/${'n'.repeat(60)}/${'c'.repeat(48)}`,
  'a cluster that needs a person': '/clusters/web/sessions',
  'a check': `/checks/${head}`,
  'the first page with one state chosen': '/?state=Stalled',
};

/** Opens it as somebody would who has JavaScript off, and lets nothing pass that a browser complains about. */
async function open(path: string, { width = 1200, scheme = 'light' as 'light' | 'dark' } = {}) {
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  await page.setJavaScriptEnabled(false);
  await page.setViewport({ width, height: 800 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const response = await page.goto(`${address}${path}`);
  assert.equal(response?.ok() || response?.status() === 304, true, `${path}: ${response?.status()}`);
  return { page, complaints, [Symbol.asyncDispose]: () => page.close() };
}

async function overflow(page: Page): Promise<number> {
  return (await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')) as number;
}

/** Boxes and texts that are painted beyond the card that they are in. */
async function beyondCards(page: Page): Promise<readonly string[]> {
  return page.$$eval('.card, .concern', (cards) =>
    cards.flatMap((card) => {
      const { right } = card.getBoundingClientRect();
      return [...card.querySelectorAll('*')].flatMap((one) => {
        const range = one.ownerDocument.createRange();
        range.selectNodeContents(one);
        const reaches = Math.max(one.getBoundingClientRect().right, range.getBoundingClientRect().right);
        return reaches > right ? [`${one.textContent} reaches ${reaches}, its card ${right}`] : [];
      });
    }),
  );
}

for (const [name, path] of Object.entries(paths)) {
  test(`${name} is readable: on a phone, light and dark with contrast, without complaints`, async () => {
    for (const scheme of ['light', 'dark'] as const) {
      await using opened = await open(path, { scheme });
      const all = await contrasts(opened.page);
      assert.ok(all.length > 20, `${all.length} texts`);
      const poor = all.filter(({ ratio, needed }) => ratio < needed);
      assert.deepEqual(poor, [], `${scheme}: too little contrast`);
      const paper = await opened.page.evaluate('getComputedStyle(document.body).backgroundColor');
      assert.equal(paper, scheme === 'dark' ? 'rgb(17, 23, 21)' : 'rgb(246, 247, 246)');
      for (const width of [360, 720, 768, 1200]) {
        await opened.page.setViewport({ width, height: 740 });
        assert.equal(await overflow(opened.page), 0, `${scheme}, ${width} px`);
        assert.deepEqual(await beyondCards(opened.page), [], `${scheme}, ${width} px`);
      }
      assert.deepEqual(opened.complaints, []);
    }
  });
}

test('every link within the page leads somewhere, below whatever path a proxy puts it', async () => {
  const seen = new Set<string>();
  for (const path of Object.values(paths)) {
    await using opened = await open(path);
    const links = await opened.page.$$eval('a', (all) => all.map(({ href }) => href));
    for (const link of links) if (link.startsWith(address)) seen.add(link.replace(/#.*$/, ''));
    const outward = links.filter((link) => !link.startsWith(address));
    for (const link of outward.filter((one) => !one.startsWith(documentation)))
      assert.match(link, /^https:\/\/git\.example\.com\/platform\/etcd/);
  }
  assert.ok(seen.size > 8, [...seen].join('\n'));
  for (const link of seen) assert.equal((await fetch(link)).status, 200, link);
});

test('what needs a person has a link to its runbook, and no address within its sentence', async () => {
  await using opened = await open('/');
  const said = await opened.page.$$eval('.concern.bad', (all) =>
    all.map((one) => [one.querySelector('p a')?.getAttribute('href'), one.textContent?.includes('https:')]),
  );
  assert.deepEqual(said, [
    [`${documentation}runbooks/fleet.md`, false],
    [`${documentation}runbooks/lost-quorum.md`, false],
  ]);
});

test('a click on a command selects all of it and nothing else, to copy, also where it is wrapped', async () => {
  for (const width of [360, 1200]) {
    await using opened = await open('/clusters/web/sessions', { width });
    await opened.page.click('.command');
    assert.equal(
      await opened.page.evaluate('getSelection().toString().trimEnd()'),
      'kubectl -n web annotate --overwrite etcdcluster sessions etcd.ratchet.dev/recover-quorum=cdf818194e3a8c32/5d0c1f2ab9',
    );
    assert.deepEqual(opened.complaints, []);
  }
});

test('a screen reader gets one heading first, landmarks, table heads and names for icons', async () => {
  for (const width of [360, 1200]) {
    await using opened = await open('/clusters/payments/orders', { width });
    const tree = JSON.stringify(await opened.page.accessibility.snapshot({ interestingOnly: false }));
    for (const role of [
      'banner',
      'main',
      'contentinfo',
      'navigation',
      'table',
      'columnheader',
      'rowheader',
      'cell',
      'list',
    ]) {
      assert.ok(tree.includes(`"role":"${role}"`), `${role} at ${width} px`);
    }
    assert.equal(await opened.page.$$eval('h1', (all) => all.length), 1);
    assert.equal(await opened.page.$eval('html', ({ lang }) => lang), 'en');
    const ids = await opened.page.$$eval('[id]', (all) => all.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length, 'an id is given twice');
  }
});

test('the way to the content is the first thing that the keyboard finds', async () => {
  await using opened = await open('/');
  await opened.page.keyboard.press('Tab');
  assert.equal(await opened.page.evaluate('document.activeElement.textContent'), 'To the content');
  const box = await (await opened.page.$('.skip'))?.boundingBox();
  assert.ok(box && box.x >= 0, 'it is seen when it is reached');
});
