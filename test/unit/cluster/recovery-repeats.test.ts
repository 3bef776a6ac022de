import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import type { Observation, RecoveryView } from '../../../reconcile/cluster/know/observation.ts';
import { withoutOutvoted } from '../../../reconcile/cluster/know/recovery/outvoted.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import { statusFor } from '../../../reconcile/cluster/report/status.ts';
import { conditionOf } from '../../../reconcile/objects/conditions.ts';
import { all, healthy, members, withRecord } from './observations.ts';
import { job as firstJob, id, known, pod, recovery, stopped, superseded } from './recoveries.ts';

/** A Job of a recovery whose pod is killed by its node, in ten minutes each time. */
function attempt(number: number, view: Partial<Extract<RecoveryView, { kind: 'known' }>>): Observation {
  const seen = healthy(3, {
    membership: { kind: 'unknown', cause: 'no quorum', last: members(3).members },
    slots: {
      0: all(stopped, withRecord(recovery(number))),
      1: superseded,
      2: superseded,
    },
  });
  return { ...seen, slots: withoutOutvoted(seen.slots), recovery: known(view) };
}

test('a recovery whose pod is killed each time is told to a person within days', () => {
  const failure = { container: 'etcd', code: 137, words: '', reason: 'Error' };
  let status: Observation['cluster']['status'];
  let at = new Date('2026-01-02T03:04:05Z').getTime();
  for (let number = 1; number < 3 * 24 * 6; number += 1) {
    const job = { ...firstJob, uid: `job-${number}`, attempt: `${id}/${number}` };
    const looks = [
      attempt(number, { job, pods: [pod] }),
      attempt(number, { job: { ...job, failed: true }, pods: [{ ...pod, failure }] }),
      attempt(number, {}),
    ];
    for (const [index, look] of looks.entries()) {
      at += index === 1 ? 600_000 : 1000;
      const seen = { ...look, at: new Date(at), cluster: { ...look.cluster, ...(status && { status }) } };
      const decision = decide(seen);
      status = statusFor(situate(seen), decision, { kind: decision.kind === 'act' ? 'acted' : 'none' });
      if (conditionOf(status, 'Stalled')) return;
    }
  }
  assert.fail(`after three days it is ${status?.lastDecision?.reason}, and Reconciling`);
});
