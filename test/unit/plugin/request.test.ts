import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportMarkdown } from '../../../functions/checks/markdown.ts';
import { type CheckReport, checkName } from '../../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import type { ConfigMap } from '../../../manifests/kube-types.ts';
import { printable } from '../../../manifests/printable.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { createFakeKube } from '../../support/fakes/kube.ts';
import { fleet, head, production, report } from '../../support/page/scene.ts';
import { now, saidOn } from '../../support/plugin/said.ts';

const namespace = 'etcd-ratchet';

/** Changes of the ConfigMap that keeps it. */
interface Kept {
  readonly report?: CheckReport | string;
  readonly markdown?: string;
  readonly owner?: string;
}

function world(kept: Kept | undefined, fleets: readonly EtcdFleet[] = [production]) {
  const kube = createFakeKube({ clock: () => now });
  kube.seed(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const one of fleets) kube.seed(resources.fleets, one);
  if (!kept) return kube;
  const { report: own = report, markdown = reportMarkdown(report), owner = 'uid-production' } = kept;
  const ownerReferences = [
    { apiVersion: 'etcd.ratchet.dev/v1alpha1', kind: 'EtcdFleet', name: 'production', uid: owner },
  ];
  kube.seed(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: checkName('production', head), ownerReferences },
    data: { 'report.json': typeof own === 'string' ? own : JSON.stringify(own), 'report.md': markdown },
  } as ConfigMap);
  return kube;
}

const said = (kube: ReturnType<typeof world>, ...args: readonly string[]) =>
  saidOn(kube, ['-n', namespace, 'request', ...args]);

test('the report of a request is its Markdown, and for a program what it was made from', async () => {
  const { code, out, err } = await said(world({}), '17');
  assert.equal(code, 0, err);
  assert.equal(out, reportMarkdown(report));
  assert.deepEqual(JSON.parse((await said(world({}), '#17', '-o', 'json')).out), report);
});

test('what would steer a terminal is escaped, in text and in JSON', async () => {
  const title = 'Upgrade \u001b[2J\u202e';
  const hostile = { ...report, description: title };
  const kube = world({ report: hostile, markdown: `${title}\n- one\u0007\n` });
  const { out } = await said(kube, '17');
  assert.equal(out, 'Upgrade \\u001b[2J\\u202e\n- one\\u0007\n');
  const data = await said(kube, '17', '-o', 'json');
  assert.equal(data.out.split('\n').map(printable).join('\n'), data.out);
  assert.equal(JSON.parse(data.out).description, title);
});

for (const [what, kept] of [
  ['is not kept', undefined],
  ['is kept in a ConfigMap of another owner', { owner: 'uid-of-others' }],
  ['is of another commit', { report: { ...report, head: '0'.repeat(40) } }],
  ['is of another fleet', { report: { ...report, fleet: { namespace, name: 'staging' } } }],
  ['is no report', { report: '{"clusters": 7}' }],
] as const satisfies readonly (readonly [string, Kept | undefined])[])
  test(`a report that ${what} is not shown: the verdict is`, async () => {
    const { code, out, err } = await said(world(kept), '17');
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^error: no report is kept of 3f9c1d07a4be, the commit of request 17 \(failure: /);
    assert.match(err, /kubectl ratchet -n etcd-ratchet why fleet\/production\n$/);
  });

test('a request that is not open is told from those that are', async () => {
  const { code, err } = await said(world({}), '4');
  assert.deepEqual(
    [code, err],
    [1, 'error: no fleet of etcd-ratchet has checked a request 4; these are open: 17, 18, 19\n'],
  );
});

test('where several fleets have checked it, one is to be named', async () => {
  const staging = fleet('staging', { checks: production.status?.checks?.slice(0, 1) ?? [] });
  const kube = world({}, [production, staging]);
  const { code, err } = await said(kube, '17');
  assert.deepEqual(
    [code, err],
    [1, 'error: several fleets have checked request 17; name one by --fleet: production, staging\n'],
  );
  assert.equal((await said(kube, '17', '--fleet', 'production')).code, 0);
  assert.equal((await said(kube, '17', '--fleet', 'absent')).code, 1);
});

test('without a fleet, the namespace is in doubt; what is no number is not asked for', async () => {
  assert.match((await said(world({}, []), '17')).err, /there is no EtcdFleet in etcd-ratchet; name another namespace/);
  assert.equal((await said(world({}), '../17')).code, 2);
});
