import { together } from '../../../../requests/program.ts';
import { moved } from '../../../know/outcome.ts';
import { promote } from '../../requests/membership.ts';
import { readConfigMap } from '../../requests/objects.ts';
import { liveVolume } from '../../requests/volumes.ts';
import { defineAction } from '../define.ts';

/**
 * Makes a learner a voter. etcd refuses as long as it is not in sync.
 *
 * Guards I5: from here on its vote counts for writes, so it must never start empty again; volume and ConfigMap say so,
 * at this moment.
 */
export const promoteLearner = defineAction('promote-learner', {
  target: ({ name }) => name,
  *run({ name, memberId, clusterId }) {
    const { volume, settings } = yield* together({ volume: liveVolume(name), settings: readConfigMap({ name }) });
    if (volume.record.state !== 'sealed' || volume.record.memberId !== memberId || !settings?.immutable)
      throw moved(`${name} is not sealed as member ${memberId}`);
    yield* promote({ name, memberId, clusterId });
  },
});
