import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etcd } from '../../support/cluster/binaries/catalogue.ts';
import { estimateOf } from '../../support/cluster/binaries/estimate.ts';
import { kubernetes } from '../../support/cluster/binaries/kubernetes.ts';

const chosen = { version: '1.36.3', asked: false } as const;
const groups = [
  [kubernetes('kube-apiserver', chosen), kubernetes('kube-scheduler', chosen)],
  [etcd('etcd', '3.6.16'), etcd('etcdutl', '3.6.16')],
] as const;
const packages = 500;

/** Which part of a build's packages is compiled when this part of its time is over. */
const courses = {
  evenly: (time: number) => time,
  'with the large packages late': (time: number) => Math.sqrt(time),
  'with links for a tenth of the time': (time: number) => Math.min(1, time / 0.9),
} as const;

for (const [how, course] of Object.entries(courses))
  for (const slowness of [0.5, 1, 4])
    test(`a machine that takes ${slowness} times as long is never promised less, ${how}`, () => {
      let clock = 0;
      const estimate = estimateOf(groups, () => clock * 1000);
      const takes = groups.map((group) => slowness * group.reduce((sum, { buildSeconds }) => sum + buildSeconds, 0));
      const whole = takes.reduce((sum, seconds) => sum + seconds, 0);
      let promises = 0;
      for (const [index, group] of groups.entries()) {
        const begun = clock;
        const seconds = takes[index] ?? 0;
        const compiled = estimate.compiled(group, packages);
        let count = 0;
        for (; clock < begun + seconds; clock += slowness) {
          for (; count < Math.floor(packages * course((clock - begun) / seconds)); count++) compiled();
          const left = estimate.left();
          if (left === undefined) continue;
          promises += 1;
          assert.ok(left >= whole - clock, `${left} s promised, ${whole - clock} s left after ${clock} s`);
        }
        estimate.done(group);
      }
      assert.ok(promises > 50, `${promises}`);
      assert.equal(estimate.left(), 0);
    });

test('nothing is promised before the machine has shown its speed', () => {
  let clock = 0;
  const estimate = estimateOf(groups, () => clock * 1000);
  const compiled = estimate.compiled(groups[0], packages);
  for (let count = 0; count < 100; count++) compiled();
  clock = 10;
  assert.equal(estimate.left(), undefined);
  clock = 25;
  assert.ok((estimate.left() ?? 0) > 60);
});

test('where Go does not say how many packages there are, nothing is promised', () => {
  let clock = 0;
  const estimate = estimateOf(groups, () => clock * 1000);
  estimate.compiled(groups[0], Number.POSITIVE_INFINITY)();
  clock = 100;
  assert.equal(estimate.left(), undefined);
});
