import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { annotationsTable } from './annotations.ts';
import { apiPage } from './api.ts';
import { commandLinePage } from './command-line.ts';
import { commitStatusTables } from './commit-statuses.ts';
import { helmValuesPage } from './helm-values.ts';
import { metricsPage } from './metrics.ts';
import { permissionsPage } from './permissions.ts';
import { curesTable, reasonsPage } from './reasons.ts';
import { forgeReportsTable, gitReportsTable } from './reports.ts';
import { rulesTable } from './rules.ts';
import { statesTable } from './states.ts';
import { supportMatrix } from './support.ts';

/**
 * Writes what documents say of tables in the code; with `--check` it writes nothing and fails when they say something
 * else. Run by `npm run generate` and `npm run check`.
 */

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const stale: string[] = [];

await write('docs/reference/annotations.md', (text) =>
  between(between(text, 'yours', annotationsTable('you')), 'ours', annotationsTable('etcd-ratchet')),
);
await write('docs/reference/api.md', () => apiPage());
await write('docs/reference/command-line.md', () => commandLinePage());
await write('docs/reference/glossary.md', (text) => between(text, 'states', statesTable()));
await write('docs/reference/helm-values.md', () => helmValuesPage());
await write('docs/reference/metrics.md', () => metricsPage());
await write('docs/reference/permissions.md', () => permissionsPage());
await write('docs/reference/reasons.md', () => reasonsPage());
await write('docs/reference/reported.md', (text) =>
  between(between(text, 'git', gitReportsTable()), 'forges', forgeReportsTable()),
);
await write('docs/reference/what-it-says.md', (text) =>
  between(between(text, 'reasons', curesTable()), 'statuses', commitStatusTables()),
);
await write('docs/releases/README.md', (text) => between(text, 'support', supportMatrix()));
await write('docs/explanation/rules.md', (text) => between(text, 'rules', rulesTable(text)));

if (stale.length > 0) {
  console.error(`docs: ${stale.join(', ')} differ from the tables in the code; run npm run generate`);
  process.exitCode = 1;
}

async function write(file: string, change: (text: string) => string): Promise<void> {
  const at = new URL(`../${file}`, import.meta.url);
  const before = await readFile(at, 'utf8').catch(absent);
  const after = change(before ?? '');
  if (after === before) return;
  if (values.check) stale.push(file);
  else await writeFile(at, after);
}

/** Between `<!-- name: … -->` and `<!-- end of name -->`. */
function between(text: string, name: string, content: string): string {
  const marked = new RegExp(`(<!-- ${name}: [^\\n]*-->\\n)[\\s\\S]*?(<!-- end of ${name} -->)`);
  if (!marked.test(text)) throw new Error(`the marks of ${name} are missing`);
  return text.replace(marked, (_, head: string, tail: string) => `${head}\n${content}\n\n${tail}`);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
