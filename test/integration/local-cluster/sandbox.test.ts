import assert from 'node:assert/strict';
import { test } from 'node:test';
import { start } from './run.ts';

const script = 'test/integration/local-cluster/in-sandbox.ts';

async function inSandbox(command: readonly string[], stdin = ''): Promise<{ code: unknown; output: string }> {
  const run = start([script, ...command]);
  run.child.stdin?.end(stdin);
  return { code: await run.ended, output: run.output() };
}

for (const [what, command, code] of [
  ['success', 'exit 0', 0],
  ['a failure', 'exit 7', 7],
  ['a death by signal', 'kill -s KILL $$', 137],
] as const) {
  test(`the exit code of ${what} passes through`, async () => {
    assert.equal((await inSandbox(['/bin/sh', '-c', command])).code, code);
  });
}

test('the command reads our stdin', async () => {
  assert.equal((await inSandbox(['cat'], 'hello')).output, 'hello');
});

test('temporary files land on a file system of the run', async () => {
  const { output } = await inSandbox(['/bin/sh', '-c', 'stat -f -c %T "$TMPDIR"; echo x > "$TMPDIR/file"']);
  assert.equal(output.trim(), 'tmpfs');
});

test('nothing but the sandbox itself can be reached', async () => {
  const { output } = await inSandbox([
    '/bin/sh',
    '-c',
    'ip -o link | cut -d: -f2; ip -o -4 addr | tr -s " " | cut -d" " -f4',
  ]);
  assert.deepEqual(
    output
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
    ['lo', '127.0.0.1/8', '10.96.0.1/16'],
  );
});

test('orphans that end are reaped', async () => {
  // The inner shell ends before its child: the child is then PID 1's, and must not stay as a zombie.
  const orphan = `sh -c 'sleep 0.1 & echo $! > "$TMPDIR/pid"'`;
  const reaped =
    'i=0; while [ -e "/proc/$(cat "$TMPDIR/pid")" ] && [ $i -lt 200 ]; do i=$((i+1)); sleep 0.05; done; [ $i -lt 200 ]';
  assert.equal((await inSandbox(['/bin/sh', '-c', `${orphan}; ${reaped}`])).code, 0);
});

test('a script that is inside already does not enter twice', async () => {
  const twice = `
    import { enterSandbox } from './test/support/cluster/sandbox.ts';
    const first = await enterSandbox();
    const second = await enterSandbox();
    console.log(first.directory === second.directory ? 'same' : 'another');`;
  const { output, code } = await inSandbox([process.execPath, '--input-type=module', '-e', twice]);
  assert.deepEqual({ output, code }, { output: 'same\n', code: 0 });
});
