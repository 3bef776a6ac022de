import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import { clusterForTests, forever, helpers, isReady, ownImage, scriptPod } from './cluster.ts';

const cluster = await clusterForTests();
const { apply, pod, podWhere, remove, logs, node, runScript } = await helpers(cluster);
const main = (seen: Awaited<ReturnType<typeof pod>>) => seen.status?.containerStatuses?.[0];

// Side by side: most of the time is spent waiting.
suite('pods', { concurrency: 6 }, () => {
  test('an etcd pod becomes Ready, and is gone soon after it is deleted', async () => {
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'etcd' },
      spec: {
        containers: [
          {
            name: 'etcd',
            image: 'quay.io/coreos/etcd:v3.6.16',
            command: [
              'etcd',
              '--data-dir=/var/lib/etcd/data',
              '--listen-client-urls=http://0.0.0.0:2379',
              '--advertise-client-urls=http://$(IP):2379',
            ],
            env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
            securityContext: { readOnlyRootFilesystem: true },
            readinessProbe: { httpGet: { path: '/readyz', port: 2379 }, periodSeconds: 1 },
            volumeMounts: [{ name: 'data', mountPath: '/var/lib/etcd' }],
          },
        ],
        volumes: [{ name: 'data', emptyDir: {} }],
      },
    });
    const { status } = await podWhere('etcd', isReady);
    const health = await fetch(`http://${status?.podIP}:2379/health`);
    assert.deepEqual(await health.json(), { health: 'true', reason: '' });
    assert.match(status?.containerStatuses?.[0]?.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
    await remove('pod', 'etcd');
    await assert.rejects(fetch(`http://${status?.podIP}:2379/health`, { signal: AbortSignal.timeout(3000) }));
  });

  test('env is read again at every start, and a missing ConfigMap only delays the first', async () => {
    const env = [{ name: 'WORD', valueFrom: { configMapKeyRef: { name: 'words', key: 'word' } } }];
    await apply(scriptPod('env', `console.log('word is', process.env.WORD); ${forever}`, {}, { env }));
    await podWhere('env', (seen) => main(seen)?.state?.waiting?.reason === 'CreateContainerConfigError');
    const configMap = (word: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'words' },
      data: { word },
    });
    await apply(configMap('one'));
    await until('the first word', async () => (await logs('env')).includes('word is one'));
    assert.equal(main(await pod('env'))?.restartCount, 0);
    await apply(configMap('two'));
    await node.killContainer('default', 'env', 'main');
    await until('the second word', async () => (await logs('env')).includes('word is two'));
    const restarted = await podWhere('env', (seen) => main(seen)?.restartCount === 1);
    assert.equal(main(restarted)?.lastState?.terminated?.exitCode, 137);
    assert.equal(main(restarted)?.lastState?.terminated?.reason, 'Error');
  });

  test('an unknown image is never started', async () => {
    await apply(scriptPod('unknown', '', {}, { image: 'quay.io/coreos/etcd:v9.9.9' }));
    const failed = await podWhere('unknown', (seen) => main(seen)?.state?.waiting?.reason === 'ErrImagePull');
    assert.match(main(failed)?.state?.waiting?.message ?? '', /quay.io\/coreos\/etcd:v9.9.9: not found/);
    const waiting = await podWhere('unknown', (seen) => main(seen)?.state?.waiting?.reason === 'ImagePullBackOff');
    assert.deepEqual(main(waiting)?.lastState, {});
    assert.equal(main(waiting)?.restartCount, 0);
    assert.equal(waiting.status?.phase, 'Pending');
  });

  test('while image pulls are paused, a new image waits without an error', async () => {
    await node.pauseImagePulls(true);
    await apply(scriptPod('paused', forever, {}, { image: `${ownImage}-paused` }));
    await podWhere('paused', (seen) => main(seen)?.state?.waiting?.reason === 'ContainerCreating');
    await node.pauseImagePulls(false);
    await podWhere('paused', isReady);
  });

  test('init containers run one after the other, before the rest, and hand files on', async () => {
    const step = (name: string, script: string) => ({
      name,
      image: ownImage,
      command: ['node', '-e', script],
      volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    });
    const initContainers = [
      step('first', `require('fs').writeFileSync('/shared/steps', 'first ')`),
      // Fails once, to be run again.
      step(
        'second',
        `const fs = require('fs'); fs.appendFileSync('/shared/steps', 'second '); if (!fs.existsSync('/shared/again')) { fs.writeFileSync('/shared/again', ''); process.exit(3); }`,
      ),
    ];
    await apply(
      scriptPod(
        'inits',
        `console.log(require('fs').readFileSync('/shared/steps', 'utf8')); ${forever}`,
        { initContainers, volumes: [{ name: 'shared', emptyDir: {} }] },
        { volumeMounts: [{ name: 'shared', mountPath: '/shared', readOnly: true }] },
      ),
    );
    const ready = await podWhere('inits', isReady);
    assert.deepEqual(
      ready.status?.initContainerStatuses?.map((status) => [status.state?.terminated?.exitCode, status.restartCount]),
      [
        [0, 0],
        [0, 1],
      ],
    );
    await until('the steps', async () => (await logs('inits')).includes('first second second'));
  });

  test('a container that keeps failing waits longer and longer, and says so', async () => {
    await apply(
      scriptPod('crash', `require('fs').writeFileSync('/dev/termination-log', 'no reason'); process.exit(7)`),
    );
    const looping = await podWhere(
      'crash',
      (seen) => main(seen)?.state?.waiting?.reason === 'CrashLoopBackOff' && (main(seen)?.restartCount ?? 0) >= 2,
    );
    // Twice as long after each restart: on a busy machine a third one may be what is seen first.
    const seconds = 2 ** ((main(looping)?.restartCount ?? 0) - 1);
    assert.match(
      main(looping)?.state?.waiting?.message ?? '',
      new RegExp(`^back-off ${seconds}s restarting failed container=main pod=crash_default`),
    );
    assert.equal(main(looping)?.lastState?.terminated?.exitCode, 7);
    assert.equal(main(looping)?.lastState?.terminated?.message, 'no reason');
    assert.equal(looping.status?.phase, 'Running');
  });

  test('a program that is not in the image is the runtime’s error', async () => {
    await apply(scriptPod('nothing', '', {}, { command: ['no-such-program'] }));
    const failed = await podWhere('nothing', (seen) => main(seen)?.lastState?.terminated !== undefined);
    assert.equal(main(failed)?.lastState?.terminated?.exitCode, 128);
    assert.match(
      main(failed)?.lastState?.terminated?.message ?? '',
      /exec: "no-such-program": executable file not found/,
    );
  });

  test('the startup probe holds the others back, readiness follows its probe, liveness restarts', async () => {
    const script = `
    const fs = require('fs');
    require('http').createServer((request, response) => {
      const there = fs.existsSync('/state' + request.url);
      response.statusCode = there ? 200 : 500;
      response.end();
    }).listen(8080);`;
    const volumes = [{ name: 'state', emptyDir: {} }];
    const http = (path: string) => ({ httpGet: { path, port: 'web' }, periodSeconds: 1, failureThreshold: 1 });
    await apply(
      scriptPod(
        'probed',
        script,
        { volumes },
        {
          ports: [{ name: 'web', containerPort: 8080 }],
          volumeMounts: [{ name: 'state', mountPath: '/state' }],
          startupProbe: { ...http('/started'), failureThreshold: 100 },
          readinessProbe: {
            exec: { command: ['node', '-e', 'process.exit(require("fs").existsSync("/state/ready") ? 0 : 1)'] },
            periodSeconds: 1,
            timeoutSeconds: 5,
            failureThreshold: 1,
          },
          livenessProbe: { ...http('/started'), failureThreshold: 2 },
        },
      ),
    );
    const running = await podWhere('probed', (seen) => main(seen)?.state?.running !== undefined);
    assert.equal(main(running)?.started, false);
    const emptyDir = `${cluster.directory}/node/pods/${running.metadata.uid}/volumes/state`;
    const { rm, writeFile } = await import('node:fs/promises');
    await writeFile(`${emptyDir}/started`, '');
    await podWhere('probed', (seen) => main(seen)?.started === true && !isReady(seen));
    await writeFile(`${emptyDir}/ready`, '');
    await podWhere('probed', isReady);
    await rm(`${emptyDir}/ready`);
    await podWhere('probed', (seen) => !isReady(seen));
    assert.equal(main(await pod('probed'))?.restartCount, 0);
    await rm(`${emptyDir}/started`);
    await podWhere('probed', (seen) => main(seen)?.restartCount === 1);
  });

  test('a pod is asked to end, and made to when its grace is over', async () => {
    const polite = `process.on('SIGTERM', () => { console.log('asked'); process.exit(0); }); ${forever}`;
    const deaf = `process.on('SIGTERM', () => console.log('ignored')); console.log('ready'); ${forever}`;
    await apply(scriptPod('polite', polite, { terminationGracePeriodSeconds: 120 }), scriptPod('deaf', deaf));
    await podWhere('polite', isReady);
    await podWhere('deaf', isReady);
    await until('deaf to listen', async () => (await logs('deaf')).includes('ready'));
    const started = Date.now();
    await remove('pod', 'polite');
    assert.ok(Date.now() - started < 60_000, 'a polite pod does not use up its grace of 120 s');
    const slow = Date.now();
    await remove('pod', 'deaf');
    const took = Date.now() - slow;
    assert.ok(took > 2500 && took < 30_000, `it is the grace of 3 s, and not the usual one of 30 s: ${took} ms`);
  });

  test('a Job runs to completion, and a failing one to its limit', async () => {
    const job = (name: string, code: number) => ({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name },
      spec: {
        backoffLimit: 0,
        template: {
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'main', image: ownImage, command: ['node', '-e', `process.exit(${code})`] }],
          },
        },
      },
    });
    await apply(job('good', 0), job('bad', 1));
    await cluster.kubectl(['wait', '--for=condition=Complete', 'job/good', '-n', 'default', '--timeout=60s']);
    await cluster.kubectl(['wait', '--for=condition=Failed', 'job/bad', '-n', 'default', '--timeout=60s']);
  });

  test('a pod speaks to the API server as its service account, with the token it was given', async () => {
    const output = await runScript(
      'token',
      `const fs = require('fs'), https = require('https');
     const at = '/var/run/secrets/kubernetes.io/serviceaccount/';
     const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
     const headers = { authorization: 'Bearer ' + fs.readFileSync(at + 'token', 'utf8'), 'content-type': 'application/json' };
     const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
     https.request({ host, port, path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', method: 'POST', headers, ca: fs.readFileSync(at + 'ca.crt') },
       (response) => response.on('data', (data) => console.log(String(data))))
       .end(body);
     console.log(fs.readFileSync(at + 'namespace', 'utf8'));`,
    );
    assert.match(output, /^default$/m);
    assert.match(output, /system:serviceaccount:default:default/);
    assert.match(output, /authentication.kubernetes.io\/pod-name/);
  });

  test('kubectl reads the logs of a container, of its run before, and their last lines', async () => {
    await apply(scriptPod('logged', `console.log('line 1\\nline 2\\nline 3'); ${forever}`));
    await until(
      'the lines',
      async () => (await cluster.kubectl(['logs', '-n', 'default', 'logged'])) === 'line 1\nline 2\nline 3\n',
    );
    assert.equal(await cluster.kubectl(['logs', '-n', 'default', 'logged', '--tail=2']), 'line 2\nline 3\n');
    await node.killContainer('default', 'logged');
    await podWhere('logged', (seen) => main(seen)?.restartCount === 1 && isReady(seen));
    assert.equal(await cluster.kubectl(['logs', '-n', 'default', 'logged', '--previous']), 'line 1\nline 2\nline 3\n');
  });
});
