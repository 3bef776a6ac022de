import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster } from '../../manifests/api/etcd-cluster.ts';
import { unkindTiming } from '../support/cluster/node/options.ts';
import { condition, isConverged, isWholeOf } from './support/conditions.ts';
import { startFollower } from './support/follower.ts';
import { longestGapAllowed } from './support/gaps.ts';
import { startKnowingWriter } from './support/knowing-writer.ts';
import { inOwnSandbox, startOwnCluster } from './support/own-cluster.ts';
import { openScene } from './support/scene.ts';
import { clusterYaml } from './support/specs.ts';
import { until } from './support/until.ts';

const binaries = await inOwnSandbox();

// Files of a Secret follow in up to 20 s, each pod in its own time; immutable ConfigMaps are kept; a name that was
// missing stays so for 10 s; the status is a second late; a container that ended waits for 10 s and more; the first
// pull of an image takes 3 s.
test('on nodes as unkind as real ones a cluster is born, rolled, rotated and grown', async (t) => {
  await using _ = await startOwnCluster({ binaries, timing: unkindTiming });
  const scene = await openScene({ fleet: false });
  await using closing = new AsyncDisposableStack();
  closing.defer(() => scene.close());
  const { namespace, kube, kubectl, tickUntil, accessNow } = scene;
  const name = 'orders';

  async function after(
    what: string,
    fields: Readonly<Record<string, unknown>>,
    isDone: (cluster: EtcdCluster) => boolean,
  ): Promise<void> {
    const started = performance.now();
    await kubectl(['apply', '--server-side', '-f', '-'], { stdin: clusterYaml(name, namespace, fields) });
    await tickUntil(name, (cluster) => isConverged(cluster) && isDone(cluster), 240);
    t.diagnostic(`${what}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }

  await after('birth', {}, isWholeOf(3));
  const writer = await startKnowingWriter(kube, { namespace, name }, 'unkind');
  await until('fifty writes', () => writer.acknowledged >= 50);
  writer.longestGap();

  const etcd = { snapshotCount: 5000 };
  await after('another configuration', { etcd }, ({ spec }) => spec.etcd?.snapshotCount === 5000);
  await after('version 3.7', { etcd, version: '3.7.3' }, ({ status }) => status?.clusterVersion === '3.7.0');
  await after('two members more', { etcd, version: '3.7.3', replicas: 5 }, isWholeOf(5));
  await after('two members less', { etcd, version: '3.7.3' }, isWholeOf(3));

  const gap = writer.longestGap();
  const { acknowledged, lost } = await writer.finish();
  t.diagnostic(`longest gap ${gap.toFixed(0)} ms over ${acknowledged} writes`);
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  assert.ok(gap < longestGapAllowed, `a gap of ${gap.toFixed(0)} ms`);

  const follower = await startFollower(() => accessNow(name), 'rotating');
  await until('fifty writes', () => follower.acknowledged >= 50);
  const resource = ['etcdclusters.etcd.ratchet.dev', name];
  await kubectl(['-n', namespace, 'annotate', ...resource, 'etcd.ratchet.dev/rotate-certificates=once']);
  await tickUntil(name, (cluster) => condition(cluster, 'CertificatesReady')?.reason === 'RotatingAuthorities', 60);
  const tls = { rotationOverlap: '1s' };
  const isRotated = (cluster: EtcdCluster) => condition(cluster, 'CertificatesReady')?.status === 'True';
  await after('new CAs', { etcd, version: '3.7.3', tls }, isRotated);
  const rotated = await follower.finish();
  t.diagnostic(`${follower.renewals} renewals of the application's certificate`);
  assert.deepEqual(rotated.lost, [], `of ${rotated.acknowledged} acknowledged writes`);
});
