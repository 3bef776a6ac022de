import { InvalidArgumentError, Option } from 'commander';
import { dnsSubdomain } from '../../manifests/api/common-rules.ts';
import { isLabelKey, isLabelValue } from '../../manifests/api/label-rules.ts';

const installation = 'etcd-ratchet/etcd-ratchet';

/** A time to wait. @throws {InvalidArgumentError} */
export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 3600) return value;
  throw new InvalidArgumentError('a whole number of seconds from 0 to 3600');
}

/** Between two looks. @throws {InvalidArgumentError} */
export function interval(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= 3600) return value;
  throw new InvalidArgumentError('a whole number of seconds from 1 to 3600');
}

/** The API server looks for no other name: it is not asked. */
export function kubernetesName(text: string): string {
  if (text.length <= 253 && new RegExp(dnsSubdomain).test(text)) return text;
  throw new InvalidArgumentError('A name has only lower-case letters, digits, "-" and ".".');
}

/** As forges count requests, with the mark that some write before it. @throws {InvalidArgumentError} */
export function requestNumber(text: string): string {
  const [, number] = /^[#!]?(\d{1,16})$/.exec(text) ?? [];
  if (number !== undefined) return number;
  throw new InvalidArgumentError('the number of a change request, like 17');
}

const mostLabels = 16;

/** Like `app=legacy,tier=db`. @throws {InvalidArgumentError} */
export function podLabels(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',', mostLabels + 1).map((pair) => pair.split('='));
  const keys = new Set(pairs.map(([key]) => key));
  const isSound = pairs.every(
    ([key = '', value = '', ...more]) => isLabelKey(key) && value !== '' && isLabelValue(value) && more.length === 0,
  );
  if (isSound && pairs.length <= mostLabels && keys.size === pairs.length) return Object.fromEntries(pairs);
  throw new InvalidArgumentError('up to 16 labels like app=legacy,tier=db, each key once');
}

function installationName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace, name, ...more] = text.split('/');
  if (namespace && name && more.length === 0)
    return { namespace: kubernetesName(namespace), name: kubernetesName(name) };
  throw new InvalidArgumentError('like namespace/name');
}

export function ofInstallation(): Option {
  return new Option('--installation <namespace/name>', 'the CronJob of etcd-ratchet')
    .argParser(installationName)
    .default(installationName(installation), installation);
}
