import { HubError } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import type { AskedSearch, SearchReport } from '../mcp/search-report.ts';
import { smartLimits } from '../smart/limits.ts';
import { type Command, environmentHelp, environmentOptions, type Flags, variablesFrom } from './command.ts';
import { exitCodes } from './exit.ts';
import { searchText } from './search-text.ts';

/** `toolhub search`: what smart routing finds for a query, asked of the running hub, or of what the last one saved. */
export const search: Command = {
  name: 'search',
  summary: 'find tools by what they do, as smart routing does',
  argument: '"<query>"',
  help: `  -g, --group <name>       search the servers of one group
  -n, --limit <number>     how many tools at most, 1 to ${coreLimits.searchResultsMost}      (default ${coreLimits.searchResults})
      --explain            where scores come from, and what was left out and why
      --json               the answer as JSON
      --url <address>      the hub to ask                        (TOOLHUB_URL, default the one that has the data folder)
      --saved              do not ask a hub: search what the last one saved in the data folder
${environmentHelp}

The hub is shown the access token or key in TOOLHUB_TOKEN, else the login of \`toolhub login\`; an admin's, for what the
hub itself explains. No option takes it: other users of the machine can read the arguments of programs.`,
  options: {
    ...environmentOptions,
    group: { type: 'string', short: 'g' },
    limit: { type: 'string', short: 'n' },
    explain: { type: 'boolean' },
    json: { type: 'boolean' },
    url: { type: 'string' },
    saved: { type: 'boolean' },
  },
  async run(flags, given) {
    const asked = askedIn(flags, given);
    const { report, note } = await answer(asked, flags);
    if (note !== undefined) process.stderr.write(`toolhub: ${note}\n`);
    process.stdout.write(flags['json'] === true ? `${JSON.stringify(report, null, 2)}\n` : searchText(report));
    return exitCodes.stopped;
  },
};

interface Answered {
  readonly report: SearchReport;
  /** What gave the answer, where that is not obvious. */
  readonly note?: string;
}

async function answer(asked: AskedSearch, flags: Flags): Promise<Answered> {
  const { readProcessEnv } = await import('../env/env.ts');
  const { readUserEnv } = await import('../env/user-env.ts');
  const { folderHolder } = await import('../settings/data-dir.ts');
  const { searchSaved } = await import('./search-saved.ts');
  const env = readProcessEnv(variablesFrom(flags));
  if (flags['saved'] === true) return { report: await searchSaved(asked, env) };
  // Not of `.env`: in a folder of a stranger it could send a credential to a hub of theirs.
  const user = readUserEnv();
  const named = text(flags['url']) ?? user.hubUrl;
  const found = named ?? (await folderHolder(env.dataDir))?.url;
  if (found === undefined) {
    const note = `no hub has the data folder ${env.dataDir}; this is what the last one saved there.`;
    return { report: await searchSaved(asked, env), note };
  }
  const { bearerFor } = await import('./remote/access.ts');
  const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
  const url = hubAddress(found, user);
  const token = await bearerFor(connectTo(url, user), user);
  // The hub gives explanations to admins only. A user who can read the data folder and the settings of this machine's
  // hub can see all of that anyway.
  if (asked.explain && token === undefined && named === undefined && env.database.kind !== 'postgres') {
    const note = `the hub at ${url} explains to admins only (toolhub login, or TOOLHUB_TOKEN); this is the built-in search of what it saved in ${env.dataDir}.`;
    return { report: await searchSaved(asked, env), note };
  }
  const { searchHub } = await import('./search-hub.ts');
  return { report: await searchHub(asked, url, token) };
}

/** Throws HubError `misconfigured` for what cannot be asked. */
function askedIn(flags: Flags, given: readonly string[]): AskedSearch {
  const query = given.join(' ').trim();
  if (query === '') throw refused('say what to look for, for example: toolhub search "create an issue"');
  if (query.length > smartLimits.searchChars)
    throw refused(`a query may have at most ${smartLimits.searchChars} characters`);
  const limit = Number(text(flags['limit']) ?? coreLimits.searchResults);
  if (!Number.isInteger(limit) || limit < 1 || limit > coreLimits.searchResultsMost)
    throw refused(`--limit takes a whole number from 1 to ${coreLimits.searchResultsMost}`);
  return { query, group: text(flags['group']), limit, explain: flags['explain'] === true };
}

function refused(why: string): HubError {
  return new HubError('misconfigured', `Cannot search: ${why}.`);
}

function text(flag: Flags[string]): string | undefined {
  return typeof flag === 'string' && flag !== '' ? flag : undefined;
}
