import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatSealedDisk, isSameDisk, parseSealedDisk } from '../../../manifests/render/sealed-disk.ts';

test('any handle that a driver may give is noted as one line, and known again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 600 }), (handle) => {
      const noted = parseSealedDisk(formatSealedDisk({ pv: 'pvc-1', handle }));
      assert.ok(noted?.handle);
      assert.match(formatSealedDisk(noted), /^[\x21-\x7e]+ [\x21-\x7e]{1,256}$/);
      assert.ok(isSameDisk(noted, { pv: 'imported', handle }));
      assert.ok(!isSameDisk(noted, { pv: 'pvc-1', handle: `${handle}-copy` }));
    }),
  );
});

test('garbage is never read as a disk, and what is read is written as it was', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z0-9 .-]{0,12}$/)), (text) => {
      const disk = parseSealedDisk(text);
      if (disk) assert.equal(formatSealedDisk(disk), text);
    }),
  );
});

test('a disk is told by its handle where both are known, and by its PersistentVolume otherwise', () => {
  const noted = { pv: 'pvc-1', handle: 'vol-1' };
  assert.ok(isSameDisk(noted, { pv: 'imported-again', handle: 'vol-1' }));
  assert.ok(!isSameDisk(noted, { pv: 'pvc-1', handle: 'vol-of-a-snapshot' }));
  assert.ok(isSameDisk(noted, { pv: 'pvc-1' }));
  assert.ok(!isSameDisk(noted, { pv: 'pvc-2' }));
  assert.ok(!isSameDisk({ pv: 'pvc-1' }, { pv: 'pvc-2', handle: 'vol-1' }));
});

test('a disk that is known to have no handle is not one that has one under its name', () => {
  const noted = parseSealedDisk('pvc-1 -') ?? assert.fail();
  assert.deepEqual(noted, { pv: 'pvc-1', handle: null });
  assert.ok(isSameDisk(noted, { pv: 'pvc-1', handle: null }) && isSameDisk(noted, { pv: 'pvc-1' }));
  assert.ok(!isSameDisk(noted, { pv: 'pvc-1', handle: 'vol-1' }) && !isSameDisk(noted, { pv: 'pvc-2', handle: null }));
  assert.ok(!isSameDisk({ pv: 'pvc-1', handle: 'vol-1' }, noted));
  const odd = parseSealedDisk(formatSealedDisk({ pv: 'pvc-1', handle: '-' }));
  assert.ok(odd?.handle && isSameDisk(odd, { pv: 'pvc-1', handle: '-' }));
});
