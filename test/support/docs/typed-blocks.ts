import { stories } from '../../e2e/support/runbooks/stories.ts';
import { documents, read } from '../../unit/docs/pages.ts';
import { type Block, blocksOf } from './blocks.ts';
import { tutorials } from './pages.ts';
import { commandsAt, sectionsIn } from './places.ts';
import { typedBy } from './typed-by.ts';

/** Where a block stands. */
export function at({ page, line }: Block): string {
  return `${page}:${line}`;
}

const ofTutorials = tutorials.flatMap((page) => blocksOf(page, read(page)).filter(({ kind }) => kind === 'sh'));

/** Not every section of a story has commands. */
const ofStories = stories.flatMap(({ page, looks = [], sections, interrupted = [] }) => {
  const all = sectionsIn(`docs/runbooks/${page}`);
  const later = interrupted.flatMap((one) => one.sections);
  return ['', ...looks, ...sections, ...later].flatMap((anchor) => all.get(anchor) ?? []);
});

const ofTests = Object.values(typedBy).flatMap((places) => places.flatMap(commandsAt));

/** Where each block of commands stands that some test types literally. */
export const typedBlocks: ReadonlySet<string> = new Set([...ofTutorials, ...ofStories, ...ofTests].map(at));

export const allBlocks: readonly Block[] = documents.flatMap((page) => blocksOf(page, read(page)));
