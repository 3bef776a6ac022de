import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterBackup } from '../../../manifests/api/cluster-backup.ts';
import { backUpBeforeHibernation } from '../../../reconcile/cluster/decide/rules/deletion/back-up-before-hibernation.ts';
import type { AwaitedBackupView, Observation } from '../../../reconcile/cluster/know/observation.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { healthy, prepared } from './observations.ts';

const to = { object: 'pvc://backups/{{cluster}}/{{timestamp}}.db' } as const;
const backup: ClusterBackup = { to, verify: 'Trailer', beforeHibernation: 'Required' };

function awaited(before: AwaitedBackupView['before']): AwaitedBackupView {
  return { kind: 'unknown', before, cause: 'forbidden' };
}

function said(seen: Observation, before: AwaitedBackupView['before'] = 'hibernation'): string | undefined {
  return backUpBeforeHibernation(situate({ ...seen, awaitedBackup: awaited(before) }))?.reason;
}

const sleeps = healthy(3, { spec: { replicas: 0, backup } });

test('a hibernation waits for its backup, and for no other one', () => {
  assert.equal(said(sleeps), 'BackupsNotPermitted');
  assert.equal(said(sleeps, 'deletion'), undefined);
});

test('a cluster that is to run, or is not born, waits for no backup before a hibernation', () => {
  assert.equal(said(healthy(3, { spec: { backup } })), undefined);
  assert.equal(said(prepared(3, { spec: { replicas: 0, backup } })), undefined);
});

test('no backup before a hibernation is taken while the fleet has no room', () => {
  assert.equal(said({ ...sleeps, crowdedBy: ['shop/other'] }), 'WaitingForRoom');
});
