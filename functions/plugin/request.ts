import { checkKeys, checkName } from '../../manifests/api/check-report.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';
import type { RequestCheck } from '../../manifests/api/etcd-fleet-status.ts';
import type { ConfigMap } from '../../manifests/kube-types.ts';
import { printable } from '../../manifests/printable.ts';
import { resources } from '../../reconcile/interfaces/kube.ts';
import { isOf } from '../checks/keep-report.ts';
import { parseReport, type ShownReport } from '../page/check-report.ts';
import { type Asked, type ExitCode, Refusal } from './command.ts';
import { dataText, fleetNamed, nextCommand, refuseMissing } from './objects.ts';

interface RequestOptions {
  /** Absent: the one of the namespace that has checked it. */
  readonly fleet?: string;
}

const mostFleets = 100;

interface Found {
  readonly fleet: EtcdFleet;
  readonly check: RequestCheck;
}

/**
 * The report of a change request, as the fleet's ConfigMap keeps it: what merging would do, step by step.
 * @throws {Refusal} where no fleet has checked it, several have, or nothing is kept of it
 */
export async function request(number: string, asked: Asked, options: RequestOptions): Promise<ExitCode> {
  const { out, output } = asked;
  const found = await foundFor(number, asked, options);
  const { report, markdown } = await keptOf(found, asked);
  if (output === 'text') out(`${markdown.trimEnd().split('\n').map(printable).join('\n')}\n`);
  else out(dataText(report, output));
  return 0;
}

async function foundFor(number: string, asked: Asked, { fleet: name }: RequestOptions): Promise<Found> {
  const fleets = name === undefined ? await fleetsOf(asked) : [await fleetNamed(name, asked)];
  const all = fleets.flatMap((fleet) => {
    const check = fleet.status?.checks?.find((one) => isAbout(one, number));
    return check ? [{ fleet, check }] : [];
  });
  const [found, ...others] = all;
  if (found && others.length === 0) return found;
  if (found)
    throw new Refusal(
      `several fleets have checked request ${number}; name one by --fleet: ${all.map(({ fleet }) => fleet.metadata.name).join(', ')}`,
    );
  const open = fleets.flatMap(({ status }) => status?.checks ?? []).map((one) => one.number);
  throw new Refusal(
    `no fleet of ${asked.namespace} has checked a request ${number}; ${open.length === 0 ? 'no request is open' : `these are open: ${open.join(', ')}`}`,
  );
}

async function fleetsOf({ kube, namespace, stop }: Asked): Promise<readonly EtcdFleet[]> {
  const { items } = await kube.list<EtcdFleet>(resources.fleets, { namespace, limit: mostFleets, signal: stop });
  if (items.length > 0) return items;
  await refuseMissing({ kube, namespace, stop });
  throw new Refusal(`there is no EtcdFleet in ${namespace}; name another namespace by -n`);
}

function isAbout({ number, others = [] }: RequestCheck, asked: string): boolean {
  return number === asked || others.some((other) => other.number === asked);
}

/** Its ConfigMap may be changed by others: it counts only as a report of this fleet and this commit. */
async function keptOf({ fleet, check }: Found, asked: Asked): Promise<{ report: ShownReport; markdown: string }> {
  const { name } = fleet.metadata;
  const { kube, namespace, stop } = asked;
  const kept = await kube.get<ConfigMap>(resources.configMaps, namespace, checkName(name, check.head), {
    signal: stop,
  });
  const own = kept && isOf(kept, fleet) ? kept.data : undefined;
  const report = parseReport(own?.[checkKeys.json]);
  const markdown = own?.[checkKeys.markdown];
  const isIts = report?.head === check.head && report.fleet.namespace === namespace && report.fleet.name === name;
  if (report && isIts && markdown !== undefined) return { report, markdown };
  throw new Refusal(
    `no report is kept of ${check.head.slice(0, 12)}, the commit of request ${check.number} (${check.state}: ${check.description}): ${nextCommand(asked, `why fleet/${name}`)}`,
  );
}
