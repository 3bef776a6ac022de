import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VolumeRecord } from '../../../../manifests/render/volume-record.ts';
import type { ActionOf } from '../../../../reconcile/cluster/know/action.ts';
import type { Observation, RecoveryJobView, RecoveryView } from '../../../../reconcile/cluster/know/observation.ts';
import { all, healthy, noQuorum, silent, withEndpoint, without, withRecord } from '../observations.ts';
import { assertStopped, sentBy } from './sent.ts';

/** Each guard of an action by itself: the world is as no rule would begin it, as after the decision it may be. */

const id = '0123456789ab';
const volume = { name: 'orders-0', uid: 'volume-0' };
const gone = without('statefulSet', 'pod');

function seen(
  record: Partial<VolumeRecord>,
  { runs = false, job }: { readonly runs?: boolean; readonly job?: Partial<RecoveryJobView> } = {},
): Observation {
  const observation = healthy(1, {
    membership: noQuorum('no member runs'),
    every: all(withEndpoint(silent), withRecord(record), runs ? without('pod') : gone),
  });
  const own = { name: 'orders-0-restore', uid: 'job', leaving: false, attempt: `${id}/1`, failed: false };
  const recovery: RecoveryView = { kind: 'known', pods: [], nodes: {}, ...(job && { job: { ...own, ...job } }) };
  return { ...observation, recovery };
}

const restoring = (attempt: number): Partial<VolumeRecord> => ({
  state: 'restoring',
  recovery: { id, attempt, lastSeenOn: {} },
});

describe('the Job of a restore', () => {
  const action: ActionOf<'restore-snapshot'> = {
    kind: 'restore-snapshot',
    volume,
    peer: { name: 'orders-0', uid: 'peer-0' },
    id,
    attempt: 1,
    source: 'aaaaaaaaaaaa',
  };

  test('is made once the volume bears the number of its attempt', () => {
    assert.deepEqual(sentBy(action, seen(restoring(0))).writes, ['writeRecord orders-0', 'createRestoreJob orders-0']);
  });

  for (const [what, observation] of [
    ['the member runs, or has what would run it', seen(restoring(0), { runs: true })],
    ['that attempt has a number already', seen(restoring(1))],
    ['its data are there', seen({ ...restoring(0), state: 'restored' })],
    ['its member is sealed', seen({ ...restoring(0), state: 'sealed' })],
  ] as const)
    test(`is not made where ${what} (I11)`, () => assertStopped(sentBy(action, observation)));
});

describe('a restore', () => {
  const action: ActionOf<'conclude-restore'> = {
    kind: 'conclude-restore',
    volume,
    job: { name: 'orders-0-restore', uid: 'job' },
    id,
    attempt: 1,
  };
  const done = { failed: true, completed: true } as const;

  test('is concluded on the volume first, and then its Job is deleted', () => {
    const { writes } = sentBy(action, seen(restoring(1), { job: done }));
    assert.deepEqual(writes, ['writeRecord orders-0', 'deleteJob orders-0']);
  });

  for (const [what, observation] of [
    ['its Job runs', seen(restoring(1), { job: {} })],
    ['its Job has failed', seen(restoring(1), { job: { failed: true } })],
    ['its Job is of another attempt', seen(restoring(1), { job: { ...done, attempt: `${id}/2` } })],
    ['its Job is another one', seen(restoring(1), { job: { ...done, uid: 'another' } })],
    ['its volume is at another attempt', seen(restoring(2), { job: done })],
    ['its volume is sealed', seen({ ...restoring(1), state: 'sealed' }, { job: done })],
  ] as const)
    test(`is not concluded where ${what} (I11)`, () => assertStopped(sentBy(action, observation)));
});
