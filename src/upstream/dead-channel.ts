import { HubError } from '../core/errors.ts';
import type { Channel, ChannelEvents } from './channel.ts';

/** A channel that could not even be opened: it reports why, once, and refuses everything. So factories neither throw nor report before they have returned. */
export function deadChannel(name: string, reason: Promise<HubError>, events: ChannelEvents): Channel {
  let closed = false;
  void reason.then((error) => {
    setImmediate(() => {
      if (!closed) events.closed(error);
    });
  });
  return {
    send() {
      throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
    },
    abandon() {},
    ready() {},
    forgetSession() {},
    async close() {
      closed = true;
    },
  };
}
