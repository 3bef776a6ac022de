import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cyclonedxEsbuildPlugin } from '@cyclonedx/cyclonedx-esbuild';

/** What a bundle is made of, for those who must know: beside it, in the image. */
export const materials = {
  /** A software bill of materials: CycloneDX 1.6. */
  sbom: 'sbom.cdx.json',
  /** Each package with its licence, in full where the package brings it. */
  notices: 'THIRD-PARTY-NOTICES.txt',
} as const;

interface Licence {
  readonly license?: { readonly id?: string; readonly name?: string; readonly text?: { readonly content: string } };
  readonly expression?: string;
}

export interface Component {
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version?: string;
  readonly licenses?: readonly Licence[];
  readonly evidence?: { readonly licenses?: readonly Licence[] };
}

/** Writes the bill of materials of what is bundled: the packages that are in it, and not those that were installed. */
export const billOfMaterials = () =>
  cyclonedxEsbuildPlugin({
    specVersion: '1.6',
    outputFile: materials.sbom,
    outputReproducible: true,
    gatherLicenseTexts: true,
    logLevel: 'warning',
    // Its validator is a package of its own, compiled for each platform; a test reads the file instead.
    validate: false,
  });

export interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * Completes the bill of a bundle. Some packages have a second package.json beside each of their builds, with a name and
 * no licence, which esbuild takes for the package: that is one component, with the licence of the package itself.
 *
 * @param installed the directory `node_modules` that was bundled from
 * @throws when the package is not there in that version
 */
export async function completeBill(directory: string, installed: string): Promise<void> {
  const file = join(directory, materials.sbom);
  const bill = JSON.parse(await readFile(file, 'utf8')) as Bill;
  const firsts = new Map<string, Component>();
  const sameAs = new Map<string, string>();
  for (const one of bill.components) {
    const title = `${nameOf(one)}@${one.version}`;
    const first = firsts.get(title) ?? one;
    firsts.set(title, first);
    sameAs.set(one['bom-ref'], first['bom-ref']);
  }
  const components = await Promise.all(
    [...firsts.values()].map((one) => (one.licenses?.length ? one : withLicence(one, installed))),
  );
  const known = (ref: string) => sameAs.get(ref) ?? ref;
  const dependencies = [...Map.groupBy(bill.dependencies, ({ ref }) => known(ref))].map(([ref, all]) => {
    const dependsOn = new Set(all.flatMap(({ dependsOn = [] }) => dependsOn.map(known)).filter((one) => one !== ref));
    return { ref, ...(dependsOn.size > 0 && { dependsOn: [...dependsOn] }) };
  });
  await writeFile(file, `${JSON.stringify({ ...bill, components, dependencies }, undefined, 2)}\n`);
}

async function withLicence(one: Component, installed: string): Promise<Component> {
  if (isOurs(one)) return one;
  const root = join(installed, nameOf(one));
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  if (version !== one.version)
    throw new Error(`${nameOf(one)} is bundled as ${one.version}, and installed as ${version}`);
  const files = (await readdir(root)).filter((name) => /^(licen[cs]e|notice)/i.test(name)).toSorted();
  const texts = files.map(async (name) => {
    const content = (await readFile(join(root, name))).toString('base64');
    return { license: { name: `file: ${name}`, text: { content, contentType: 'text/plain', encoding: 'base64' } } };
  });
  const licenses = typeof license === 'string' ? [{ license: { id: license, acknowledgement: 'declared' } }] : [];
  return { ...one, licenses, evidence: { licenses: await Promise.all(texts) } };
}

/** The packages of a bill of materials that were bundled as they came; what a plugin of ours made of one is not. */
export async function packagesIn(directory: string): Promise<readonly Component[]> {
  const { components } = JSON.parse(await readFile(join(directory, materials.sbom), 'utf8')) as {
    readonly components: readonly Component[];
  };
  return components.filter((one) => !isOurs(one));
}

function isOurs({ name }: Component): boolean {
  return name.startsWith('VirtualComponent ');
}

/** Writes the notices for a bill of materials. @throws where a package says nothing of its licence */
export async function writeNotices(directory: string): Promise<void> {
  const packages = await packagesIn(directory);
  const sections = packages.map((one) => `${titleOf(one)}\n\n${textOf(one)}\n`);
  const intro = `etcd-ratchet contains these ${packages.length} packages.\n`;
  await writeFile(join(directory, materials.notices), [intro, ...sections].join(`\n${'-'.repeat(80)}\n\n`));
}

/** As npm has it: `@peculiar/asn1-schema`. */
export function nameOf({ group, name }: Pick<Component, 'group' | 'name'>): string {
  return group === undefined ? name : `${group}/${name}`;
}

/** Like `hono 4.13.19 (MIT)`. */
function titleOf(one: Component): string {
  return `${nameOf(one)} ${one.version ?? ''} (${licencesOf(one).join(', ')})`;
}

/** SPDX identifiers or expressions. @throws where there are none */
export function licencesOf({ name, licenses = [] }: Pick<Component, 'name' | 'licenses'>): readonly string[] {
  const said = licenses.flatMap(({ license, expression }) => expression ?? license?.id ?? license?.name ?? []);
  if (said.length === 0) throw new Error(`the package ${name} does not say what its licence is`);
  return said;
}

function textOf({ evidence }: Component): string {
  const texts = evidence?.licenses?.flatMap(({ license }) => license?.text?.content ?? []) ?? [];
  if (texts.length === 0) return 'The package brings no text of its licence.';
  return texts.map((text) => Buffer.from(text, 'base64').toString('utf8').trim()).join('\n\n');
}
