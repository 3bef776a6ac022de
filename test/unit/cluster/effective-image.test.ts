import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { egressFrom } from '../../../functions/environment.ts';
import { decide } from '../../../reconcile/cluster/decide/decide.ts';
import { situate } from '../../../reconcile/cluster/know/situation.ts';
import {
  all,
  type Differences,
  endpoint,
  healthy,
  unborn,
  withEndpoint,
  withInputs,
  without,
  withRecord,
} from './observations.ts';

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const pinned = (version: string, digit: string) =>
  all(
    withInputs({ version, image: { repository: 'quay.io/coreos/etcd', digest: digest(digit) } }),
    withRecord({ version }),
    withEndpoint(endpoint(1, { version })),
  );
const egress = egressFrom({ RATCHET_IMAGES: 'listed.example' });

function seen(version: string, { spec, ...differences }: Differences) {
  const image = { repository: 'evil.example/etcd', digest: digest('e') };
  return { ...healthy(3, { spec: { version, image, ...spec }, ...differences }), egress };
}

function kept(...args: Parameters<typeof seen>) {
  const { inputs, pending, unfit } = situate(seen(...args)).effective;
  return { version: inputs.version, digit: inputs.image?.digest?.at(-1), pending, isUnfit: unfit !== undefined };
}
const stays = { pending: undefined, isUnfit: false };

describe('while the image of the spec is refused', () => {
  test('the version stays with the digest that members have, up or down, and nothing is prepared', () => {
    const every = pinned('3.6.16', 'a');
    for (const version of ['3.6.16', '3.6.20', '3.6.12', '3.7.3'])
      assert.deepEqual(kept(version, { every }), { ...stays, version: '3.6.16', digit: 'a' });
  });

  test('a roll that has begun goes on to the digest of its version', () => {
    for (const [version, others] of [
      ['3.6.20', '3.6.16'],
      ['3.7.3', '3.6.16'],
    ] as const)
      for (const ordinal of [0, 2]) {
        const differences = { every: pinned(others, 'a'), slots: { [ordinal]: pinned(version, 'b') } };
        assert.deepEqual(kept(version, differences), { ...stays, version, digit: 'b' });
      }
  });

  test('a roll to the next minor stays on that minor when the spec then asks for another patch', () => {
    const differences = { every: pinned('3.6.16', 'a'), slots: { 1: pinned('3.7.3', 'b') } };
    assert.deepEqual(kept('3.7.4', differences), { ...stays, version: '3.7.3', digit: 'b' });
  });

  test('a roll to the next minor that is reverted goes back to the digest of the minor before', () => {
    const told = withInputs({ version: '3.7.3', image: { repository: 'quay.io/coreos/etcd', digest: digest('b') } });
    const differences = { every: pinned('3.6.16', 'a'), slots: { 1: told } };
    assert.deepEqual(kept('3.6.17', differences), { ...stays, version: '3.6.16', digit: 'a' });
  });

  test('an image without a digest takes the version of the spec', () => {
    const every = withInputs({ image: { repository: 'quay.io/coreos/etcd' } });
    assert.deepEqual(kept('3.6.20', { every }), { ...stays, version: '3.6.20', digit: undefined });
  });

  test('data of a minor of which no member has a digest are opened by no lower one (I6)', () => {
    const lost = all(pinned('3.7.3', 'b'), without('peer', 'configMap', 'statefulSet', 'pod'));
    const differences = { every: pinned('3.6.16', 'a'), slots: { 1: lost } };
    assert.equal(kept('3.7.3', differences).isUnfit, true);
    const decision = decide(seen('3.7.3', differences));
    assert.deepEqual([decision.kind, decision.reason], ['refuse', 'NotAllowed']);
  });

  test('a birth that another invocation began with an image that is listed goes on', () => {
    const begun = decide(unborn(3));
    assert.ok(begun.kind === 'act' && begun.action.kind === 'prepare-members');
    const evil = { image: { repository: 'evil.example/etcd' } };
    const then = { ...unborn(3, { spec: evil }), egress };
    assert.equal(decide(then).reason, 'NotAllowed');
    const goesOn = decide({ ...then, lease: { kind: 'abandoned', holder: 'a/b', action: begun.action } });
    assert.deepEqual(goesOn.kind === 'act' && goesOn.action, begun.action);
    const refused = { ...begun.action, inputs: { ...begun.action.inputs, ...evil } };
    assert.equal(
      decide({ ...then, lease: { kind: 'abandoned', holder: 'a/b', action: refused } }).reason,
      'NotAllowed',
    );
  });
});
