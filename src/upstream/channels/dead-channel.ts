import { HubError } from '../../core/errors.ts';
import type { Channel, ChannelEvents } from './channel.ts';

/**
 * A channel that could not even be opened: it reports why, once, and refuses everything from then on. So factories
 * neither throw nor report before they have returned, and what is sent until then fails with the reason itself.
 */
export function deadChannel(name: string, reason: Promise<HubError>, events: ChannelEvents): Channel {
  let closed = false;
  let reported = false;
  void reason.then((error) => {
    setImmediate(() => {
      reported = true;
      if (!closed) events.closed(error);
    });
  });
  return {
    send() {
      if (reported) throw new HubError('upstream_unavailable', `Server "${name}" is not running.`);
    },
    abandon() {},
    ready() {},
    forgetSession() {},
    async close() {
      closed = true;
    },
  };
}
