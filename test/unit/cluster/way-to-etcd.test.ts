import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wayTo } from '../../../reconcile/cluster/observe/observe.ts';
import { StepError } from '../../../reconcile/requests/refusals.ts';

test('without the client certificate no step reaches etcd, and its reason asks for a person', async () => {
  const way = wayTo(new Map(), { kind: 'none', cause: 'there is no Secret orders-client-tls' }, () =>
    assert.fail('asked'),
  );
  await assert.rejects(way.connect(), (error) => {
    assert.ok(error instanceof StepError);
    assert.equal(error.failure.reason, 'NoEtcdCredentials');
    assert.match(error.message, /there is no Secret orders-client-tls/);
    return true;
  });
});
