import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import { readUserEnv, type UserEnv } from '../env/user-env.ts';
import type { Command } from './command.ts';
import { exitCodes } from './exit.ts';
import type { HubConnection } from './remote/hub-connection.ts';
import type { ListedTool } from './remote/session.ts';
import { oneLine, say } from './terminal.ts';

/** `toolhub tools`: the tools as the hub shows them to this user, all or those that fit a query. */
export const tools: Command = {
  name: 'tools',
  summary: "list a hub's tools, or search them by what they do",
  argument: '[query]',
  help: `  -g, --group <name>       those of a group or server, under the names it shows
      --json               all that is known of each, as JSON
  -n, --limit <number>     with a query: how many at most        (default ${coreLimits.searchResults})
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)`,
  options: {
    group: { type: 'string', short: 'g' },
    json: { type: 'boolean' },
    limit: { type: 'string', short: 'n' },
    url: { type: 'string' },
  },
  async run(flags, given) {
    const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
    const env = readUserEnv();
    const hub = connectTo(hubAddress(text(flags['url']), env), env);
    const query = given.join(' ').trim();
    const group = text(flags['group']);
    const limit = Number(text(flags['limit']) ?? coreLimits.searchResults);
    if (!Number.isInteger(limit) || limit < 1 || limit > coreLimits.searchResultsMost)
      throw new HubError('misconfigured', `--limit takes a whole number from 1 to ${coreLimits.searchResultsMost}.`);
    const listed = query === '' ? await all(hub, env, group) : await fitting(hub, env, { query, group, limit });
    process.stdout.write(flags['json'] === true ? `${JSON.stringify(listed, null, 2)}\n` : table(listed));
    if (listed.length === 0) say(query === '' ? 'There are no tools for you there.' : 'Nothing fits.');
    return exitCodes.stopped;
  },
};

async function all(hub: HubConnection, env: UserEnv, group: string | undefined): Promise<ListedTool[]> {
  const { openSession } = await import('./remote/session.ts');
  const session = await openSession(hub, env, { scope: group === undefined ? [] : [group] });
  try {
    return await session.tools();
  } finally {
    await session.close();
  }
}

const foundTools = z.object({
  tools: z.array(z.looseObject({ name: z.string(), description: z.string().optional().catch(undefined) })),
});

/** As `$smart` finds them, best first. */
async function fitting(
  hub: HubConnection,
  env: UserEnv,
  { query, group, limit }: { readonly query: string; readonly group: string | undefined; readonly limit: number },
): Promise<z.output<typeof foundTools>['tools']> {
  const { openSession } = await import('./remote/session.ts');
  const session = await openSession(hub, env, { scope: ['$smart', ...(group === undefined ? [] : [group])] });
  try {
    const result = await session.call('search_tools', { query, limit });
    const found = foundTools.safeParse(result.structuredContent).data;
    if (found !== undefined) return found.tools;
    const said = result.content.map((block) => (typeof block['text'] === 'string' ? block['text'] : '')).join(' ');
    throw new HubError('upstream_failed', `Cannot search at ${hub.url}: ${oneLine(said)}`);
  } finally {
    await session.close();
  }
}

/** A line per tool, cut to the width of a terminal. */
function table(listed: readonly { readonly name: string; readonly description?: string | undefined }[]): string {
  const names = listed.map(({ name }) => oneLine(name, 200));
  const column = Math.min(40, Math.max(0, ...names.map((name) => name.length)));
  const width = process.stdout.isTTY ? process.stdout.columns : Infinity;
  return listed
    .map(({ description = '' }, at) => {
      const line = `${(names[at] ?? '').padEnd(column)}  ${oneLine(description, 200)}`.trimEnd();
      return `${line.length > width ? `${line.slice(0, width - 1)}…` : line}\n`;
    })
    .join('');
}

function text(flag: unknown): string | undefined {
  return typeof flag === 'string' && flag !== '' ? flag : undefined;
}
