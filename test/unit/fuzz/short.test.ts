import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fleetKinds } from '../../../manifests/api/fleet-kinds.ts';
import { validateDocument } from '../../../manifests/api/validate.ts';
import { fuzz } from '../../fuzz/run.ts';
import { type Target, target } from '../../fuzz/target.ts';
import { documents } from '../../fuzz/targets/specs.ts';
import { targets } from '../../fuzz/targets.ts';

/** A few of each in every run; `npm run fuzz -- --seconds 600` takes its time. */
const runs = 60;

for (const each of targets) {
  await each(async (one) => {
    test(`${one.name}: nothing that is sent makes it fail, hang or swell`, async (t) => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      t.diagnostic(`${runs} inputs, seed ${seed}`);
      const found = await fuzz(one, { seed, runs });
      assert.equal(found, undefined, found?.report);
    });
  });
}

test('specs are distorted from documents that are taken undistorted, one of each kind', () => {
  for (const document of documents) assert.deepEqual(validateDocument(document), [], JSON.stringify(document));
  const kinds = documents.map(({ kind }) => kind);
  assert.deepEqual(kinds.toSorted(), Object.keys(fleetKinds).toSorted());
});

test('the fuzzer finds what there is to find: an exception, and an input that takes too long', async () => {
  const { default: fc } = await import('fast-check');
  const cpuMs = () => Object.values(process.cpuUsage()).reduce((sum, used) => sum + used, 0) / 1000;
  const busy = (ms: number) => {
    for (const before = cpuMs(); cpuMs() - before < ms; );
  };
  const broken: Target<number> = {
    name: 'broken',
    inputs: fc.nat(1000),
    try: async (n) => {
      if (n >= 500) throw new Error('boom');
    },
  };
  const slow: Target<null> = { name: 'slow', inputs: fc.constant(null), try: async () => busy(150) };
  await target(broken)(async (one) => {
    assert.match((await fuzz(one, { seed: 1, runs: 100 }))?.report ?? '', /Counterexample: \[500\][\s\S]*boom/);
  });
  await target(slow)(async (one) => {
    assert.match((await fuzz(one, { seed: 1, runs: 1, cpuMs: 100 }))?.report ?? '', /ms of processor time/);
  });
});
