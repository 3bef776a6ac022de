import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { inParallel } from '../../../reconcile/stepping/in-parallel.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { install, startApiServer } from './api-server.ts';
import { cleared, largeNamespaces } from './large-namespaces.ts';
import { cluster } from './tenants-objects.ts';

/**
 * Two tenants of one installation, `payments` and `mallory`, who may edit a namespace of her own. What she makes there
 * bears our label, so every pass lists it. A tick has its own account, and a small heap.
 */
const api = await startApiServer();
after(() => api[Symbol.asyncDispose]());
await api.kubectl(['apply', '-k', install]);
// What was there before it came is read all the same.
await api.kubectl(['delete', 'validatingadmissionpolicybinding', 'etcd-ratchet-annotations']);
for (const namespace of ['payments', 'mallory']) await api.kubectl(['create', 'namespace', namespace]);

/** Of the heap, so that less is large; and what the whole process may take. */
const node = ['--max-old-space-size=128', '--max-semi-space-size=16'];
const mostMiB = 320;
const account = { namespace: 'etcd-ratchet', name: 'etcd-ratchet' };
const kube = await api.kubeOf(account);
const kubeconfig = await api.kubeconfigOf(account);
const signal = () => ({ signal: AbortSignal.timeout(30_000) });

interface Ticked {
  readonly clusters: readonly {
    readonly namespace: string;
    readonly name: string;
    readonly outcome: string;
    readonly reason: string;
  }[];
  readonly namespacesLeftOut?: Readonly<Record<string, { readonly plural: string }>>;
}

async function tick(): Promise<Ticked & { readonly peakMiB: number }> {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-large-'));
  const config = join(directory.path, 'kubeconfig');
  await writeFile(config, kubeconfig);
  const child = resolve(import.meta.dirname, 'tick-child.ts');
  const args = [...node, child, '--kubeconfig', config, '--output=json'];
  const env = { ...process.env, POD_NAME: 'tick', POD_NAMESPACE: 'etcd-ratchet', POD_UID: 'tick' };
  const { promise, resolve: done } = Promise.withResolvers<{ code: unknown; out: string; err: string }>();
  execFile(process.execPath, args, { env, timeout: 100_000, maxBuffer: 1 << 26 }, (error, out, err) =>
    done({ code: error ? (error.code ?? error.signal) : 0, out, err }),
  );
  const { code, out, err } = await promise;
  assert.equal(code, 0, `${out.slice(-2000)}\n${err.slice(-2000)}`);
  const peakMiB = Number(/^peak (\d+) MiB$/m.exec(err)?.[1]);
  return { ...(JSON.parse(out) as Ticked), peakMiB };
}

/** What the commands of the runbook print, each. */
function printedByRunbook(): Promise<readonly string[]> {
  const blocks = typedIn('integration/manifests/large-namespace')(
    'docs/runbooks/kubernetes-refuses.md#a-namespace-is-left-out',
  );
  const lines = blocks.flatMap(({ text }) => text.trim().split('\n'));
  assert.equal(lines.length, 3);
  return inParallel(lines, 1, (line) =>
    api.kubectl(
      line
        .replace(/^kubectl /, '')
        .replace('"$NAMESPACE"', 'mallory')
        .split(' '),
    ),
  );
}

for (const [index, [what, attack]] of Object.entries(largeNamespaces).entries()) {
  test(`beside ${what} in one namespace, a cluster of another one is born`, async () => {
    const name = `orders-${index}`;
    await kube.create(resources.clusters, cluster('payments', name), signal());
    await attack(api, 'mallory');
    const { clusters, namespacesLeftOut = {}, peakMiB } = await tick();
    const orders = clusters.find((one) => one.namespace === 'payments' && one.name === name);
    assert.equal(orders?.outcome, 'acted', JSON.stringify(orders));
    assert.deepEqual(Object.keys(namespacesLeftOut), ['mallory']);
    assert.ok(peakMiB < mostMiB, `${peakMiB} MiB`);
    const [events = '', labelled = '', ofOurs = ''] = await printedByRunbook();
    assert.match(events, /NamespaceLeftOut/);
    assert.match(`${labelled}${ofOurs}`, /junk-0/);
    await cleared(api, 'mallory');
  });
}
