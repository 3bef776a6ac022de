import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Asked, nothingHere } from '../../../functions/tick/nothing-here.ts';
import { render } from '../../../functions/tick/output.ts';
import { renderPlans } from '../../../functions/tick/plan-output.ts';

const nothing = {
  fleets: [],
  clusters: [],
  results: {},
  moved: false,
  unsettled: false,
  workRemains: false,
  leftOut: new Map(),
};
const all: Asked = { clusters: [] };
const asked: Asked = { clusters: [{ namespace: 'paymnets', name: 'orders' }] };

test('a tick for a cluster that is missing names it, and how to list those that there are', () => {
  const says =
    /^there is no EtcdCluster paymnets\/orders; .* kubectl get etcdclusters\.etcd\.ratchet\.dev --all-namespaces$/;
  assert.match(nothingHere(asked), says);
  assert.equal(render(nothing, { ...asked, output: 'text' }, { requests: {} }), `${nothingHere(asked)}\n`);
  const plans = { fleets: [], clusters: [], others: {} };
  assert.equal(renderPlans(plans, { ...asked, output: 'text' }, { requests: {} }), `${nothingHere(asked)}\n`);
});

test('a tick for one fleet, for one namespace or for all says what is missing there', () => {
  const fleet = { namespace: 'etcd-ratchet', name: 'prod' };
  assert.match(nothingHere({ ...all, fleet }), /^there is no EtcdFleet etcd-ratchet\/prod; .* kubectl get etcdfleets/);
  assert.match(
    nothingHere({ ...all, namespace: 'paymnets' }),
    /in namespace paymnets, .*kubectl get namespace paymnets$/,
  );
  assert.equal(nothingHere(all), 'there is no EtcdFleet and no EtcdCluster here');
});
