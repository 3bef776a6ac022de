import { resources } from '../../../../reconcile/interfaces/kube.ts';
import { isStalledFor } from '../conditions.ts';
import type { Scene } from '../scene.ts';
import { until } from '../until.ts';
import { type Incident, isOver, type Story, tells } from './story.ts';
import { sectionsOf, type } from './typing.ts';

/** Makes the reason happen, types the page as its reader would, and sees that it is over. */
export async function tell(scene: Scene, story: Story): Promise<void> {
  const { page, sections, looks = [], reason, name, seen = isStalledFor(reason), over = isOver } = story;
  const { interrupted = [] } = story;
  await befall(scene, story, story.earlier);
  const names = (await story.happen(scene, name)) ?? {};
  await scene.tickUntil(name, seen, 180);
  const read = (anchors: readonly string[], own = names) =>
    type(
      scene,
      name,
      own,
      ['', ...anchors].flatMap((anchor) => sectionsOf(page).get(anchor) ?? []),
    );
  await read(looks);
  await story.correct?.(scene, name);
  if (interrupted.length > 0) await read(sections);
  else await whileTicking(scene, () => read(sections));
  for (const interruption of interrupted) {
    await interruption.happen?.(scene, name);
    await scene.tickUntil(name, isStalledFor(interruption.reason), 120);
    const own = (await interruption.names?.(scene, name)) ?? names;
    await interruption.correct?.(scene, name);
    const reading = () => read(interruption.sections, own);
    if (interruption === interrupted.at(-1)) await whileTicking(scene, reading);
    else await reading();
  }
  if (!story.leaves) await scene.tickUntil(name, over, 240);
  else await until(`${name} to be gone`, async () => (await scene.get(resources.clusters, name)) === undefined);
  await story.check?.(scene, name);
  await befall(scene, story, story.afterwards);
}

/** One after the other: each is seen, and what its page asks for ends it. */
async function befall(
  scene: Scene,
  { name, over = isOver }: Story,
  incidents: readonly Incident[] = [],
): Promise<void> {
  for (const { reason, happen, correct } of incidents) {
    await happen(scene, name);
    await scene.tickUntil(name, tells(reason), 180);
    await correct?.(scene, name);
    if (correct) await scene.tickUntil(name, (cluster) => over(cluster) && !tells(reason)(cluster), 180);
  }
}

/** Somebody's CronJob goes on while a person types: some commands wait for what it does. */
export async function whileTicking(scene: Scene, work: () => Promise<void>): Promise<void> {
  let isDone = false;
  const working = work().finally(() => {
    isDone = true;
  });
  await Promise.all([working, scene.ticksUntil('the page is typed', () => isDone, { within: 900 })]);
}
