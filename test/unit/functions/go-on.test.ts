import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import type { Job } from '../../../functions/pass/follow-up/chain.ts';
import { goOn } from '../../../functions/pass/follow-up/go-on.ts';
import type { FollowUpData } from '../../../functions/pass/follow-up/sink.ts';
import type { ClusterResult } from '../../../reconcile/cluster/result.ts';
import { KubeError, resources } from '../../../reconcile/interfaces/kube.ts';
import type { FakeKube } from '../../support/fakes/kube.ts';
import { cronJob, installation, namespace } from '../serve/installation.ts';

/** A pass that leaves work is followed by an event where there is a sink, else by a Job. */

let heard: CloudEvent<FollowUpData>[] = [];
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  heard.push(HTTP.toEvent({ headers: request.headers as IncomingHttpHeaders, body }) as CloudEvent<FollowUpData>);
  response.writeHead(202).end();
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => server.close());
let kube: FakeKube;
let logged: object[] = [];
beforeEach(() => {
  kube = installation();
  heard = [];
  logged = [];
});

const clusters = (['orders', 'ads'] as const).map(
  (name) => ({ namespace: 'payments', name, workRemains: name === 'orders' }) as ClusterResult,
);

function leave(env: NodeJS.ProcessEnv): Promise<boolean> {
  const log = (fields: object, message: string) => void logged.push({ ...fields, message });
  const signal = AbortSignal.timeout(5_000);
  return goOn({ clusters }, { kube, env, cronJob: { namespace, name: 'etcd-ratchet' }, log, signal, isNew: true });
}

const sink = () => ({ K_SINK: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

test('without a sink it is a Job, the first of a chain', async () => {
  assert.equal(await leave({}), true);
  assert.equal(kube.stored<Job>(resources.jobs).length, 1);
});

test('with a sink it is an event about what is left, from this installation, and no Job', async () => {
  assert.equal(await leave(sink()), true);
  assert.deepEqual(kube.stored(resources.jobs), []);
  assert.deepEqual(
    heard.map(({ data }) => data?.clusters),
    [['payments/orders']],
  );
  assert.equal(heard[0]?.source, '/apis/batch/v1/namespaces/etcd-ratchet/cronjobs/etcd-ratchet');
});

test('a suspended CronJob sends neither', async () => {
  kube.seed(resources.cronJobs, { ...cronJob, spec: { ...cronJob.spec, suspend: true } });
  for (const env of [{}, sink()]) await leave(env);
  assert.deepEqual([kube.stored(resources.jobs), heard], [[], []]);
  assert.match(JSON.stringify(logged), /is suspended/);
});

for (const [what, env] of [
  ['a sink that is not there', { K_SINK: 'http://127.0.0.1:1' }],
  ['a sink that is no address', { K_SINK: 'nowhere' }],
] as const) {
  test(`${what} is said in the log, and a Job goes on instead`, async () => {
    assert.equal(await leave(env), true);
    assert.match(JSON.stringify(logged), /the sink did not take a follow-up; a Job goes on/);
    assert.equal(kube.stored<Job>(resources.jobs).length, 1);
  });
}

test('where no Job can be made either, that is said, and told to who asked', async () => {
  const create = () =>
    Promise.reject(new KubeError('no more Jobs', { class: 'terminal', reason: 'Forbidden', status: 403 }));
  kube = { ...kube, create };
  assert.equal(await leave({ K_SINK: 'http://127.0.0.1:1' }), false);
  assert.match(JSON.stringify(logged), /no more Jobs.*no follow-up could be made; the next tick goes on/);
});
