import { HubError } from '../../../core/errors.ts';
import { type Channel, type ChannelEvents, deadChannel } from '../channel.ts';
import type { InstallQueue } from './install-queue.ts';
import { type Contained, inContainer } from './container.ts';
import { openLaunched } from './launched.ts';
import { launcherOf } from './launcher.ts';
import { openProgram, type StdioOptions } from './program.ts';
import { inSandbox, type Sandboxed } from './sandbox.ts';

/**
 * The channel to a program on this machine: started as it is, or by the launcher (`npx`, …) that its command names. One
 * that is to be in a sandbox never runs without.
 */
export function openStdioChannel(
  options: StdioOptions & {
    readonly installs: InstallQueue;
    readonly sandboxed?: Sandboxed | undefined;
    readonly contained?: Contained | undefined;
  },
  events: ChannelEvents,
): Channel {
  const { installs, sandboxed, contained } = options;
  let held: StdioOptions;
  try {
    held = contained ? inContainer(options, contained) : sandboxed ? inSandbox(options, sandboxed) : options;
  } catch (error) {
    if (error instanceof HubError) return deadChannel(options.name, Promise.resolve(error), events);
    throw error;
  }
  // An engine fetches the image first.
  const { command, args } = (contained && held.spawned) ?? options;
  const launcher = launcherOf(command, args);
  return launcher ? openLaunched(launcher, { ...held, installs }, events) : openProgram(held, events);
}
