import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const checkout = join(import.meta.dirname, '../../..');

/** Every document of the repository, as seen from the checkout. */
export const documents: readonly string[] = globSync('**/*.md', {
  cwd: checkout,
  exclude: ['**/node_modules', '.git', 'dist'],
}).toSorted();

export function read(path: string): string {
  return readFileSync(join(checkout, path), 'utf8');
}

/** The file that a relative link in a document leads to, and the heading in it. */
export function target(document: string, link: string): { readonly file: string; readonly heading?: string } {
  const [path = '', heading] = link.split('#');
  const file = path === '' ? document : join(dirname(document), path);
  return heading === undefined ? { file } : { file, heading };
}

/** The anchors that GitHub makes of a document's headings. */
export function anchorsOf(text: string): readonly string[] {
  const prose = text.replace(/^( *)```[^\n]*\n[\s\S]*?^\1```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The packages in a table of docs/reference/dependencies.md, each with its reason; in order of their names. */
export function reasonsIn(heading: string): readonly { readonly name: string; readonly why: string }[] {
  const [, section = ''] = read('docs/reference/dependencies.md').split(`## ${heading}\n`);
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)];
  return rows.map(([, name = '', why = '']) => ({ name, why })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
