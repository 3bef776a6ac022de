import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CronJob, Job } from '../../../functions/pass/follow-up/chain.ts';
import { leaveWork } from '../../../functions/pass/follow-up/leave-work.ts';
import { leaveTimer } from '../../../functions/pass/follow-up/timer.ts';
import type { PassNews } from '../../../functions/pass/pass-context.ts';
import { parseOptions } from '../../../functions/tick/options.ts';
import { nextBackupLook } from '../../../reconcile/backup/kind.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import { laterLook } from '../../../reconcile/time/later-look.ts';
import { createFakeKube, type FakeKube } from '../../support/fakes/kube.ts';
import { backupWith } from '../backup/scene.ts';
import { cronJob, env } from '../serve/installation.ts';

/** A Job that waits for a time which comes before the next tick. */

const start = Date.parse('2026-05-01T10:05:00Z');
const minutes = (count: number) => new Date(start + count * 60_000);

interface Stage {
  readonly kube: FakeKube;
  readonly logged: string[];
  now: number;
}

function installed(change: Partial<CronJob['spec']> = {}): Stage {
  const stage: Stage = { kube: createFakeKube({ clock: () => new Date(stage.now) }), logged: [], now: start };
  const { jobTemplate } = cronJob.spec;
  const spec = { ...jobTemplate.spec, activeDeadlineSeconds: 120 };
  const owner = { ...cronJob, spec: { schedule: '*/30 * * * *', jobTemplate: { ...jobTemplate, spec }, ...change } };
  stage.kube.seed(resources.cronJobs, owner);
  return stage;
}

const reachOf = ({ kube, logged }: Stage) => ({
  kube,
  cronJob: { namespace: cronJob.metadata.namespace ?? '', name: cronJob.metadata.name },
  env,
  log: (_: object, message: string) => void logged.push(message),
  signal: AbortSignal.timeout(10_000),
});

/** An invocation has asked something before: from that it knows the API server's time. */
async function leave(stage: Stage, at: Date): Promise<void> {
  await stage.kube.list(resources.fleets, {});
  await leaveTimer(at, reachOf(stage));
}

const made = ({ kube }: Stage) => kube.stored<Job>(resources.jobs);

test('what is due before the next tick has a Job that waits for it, as a follow-up', async () => {
  const stage = installed();
  await leave(stage, minutes(10));
  const [job, ...others] = made(stage);
  assert.deepEqual(others, []);
  const spec = (job as Job & { readonly spec: CronJob['spec']['jobTemplate']['spec'] }).spec;
  assert.equal(spec.activeDeadlineSeconds, 120 + 600, 'it may run as long as a tick, after it has waited');
  const args = spec.template.spec.containers[0]?.args ?? [];
  assert.deepEqual(args.slice(-2), ['--follow-up', '--delay=600']);
  const context = { version: 'v', out: () => undefined, err: (text: string) => assert.fail(text) };
  const parsed = parseOptions(args.slice(-2), context);
  assert.partialDeepStrictEqual(parsed, { kind: 'options', options: { delay: 600, followUp: {} } });
});

for (const [what, change, at] of [
  ['the next tick comes at that time', {}, minutes(25)],
  ['the next tick comes before', {}, minutes(40)],
  ['ticks come every minute', { schedule: '* * * * *' }, minutes(1)],
  ['the CronJob is suspended', { suspend: true }, minutes(10)],
  ['nothing can be made of its schedule', { schedule: '@reboot' }, minutes(10)],
] as const) {
  test(`no Job waits where ${what}`, async () => {
    const stage = installed(change);
    await leave(stage, at);
    assert.deepEqual(made(stage), []);
  });
}

test('what is due in more than an hour costs no request', async () => {
  const stage = installed({ schedule: '0 0 * * *' });
  await leave(stage, minutes(61));
  assert.deepEqual(Object.keys(stage.kube.requests()), ['LIST etcdfleets']);
});

test('one Job stands for what is due later, and an earlier time has one of its own', async () => {
  const stage = installed();
  await Promise.all([leave(stage, minutes(10)), leave(stage, minutes(10))]);
  await leave(stage, minutes(12));
  assert.equal(made(stage).length, 1);
  await leave(stage, minutes(3));
  assert.equal(made(stage).length, 2);
});

test('a Job that is over, or whose node died, stands for nothing', async () => {
  for (const later of ['over', 'dead'] as const) {
    const stage = installed();
    await leave(stage, minutes(2));
    const [job = assert.fail()] = made(stage);
    if (later === 'over')
      stage.kube.seed(resources.jobs, {
        ...job,
        status: { conditions: [{ type: 'Complete', status: 'True' }] },
      } as Job);
    stage.now = start + 6 * 60_000;
    await leave(stage, minutes(12));
    assert.equal(made(stage).length, 2, later);
  }
});

test('an API server that fails costs time only, and is logged', async () => {
  const stage = installed();
  const away = new KubeError('away', { class: 'retryable', status: 503, reason: 'ServiceUnavailable' });
  const kube = { ...stage.kube, get: () => Promise.reject(away) };
  await leaveTimer(minutes(10), { ...reachOf(stage), kube });
  assert.match(stage.logged.join(), /no follow-up could be made/);
});

test('an invocation leaves it only where nothing else goes on', async () => {
  const news: PassNews = {
    results: {},
    clusters: [],
    workRemains: false,
    moved: false,
    unsettled: false,
    leftOut: new Map(),
  };
  const options = { dryRun: false, clusters: [], goOn: false };
  const labelsAfter = async (one: PassNews, how: Partial<Parameters<typeof leaveWork>[1]> = {}) => {
    const stage = installed();
    await stage.kube.list(resources.fleets, {});
    await leaveWork(one, { ...options, ...how }, reachOf(stage));
    return made(stage).flatMap(({ metadata }) =>
      Object.keys(metadata.labels ?? {}).filter((key) => key.includes('ratchet.dev')),
    );
  };
  const nextLook = minutes(10);
  assert.deepEqual(await labelsAfter(news), []);
  assert.deepEqual(await labelsAfter({ ...news, nextLook }), ['etcd.ratchet.dev/timer']);
  assert.deepEqual(await labelsAfter({ ...news, nextLook }, { dryRun: true }), []);
  const going = await labelsAfter({ ...news, nextLook, workRemains: true, moved: true });
  assert.ok(going.includes('etcd.ratchet.dev/follow-up') && !going.includes('etcd.ratchet.dev/timer'));
});

test('a Job that takes long is looked at after an eighth of its time, a minute at least', () => {
  const now = minutes(0);
  const after = (since: string | undefined) => (laterLook(since, now).getTime() - start) / 1000;
  assert.deepEqual(
    [minutes(-1), minutes(-8), minutes(-80)].map((at) => after(at.toISOString())),
    [60, 60, 600],
  );
  assert.equal(after(undefined), 60);
  const backup = backupWith();
  const result = { namespace: '', name: '', reason: '', message: '', outcome: 'none', backup } as const;
  assert.equal(nextBackupLook([{ ...result, workRemains: false }], now), undefined);
  const waiting = { ...result, workRemains: true, afterSeconds: 7200 };
  assert.deepEqual(nextBackupLook([{ ...waiting, backup: { ...backup, metadata: { name: 'b' } } }], now), minutes(120));
});
