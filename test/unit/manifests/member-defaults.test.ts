import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseQuantity, type Quantity } from '../../../manifests/api/quantity.ts';
import { sameInputs } from '../../../manifests/render/inputs-hash.ts';
import { withRequests } from '../../../manifests/render/member-defaults.ts';
import { etcdContainer } from '../../../manifests/render/names.ts';
import { podTemplate } from '../../../manifests/render/pod-template.ts';
import { recoveryJob } from '../../../manifests/render/recovery-job.ts';
import { peerOf, peerWithTemplate } from './build-fixtures.ts';

const ours = { requests: { cpu: '100m', memory: '256Mi' } };

function resourcesOf(peer: ReturnType<typeof peerOf>) {
  return podTemplate(peer).spec.containers.find(({ name }) => name === etcdContainer)?.resources;
}

test('a member whose spec says nothing asks for a tenth of a CPU and 256Mi, and has no limit', () => {
  assert.deepEqual(resourcesOf(peerOf()), ours);
  assert.deepEqual(resourcesOf(peerOf({ resources: {} })), ours);
  assert.deepEqual(resourcesOf(peerWithTemplate({ containers: [{ name: 'etcd', resources: {} }] })), ours);
});

test('what a person says stands, wherever it is said, and 0 is a word too', () => {
  const small = { limits: { memory: '128Mi' } };
  const expected = { ...small, requests: { cpu: '100m' } };
  assert.deepEqual(resourcesOf(peerOf({ resources: small })), expected);
  assert.deepEqual(resourcesOf(peerWithTemplate({ containers: [{ name: 'etcd', resources: small }] })), expected);
  const none = { requests: { cpu: 0, memory: 0 } };
  assert.deepEqual(resourcesOf(peerOf({ resources: none })), none);
  const ofPod = { resources: { limits: { cpu: '50m', memory: '64Mi' } } };
  assert.deepEqual(resourcesOf(peerWithTemplate(ofPod)), {}, 'ours might not fit into what the whole pod may use');
});

const amount = fc.constantFrom<Quantity>('0', '10m', '1', '64Mi', '2Gi', 100);
const amounts = fc.option(fc.dictionary(fc.constantFrom('cpu', 'memory', 'ephemeral-storage'), amount), {
  nil: undefined,
});

test('given resources stay, no default request is above a limit, and each has a value', () => {
  fc.assert(
    fc.property(amounts, amounts, (limits, requests) => {
      const given = { ...(limits && { limits }), ...(requests && { requests }) };
      const made = withRequests(given);
      assert.deepEqual(made.limits, limits);
      for (const [name, value] of Object.entries(requests ?? {})) assert.equal(made.requests?.[name], value);
      for (const name of ['cpu', 'memory'] as const) {
        assert.ok(made.requests?.[name] !== undefined || made.limits?.[name] !== undefined);
        if (requests && name in requests) continue;
        const [request, limit] = [made.requests?.[name], made.limits?.[name]];
        if (request !== undefined && limit !== undefined) assert.ok(parseQuantity(request) <= parseQuantity(limit));
      }
    }),
  );
});

test('a member and a recovery get the priority class that is offered, unless a person names one', () => {
  const offered = { priorityClassName: 'etcd-ratchet-member' };
  const order = { image: 'us', id: 'a', attempt: 1, withoutCopy: false };
  assert.equal(podTemplate(peerOf(), offered).spec.priorityClassName, 'etcd-ratchet-member');
  assert.equal(recoveryJob(peerOf(), order, offered).spec.template.spec.priorityClassName, 'etcd-ratchet-member');
  assert.ok(!('priorityClassName' in podTemplate(peerOf()).spec), 'none where none is offered');
  const named = peerWithTemplate({ priorityClassName: 'databases' });
  assert.equal(podTemplate(named, offered).spec.priorityClassName, 'databases');
});

test('neither is an input of a member, so that no member is started anew for them', () => {
  const { spec } = peerOf();
  assert.ok(sameInputs(spec, { ...spec, resources: {} }));
  assert.ok(!sameInputs(spec, { ...spec, resources: ours }), 'said aloud, the same is a wish like any other');
});
