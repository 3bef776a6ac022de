import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withReportName } from '../../../functions/pass/reports-as.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { statusContext } from '../../../reconcile/fleet/names.ts';
import { fleetWith } from '../fleet/objects.ts';

const url = 'https://git.example.com/platform/etcd.git';

interface Facts {
  readonly url?: string;
  readonly age?: number;
  readonly forge?: boolean;
  readonly deleting?: boolean;
  readonly status?: Partial<NonNullable<EtcdFleet['status']>>;
}

/** `age` in days. */
function fleetIn(namespace: string, { url: at = url, age = 1, forge = true, deleting, status }: Facts = {}): EtcdFleet {
  const { metadata, spec, ...fleet } = fleetWith(status, { forge });
  const creationTimestamp = `2026-11-${20 - age}T00:00:00Z`;
  const more = { namespace, uid: `uid-${namespace}`, creationTimestamp };
  return {
    ...fleet,
    metadata: { ...metadata, ...more, ...(deleting && { deletionTimestamp: '2026-11-21T00:00:00Z' }) },
    spec: { ...spec, git: { ...spec.git, url: at } },
  };
}

/** What they are called after each has reported once, in this order, knowing what the ones before have written. */
function called(fleets: readonly EtcdFleet[]): Readonly<Record<string, string>> {
  const all = [...fleets];
  for (const [index, fleet] of fleets.entries()) all[index] = withReportName(fleet, all);
  return Object.fromEntries(all.map((fleet) => [fleet.metadata.namespace, statusContext(fleet)]));
}

const short = 'etcd-ratchet/production';

test('a fleet alone has the name that its people know', () => {
  assert.deepEqual(called([fleetIn('a')]), { a: short });
});

test('of two on one repository the older has the name, whichever reports first', () => {
  const [a, b] = [fleetIn('a', { age: 1 }), fleetIn('b', { age: 2 })];
  assert.deepEqual(called([a, b]), { a: `${short}.a`, b: short });
  assert.deepEqual(called([b, a]), { a: `${short}.a`, b: short });
  const same = [fleetIn('b'), fleetIn('a'), fleetIn('c')];
  assert.deepEqual(called(same), { a: short, b: `${short}.b`, c: `${short}.c` });
});

for (const [what, other] of [
  ['without .git', 'https://git.example.com/platform/etcd'],
  ['with a slash at its end', `${url}/`],
  ['with many', `${url}///`],
  ['with a host in capitals', 'HTTPS://GIT.Example.COM/platform/etcd.git'],
  ['with its port', 'https://git.example.com:443/platform/etcd.git'],
  ['in capitals', 'https://git.example.com/Platform/ETCD.git'],
  ['by ssh', 'git@git.example.com:platform/etcd.git'],
  ['by ssh, as a URL', 'ssh://git@git.example.com:22/platform/etcd.git'],
  ['by plain http, inside', 'http://gitea.gitea.svc:3000/platform/etcd.git'],
  ['with an escaped letter', 'https://git.example.com/platform/%65tcd.git'],
  ['doubly separated', 'https://git.example.com//platform//etcd.git'],
] as const) {
  test(`one repository is one, spelled ${what}`, () => {
    assert.deepEqual(called([fleetIn('a', { age: 9 }), fleetIn('b', { url: other })]), { a: short, b: `${short}.b` });
    assert.deepEqual(called([fleetIn('a', { age: 9, url: other }), fleetIn('b')]), { a: short, b: `${short}.b` });
  });
}

for (const [what, other] of [
  ['on another repository', fleetIn('a', { age: 9, url: 'https://git.example.com/platform/other.git' })],
  ['whose repository is called so only in part', fleetIn('a', { age: 9, url: 'https://git.example.com/etcd.git' })],
  ['that tells no forge', fleetIn('a', { age: 9, forge: false })],
  ['that is being deleted', fleetIn('a', { age: 9, deleting: true })],
  ['whose URL is none', fleetIn('a', { age: 9, url: '%' })],
] as const) {
  test(`a fleet of the same name ${what} is not in the way`, () => {
    assert.equal(called([other, fleetIn('b')]).b, short);
  });
}

test('who has reported under the name keeps it against an older one that comes to its repository', () => {
  const b = withReportName(fleetIn('b'), []);
  const moved = fleetIn('a', { age: 9, status: { reportsAs: { name: 'production', url: 'https://elsewhere/x/y' } } });
  assert.deepEqual(called([moved, b]), { a: `${short}.a`, b: short });
});

test('the name does not change when the other goes, comes back, or is spelled otherwise', () => {
  const a = withReportName(fleetIn('a', { age: 9 }), []);
  const b = withReportName(fleetIn('b'), [a]);
  const alone = withReportName(b, []);
  assert.deepEqual(alone, b);
  const respelled = { ...alone, spec: { ...alone.spec, git: { ...alone.spec.git, url: `${url}/` } } };
  assert.deepEqual(withReportName(respelled, []).status, b.status);
  assert.deepEqual(called([withReportName(fleetIn('a', { age: 0 }), [b]), b]), { a: short, b: `${short}.b` });
});

test('in its new repository a fleet that moves is named as all others there', () => {
  const b = withReportName(fleetIn('b'), [fleetIn('a', { age: 9 })]);
  const elsewhere = { ...b, spec: { ...b.spec, git: { ...b.spec.git, url: 'https://git.example.com/b/etcd' } } };
  assert.deepEqual(called([elsewhere]), { b: short });
});

test('where both have had the name, the younger leaves it, and reports anew under its own', () => {
  const sent = {
    number: '1',
    head: '1'.repeat(40),
    target: '2'.repeat(40),
    state: 'success',
    description: '',
  } as const;
  const status = { reportsAs: { name: 'production', url }, checks: [{ ...sent, sent: true }] };
  const [a, b] = [fleetIn('a', { age: 9, status }), fleetIn('b', { status })];
  assert.deepEqual(called([a, b]), { a: short, b: `${short}.b` });
  assert.deepEqual(withReportName(a, [a, b]).status, a.status);
  assert.deepEqual(withReportName(b, [a, b]).status?.checks, [sent]);
});

test('a name that a person wrote into the status counts for none, and no forge means no name', () => {
  const forged = fleetIn('b', { status: { reportsAs: { name: 'production.a', url } } });
  assert.equal(statusContext(forged), short);
  assert.deepEqual(called([forged]), { b: short });
  const silent = fleetIn('b', { forge: false });
  assert.equal(withReportName(silent, [fleetIn('a')]), silent);
});
