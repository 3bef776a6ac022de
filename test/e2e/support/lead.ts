import assert from 'node:assert/strict';
import type { Pod } from '../../../manifests/kube-types.ts';
import { urlOf } from '../../../manifests/render/hosts.ts';
import { podName } from '../../../manifests/render/names.ts';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { connectTo } from './client.ts';
import { lookNow } from './look-now.ts';
import type { Scene } from './scene.ts';
import { until } from './until.ts';

/** Lets this member lead, as it may come about by itself: what happens next is to happen to the leader. */
export async function makeLeader(scene: Scene, name: string, member: string): Promise<void> {
  const { access, list, tickUntil } = scene;
  const pods = (await list<Pod>(resources.pods)).filter(({ metadata }) => metadata.name.startsWith(`${name}-`));
  const { url, ...credentials } = await access(name);
  const clients = pods.map(({ metadata, status }) => ({
    pod: metadata.name,
    client: connectTo(
      { ...credentials, url: urlOf(url.startsWith('https') ? 'https' : 'http', status?.podIP ?? '', 2379) },
      5_000,
    ),
  }));
  try {
    const asked = () =>
      Promise.all(clients.map(async ({ pod, client }) => ({ pod, client, status: await client.maintenance.status() })));
    // Only the leader can hand over, and by the time that it is asked another one may lead.
    await until(`${member} leads`, async () => {
      const members = await asked();
      const next = members.find(({ pod }) => pod === podName(member)) ?? assert.fail(`there is no ${member}`);
      const id = next.status.header.member_id;
      if (members.every(({ status }) => status.leader === id)) return true;
      const leader = members.find(({ status }) => status.header.member_id === status.leader);
      if (leader !== next) await leader?.client.maintenance.moveLeader({ targetID: id });
      return false;
    });
  } finally {
    for (const { client } of clients) client.close();
  }
  await lookNow(scene, name);
  await tickUntil(name, ({ status }) => status?.leader === member);
}
