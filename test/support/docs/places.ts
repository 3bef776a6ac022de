import { anchorsOf, read } from '../../unit/docs/pages.ts';
import { type Block, blocksOf } from './blocks.ts';

/** The commands of a page, by the anchor of the section that they stand in; `''` is what stands above the first. */
export function sectionsIn(page: string): ReadonlyMap<string, readonly Block[]> {
  const text = read(page);
  const headings = [...text.matchAll(/^## .+$/gm)].map(({ index, 0: heading }) => ({
    line: text.slice(0, index).split('\n').length,
    anchor: anchorsOf(heading)[0] ?? '',
  }));
  const commands = blocksOf(page, text).filter(({ kind }) => kind === 'sh');
  const sectionOf = ({ line }: Block) => headings.findLast((heading) => heading.line < line)?.anchor ?? '';
  const filled = Map.groupBy(commands, sectionOf);
  return new Map([
    ['', filled.get('') ?? []] as const,
    ...headings.map(({ anchor }) => [anchor, filled.get(anchor) ?? []] as const),
  ]);
}

/**
 * The blocks of commands at a place: `docs/a.md` is what stands above its first heading, `docs/a.md#b` a section, and
 * `docs/a.md#b:2` the second block there.
 *
 * @throws if there is none: a page was changed, and the list that names the place was not.
 */
export function commandsAt(place: string): readonly Block[] {
  const [, page = '', anchor = '', which] = /^([^#:]+)(?:#([^:]*))?(?::(\d+))?$/.exec(place) ?? [];
  const all = page === '' ? [] : (sectionsIn(page).get(anchor) ?? []);
  const blocks = which === undefined ? all : all.slice(Number(which) - 1, Number(which));
  if (blocks.length === 0) throw new Error(`${place} has no block of commands`);
  return blocks;
}
