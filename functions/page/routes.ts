import { type Context, Hono } from 'hono';
import { keyOf, ownObjects } from '../../reconcile/fleet/names.ts';
import { KubeError } from '../../reconcile/interfaces/kube.ts';
import type { Access, Viewer } from './access.ts';
import { checkPage } from './check.ts';
import { clusterPage } from './cluster.ts';
import { fleetPage } from './fleet.ts';
import { homePage } from './home.ts';
import { type Notice, noticePage } from './layout.ts';
import type { Html } from './markup.ts';
import { type Query, queryFrom } from './query.ts';
import type { Reader } from './read.ts';
import { respond } from './respond.ts';
import { sightOf } from './sight.ts';

export interface PageContext {
  readonly reader: Reader;
  readonly access: Access;
  /** What went wrong, for the log; never what was asked with. */
  readonly log: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

interface Look {
  readonly reader: Reader;
  readonly viewer: Viewer;
  readonly context: Context;
}

type Found = Html | 'missing' | 'leftOut' | 'unkept' | 'forbidden';

interface View {
  readonly path: string;
  /** From there to `/`. */
  readonly root: string;
  readonly show: (look: Look) => Promise<Found>;
}

const views: readonly View[] = [
  { path: '/', root: '', show: home },
  { path: '/fleets/:namespace/:name', root: '../../', show: fleet },
  { path: '/clusters/:namespace/:name', root: '../../', show: cluster },
  { path: '/checks/:sha', root: '../', show: check },
];

/** The pages. Nothing is said about anything before it is known who looks. */
export function pageRoutes(page: PageContext): Hono {
  const app = new Hono();
  for (const view of views) {
    app.get(view.path, (context) => answer(page, view, context));
    app.all(view.path, (context) => {
      context.header('allow', 'GET, HEAD');
      return context.body(null, 405);
    });
  }
  return app;
}

async function answer({ reader, access, log }: PageContext, { root, show }: View, context: Context): Promise<Response> {
  const notice = (status: 400 | 401 | 403 | 404 | 421 | 500 | 503, what: Omit<Notice, 'root' | 'now'>) =>
    respond(context, noticePage({ ...what, root, now: reader.now() }), status);
  let known = false;
  try {
    const admission = await access({ header: (name) => context.req.header(name) });
    switch (admission.kind) {
      case 'crowded':
        context.header('retry-after', '1');
        return notice(503, { title: 'Busy', message: 'Too many users ask at once. Try again in a moment.' });
      case 'elsewhere':
        return notice(421, { title: 'Not here', message: admission.because });
      case 'nobody':
        context.header('www-authenticate', 'Bearer realm="etcd-ratchet"');
        return notice(401, {
          title: 'Who are you?',
          message: admission.because,
          cure: 'Come through the proxy that signs you in, or send "Authorization: Bearer" with a token of the cluster.',
        });
      case 'viewer':
        break;
      default:
        return admission satisfies never;
    }
    known = true;
    const found = await show({ reader, viewer: admission.viewer, context });
    if (found === 'missing') {
      return notice(404, { title: 'Not found', message: 'There is nothing at this address, or not any more.' });
    }
    if (found === 'leftOut') {
      return notice(503, {
        title: 'Namespace left out',
        message: 'The objects of this namespace take more memory than there is for them beside those of others.',
        cure: 'The first page says what to do.',
        tone: 'bad',
      });
    }
    if (found === 'unkept') {
      return notice(404, {
        title: 'No report',
        message: 'There is no report of this commit, or not any more: a report is kept while its request is open.',
        cure: 'After the merge, the pages of its fleet and clusters show it.',
      });
    }
    if (found === 'forbidden') {
      return notice(403, {
        title: 'Not yours to see',
        message: 'You may not get this with kubectl either.',
        cure: 'To see it, have the ClusterRole view bound to you in its namespace.',
      });
    }
    return respond(context, found);
  } catch (error) {
    if (!(error instanceof KubeError)) {
      log({ problem: (error as Error).stack }, 'a page could not be made');
      return notice(500, { title: 'A defect', message: 'This page could not be made; the log says why.', tone: 'bad' });
    }
    const { message } = error;
    log({ problem: message }, 'a page could not be shown');
    context.header('retry-after', '5');
    // To a stranger the API server's words are none of their business.
    return notice(503, {
      title: 'The API server does not answer as it should',
      message: known ? message : 'Until it answers, no user can be let in.',
      cure: 'Members go on serving without it. Try again in a moment.',
      tone: 'bad',
    });
  }
}

async function home({ reader, viewer, context }: Look): Promise<Found> {
  const [sight, mayNodes] = await Promise.all([
    reader.world().then((world) => sightOf(viewer, world)),
    viewer.may({ verb: 'list', resource: 'etcdnodepolicies' }),
  ]);
  const policies = mayNodes ? await reader.nodePolicies() : [];
  return homePage({ ...sight, policies, query: queryOf(context), now: reader.now() });
}

async function fleet({ reader, viewer, context }: Look): Promise<Found> {
  const { namespace, name, key } = named(context);
  if (!(await viewer.may({ verb: 'get', resource: 'etcdfleets', namespace, name }))) return 'forbidden';
  const world = await reader.world();
  const found = world.fleets.find((one) => keyOf(one) === key);
  if (!found) return world.leftOut.has(namespace) ? 'leftOut' : 'missing';
  const { clusters } = await sightOf(viewer, { ...world, fleets: [], clusters: ownObjects(found, world.clusters) });
  return fleetPage({ fleet: found, clusters, query: queryOf(context), now: reader.now() });
}

async function cluster({ reader, viewer, context }: Look): Promise<Found> {
  const { namespace, name, key } = named(context);
  if (!(await viewer.may({ verb: 'get', resource: 'etcdclusters', namespace, name }))) return 'forbidden';
  const { clusters, fleets, leftOut } = await reader.world();
  const found = clusters.find((one) => keyOf(one) === key);
  if (!found) return leftOut.has(namespace) ? 'leftOut' : 'missing';
  const owner = fleets.find((one) => ownObjects(one, [found]).length > 0);
  const mayKnow = owner && (await viewer.may({ verb: 'get', resource: 'etcdfleets', ...nameOf(owner) }));
  const maySee = async (resource: 'etcdbackups' | 'etcdbackupschedules') =>
    viewer.may({ verb: 'list', resource, namespace });
  const [plan, backups, schedules] = await Promise.all([
    reader.plan(found),
    maySee('etcdbackups').then((may) => (may ? reader.backups(found) : [])),
    maySee('etcdbackupschedules').then((may) => (may ? reader.schedules(found) : [])),
  ]);
  return clusterPage({
    cluster: found,
    fleet: mayKnow ? owner : undefined,
    plan,
    backups,
    schedules,
    query: queryOf(context),
    now: reader.now(),
  });
}

/** Namespaces that are looked into for one commit. */
const mostNamespaces = 50;

async function check({ reader, viewer, context }: Look): Promise<Found> {
  const sha = (context.req.param('sha') ?? '').toLowerCase();
  if (!/^[0-9a-f]{40}$/.test(sha)) return 'missing';
  const { fleets } = await reader.world();
  // A commit without a report in these fleets costs no request to the API server.
  const asked = fleets.filter(({ status }) => status?.checks?.some(({ head }) => head === sha));
  const open = await Promise.all(
    asked.map(async (one) =>
      (await viewer.may({ verb: 'get', resource: 'etcdfleets', ...nameOf(one) })) ? [one] : [],
    ),
  );
  const seen = new Map(open.flat().map((one) => [keyOf(one), one]));
  const namespaces = [...new Set([...seen.values()].map((one) => nameOf(one).namespace))].slice(0, mostNamespaces);
  const reports = (await reader.reports(namespaces, sha)).flatMap((report) => {
    const fleet = seen.get(keyOf({ metadata: report.fleet }));
    return fleet ? [{ report, fleet }] : [];
  });
  return reports.length > 0 ? checkPage({ sha, reports, query: queryOf(context), now: reader.now() }) : 'unkept';
}

function queryOf(context: Context): Query {
  return queryFrom((name) => context.req.query(name));
}

function named(context: Context): { readonly namespace: string; readonly name: string; readonly key: string } {
  const { namespace = '', name = '' } = context.req.param() as { namespace?: string; name?: string };
  return { namespace, name, key: `${namespace}/${name}` };
}

function nameOf({ metadata }: Parameters<typeof keyOf>[0]): { readonly namespace: string; readonly name: string } {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
