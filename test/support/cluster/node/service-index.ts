import type { Informer } from './informer.ts';
import type { EndpointSlice } from './wire.ts';

export type ServiceIndex = {
  /** The slices of the Service `namespace/name`. */
  slices(service: string): EndpointSlice[];
};

/** Finds a Service's EndpointSlices without going through all of them. Make it before whoever reads it on a change. */
export function indexSlices(informer: Informer<EndpointSlice>): ServiceIndex {
  const byService = new Map<string, Map<string, EndpointSlice>>();
  const owner = ({ metadata }: EndpointSlice) =>
    `${metadata.namespace}/${metadata.labels?.['kubernetes.io/service-name'] ?? ''}`;
  informer.onChange((slice, previous) => {
    if (previous) byService.get(owner(previous))?.delete(previous.metadata.name);
    if (!slice) return;
    const slices = byService.get(owner(slice)) ?? new Map<string, EndpointSlice>();
    byService.set(owner(slice), slices.set(slice.metadata.name, slice));
  });
  return { slices: (service) => [...(byService.get(service)?.values() ?? [])] };
}
