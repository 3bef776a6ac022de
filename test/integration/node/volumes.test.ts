import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { until } from '../../e2e/support/until.ts';
import type { Claim, PersistentVolume } from '../../support/cluster/node/wire.ts';
import { clusterForTests, forever, helpers, isReady, scriptPod } from './cluster.ts';

const cluster = await clusterForTests();
const { apply, get, podWhere, remove, logs, node, runScript } = await helpers(cluster);

function claim(name: string, storage = '1Gi', storageClassName = 'standard'): object {
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec };
}

const user = (claimName: string) => ({
  spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }] },
  container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
});

async function volumeOf(name: string): Promise<PersistentVolume> {
  const { spec } = await get<Claim>('pvc', name);
  return get<PersistentVolume>('pv', spec?.volumeName ?? '');
}

// Side by side: most of the time is spent waiting.
suite('volumes', { concurrency: 6 }, () => {
  test('a PVC waits for its first pod, binds on that node, and keeps its data', async () => {
    await apply(claim('late'));
    const { spec, container } = user('late');
    await apply(scriptPod('writer', `require('fs').writeFileSync('/data/word', 'kept'); ${forever}`, spec, container));
    const pod = await podWhere('writer', isReady);
    const volume = await volumeOf('late');
    const [term] = volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    assert.deepEqual(term?.matchExpressions?.[0]?.values, [pod.spec.nodeName]);
    await remove('pod', 'writer');

    const output = await runScript('reader', `console.log(require('fs').readFileSync('/data/word', 'utf8'))`, {
      ...spec,
      containers: (
        scriptPod('x', `console.log(require('fs').readFileSync('/data/word', 'utf8'))`, {}, container) as typeof pod
      ).spec.containers,
    });
    assert.equal(output, 'kept\n');

    await remove('pod', 'reader');
    await remove('pvc', 'late');
    const path = volume.spec?.local?.path ?? '';
    assert.notEqual(path, '');
    await until('the directory to be removed', async () => !existsSync(path));
    await until('the volume to be removed', async () => {
      return !(await cluster.kubectl(['get', 'pv', '-o', 'name'])).includes(volume.metadata.name);
    });
  });

  test('a PVC grows where a pod has it mounted, and waits for one where none has', async () => {
    await apply(claim('growing'));
    const { spec, container } = user('growing');
    await apply(scriptPod('grower', forever, spec, container));
    await podWhere('grower', isReady);
    await apply(claim('growing', '2Gi'));
    await until(
      'the mounted claim to grow',
      async () => (await get<Claim>('pvc', 'growing')).status?.capacity?.storage === '2Gi',
    );
    await remove('pod', 'grower');
    await apply(claim('growing', '3Gi'));
    await until('the claim to wait', async () => {
      return (await get<Claim>('pvc', 'growing')).status?.conditions?.some(
        ({ type }) => type === 'FileSystemResizePending',
      );
    });
    assert.equal((await get<Claim>('pvc', 'growing')).status?.capacity?.storage, '2Gi');
    await apply(scriptPod('grower', forever, spec, container));
    const grown = await until('the claim to grow', async () => {
      const seen = await get<Claim>('pvc', 'growing');
      return seen.status?.capacity?.storage === '3Gi' ? seen : undefined;
    });
    assert.equal(grown.status?.conditions, undefined);
  });

  test('a volume that is bounded has the room that it says, and more when it has grown', async () => {
    await apply(claim('bounded', '8Mi', 'bounded'));
    const { spec, container } = user('bounded');
    const script = `require('fs').writeFileSync('/data/file', 'x'.repeat(1e6)); ${forever}`;
    await apply(scriptPod('filler', script, spec, container));
    await podWhere('filler', isReady);
    const path = (await volumeOf('bounded')).spec?.local?.path ?? '';
    const file = join(path, 'large');
    // Its container runs before its script does, and would find no room any more.
    await until('the file', async () => (await stat(join(path, 'file'))).size === 1e6);
    await assert.rejects(writeFile(file, 'x'.repeat(9e6)), { code: 'ENOSPC' });
    await apply(claim('bounded', '16Mi', 'bounded'));
    await until('the claim to grow', async () => {
      return (await get<Claim>('pvc', 'bounded')).status?.capacity?.storage === '16Mi';
    });
    await writeFile(file, 'x'.repeat(9e6));
    assert.equal((await stat(join(path, 'file'))).size, 1e6, 'what was written is kept');
    await remove('pod', 'filler');
    await remove('pvc', 'bounded');
    await until('the directory to be removed', async () => !existsSync(path));
  });

  test('a wiped volume is empty, a corrupted one is not what was written', async () => {
    await apply(claim('broken'));
    const { spec, container } = user('broken');
    const script = `require('fs').writeFileSync('/data/file', 'x'.repeat(10000)); ${forever}`;
    await apply(scriptPod('victim', script, spec, container));
    await podWhere('victim', isReady);
    const { spec: volume } = await volumeOf('broken');
    const file = join(volume?.local?.path ?? '', 'file');
    await until('the file', async () => existsSync(file));
    assert.equal(await node.corruptVolume('default', 'broken'), 1);
    const { readFile } = await import('node:fs/promises');
    const bytes = await readFile(file);
    assert.equal(bytes.length, 10_000);
    assert.notEqual(bytes.toString(), 'x'.repeat(10_000));
    await node.wipeVolume('default', 'broken');
    assert.equal(existsSync(file), false);
    await assert.rejects(node.wipeVolume('default', 'no-such-claim'), /claim default\/no-such-claim has no volume/);
  });

  test('a PVC without a provisioner keeps its pod waiting', async () => {
    await apply(claim('orphan', '1Gi', 'missing-provisioner'));
    const { spec, container } = user('orphan');
    await apply(scriptPod('stuck', forever, spec, container));
    const pod = await podWhere(
      'stuck',
      ({ status }) =>
        status?.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False') ??
        status?.phase === 'Pending',
    );
    assert.equal(pod.status?.phase, 'Pending');
  });

  test('files from a ConfigMap, a Secret and the pod itself follow their source', async () => {
    const words = (word: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'files' },
      data: { word, other: 'unseen' },
    });
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'hidden' },
      stringData: { key: 'secret word' },
    };
    await apply(words('one'), secret);
    const volumes = [
      { name: 'config', configMap: { name: 'files', items: [{ key: 'word', path: 'deep/word' }] } },
      { name: 'whole', configMap: { name: 'files' } },
      { name: 'secret', secret: { secretName: 'hidden', defaultMode: 0o400 } },
      { name: 'none', configMap: { name: 'not-there', optional: true } },
      { name: 'me', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    ];
    const script = `
    const fs = require('fs'), read = (path) => fs.readFileSync(path, 'utf8');
    console.log(read('/secret/key'), (fs.statSync('/secret/key').mode & 0o777).toString(8), read('/me/labels'));
    console.log(fs.readdirSync('/config').filter((name) => !name.startsWith('..')), fs.readdirSync('/none').filter((name) => !name.startsWith('..')));
    try { fs.writeFileSync('/config/new', ''); } catch (error) { console.log(error.code); }
    let last;
    setInterval(() => { const now = read('/config/deep/word') + ' ' + read('/single'); if (now !== last) console.log(last = now); }, 50);`;
    const volumeMounts = [
      ...volumes.map(({ name }) => ({ name, mountPath: `/${name}`, readOnly: true })),
      { name: 'whole', mountPath: '/single', subPath: 'word' },
    ];
    await apply(scriptPod('files', script, { volumes }, { volumeMounts }));
    await until('the files', async () => (await logs('files')).includes('one one'));
    assert.match(await logs('files'), /secret word 400 app="files"\n[^[]*\[ 'deep' \] \[\]\nEROFS/);
    await apply(words('two'));
    // A subPath stays what it was at the start, as in life.
    await until('the new word', async () => (await logs('files')).includes('two one'));
  });

  test('what changes while a pod waits for another volume is in its files when it runs', async () => {
    const secret = (word: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'early' },
      stringData: { word },
    });
    const script = `
    const fs = require('fs');
    let last;
    setInterval(() => { const now = fs.readFileSync('/early/word', 'utf8'); if (now !== last) console.log(last = now); }, 50);`;
    const container = { volumeMounts: [{ name: 'early', mountPath: '/early' }] };
    const early = { name: 'early', secret: { secretName: 'early' } };
    const late = { name: 'late', configMap: { name: 'late' } };
    await apply(secret('one'));
    await apply(
      scriptPod('beside', script, { volumes: [early] }, container),
      scriptPod('waiting', script, { volumes: [early, late] }, container),
    );
    await until('the pod to wait for its second volume', async () => {
      const said = await cluster.kubectl(['get', 'events', '-n', 'default', '-o', 'json']);
      const { items } = JSON.parse(said) as { items: { message: string; involvedObject: { name: string } }[] };
      return items.some((one) => one.involvedObject.name === 'waiting' && /configmap late not found/.test(one.message));
    });
    await apply(secret('two'));
    await until('a pod that runs to have the new word', async () => (await logs('beside')).includes('two'));
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'late' }, data: { any: 'thing' } });
    await until('the new word', async () => (await logs('waiting')).endsWith('two\n'), {
      within: 60,
      last: () => 'it kept the old one',
    });
  });

  test('a read-only root can be written only where a volume is', async () => {
    const script = `
    const fs = require('fs');
    for (const path of ['/file', '/tmp/file', '/data/file']) try { fs.writeFileSync(path, ''); console.log(path, 'written'); } catch (error) { console.log(path, error.code); }
    ${forever}`;
    await apply(
      scriptPod(
        'rootless',
        script,
        { volumes: [{ name: 'data', emptyDir: {} }] },
        {
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
          securityContext: { readOnlyRootFilesystem: true },
        },
      ),
    );
    await until('three attempts', async () => (await logs('rootless')).includes('/data/file'));
    assert.equal(await logs('rootless'), '/file EROFS\n/tmp/file EROFS\n/data/file written\n');
  });

  test('what a test writes into a volume from outside is seen inside', async () => {
    await apply(claim('shared'));
    const { spec, container } = user('shared');
    const script = `const fs = require('fs'); setInterval(() => { if (fs.existsSync('/data/hello')) { console.log('seen'); process.exit(0); } }, 50);`;
    await apply(scriptPod('watcher', script, { ...spec, restartPolicy: 'Never' }, container));
    await podWhere('watcher', isReady);
    const { spec: volume } = await volumeOf('shared');
    await writeFile(join(volume?.local?.path ?? '', 'hello'), '');
    await podWhere('watcher', ({ status }) => status?.phase === 'Succeeded');
  });
});
