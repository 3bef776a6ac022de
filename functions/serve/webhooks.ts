import { randomBytes } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { MalformedDelivery, type WebhookEvent } from '../../gitops/webhooks/receiver.ts';
import { isProven, proofs, receiverOf } from '../../gitops/webhooks/receivers.ts';
import { abortAfter } from '../../manifests/abort-after.ts';
import { keyOf } from '../../reconcile/fleet/names.ts';
import { isFinal, KubeError } from '../../reconcile/interfaces/kube.ts';
import { identityFrom } from '../environment.ts';
import { meaningOf } from './about-fleet.ts';
import { createDirectory, type Hook } from './directory.ts';
import { createGate, type GateLimits } from './gate.ts';
import { handOver } from './hand-over.ts';
import type { RouteGroup, ServeContext } from './route-group.ts';
import { oneAtATime } from './sharing.ts';

/** GitHub sends up to 25 MiB and waits ten seconds; a push of hundreds of commits has a few hundred KiB. */
const limits: GateLimits = { requests: 64, bodyBytes: 4 * 1024 * 1024, allBytes: 32 * 1024 * 1024 };
/** What handing over may take, in milliseconds. */
const patienceMs = 8_000;

/**
 * `POST /hooks/<namespace>/<fleet>`: verifies a forge's delivery, and hands it to a Job. Unauthenticated requests get
 * 401 after the same work, even for unknown fleets; nothing of them is looked at, kept or logged.
 */
export async function webhooks({ kube, log, env, namespace }: ServeContext): Promise<RouteGroup> {
  const { cronJob } = identityFrom(env);
  const directory = createDirectory({ kube, namespace, log });
  const gate = createGate(limits);
  const inTurn = oneAtATime();
  const decoys = [randomBytes(32), randomBytes(32)];
  const refused = createTally((count) => log({ count }, 'deliveries without proof were refused'));
  const app = new Hono();

  app.post('/hooks/:namespace/:fleet', async (context) => {
    const { headers } = context.req.raw;
    // Nothing to verify: the body is not even read. The same answer for every fleet, and for unknown ones.
    if (![...proofs].some((name) => headers.has(name))) return unproven(context);
    using read = await gate.admit(context.req.raw);
    if (read.kind === 'too-large') return context.text(`more than ${limits.bodyBytes} bytes`, 413);
    if (read.kind === 'busy') return busy(context);
    if (read.kind === 'broken') return context.body(null, 400);
    const delivery = { header: (name: string) => headers.get(name) ?? undefined, body: read.body };
    try {
      const hook = await directory.find(context.req.param('namespace'), context.req.param('fleet'));
      const { type, secrets = [] } = hook ?? {};
      if (!isProven(type, delivery, { secrets, decoys, now: new Date() }) || !hook) return unproven(context);
      const receiver = receiverOf(hook.type);
      return await proven(context, hook, receiver.read(delivery), { id: receiver.id(delivery), body: read.body });
    } catch (error) {
      return failed(context, error);
    }
  });

  async function proven(
    context: Context,
    { fleet }: Hook,
    events: readonly WebhookEvent[],
    delivery: { readonly id: string | undefined; readonly body: Uint8Array },
  ): Promise<Response> {
    const name = keyOf(fleet);
    const meaning = meaningOf(fleet, events);
    if (meaning.kind === 'nothing') return context.text(`nothing to do for ${name}: ${meaning.because}\n`);
    if (!cronJob) return context.text('CRONJOB_NAME and POD_NAMESPACE are not set: no Job can be made\n', 500);
    const { reason } = meaning;
    const signal = abortAfter(patienceMs);
    // Each looks at what the one before has made: together they keep within the bound.
    const result = await inTurn(name, () =>
      handOver({ fleet, reason, ...delivery, id: delivery.id?.slice(0, 256) }, { kube, cronJob, signal }),
    );
    if (result.kind === 'refused') {
      log({ fleet: name, reason, problem: result.because }, 'a delivery was verified, and nothing was started');
      return context.text(`nothing is done for ${name}: ${result.because}\n`);
    }
    if (result.kind === 'repeated') return context.text(`accepted before, as Job ${result.job}\n`, 202);
    log({ fleet: name, reason, job: result.job }, 'a delivery was accepted');
    return context.text(`accepted as Job ${result.job}\n`, 202);
  }

  function unproven(context: Context): Response {
    refused();
    return context.body(null, 401);
  }

  function failed(context: Context, error: unknown): Response {
    if (error instanceof MalformedDelivery) return context.text(`it is signed, but ${error.message}\n`, 400);
    if (!(error instanceof KubeError)) throw error;
    log({ problem: error.message }, 'a delivery could not be handled');
    // Some forges try again, all show it; the tick finds what changed in any case.
    return isFinal(error) ? context.body(null, 500) : busy(context);
  }

  return { app, ready: () => lackOf(directory.look) };
}

function busy(context: Context): Response {
  return context.body(null, 503, { 'retry-after': '2' });
}

async function lackOf(look: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return 'the API server does not let the fleets be listed';
  }
}

/** Milliseconds between two reports. */
const everyMs = 60_000;

/** Counts what a stranger could repeat without end, and tells how often it was at most once a minute. */
function createTally(tell: (count: number) => void, clock: () => number = () => performance.now()): () => void {
  let count = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    count += 1;
    if (clock() - toldAt < everyMs) return;
    toldAt = clock();
    tell(count);
    count = 0;
  };
}
