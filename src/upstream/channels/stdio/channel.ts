import type { Channel, ChannelEvents } from '../channel.ts';
import type { InstallQueue } from './install-queue.ts';
import { openLaunched } from './launched.ts';
import { launcherOf } from './launcher.ts';
import { openProgram, type StdioOptions } from './program.ts';

/** The channel to a program on this machine: started as it is, or by the launcher (`npx`, …) that its command names. */
export function openStdioChannel(
  options: StdioOptions & { readonly installs: InstallQueue },
  events: ChannelEvents,
): Channel {
  const launcher = launcherOf(options.command, options.args);
  return launcher ? openLaunched(launcher, options, events) : openProgram(options, events);
}
