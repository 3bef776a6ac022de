import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitErrorClasses } from '../../../gitops/git/error.ts';
import type { EtcdFleet } from '../../../manifests/api/etcd-fleet.ts';
import { historyAfter } from '../../../reconcile/fleet/history.ts';
import type { Reading } from '../../../reconcile/fleet/reading.ts';
import { isVerified, lastVerified, notVerified, verificationAfter } from '../../../reconcile/fleet/verified.ts';

const url = 'https://git.example.com/etcd.git';
const sha = 'a'.repeat(40);
const record = { revision: `main@sha1:${sha}`, url, mode: 'Head', signedBy: 'ada', key: 'SHA256:k' };

function fleet(git: Partial<EtcdFleet['spec']['git']> = {}): Pick<EtcdFleet, 'spec' | 'status'> {
  const verify = { mode: 'Head', configMapName: 'signers' } as const;
  return {
    spec: { git: { url, ref: 'main', verify, ...git } },
    status: { observedGeneration: 1, verification: record },
  };
}

test('the commit that was verified last counts for this branch of this repository alone', () => {
  assert.equal(lastVerified(fleet()), sha);
  assert.equal(lastVerified(fleet({ ref: 'other' })), undefined);
  assert.equal(lastVerified(fleet({ url: 'https://git.example.com/other.git' })), undefined);
  assert.equal(lastVerified({ spec: fleet().spec }), undefined);
});

test('what was applied counts as read only if it was verified as the fleet asks now', () => {
  const { revision } = record;
  assert.ok(isVerified(fleet(), revision));
  assert.ok(isVerified(fleet({ verify: { configMapName: 'signers' } }), revision), 'Head is the default');
  assert.ok(isVerified({ spec: { git: { url, ref: 'main' } } }, revision), 'it asks for nothing');
  assert.ok(!isVerified(fleet(), `main@sha1:${'b'.repeat(40)}`));
  assert.ok(!isVerified(fleet({ verify: { mode: 'Tag', configMapName: 'signers' } }), revision));
  assert.ok(!isVerified(fleet({ url: 'https://git.example.com/other.git' }), revision));
  assert.ok(!isVerified({ spec: fleet().spec }, revision), 'it began to ask');
});

const tree = { specs: [], problems: [], files: new Set<string>(), complete: true, notes: [] };

test('a revision that was verified is remembered with its signer until another one is', () => {
  const verified = { mode: 'HeadAndMerges', by: 'bob', key: 'K', objects: 3 } as const;
  const next: Reading = { kind: 'tree', revision: 'main@sha1:b', tree: { ...tree, verified } };
  const after = { revision: 'main@sha1:b', url, mode: 'HeadAndMerges', signedBy: 'bob', key: 'K' };
  assert.deepEqual(verificationAfter(fleet(), next), after);
  const failed: Reading = { kind: 'failed', reason: 'CommitNotSigned', message: 'm', retryable: false };
  for (const reading of [failed, { kind: 'unchanged', revision: 'r' } as const])
    assert.deepEqual(verificationAfter(fleet(), reading), record);
});

test('a fleet that asks for no signature remembers none', () => {
  const { verify: _, ...git } = fleet().spec.git;
  const asked = { ...fleet(), spec: { git } };
  assert.equal(verificationAfter(asked, { kind: 'unchanged', revision: record.revision }), undefined);
});

test('a commit that is not signed as asked stands in the history as such, and needs a person', () => {
  const classes = new Map<string, string>(Object.entries(gitErrorClasses));
  for (const reason of notVerified) {
    assert.equal(classes.get(reason), 'terminal', reason);
    const reading: Reading = { kind: 'failed', revision: 'main@sha1:b', reason, message: 'm', retryable: false };
    const [entry] = historyAfter([], { reading, applied: false }, 'now') ?? [];
    assert.deepEqual(entry, { revision: 'main@sha1:b', outcome: 'Unverified', at: 'now' });
  }
});
