import { noteProcessorSeconds, notesVariable } from '../support/processor-time.ts';

/** Preloaded into the process of each test file. What that starts is counted with it, and notes nothing itself. */
const directory = process.env[notesVariable];
delete process.env[notesVariable];
if (directory !== undefined) process.on('exit', () => noteProcessorSeconds(directory, process.argv[1] ?? ''));
