import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hibernationBackupNow } from '../../../reconcile/cluster/know/backups/hibernation-backup.ts';
import type { Observation } from '../../../reconcile/cluster/know/observation.ts';
import { all, endpoint, healthy, silent, withEndpoint, withRecord } from './observations.ts';

/** An invocation died after the first volume was told which backup it is put to sleep on. */

const one = { name: 'orders-hibernation', uid: 'u1', endedAt: '2026-01-02T03:04:05Z' };
const ended = new Date(one.endedAt);
const hour = 3_600_000;

function told(backup: typeof one & { readonly revision?: number }, serving: Parameters<typeof withEndpoint>[0]) {
  const asleep = all(withRecord({ state: 'hibernating', hibernationBackup: backup }), withEndpoint(silent));
  return healthy(3, { slots: { 0: asleep, 1: withEndpoint(serving), 2: withEndpoint(silent) } });
}

function now(seen: Observation, afterMs = 0) {
  return hibernationBackupNow({ ...seen, at: new Date(ended.getTime() + afterMs) });
}

test('the next invocation goes on with what a volume was told, while no member has later writes', () => {
  const backup = { ...one, revision: 10 };
  assert.deepEqual(now(told(backup, endpoint(1, { revision: 10n }))), backup);
  assert.equal(now(told(backup, endpoint(1, { revision: 11n }))), undefined);
});

test('what a volume was told without a revision counts only where no member answers', () => {
  assert.deepEqual(now(told(one, silent)), one);
  assert.equal(now(told(one, endpoint(1))), undefined);
});

test('where no member answers, what a volume was told counts for an hour', () => {
  const backup = { ...one, revision: 10 };
  assert.deepEqual(now(told(backup, silent), hour), backup);
  assert.equal(now(told(backup, silent), hour + 1), undefined);
});

test('what volumes were told counts only where they were told the same', () => {
  const seen = told(one, silent);
  const another = { ...one, uid: 'u2' };
  const asleep = all(withRecord({ state: 'hibernating', hibernationBackup: another }), withEndpoint(silent));
  assert.equal(
    now({ ...seen, slots: seen.slots.map((slot) => (slot.ordinal === 2 ? asleep(slot) : slot)) }),
    undefined,
  );
});

test('what was taken for it counts where it is good, known, and was taken before this very sleep', () => {
  const seen = { ...healthy(3, { every: withEndpoint(silent) }) };
  const good = {
    kind: 'known',
    before: 'hibernation',
    name: one.name,
    state: 'good',
    ended: { uid: one.uid, at: '2026-01-02T03:04:05.000Z', revision: 10 },
  } as const;
  const of = (change: object) => now({ ...seen, awaitedBackup: { ...good, ...change } as never });
  assert.deepEqual(of({}), { ...one, revision: 10 });
  for (const change of [
    { kind: 'missing' },
    { before: 'deletion' },
    { state: 'failed' },
    { state: 'under-way' },
    { ended: undefined },
    { ended: { ...good.ended, at: 'soon' } },
  ])
    assert.equal(of(change), undefined, JSON.stringify(change));
});
