import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import type { Command } from './command.ts';
import { exitCodes } from './exit.ts';
import { oneLine } from './terminal.ts';

const explanation = z.object({
  allowed: z.boolean(),
  steps: z.array(z.object({ step: z.string(), result: z.string(), reason: z.string(), ref: z.string().optional() })),
  guards: z.array(z.object({ guard: z.string(), on: z.array(z.string()) })).default([]),
});

const marks: Readonly<Record<string, string>> = { allow: '+', refuse: 'x', ask: '?', none: ' ' };

/** `toolhub why`: whether a call is allowed, and every step of that decision (CONTRACT §9 and §12). */
export const why: Command = {
  name: 'why',
  summary: 'why a tool may be called, or may not',
  argument: '<tool>',
  help: `      --user <name>, --key <id or name>
                           who calls it; other users are for admins (default: yourself)
  -g, --group <name>       on the endpoint of this group or server
      --arguments <json>   the arguments of the call
      --json               the answer as JSON
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)`,
  options: {
    user: { type: 'string' },
    key: { type: 'string' },
    group: { type: 'string', short: 'g' },
    arguments: { type: 'string' },
    json: { type: 'boolean' },
    url: { type: 'string' },
  },
  async run(flags, given) {
    const [tool, ...more] = given;
    if (tool === undefined || more.length > 0)
      throw new HubError(
        'misconfigured',
        'Name one tool, as the hub shows it or as <server>/<tool>: toolhub why github-search_code',
      );
    const query = new URLSearchParams({ tool });
    for (const name of ['user', 'key', 'group', 'arguments']) {
      const value = flags[name];
      if (typeof value === 'string') query.set(name, value);
    }
    const { askHub } = await import('./remote/ask-hub.ts');
    const data = await askHub(flags, 'Cannot explain', `/why?${query.toString()}`);
    const { allowed, steps, guards } = explanation.parse(data);
    if (flags['json'] === true) process.stdout.write(`${JSON.stringify(data)}\n`);
    else {
      process.stdout.write(`${oneLine(tool)}: ${allowed ? 'allowed' : 'not allowed'}\n`);
      for (const { step, result, reason, ref } of steps)
        process.stdout.write(
          `  ${marks[result] ?? ' '} ${step.padEnd(8)} ${oneLine(reason, 400)}${ref === undefined ? '' : ` (${oneLine(ref)})`}\n`,
        );
      for (const { guard, on } of guards)
        process.stdout.write(
          `    looked at by "${oneLine(guard)}": ${on.map((at) => `the ${oneLine(at)}`).join(' and ')}\n`,
        );
    }
    return allowed ? exitCodes.stopped : exitCodes.failed;
  },
};
