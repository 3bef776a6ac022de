import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyOwn } from '../../../reconcile/backup/agent/new-life.ts';
import { keepOwn, takeBackOwn } from '../../../reconcile/backup/agent/own-data.ts';
import { placeData } from '../../../reconcile/backup/agent/place.ts';
import { BackupFailure } from '../../../reconcile/jobs/failure.ts';

/** Which of the names on the volume what is made has, wherever an attempt was killed. */

const id = '0123456789ab';
const kept = `before-recovery-${id}`;

class Volume implements AsyncDisposable {
  readonly path: string;
  private constructor(path: string) {
    this.path = path;
  }

  static async with(what: string): Promise<Volume> {
    const volume = new Volume(await mkdtemp(join(tmpdir(), 'ratchet-own-')));
    await volume.write('data', what);
    return volume;
  }

  async write(name: string, what: string): Promise<string> {
    const at = join(this.path, name);
    await mkdir(join(at, 'member/snap'), { recursive: true });
    await writeFile(join(at, 'member/snap/db'), what);
    return at;
  }

  read(name: string): Promise<string> {
    return readFile(join(this.path, name, 'member/snap/db'), 'utf8');
  }

  names(): Promise<readonly string[]> {
    return readdir(this.path);
  }

  /** As an attempt sees it. */
  staged(attempt: number, recovery = id) {
    return { dataDirectory: join(this.path, 'data'), restorer: { id: recovery, attempt } };
  }

  /** What comes of an attempt that is not killed. */
  async begin(attempt: number, recovery = id): Promise<void> {
    const staged = this.staged(attempt, recovery);
    const made = await this.write(`.restoring-${attempt}/data`, `made by ${attempt}`);
    await keepOwn(staged, `before-recovery-${recovery}`);
    await placeData(made, staged.dataDirectory, staged.restorer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

const copied = async (volume: Volume, attempt: number) => {
  await copyOwn(volume.staged(attempt), new Date());
  return volume.read(`.restoring-${attempt}/trial/data`);
};

test('the data are kept under another name, and what was made of them gets theirs', async () => {
  await using volume = await Volume.with('original');
  await volume.begin(1);
  assert.deepEqual([await volume.read('data'), await volume.read(kept)], ['made by 1', 'original']);
});

test('asked once more, as by a container that is started again, nothing is kept a second time', async () => {
  await using volume = await Volume.with('original');
  await volume.begin(1);
  await keepOwn(volume.staged(1), kept);
  assert.deepEqual([await volume.read('data'), await volume.read(kept)], ['made by 1', 'original']);
});

test('a second attempt copies the data as they were, and replaces what the first has made', async () => {
  await using volume = await Volume.with('original');
  await volume.begin(1);
  assert.equal(await copied(volume, 2), 'original');
  await volume.begin(2);
  assert.deepEqual([await volume.read('data'), await volume.read(kept)], ['made by 2', 'original']);
});

test('killed between the two names: the next attempt finds the data under the other one', async () => {
  await using volume = await Volume.with('original');
  await volume.write('.restoring-1/data', 'made by 1');
  await keepOwn(volume.staged(1), kept);
  assert.ok(!(await volume.names()).includes('data'));
  assert.equal(await copied(volume, 2), 'original');
  await volume.begin(2);
  assert.deepEqual([await volume.read('data'), await volume.read(kept)], ['made by 2', 'original']);
});

test('a later recovery goes on from what the one before has made, once an etcd has opened it', async () => {
  await using volume = await Volume.with('original');
  await volume.begin(1);
  await volume.write('data', 'served since');
  const later = 'ba9876543210';
  await volume.begin(1, later);
  assert.equal(await volume.read(`before-recovery-${later}`), 'served since');
  assert.equal(await volume.read(kept), 'original');
});

test('where the data are forced after all, they get their name back, and what was made goes', async () => {
  await using volume = await Volume.with('original');
  await volume.begin(1);
  await takeBackOwn(volume.staged(2));
  assert.equal(await volume.read('data'), 'original');
  assert.ok(!(await volume.names()).includes(kept));
});

test('and are left alone where no attempt has kept them, or an etcd has opened what was made', async () => {
  await using volume = await Volume.with('original');
  await takeBackOwn(volume.staged(1));
  assert.equal(await volume.read('data'), 'original');
  await volume.begin(1);
  await volume.write('data', 'served since, and longer');
  await takeBackOwn(volume.staged(2));
  assert.deepEqual([await volume.read('data'), await volume.read(kept)], ['served since, and longer', 'original']);
});

test('an attempt that has run, or a lower one, copies nothing and deletes nothing', async () => {
  await using volume = await Volume.with('original');
  await copied(volume, 2);
  for (const attempt of [1, 2]) {
    const late = copyOwn(volume.staged(attempt), new Date());
    await assert.rejects(late, (error: BackupFailure) => error.reason === 'Superseded');
  }
  assert.ok((await volume.names()).includes('.restoring-2'));
});

test('a pod that places too late leaves what a later attempt has made, and its member serves', async () => {
  await using volume = await Volume.with('original');
  await copied(volume, 1);
  await copied(volume, 2);
  await volume.begin(2);
  await volume.write('data', 'served since');
  await volume.write('.restoring-1/data', 'made by 1');
  const names = await volume.names();
  await assert.rejects(keepOwn(volume.staged(1), kept), { reason: 'Superseded' });
  assert.deepEqual([await volume.names(), await volume.read('data')], [names, 'served since']);
});

test('data keep their name where nothing was made that could take it', async () => {
  await using volume = await Volume.with('original');
  await copied(volume, 1);
  await assert.rejects(keepOwn(volume.staged(1), kept), { reason: 'NotRestorable' });
  assert.equal(await volume.read('data'), 'original');
});

test('a volume without a member is refused before anything is written', async () => {
  await using volume = await Volume.with('original');
  await rename(join(volume.path, 'data'), join(volume.path, 'elsewhere'));
  const refused = copyOwn(volume.staged(1), new Date());
  await assert.rejects(refused, (error: unknown) => error instanceof BackupFailure && error.reason === 'NoData');
  assert.deepEqual(await volume.names(), ['elsewhere']);
});
