import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'puppeteer-core';
import { openBrowser } from '../support/page/browser.ts';
import { checkout } from '../unit/docs/pages.ts';
import { inOwnSandbox } from './support/own-cluster.ts';
import { until } from './support/until.ts';

await inOwnSandbox();

interface Playground extends AsyncDisposable {
  /** What it tells a person. */
  readonly environment: string;
  readonly page: string;
  readonly forge: string;
}

let playground: Playground;
let browser: Browser;
let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'playground-'));
  browser = await openBrowser();
  playground = await startPlayground();
});
after(async () => {
  await browser?.close();
  await playground?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** As `npm run playground` does; what npm would add is told by a unit test of the pages. */
async function startPlayground(): Promise<Playground> {
  const child = spawn(process.execPath, ['test/playground.ts'], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const told = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? assert.fail(`${pattern} is not told in ${printed}`);
  try {
    const isUp = async () => {
      assert.equal(child.exitCode, null, printed);
      return printed.includes('Then follow');
    };
    await until('it stays up', isUp, { within: 180 });
    return {
      environment: told(/^ {2}\. (\S+)$/m),
      page: told(/what comes next: (\S+)$/m),
      forge: told(/plan and statuses: (\S+)\/platform\/etcd\/pulls$/m),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** In a shell that has read what the playground tells. */
async function typed(commands: string): Promise<string> {
  const script = `set -euo pipefail\n. ${playground.environment}\n${commands}`;
  return (await promisify(execFile)('bash', ['-c', script], { cwd: directory, timeout: 120_000 })).stdout;
}

const push = `git clone -q "$GIT_URL" etcd && cd etcd && mkdir -p clusters/prod
git config user.name Ada && git config user.email ada@example.com
cat > clusters/prod/orders.yaml <<'END'
apiVersion: etcd.ratchet.dev/v1alpha1
kind: EtcdCluster
metadata: {name: orders, namespace: payments}
spec: {replicas: 1, version: 3.6.16, storage: {size: 1Gi}}
END
git add clusters && git commit -qm "Add orders" && git push -q origin HEAD:main
kubectl -n etcd-ratchet create job --from=cronjob/etcd-ratchet first
kubectl -n payments wait --for=create --timeout=60s ec/orders`;

/** Everything that a page loads is there, and no alert stands in front of it. */
function watched(page: Page): readonly string[] {
  const wrong: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) wrong.push(`${response.status()} ${response.url()}`);
  });
  page.on('dialog', (dialog) => {
    wrong.push(dialog.message());
    void dialog.dismiss();
  });
  return wrong;
}

test('a person sees the fleet on the page, and the commit on a forge that renders', { timeout: 300_000 }, async () => {
  await typed(push);
  const page = await browser.newPage();
  const wrong = watched(page);
  await until('the page shows the cluster', async () => {
    await page.goto(playground.page, { waitUntil: 'load' });
    return (await page.$eval('body', ({ innerText }) => innerText)).includes('payments/orders');
  });

  await page.goto(`${playground.forge}/user/login`, { waitUntil: 'load' });
  await page.type('#user_name', 'ada');
  await page.type('#password', (await typed('printf %s "$FORGE_PASSWORD"')).trim());
  await Promise.all([page.waitForNavigation(), page.click('form .primary.button')]);
  const led = await until('the commit has statuses', async () => {
    await page.goto(`${playground.forge}/platform/etcd/commits/branch/main`, { waitUntil: 'load' });
    const links = await page.$$eval('.commit-status-list a', (all) => all.map(({ href }) => href));
    return links.length > 0 && links.join(' ');
  });
  assert.ok(led.includes(`${playground.page}/fleets/etcd-ratchet/production`), led);
  assert.match(String(await page.evaluate('getComputedStyle(document.body).fontFamily')), /sans-serif/);
  assert.deepEqual(wrong, []);
});

test('etcdctl reads and writes there by the plugin, from outside the sandbox', { timeout: 300_000 }, async () => {
  await typed('kubectl -n payments wait --for=condition=Ready --timeout=120s ec/orders');
  const ratchet = 'kubectl ratchet -n payments etcdctl orders --';
  assert.match(await typed(`${ratchet} put greeting hello && ${ratchet} get greeting`), /^OK\ngreeting\nhello\n$/m);
});

test('from where no member is reached, a plan of a file and the lag are told by port-forward', {
  timeout: 300_000,
}, async () => {
  const changed = "sed 's/replicas: 1/replicas: 3/' etcd/clusters/prod/orders.yaml";
  const plan = await typed(`${changed} | kubectl ratchet -n payments plan orders -f - 2>&1`);
  assert.match(plan, /^payments\/orders changes +4 steps: \+2 members\n[\s\S]*→ Converged: 3 members/);
  const screen = await typed('kubectl ratchet -n payments status orders 2>&1');
  assert.match(screen, /^orders-0 +Healthy +leader .* 0$/m);
  assert.doesNotMatch(screen, /LAG is not known/);
});
