import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { carriedOut } from '../../../reconcile/cluster/foresee/run.ts';
import type { Action } from '../../../reconcile/cluster/know/action.ts';
import type { Observation, Slot } from '../../../reconcile/cluster/know/observation.ts';
import { realCode } from '../../explore/model/code.ts';
import { advance, claimed, decideIn, nonceOf } from '../../explore/model/invocation.ts';
import { look } from '../../explore/model/look.ts';
import { modelOf } from '../../explore/model/model.ts';
import type { State } from '../../explore/model/state.ts';
import { scenarios } from '../../explore/scenarios.ts';
import { search } from '../../explore/search/search.ts';

/**
 * What the model's actions write is what the simulation of the plan says they write: two readings of the same actions,
 * made for different ends. Where one of them drifts away from actions/*.ts, they differ.
 */
describe('the actions of the search write what the simulation of a plan says', () => {
  const seen = new Set<string>();
  const wanted = [
    'birth of 1',
    'grow 1 to 3',
    'shrink 3 to 1',
    'heal 3',
    'upgrade, and back',
    'configuration',
    'volumes',
    'hibernate, and wake',
    'recovery, and its Job is lost',
    'regrowth, and a lost volume comes back',
  ];
  for (const scenario of scenarios.filter(({ name }) => wanted.includes(name))) {
    test(scenario.name, () => {
      const code = realCode();
      const model = modelOf(scenario, code, { convergence: false });
      let compared = 0;
      const comparing = {
        ...model,
        examine: (state: State) => {
          if (state.acting || state.world.cluster.gone) return undefined;
          const decision = decideIn(state.world, code);
          if (decision.kind !== 'act') return undefined;
          seen.add(decision.action.kind);
          compared += 1;
          const message = difference(state, decision.action);
          return message === undefined ? undefined : { invariant: 'drift', message };
        },
      };
      const { found } = search(comparing, { states: 1200, time: 60_000 });
      assert.equal(found?.violation.message, undefined, found?.story.join('\n'));
      assert.ok(compared > 20, `only ${compared} actions were compared`);
    });
  }

  test('and that of most kinds of action', () => {
    assert.ok(seen.size >= 18, [...seen].join(', '));
  });
});

/** Nobody disturbs it: the same in the model, and as simulated. */
function difference(state: State, action: Action): string | undefined {
  const code = realCode();
  const before = remembering(look(state.world, { nonce: nonceOf(state.world) }), state);
  let current = claimed(state, action, 'Test');
  while (current.acting) {
    const advanced = advance(current, current.acting, code);
    if (!advanced || /stops|refused/.test(advanced.event.what)) return undefined;
    current = advanced.after;
  }
  const simulated = carriedOut(action, before);
  const [ours, theirs] = [look(current.world, { nonce: '' }), simulated].map(written);
  return ours === theirs ? undefined : `${action.kind}:\n${ours}\n${theirs}`;
}

/** A simulation knows from which template its pods were made. */
function remembering(observation: Observation, { world }: State): Observation {
  const slots = observation.slots.map((slot): Slot => {
    const madeFrom = world.places.find(({ name }) => name === slot.name)?.pod?.hash;
    return slot.pod ? { ...slot, pod: Object.assign({ ...slot.pod }, { madeFrom }) } : slot;
  });
  return { ...observation, slots };
}

/** What an action can write, without UIDs. */
function written({ slots, shared, membership, cluster, recovery }: Observation): string {
  const members =
    membership.kind === 'known'
      ? membership.members.map(({ peerURLs, isLearner }) => [peerURLs, isLearner])
      : 'unknown';
  const job = recovery?.kind === 'known' ? recovery.job?.attempt : undefined;
  const objects = slots.map(writtenOf).filter(Boolean);
  return JSON.stringify([objects, shared, members, cluster.metadata.finalizers ?? [], job]);
}

function writtenOf({ name, peer, volume: claim, configMap, statefulSet, pod }: Slot) {
  // The search lets a PVC that no pod holds go at once, a simulation when the world settles.
  const volume = claim?.leaving ? undefined : claim;
  if (!peer && !volume && !configMap && !statefulSet && !pod) return undefined;
  const record: { mayHaveStarted?: string } | undefined =
    volume?.record.kind === 'valid' ? { ...volume.record.record } : undefined;
  if (record?.mayHaveStarted !== undefined)
    record.mayHaveStarted = record.mayHaveStarted === peer?.uid ? 'its' : 'other';
  return {
    name,
    peer: peer && [peer.inputs.version, peer.inputs.etcd, peer.inputs.storage.size, peer.bootstrap],
    volume: volume && [record && Object.entries(record).toSorted(), volume.size],
    configMap: configMap && [configMap.initialCluster, configMap.initialClusterState, configMap.immutable],
    statefulSet: statefulSet?.inputsHash,
    pod: pod !== undefined && !pod.leaving,
  };
}
