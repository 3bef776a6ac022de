import { type Recording, recorded, traced } from '../../reconcile/stepping/traced.ts';
import type { Log } from '../log.ts';
import type { PassResult } from '../pass/pass-context.ts';
import type { Measured } from './measures.ts';
import { type TelemetrySettings, telemetryFrom } from './settings.ts';

/** What the pass is told, whatever becomes of telling it: the loading of the library counts. */
const limitMs = 3_000;

export interface TelemetryContext {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly trigger: 'tick' | 'follow-up';
  /** Between the pass and what is told of it: a person who waits for the result waits for no collector. */
  readonly onPassed: (result: PassResult | undefined) => void;
}

/** Runs a pass, and tells a collector if the installation names one; its failure is only logged. */
export async function withTelemetry<Result extends PassResult>(
  { version, env, log, trigger, onPassed }: TelemetryContext,
  pass: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const settings = telemetryFrom(env);
  for (const problem of settings.problems) log({ problem }, 'a setting of OpenTelemetry says what is not done');
  if (settings.traces === undefined && settings.metrics === undefined) {
    const result = await pass();
    onPassed(result);
    return result;
  }
  return recorded(async (recording) => {
    const begun = performance.now();
    let told: Pick<Measured, 'outcome' | 'result'> = { outcome: 'failed' };
    try {
      const result = await traced('pass', { trigger }, pass);
      told = result ? { outcome: 'passed', result } : { outcome: 'nothing' };
      onPassed(result);
      return result;
    } finally {
      const seconds = (performance.now() - begun) / 1000;
      const all = { trigger, seconds, ...told, requests: recording.requests, now: new Date() };
      const problem = await tell(settings, { version, env }, recording, all);
      if (problem) log({ problem }, 'the collector was not told of this pass');
      if (recording.left > 0)
        log({ spans: recording.left }, 'a pass of so many spans is told without the rest of them');
    }
  });
}

/** Both at once, and together no longer than the limit. What is wrong, or nothing. */
async function tell(
  { traces, metrics }: TelemetrySettings,
  from: { readonly version: string; readonly env: NodeJS.ProcessEnv },
  { spans }: Recording,
  measured: Measured,
): Promise<string | undefined> {
  const until = performance.now() + limitMs;
  try {
    const [{ sendMeasures, sendSpans }, { measuresOf }] = await Promise.all([
      import('./send.ts'),
      import('./measures.ts'),
    ]);
    const options = { ...from, limitMs: Math.max(1, until - performance.now()) };
    const ended = await Promise.allSettled([
      ...(traces === undefined ? [] : [sendSpans(spans, { ...options, url: traces })]),
      ...(metrics === undefined ? [] : [sendMeasures(measuresOf(measured), { ...options, url: metrics })]),
    ]);
    const failed = ended.filter((one) => one.status === 'rejected').map(({ reason }) => wordsOf(reason));
    return failed.length > 0 ? [...new Set(failed)].join('; ') : undefined;
  } catch (error) {
    return wordsOf(error);
  }
}

/** Without what the collector sent as its answer: that is not ours to log. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it failed';
  const { code, message } = error as Error & { readonly code?: unknown };
  return `${typeof code === 'number' ? `HTTP ${code}: ` : ''}${message || code || error.name}`.slice(0, 300);
}
