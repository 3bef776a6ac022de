import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeRequest } from '../../support/fakes/kube.ts';
import { setStage } from './checks-stage.ts';
import { wholePass } from './pass.ts';
import { clusterYaml } from './scene.ts';

for (const [what, spec] of [
  ['checks are disabled', { checks: { pullRequests: 'Disabled' } }],
  ['the fleet names no forge any more', { forge: undefined }],
] as const) {
  test(`where ${what}, the reports go, and then what is remembered of them`, async () => {
    let refusing = true;
    const before = (request: FakeRequest) => {
      if (refusing && isRemoval(request)) throw refusal();
    };
    await using stage = await setStage({}, { before });
    await stage.open(10, { 'c/stock.yaml': clusterYaml('stock') });
    await stage.check();
    const { forge, ...rest } = stage.scene.fleet().spec;
    const changed = 'forge' in spec ? rest : { ...rest, ...(forge && { forge }), ...spec };
    await stage.scene.fake.update(resources.fleets, { ...stage.scene.fleet(), spec: changed });

    await wholePass(stage.scene);
    assert.equal(stage.reports().length, 1, 'it could not be removed');
    assert.equal(stage.scene.fleet().status?.checks?.length, 1, 'so it is not forgotten');

    refusing = false;
    await wholePass(stage.scene);
    assert.deepEqual(stage.reports(), []);
    assert.equal(stage.scene.fleet().status?.checks, undefined);
    assert.ok(!stage.scene.fleet().status?.conditions?.some(({ type }) => type === 'RequestsChecked'));
  });
}

test('a report of a closed request that can not be removed is removed by the next pass', async () => {
  let refusing = true;
  await using stage = await setStage(
    {},
    {
      before: (request) => {
        if (refusing && isRemoval(request)) throw refusal();
      },
    },
  );
  await stage.open(11, { 'c/stock.yaml': clusterYaml('stock') });
  await stage.check();
  stage.forge.pulls.shift();
  const { failure, checks } = await stage.check();
  assert.deepEqual([failure?.reason, checks.length], ['ReportNotKept', 1]);
  refusing = false;
  assert.deepEqual(await stage.check(), { checks: [] });
  assert.deepEqual(stage.reports(), []);
});

function isRemoval({ verb, resource }: FakeRequest): boolean {
  return verb === 'DELETE' && resource === resources.configMaps;
}

function refusal(): KubeError {
  return new KubeError('the API server is overloaded', { class: 'retryable', status: 500, reason: 'InternalError' });
}
