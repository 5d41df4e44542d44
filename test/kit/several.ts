import type { Hostile } from './hostile.ts';

/**
 * A scripted stdio server that may run more than once at a time. It cannot be steered: all its processes would listen
 * at one place for that.
 */
export function several(server: Hostile): Hostile {
  const { args, ...config } = server.config as { args: [string, string] };
  const options = JSON.parse(args[1]) as Record<string, unknown>;
  delete options['control'];
  return { ...server, config: { ...config, args: [args[0], JSON.stringify(options)] } };
}
