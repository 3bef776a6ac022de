import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { printable } from '../manifests/printable.ts';
import { build } from './build.ts';
import { nameOf, packagesIn } from './materials.ts';

/**
 * `npm run audit`: what is known of weaknesses, asked of npm's registry for all that is installed, and judged for what
 * is in the bundle alone: the rest reaches no cluster. Exits with 1 where one of those is high or critical.
 */

const checkout = join(import.meta.dirname, '..');
const grave: readonly string[] = ['high', 'critical'];

interface Weakness {
  readonly name: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
  /** Of the versions that have it. */
  readonly range: string;
}

interface Report {
  readonly vulnerabilities: Readonly<
    Record<string, { readonly nodes: readonly string[]; readonly via: readonly (string | Weakness)[] }>
  >;
}

/** Where each package is installed, as npm's lockfile has it. */
type Installed = Readonly<Record<string, { readonly version?: string }>>;

/**
 * The weaknesses of bundled packages; where several versions are installed, of the bundled one.
 * @param report what `npm audit --json` prints
 * @param bundled like `hono@4.13.19`
 * @throws where npm could not ask
 */
export function weaknessesIn(report: unknown, installed: Installed, bundled: ReadonlySet<string>): readonly Weakness[] {
  if (!isReport(report))
    throw new Error(`npm audit made no report: ${printable(JSON.stringify(report)).slice(0, 500)}`);
  return Object.entries(report.vulnerabilities).flatMap(([name, { nodes, via }]) => {
    const isBundled = nodes.some((place) => bundled.has(`${name}@${installed[place]?.version}`));
    return isBundled ? via.filter((one) => typeof one !== 'string') : [];
  });
}

function isReport(report: unknown): report is Report {
  return typeof report === 'object' && report !== null && 'vulnerabilities' in report;
}

if (import.meta.main) {
  const directory = await mkdtemp(join(tmpdir(), 'etcd-ratchet-audit-'));
  try {
    await build(directory, { withMaterials: true });
    const bundled = new Set((await packagesIn(directory)).map((one) => `${nameOf(one)}@${one.version}`));
    const lock = JSON.parse(await readFile(join(checkout, 'package-lock.json'), 'utf8')) as {
      readonly packages: Installed;
    };
    const found = weaknessesIn(await asked(), lock.packages, bundled);
    for (const { severity, name, range, title, url } of found)
      console.log(printable(`${severity}: ${name} ${range}: ${title} (${url})`));
    console.log(`${bundled.size} packages are bundled, ${found.length} weaknesses are known of them`);
    process.exitCode = found.some(({ severity }) => grave.includes(severity)) ? 1 : 0;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** npm exits with 1 where it found something, and then prints it all the same. */
async function asked(): Promise<unknown> {
  const args = ['audit', '--package-lock-only', '--json'];
  const options = { cwd: checkout, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 };
  const { stdout } = await promisify(execFile)('npm', args, options).catch((error: unknown) => {
    if (error instanceof Error && 'stdout' in error && error.stdout !== '') return error as Error & { stdout: string };
    throw error;
  });
  return JSON.parse(stdout);
}
