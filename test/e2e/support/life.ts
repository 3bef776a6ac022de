import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { isConverged } from './conditions.ts';
import { restartedIn } from './done.ts';
import { assertForetold, foretell } from './foretold.ts';
import { longestGapAllowed } from './gaps.ts';
import { type KnowingWriter, startKnowingWriter } from './knowing-writer.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One part of a life: what changes, and when the cluster is again as it should be. */
export interface Chapter {
  readonly what: string;
  /** Fields of the spec that a commit changes: the steps that follow are those that its plan foretells. */
  readonly spec?: Fields;
  /** What happens to the cluster besides, before its plan is asked for. */
  readonly happens?: (name: string, cluster: EtcdCluster) => Promise<unknown>;
  /** Converged, unless a chapter says otherwise. */
  readonly until?: (cluster: EtcdCluster) => boolean;
  /** In seconds. */
  readonly within?: number;
  /** What it promises besides. */
  readonly proves?: (cluster: EtcdCluster, before: EtcdCluster) => unknown;
  /** `bounded`: a client that knows all members never waits longer than an election lets it. */
  readonly gap?: 'bounded';
}

const patience = 240;

/**
 * One long life of one cluster, chapter by chapter, under one writer: no acknowledged write is lost, and each commit is
 * followed by the steps that were foretold of it.
 */
export async function live(
  stage: Scene,
  t: TestContext,
  life: { readonly name: string; readonly born: Fields; readonly chapters: readonly Chapter[] },
): Promise<void> {
  const { name, born, chapters } = life;
  await stage.pushCluster(name, born);
  let before = await stage.tickUntil(name, isConverged, patience);
  const writer = await startKnowingWriter(stage.kube, { namespace: stage.namespace, name }, 'throughout');
  await goesOn(writer);
  let fields = born;
  for (const chapter of chapters) {
    fields = { ...fields, ...chapter.spec };
    before = await tell(stage, t, { name, fields, writer, before }, chapter);
  }
  await goesOn(writer);
  const { acknowledged, lost } = await writer.finish();
  assert.equal(lost, 0, `of ${acknowledged} acknowledged writes`);
  t.diagnostic(`${acknowledged} writes, none lost`);
}

interface Telling {
  readonly name: string;
  readonly fields: Fields;
  readonly writer: KnowingWriter;
  readonly before: EtcdCluster;
}

async function tell(stage: Scene, t: TestContext, telling: Telling, chapter: Chapter): Promise<EtcdCluster> {
  const { name, fields, writer, before } = telling;
  const { what, spec, happens, until: check = isConverged, within = patience, proves, gap } = chapter;
  // A cluster that has just woken may still keep the writer waiting: that gap belongs to the chapter before.
  if (gap === 'bounded') await goesOn(writer);
  await happens?.(name, before);
  writer.longestGap();
  if (spec) await stage.pushCluster(name, fields);
  const foretold = spec && (await foretell(stage, name));
  const { generation } = before.metadata;
  const isLater = (found: EtcdCluster) => !spec || found.metadata.generation !== generation;
  const after = await stage.tickUntil(name, (found) => isLater(found) && check(found), within);
  if (foretold) t.diagnostic(`${what}: ${assertForetold(foretold, after)}`);
  const longest = writer.longestGap();
  t.diagnostic(`${what}: longest gap ${longest.toFixed(0)} ms`);
  if (gap === 'bounded') assert.ok(longest < longestGapAllowed, `${what}: a gap of ${longest.toFixed(0)} ms`);
  await proves?.(after, before);
  return after;
}

/** Fifty more writes are acknowledged. */
async function goesOn(writer: KnowingWriter): Promise<void> {
  const so = writer.acknowledged;
  await until('fifty writes', async () => writer.acknowledged >= so + 50);
}

/** Converged, and all members run this version. */
export function runsOn(version: string): (cluster: EtcdCluster) => boolean {
  return (cluster) =>
    isConverged(cluster) &&
    (cluster.status?.members ?? []).every((member) => member.version === version) &&
    cluster.status?.clusterVersion === version.replace(/\d+$/, '0');
}

/** Members that were restarted for this reason under the present spec, in their order. */
export function restartsFor(reason: string, { metadata, status }: EtcdCluster): readonly (string | undefined)[] {
  const own = (status?.history ?? []).filter(({ generation }) => generation === metadata.generation);
  return restartedIn(own.filter((entry) => entry.reason === reason || entry.outcome === 'failed'));
}

/** Steps that were taken for this reason under the present spec. */
export function stepsFor(reason: string, { metadata, status }: EtcdCluster) {
  return (status?.history ?? []).filter(
    (entry) => entry.reason === reason && entry.outcome === 'acted' && entry.generation === metadata.generation,
  );
}
