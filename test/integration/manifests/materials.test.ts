import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { build } from '../../../functions/build.ts';
import { licencesOf, materials, packagesIn } from '../../../functions/materials.ts';

const checkout = join(import.meta.dirname, '../../..');
/** Licences that let everyone use, change and pass on, with their notice and nothing else. */
const permissive = /^\(?(MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|Zlib)( AND (MIT|BSD-3-Clause|Zlib))?\)?$/;

let app: string;
before(async () => {
  app = await mkdtemp(join(tmpdir(), 'etcd-ratchet-materials-'));
  await build(app, { withMaterials: true });
});
after(() => rm(app, { recursive: true, force: true }));

const idOf = ({ group, name }: { readonly group?: string; readonly name: string }) =>
  group === undefined ? name : `${group}/${name}`;

test('every package that the project asks for is in the bill of materials, as it is locked', async () => {
  const { packages } = JSON.parse(await readFile(join(checkout, 'package-lock.json'), 'utf8'));
  const { dependencies } = packages[''];
  const found = new Map((await packagesIn(app)).map((one) => [idOf(one), one.version]));
  for (const name of Object.keys(dependencies))
    assert.equal(found.get(name), packages[`node_modules/${name}`].version, name);
});

test('each package has a licence that lets us pass it on, and stands in the notices with it', async () => {
  const notices = await readFile(join(app, materials.notices), 'utf8');
  const all = await packagesIn(app);
  assert.ok(all.length > 50, `${all.length} packages`);
  for (const one of all) {
    for (const licence of licencesOf(one)) assert.match(licence, permissive, one.name);
    assert.ok(notices.includes(`\n${idOf(one)} ${one.version} (`), one.name);
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
