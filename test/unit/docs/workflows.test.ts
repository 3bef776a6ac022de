import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { checkout, read } from './pages.ts';

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = globSync('.github/workflows/*.yml', { cwd: checkout }).toSorted();
const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

test('there is a workflow for changes, and one for releases', () => {
  assert.deepEqual(files, ['.github/workflows/ci.yml', '.github/workflows/release.yml']);
});

for (const file of files) {
  describe(file, () => {
    const { permissions, jobs } = parse(read(file)) as Workflow;
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const commands = steps.flatMap(({ run }) => run ?? []);

    test('may only read, where a job does not ask for more', () => {
      assert.deepEqual(permissions, { contents: 'read' });
    });

    test('ends in a time that is said', () => {
      for (const [name, job] of Object.entries(jobs)) assert.ok((job['timeout-minutes'] ?? 0) > 0, name);
    });

    test('takes each action by its commit: a tag can be moved', () => {
      const taken = steps.flatMap(({ uses }) => uses ?? []);
      for (const action of taken) {
        assert.match(action, /^[\w.-]+\/[\w.-]+@[0-9a-f]{40}$/);
        assert.match(
          read(file),
          new RegExp(`uses: ${action} # v\\d+\\.\\d+\\.\\d+$`, 'm'),
          'its version is said beside',
        );
      }
    });

    test('runs what is there', () => {
      const asked = commands.flatMap((command) =>
        [...command.matchAll(/\bnpm run (\w+)/g)].map(([, name = '']) => name),
      );
      for (const name of asked) assert.ok(name in scripts, name);
    });

    test('puts nothing that others write into a command', () => {
      for (const command of commands) assert.doesNotMatch(command, /\$\{\{/);
    });
  });
}
