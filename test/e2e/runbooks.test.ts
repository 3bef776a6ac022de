import { test } from 'node:test';
import { ofObjects } from './support/runbooks/stories.ts';
import { tell } from './support/runbooks/tell.ts';
import { scene } from './support/scene.ts';

/** Each runbook, executed: its reason is made to happen, its commands are typed, and the cluster is whole again. */

const stage = scene({ fleet: false, clearedBetween: true });

for (const story of ofObjects) test(`${story.page}: ${story.title} (${story.reason})`, () => tell(stage(), story));
