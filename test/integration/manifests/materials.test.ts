import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from '../../../functions/build.ts';
import { type Bill, licencesOf, materials, nameOf, packagesIn } from '../../../functions/materials.ts';
import { checkout, reasonsIn } from '../../unit/docs/pages.ts';

/** Licences that let everyone use, change and pass on, with their notice and nothing else. */
const permissive = /^\(?(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|Zlib)( AND (MIT|BSD-3-Clause|Zlib))?\)?$/;

let app: string;
before(async () => {
  app = await mkdtemp(join(tmpdir(), 'etcd-ratchet-materials-'));
  await build(app, { withMaterials: true });
});
after(() => rm(app, { recursive: true, force: true }));

test('what stands on the page as bundled is what is asked for and bundled, as it is locked', async () => {
  const { packages } = JSON.parse(await readFile(join(checkout, 'package-lock.json'), 'utf8'));
  const found = new Map((await packagesIn(app)).map((one) => [nameOf(one), one.version]));
  const direct = Object.keys(packages[''].devDependencies).filter((name) => found.has(name));
  assert.deepEqual(
    reasonsIn('In the image').map(({ name }) => name),
    direct.toSorted(),
  );
  for (const name of direct) assert.equal(found.get(name), packages[`node_modules/${name}`].version, name);
});

// Azure's packages have a package.json without a licence beside each of their builds.
test('a package stands there once, and what it needs is on the list', async () => {
  const { components, dependencies } = JSON.parse(await readFile(join(app, materials.sbom), 'utf8')) as Bill;
  const titles = components.map((one) => `${nameOf(one)}@${one.version}`);
  assert.equal(new Set(titles).size, titles.length);
  const refs = new Set(components.map((one) => one['bom-ref']));
  const named = dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
  const roots = new Set(dependencies.map(({ ref }) => ref).filter((ref) => !refs.has(ref)));
  assert.ok(roots.size <= 1, [...roots].join());
  assert.deepEqual(
    named.filter((ref) => !refs.has(ref) && !roots.has(ref)),
    [],
  );
});

test('the image needs no package beside the bundle', async () => {
  const { dependencies } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8'));
  assert.equal(dependencies, undefined);
  const files = await readdir(app, { recursive: true });
  assert.deepEqual(
    files.filter((name) => name.includes('node_modules')),
    [],
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(app, 'tick.js'), '--help']);
  assert.match(stdout, /^Usage: /);
});

test('each package has a licence that lets us pass it on, and stands in the notices with it', async () => {
  const notices = await readFile(join(app, materials.notices), 'utf8');
  const all = await packagesIn(app);
  assert.ok(all.length > 50, `${all.length} packages`);
  for (const one of all) {
    for (const licence of licencesOf(one)) assert.match(licence, permissive, one.name);
    assert.ok(notices.includes(`\n${nameOf(one)} ${one.version} (`), one.name);
  }
});

test('nothing in it tells of the machine or the moment that made it', async () => {
  const text = await readFile(join(app, materials.sbom), 'utf8');
  for (const place of [checkout, tmpdir(), process.env.HOME]) if (place) assert.ok(!text.includes(`${place}/`), place);
  const { serialNumber, metadata } = JSON.parse(text);
  assert.deepEqual([serialNumber, metadata.timestamp], [undefined, undefined]);
});

test('a package that says nothing of its licence is refused', () => {
  assert.throws(() => licencesOf({ name: 'silent' }), /silent does not say what its licence is/);
});
