import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { parseInput } from '../core/input.ts';
import { diskError } from '../disk/disk-error.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import { parseJsonText } from '../settings/document/syntax.ts';
import type { Command, Flags } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { oneLine, say } from './terminal.ts';

const pin = z.object({
  server: z.string(),
  kind: z.string(),
  name: z.string(),
  state: z.string(),
  risk: z.string(),
  reasons: z.array(z.string()),
  hash: z.string().optional(),
});
type Pin = z.output<typeof pin>;

const file = z.object({
  version: z.literal(1),
  servers: z.record(z.string(), z.record(z.string(), z.string())),
});

/** `toolhub pins`: what servers changed; export and check for version control (CONTRACT §9 and §12). */
export const pins: Command = {
  name: 'pins',
  summary: 'what servers changed, and what to do about it',
  argument: '[approve <server>|reject <server>|export <file>|check <file>]',
  help: `  Without a word: what is new, changed, renamed, gone or rejected, for admins.
  approve, reject: all of a server that waits; with --kind and --name one thing, also one that was rejected.
      --kind <kind>        tool, prompt, resource, resourceTemplate or instructions (default tool)
      --name <name>        what the list calls it
  export: what servers offer now, as hashes, into a file for version control.
  check: what differs from such a file; exit code 1 when something does.
      --json               as JSON
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)`,
  options: {
    kind: { type: 'string' },
    name: { type: 'string' },
    json: { type: 'boolean' },
    url: { type: 'string' },
  },
  async run(flags, [what, named, ...more]) {
    const decides = what === 'approve' || what === 'reject';
    if (!decides && (flags['kind'] !== undefined || flags['name'] !== undefined))
      throw new HubError(
        'misconfigured',
        '--kind and --name are for "toolhub pins approve" and "toolhub pins reject".',
      );
    if (what === undefined) return list(flags);
    if (named === undefined || more.length > 0 || !(decides || what === 'export' || what === 'check'))
      throw new HubError(
        'misconfigured',
        'It is "toolhub pins", or one of approve and reject with a server, export and check with a file.',
      );
    if (what === 'export') return exportTo(flags, named);
    if (what === 'check') return check(flags, named);
    const { askHub } = await import('./remote/ask-hub.ts');
    const path = `/pins/${encodeURIComponent(named)}/${what}`;
    await askHub(flags, `Cannot ${what} what the server offers`, path, itemIn(flags));
    say(what === 'approve' ? 'Approved.' : 'Rejected: hidden until it is approved.');
    return exitCodes.stopped;
  },
};

/** What a decision is about: one thing, or nothing that is named. Throws HubError `misconfigured` for a kind alone. */
function itemIn({ kind, name }: Flags): object {
  if (name !== undefined) return { items: [{ kind: kind ?? 'tool', name }] };
  if (kind === undefined) return {};
  throw new HubError('misconfigured', 'Say with --name which one: without it all that waits of the server is meant.');
}

async function pinsOf(flags: Flags, query: string): Promise<Pin[]> {
  const { askHub } = await import('./remote/ask-hub.ts');
  const found = z.array(pin).safeParse(await askHub(flags, 'Cannot list the pins', `/pins${query}`));
  if (found.success) return found.data;
  throw new HubError('upstream_failed', 'The hub answered with something that is no list of pins.');
}

async function list(flags: Flags): Promise<ExitCode> {
  const waiting = (await pinsOf(flags, '')).filter(({ state }) => state !== 'approved');
  if (flags['json'] === true) process.stdout.write(`${JSON.stringify(waiting, null, 2)}\n`);
  else
    for (const { server, kind, name, state, risk, reasons } of waiting) {
      const why = reasons.length === 0 ? '' : `: ${reasons.join(' ')}`;
      process.stdout.write(`${oneLine(`${server}: ${kind} ${name}: ${state}, risk ${risk}${why}`, 600)}\n`);
    }
  if (waiting.length === 0) say('Nothing waits: every server offers what was approved.');
  else say('Compare on the page "Pins" of the dashboard, then: toolhub pins approve <server>, or reject.');
  if (waiting.some(({ state }) => state === 'rejected'))
    say('What is rejected is approved by name: toolhub pins approve <server> --kind <kind> --name <name>.');
  return exitCodes.stopped;
}

/** Hashes by server, kind and name, in the order of their names. */
async function hashesOf(flags: Flags): Promise<Record<string, Record<string, string>>> {
  const all = (await pinsOf(flags, '?hashes=true')).filter(({ hash }) => hash !== undefined);
  const servers = new Map<string, Map<string, string>>();
  const order = (one: Pin): string => `${one.server}\n${one.kind}\n${one.name}`;
  for (const one of all.toSorted((a, b) => (order(a) < order(b) ? -1 : 1))) {
    const items = servers.get(one.server) ?? new Map<string, string>();
    servers.set(one.server, items.set(`${one.kind} ${one.name}`, one.hash ?? ''));
  }
  return Object.fromEntries([...servers].map(([name, items]) => [name, Object.fromEntries(items)]));
}

async function exportTo(flags: Flags, path: string): Promise<ExitCode> {
  const servers = await hashesOf(flags);
  await writeFileAtomic(path, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`, { mode: 0o644 }).catch(
    (error: unknown) => {
      throw diskError(error, `Cannot write ${path}`, dirname(path));
    },
  );
  say(`Written: ${Object.keys(servers).length} servers.`);
  return exitCodes.stopped;
}

async function check(flags: Flags, path: string): Promise<ExitCode> {
  const kept = await read(path);
  const now = await hashesOf(flags);
  const lines = [...new Set([...Object.keys(kept), ...Object.keys(now)])].sort().flatMap((server) => {
    const [before, after] = [kept[server] ?? {}, now[server] ?? {}];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap((item) => {
      if (before[item] === after[item]) return [];
      const what = before[item] === undefined ? 'new' : after[item] === undefined ? 'gone' : 'changed';
      return [`${server}: ${item}: ${what}`];
    });
  });
  for (const line of lines) process.stdout.write(`${oneLine(line, 400)}\n`);
  say(lines.length === 0 ? 'As in the file.' : `${lines.length} differ from the file.`);
  return lines.length === 0 ? exitCodes.stopped : exitCodes.failed;
}

async function read(path: string): Promise<Record<string, Record<string, string>>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw diskError(error, `Cannot read ${path}`, path);
  });
  const attempt = `${path} is no export of pins`;
  try {
    return parseInput(file, jsonOf(text, attempt), attempt).servers;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const advice = '"toolhub pins export <file>" makes one.';
    throw new HubError('misconfigured', `${oneLine(error.message, 600)} ${advice}`, { cause: error });
  }
}

/** Throws HubError `invalid_input` with the place where the text is no JSON. */
function jsonOf(text: string, attempt: string): unknown {
  try {
    return parseJsonText(text).value;
  } catch (error) {
    const [at] = error instanceof HubError ? error.problems : [];
    throw new HubError('invalid_input', `${attempt}: not valid JSON at ${at?.path ?? 'its beginning'}.`, {
      cause: error,
    });
  }
}
