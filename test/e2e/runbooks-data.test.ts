import { test } from 'node:test';
import { ofDisks } from './support/runbooks/stories.ts';
import { tell } from './support/runbooks/tell.ts';
import { scene } from './support/scene.ts';

/** The runbooks about disks, data and certificates: as runbooks.test.ts has the others. */

const stage = scene({ fleet: false, clearedBetween: true });

for (const story of ofDisks) test(`${story.page}: ${story.title} (${story.reason})`, () => tell(stage(), story));
