import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rebootByLogind } from '../../../reconcile/nodes/agent/dbus.ts';

/** The real bus, and no systemd-logind on it: it lets us in, takes the call apart, and says what is missing. */

function hasBus(): boolean {
  try {
    execFileSync('dbus-daemon', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

test('the real dbus-daemon lets the agent in and understands its call', { skip: !hasBus() }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'dbus-'));
  const path = join(directory, 'bus.sock');
  await writeFile(
    join(directory, 'bus.conf'),
    `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path=${path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy>
</busconfig>`,
  );
  const bus = spawn('dbus-daemon', [`--config-file=${join(directory, 'bus.conf')}`, '--nofork', '--print-address'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(bus.stdout, 'data');
    await assert.rejects(
      rebootByLogind(path, process.getuid?.() ?? 0),
      /Reboot is refused: org\.freedesktop\.DBus\.Error\.(ServiceUnknown|Spawn\S*): /,
    );
    await assert.rejects(rebootByLogind(path, 12_345), /lets no one in: REJECTED/);
  } finally {
    const ended = once(bus, 'exit');
    bus.kill();
    await ended;
    await rm(directory, { recursive: true });
  }
});
