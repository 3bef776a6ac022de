import type { Api } from './api.ts';
import { type Informer, startInformer } from './informer.ts';
import type { LocalNode } from './local-node.ts';
import type { Log } from './options.ts';
import type { ConfigMap, Secret } from './wire.ts';

/** Tells the pods that mount a ConfigMap or Secret when it changes; they read it again. */
export function refreshVolumesOnChange(
  watching: { api: Api; log: Log; signal: AbortSignal },
  nodes: readonly LocalNode[],
): void {
  const follow = <T extends ConfigMap | Secret>(kind: 'configMap' | 'secret', objects: Informer<T>) => {
    objects.onChange((object, previous) => {
      const { namespace = '', name = '' } = (object ?? previous)?.metadata ?? {};
      for (const node of nodes) {
        for (const worker of node.pods.workers()) if (worker.mounts(kind, namespace, name)) worker.refreshVolumes();
      }
    });
  };
  follow('configMap', startInformer<ConfigMap>(watching, '/api/v1/configmaps'));
  follow('secret', startInformer<Secret>(watching, '/api/v1/secrets'));
}
