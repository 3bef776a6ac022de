import { runInSandbox } from '../../support/cluster/sandbox.ts';

/** Runs its arguments in a sandbox of their own and ends with their exit code. */
process.exitCode = await runInSandbox(process.argv.slice(2));
