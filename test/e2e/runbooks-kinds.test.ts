import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdBackup } from '../../manifests/api/etcd-backup.ts';
import type { EtcdRestore } from '../../manifests/api/etcd-restore.ts';
import { repositoryFiles } from '../../manifests/documentation.ts';
import { kindRunbooks } from '../../reconcile/reasons/runbook.ts';
import { makeBackupStore } from './support/backup-store.ts';
import { condition, isWholeOf } from './support/conditions.ts';
import { endsWith, type KindStory, ofKinds, resourceOf } from './support/runbooks/kinds.ts';
import { push } from './support/runbooks/story.ts';
import { sectionsOf, type } from './support/runbooks/typing.ts';
import { scene } from './support/scene.ts';

/** The runbook of backups and restores, executed: as runbooks.test.ts has those of clusters. */

const stage = scene({
  fleet: false,
  furnish: async (own) => {
    await makeBackupStore(own);
    await push(own, 'orders');
    await own.tickUntil('orders', isWholeOf(1), 120);
  },
});

for (const story of ofKinds)
  test(`${story.kind}: ${story.title} (${story.reason})`, async () => {
    const { kind, reason, name, instead = name } = story;
    await story.happen(stage());
    const message = await conditionUntil(story, name, 'Stalled', reason);
    assert.ok(message.endsWith(`(runbook: ${repositoryFiles}/${kindRunbooks[kind]})`), message);
    await type(stage(), 'orders', {}, sectionsOf('backup-fails.md').get('') ?? []);
    await story.correct(stage());
    await conditionUntil(story, instead, 'Ready', endsWith[kind]);
  });

/** Ticks until the condition has that reason; its message. */
async function conditionUntil({ kind }: KindStory, name: string, wanted: string, reason: string): Promise<string> {
  let seen = '';
  const what = `${kind} ${name}: ${wanted} for ${reason}`;
  const look = async () => {
    const found = await stage().get<EtcdBackup | EtcdRestore>(resourceOf[kind], name);
    seen = JSON.stringify(found?.status?.conditions);
    const said = found && condition(found, wanted);
    return said?.reason === reason ? said.message : undefined;
  };
  return await stage().ticksUntil(what, look, { within: 120, last: () => seen });
}
