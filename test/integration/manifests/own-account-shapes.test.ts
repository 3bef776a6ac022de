import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CronJob, followUpJob } from '../../../functions/pass/follow-up/chain.ts';
import { rebootJob } from '../../../manifests/render/reboot-job.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from '../../e2e/support/until.ts';
import { typedIn } from '../../support/docs/typed-by.ts';
import { allRendered, ofNodes } from './all-rendered.ts';
import { account, startInstallation } from './own-account.ts';
import { type Fields, job, pod } from './ways-out.ts';

/** The policies for our own account let in every shape that we render, and no other where hosts are rebooted. */

const { api, us, signal, tried } = await startInstallation(['nodeReboots']);
after(() => api[Symbol.asyncDispose]());

const rebootsIn = 'etcd-ratchet-reboots';
const cronJob = await us.get<CronJob>(resources.cronJobs, account.namespace, account.name, { signal });
const { spec: ofTick } = (cronJob ?? assert.fail('no CronJob')).spec.jobTemplate.spec.template;
const { image = '' } = ofTick.containers[0] as { readonly image?: string };
const rendered = ofNodes({ namespace: rebootsIn, image });
const hacked = ofNodes({ namespace: rebootsIn, image: 'registry.example.com/own' }).DBus;
const changedPod = (kind: keyof typeof rendered, fields: Fields, container: Fields = {}) => {
  const changed = structuredClone(rendered[kind]) as unknown as { spec: { template: { spec: Fields } } };
  Object.assign(changed.spec.template.spec, fields);
  Object.assign((changed.spec.template.spec.containers as Fields[])[0] ?? {}, container);
  return changed;
};
const envOf = (kind: keyof typeof rendered) => rendered[kind].spec.template.spec.containers[0]?.env ?? [];
const bare = changedPod('DBus', {}, { args: ['x'] });
const notThere = /^403 .*makes only the Jobs there that reboot a node or look at one/;

test('until the policies count', async () => {
  await until('another image is refused', async () =>
    /must be that of CronJob/.test(await tried(resources.jobs, hacked)),
  );
  await until('another shape is refused', async () => notThere.test(await tried(resources.jobs, bare)));
});

for (const [what, wanted] of Object.entries({
  'any restricted pod': job(pod({}, { image }), rebootsIn),
  'any privileged pod': job(pod({ hostPID: true }, { image, securityContext: { privileged: true } }), rebootsIn),
  'another program': changedPod('DBus', {}, { command: ['node', '-e', 'x'] }),
  arguments: changedPod('Signal', {}, { args: ['x'] }),
  'a variable more': changedPod('Signal', {}, { env: [...envOf('Signal'), { name: 'NODE_OPTIONS', value: '-r /x' }] }),
  'variables of a Secret': changedPod('Signal', {}, { envFrom: [{ secretRef: { name: 'x' } }] }),
  'a container more': changedPod('Signal', {
    containers: [...rendered.Signal.spec.template.spec.containers, { name: 'b', image }],
  }),
  'a container before': changedPod('Signal', { initContainers: [{ name: 'b', image }] }),
  'a program at its end': changedPod('Signal', {}, { lifecycle: { preStop: { exec: { command: ['x'] } } } }),
  'a program as a probe': changedPod('Signal', {}, { livenessProbe: { exec: { command: ['x'] } } }),
  'the network of its node': changedPod('Signal', { hostNetwork: true }),
  'all of the host': changedPod('DBus', { volumes: [{ name: 'system-bus', hostPath: { path: '/' } }] }),
  'all of the host, to look at': changedPod('look', {
    volumes: [{ name: 'sentinel', hostPath: { path: '/', type: 'Directory' } }],
  }),
  'a directory that can be written': changedPod('look', {}, { volumeMounts: [{ name: 'sentinel', mountPath: '/s' }] }),
  'a look as root': changedPod('look', {}, { securityContext: { privileged: true } }),
  'a look with a token': changedPod('look', { automountServiceAccountToken: true }),
  'the bus, privileged': changedPod('DBus', {}, { securityContext: { privileged: true } }),
  'a signal, privileged': changedPod('Signal', {}, { securityContext: { privileged: true } }),
  'the processes of its node beside the bus': changedPod('DBus', { hostPID: true }),
  'another account': changedPod('Signal', { serviceAccountName: 'default' }),
  'a command that nobody listed': rebootJob({
    ...{ namespace: rebootsIn, image, deadline: 600 },
    grant: { node: 'node-1', id: 'grant', bootID: 'boot' },
    method: { kind: 'Command', command: ['sh', '-c', 'x'] },
  }),
}))
  test(`among the Jobs that reboot it makes none with ${what}`, async () => {
    assert.match(await tried(resources.jobs, wanted), notThere);
  });

test('a Job that reboots or looks has the image of the CronJob', async () => {
  for (const [kind, wanted] of Object.entries(ofNodes({ namespace: rebootsIn, image: 'registry.example.com/own' })))
    if (kind !== 'Command') assert.match(await tried(resources.jobs, wanted), /^403 .*must be that of CronJob/, kind);
  assert.match(await tried(resources.jobs, changedPod('DBus', {}, { image: `${image}-x` })), /must be that of CronJob/);
});

test('a command is run on nodes once it is listed on their namespace, and is told how', async () => {
  const { Command, ...others } = rendered;
  for (const [kind, wanted] of Object.entries(others)) assert.equal(await tried(resources.jobs, wanted), 'done', kind);
  const [line = assert.fail()] = typedIn('integration/manifests/own-account-shapes')(
    'docs/how-to/node-reboots.md#how-the-host-is-told',
  ).map(({ text }) => text.trim());
  const [annotate = '', command = ''] = line.replace(/^kubectl /, '').split(/(?<=reboot-commands=)/);
  const said = await tried(resources.jobs, Command);
  assert.ok(said.includes(annotate), said);
  // The second of two, and one that could end the word before its time.
  const listed = `halt","x\n${command.replaceAll('"', '')}`;
  await api.kubectl([...annotate.split(' ').slice(0, -1), `${annotate.split(' ').at(-1)}${listed}`]);
  await until('it is listed', async () => (await tried(resources.jobs, Command)) === 'done');
});

for (const [what, resource, object] of allRendered('payments'))
  test(`what we render is let in: ${what}`, async () => {
    assert.equal(await tried(resource, object), 'done');
  });

test('a follow-up is let in, of the CronJob as it is and as an admin has changed it', async () => {
  const owner = cronJob ?? assert.fail();
  assert.equal(await tried(resources.jobs, followUpJob(owner, { chain: 'a', number: 1 })), 'done');
  const changed = structuredClone(owner) as unknown as {
    spec: { jobTemplate: { spec: { template: { spec: Fields } } } };
  };
  Object.assign(changed.spec.jobTemplate.spec.template.spec, {
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ operator: 'Exists' }],
    volumes: [
      ...((changed.spec.jobTemplate.spec.template.spec.volumes as Fields[]) ?? []),
      { name: 'ca', configMap: { name: 'ca' } },
      { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token', audience: 'vault' } }] } },
    ],
  });
  const job = followUpJob(changed as unknown as CronJob, { chain: 'b', number: 1 });
  assert.equal(await tried(resources.jobs, job), 'done');
});

test('an admin makes any Job there', async () => {
  const stdin = JSON.stringify(job(pod({ hostPID: true }), rebootsIn));
  await api.kubectl(['create', '--dry-run=server', '-f', '-'], { stdin });
});
