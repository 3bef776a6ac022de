import { resources } from '../../../../reconcile/kube.ts';
import { isStalledFor } from '../conditions.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { isOver, type Story } from './story.ts';
import { sectionsOf, type } from './typing.ts';

/** Makes the reason happen, types the page as its reader would, and sees that it is over. */
export async function tell(scene: Scene, story: Story): Promise<void> {
  const { page, sections, looks = [], reason, name, seen = isStalledFor(reason), over = isOver } = story;
  const names = (await story.happen(scene, name)) ?? {};
  await scene.tickUntil(name, seen, 180);
  const read = (anchors: readonly string[]) =>
    type(
      scene,
      name,
      names,
      ['', ...anchors].flatMap((anchor) => sectionsOf(page).get(anchor) ?? []),
    );
  await read(looks);
  await story.correct?.(scene, name);
  await whileTicking(scene, () => read(sections));
  if (!story.leaves) await scene.tickUntil(name, over, 240);
  else await until(`${name} to be gone`, async () => (await scene.get(resources.clusters, name)) === undefined);
  await story.check?.(scene, name);
}

/** Somebody's CronJob goes on while a person types: some commands wait for what it does. */
export async function whileTicking(scene: Scene, work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  await Promise.all([working, scene.ticksUntil('the page is typed', () => isDone, { within: 900 })]);
}
