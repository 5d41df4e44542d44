import { hostname } from 'node:os';
import { HubError } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { readUserEnv, type UserEnv } from '../env/user-env.ts';
import type { ClientFile } from '../snippets/client-file.ts';
import type { Command, Flags } from './command.ts';
import type { Entry, EntryPlace } from './client-files/entry.ts';
import type { UserFile } from './client-files/user-file.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import type { HubConnection } from './remote/hub-connection.ts';
import { oneLine, say } from './terminal.ts';

/** `toolhub connect`: puts the hub into the file in which an AI client of this user keeps its servers. */
export const connect: Command = {
  name: 'connect',
  summary: "put a hub into an AI client's own settings",
  argument: '<client>',
  help: `Shows the change to the client's file. Clients: claude-code, cursor, vscode, codex, claude-desktop, gemini-cli,
windsurf, cline.

      --write              write it, keep a copy, and wait until the hub sees the client
      --remove             undo it: the file as it was, or without the entry where it was changed since
  -g, --group <name>       the endpoint of a group or server, $smart, $code, $smart/<group>, $code/<group>
      --name <name>        what the client calls the hub         (default toolhub, or toolhub-<group>)
      --key                with a new access key; without it the client signs in by itself where the hub asks for it
      --no-wait            do not wait for the client
      --url <address>      the hub                               (TOOLHUB_URL, default http://127.0.0.1:3000)`,
  options: {
    write: { type: 'boolean' },
    remove: { type: 'boolean' },
    group: { type: 'string', short: 'g' },
    name: { type: 'string' },
    key: { type: 'boolean' },
    'no-wait': { type: 'boolean' },
    url: { type: 'string' },
  },
  async run(flags, given) {
    const { connectTo, hubAddress } = await import('./remote/hub-connection.ts');
    const { clientName, endpointUrl } = await import('../snippets/snippet.ts');
    const { userFile } = await import('./client-files/user-file.ts');
    const env = readUserEnv();
    const hub = connectTo(hubAddress(text(flags['url']), env), env);
    const path = scopeOf(text(flags['group']));
    const endpoint = endpointUrl(`${hub.url}/mcp`, ...path);
    const client = await clientFor(given, endpoint);
    const name = text(flags['name']) ?? clientName(path.length === 0 ? undefined : path.join('-').replace('$', ''));
    if (!/^[\w-]{1,64}$/.test(name))
      throw new HubError('misconfigured', '--name takes letters, digits, "-" and "_", at most 64.');
    if (flags['write'] === true && flags['remove'] === true)
      throw new HubError('misconfigured', 'Use --write or --remove, not both.');
    const file = await userFile(client.path(env), env.home);
    const job: Job = { client, hub, env, file, path, name, endpoint };
    return flags['remove'] === true ? disconnect(job) : connectClient(job, flags);
  },
};

interface Job {
  readonly client: ClientFile;
  readonly hub: HubConnection;
  readonly env: UserEnv;
  readonly file: UserFile;
  /** Below `/mcp`. */
  readonly path: readonly string[];
  /** What the client calls the hub. */
  readonly name: string;
  readonly endpoint: string;
}

async function connectClient(job: Job, flags: Flags): Promise<ExitCode> {
  const { client, file, name, endpoint, hub, env, path } = job;
  const { isSameConnection, merged } = await import('./client-files/entry.ts');
  const withKey = flags['key'] === true;
  if (withKey && !client.takesKey)
    throw new HubError(
      'misconfigured',
      `${client.title} takes no key from its file: it signs in by itself. Leave --key out.`,
    );
  const there = await entryIn(job, file.text);
  const shown = client.entry({ name, url: endpoint, token: withKey ? placeholder : undefined });
  if (isSameConnection(there, shown)) {
    process.stdout.write(`${client.title} has ${endpoint} in ${file.path} already. Nothing to change.\n`);
    return exitCodes.stopped;
  }
  const preview = await edit(job, file.text, merged(there, shown));
  await showChange(job, file.text ?? '', preview, textsOf(shown));
  if (flags['write'] !== true) {
    process.stdout.write('\nNothing is written yet: --write does it.\n');
    return exitCodes.stopped;
  }
  const { arrivals, madeKey } = await import('./client-files/hub-side.ts');
  const wait = flags['no-wait'] === true ? undefined : await arrivals(hub, env);
  const keyName = `${client.title} on ${hostname()}`;
  const key = withKey ? await madeKey(hub, env, { name: keyName, path }) : undefined;
  try {
    const entry = key === undefined ? shown : client.entry({ name, url: endpoint, token: key.token });
    const after = await edit(job, file.text, merged(there, entry));
    await writeAndRemember(job, after, key?.id);
  } catch (error) {
    await key?.remove().catch(() => undefined);
    throw error;
  }
  if (key !== undefined) say(`With a new access key, "${oneLine(keyName)}".`);
  process.stdout.write(`${client.nextStep}\n`);
  await wait?.(client.title);
  return exitCodes.stopped;
}

async function writeAndRemember(job: Job, after: string, keyId: string | undefined): Promise<void> {
  const { client, file, name, hub, env } = job;
  const { connectionRecord, digestOf } = await import('./client-files/connections.ts');
  const record = connectionRecord(client.client, name, env);
  const last = await record.read();
  // Written a second time, the way back still leads to what was there before the first.
  const isOurs = last?.path === file.path && file.text !== undefined && last.after === digestOf(file.text);
  const before = isOurs ? last.before : (file.text ?? null);
  // The copy first: a file that was changed has one.
  await record.write({
    path: file.path,
    before,
    after: digestOf(after),
    hub: hub.url,
    ...(keyId !== undefined && { keyId }),
  });
  try {
    await file.write(after);
  } catch (error) {
    await (last === undefined ? record.remove() : record.write(last));
    throw error;
  }
  const kept = before === null ? '' : ` A copy of what was there is in ${record.path}.`;
  process.stdout.write(`\nWritten to ${file.path}.${kept} --remove undoes it.\n`);
  if (isOurs && last.keyId !== undefined) {
    const { endedKey } = await import('./client-files/hub-side.ts');
    await endedKey(hub, env, last.keyId);
  }
}

async function disconnect(job: Job): Promise<ExitCode> {
  const { client, file, name, hub, env } = job;
  const { connectionRecord, digestOf } = await import('./client-files/connections.ts');
  const record = connectionRecord(client.client, name, env);
  const kept = await record.read();
  const last = kept?.path === file.path ? kept : undefined;
  const there = await entryIn(job, file.text);
  if (file.text === undefined || there === undefined) {
    process.stdout.write(`${client.title} has no "${name}" in ${file.path}. Nothing to change.\n`);
  } else if (last?.after === digestOf(file.text)) {
    await showChange(job, file.text, last.before ?? '', new Set());
    if (last.before === null) file.remove();
    else await file.write(last.before);
    process.stdout.write(`\n${file.path} is as it was before.\n`);
  } else {
    if (last === undefined && !JSON.stringify(there).includes(hub.url))
      throw new HubError(
        'misconfigured',
        `"${name}" in ${file.path} was not put there by this command and leads to another address. Take it out by hand.`,
      );
    const before = await entryIn(job, last?.before ?? undefined).catch(() => undefined);
    const next = await edit(job, file.text, before);
    await showChange(job, file.text, next, new Set());
    await file.write(next);
    process.stdout.write(`\nTaken out of ${file.path}, which was changed since; the rest of it is left as it is.\n`);
  }
  if (last?.keyId !== undefined) {
    const { endedKey } = await import('./client-files/hub-side.ts');
    await endedKey(hub, env, last.keyId);
  }
  await record.remove();
  return exitCodes.stopped;
}

const placeholder = 'YOUR_ACCESS_KEY';
const byteOrderMark = '\ufeff';

/** The entry of that name in the text of a client's file. Throws HubError for a file that does not parse. */
async function entryIn(job: Job, text: string | undefined): Promise<unknown> {
  const { client, name } = job;
  if (text === undefined || isEmpty(text)) return undefined;
  const document = await inFile(job, async () =>
    client.format === 'toml'
      ? (await import('./client-files/edit-toml.ts')).readToml(text.replace(byteOrderMark, ''))
      : (await import('./client-files/edit-json.ts')).readJson(text.replace(byteOrderMark, '')),
  );
  const all = isObject(document) ? document[client.servers] : undefined;
  return isObject(all) && Object.hasOwn(all, name) ? all[name] : undefined;
}

async function edit(job: Job, text: string | undefined, entry: unknown): Promise<string> {
  const { client, name } = job;
  const place: EntryPlace = { servers: client.servers, name };
  const given = entry as Entry | undefined;
  const mark = text?.startsWith(byteOrderMark) === true ? byteOrderMark : '';
  const content = (text ?? '').slice(mark.length);
  const edited = await inFile(job, async () =>
    client.format === 'toml'
      ? (await import('./client-files/edit-toml.ts')).editToml(content, place, given)
      : (await import('./client-files/edit-json.ts')).editJson(isEmpty(content) ? '{}\n' : content, place, given),
  );
  return `${mark}${edited}`;
}

/** What is wrong with the file, with its name. */
async function inFile<T>({ file }: Job, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    throw new HubError('misconfigured', `${file.path} ${error.message}. Nothing was written.`, { cause: error });
  }
}

async function showChange({ file }: Job, before: string, after: string, known: ReadonlySet<string>): Promise<void> {
  const { shownChange } = await import('./client-files/shown-change.ts');
  const head = `${file.path}${file.text === undefined ? ' (new)' : ''}`;
  process.stdout.write(`${[head, ...shownChange(before, after, known)].join('\n')}\n`);
}

function isEmpty(text: string): boolean {
  return text.replace(byteOrderMark, '').trim() === '';
}

/** Every text in an entry, which holds no secret yet. */
function textsOf(value: unknown): Set<string> {
  if (typeof value === 'string') return new Set([value]);
  if (typeof value !== 'object' || value === null) return new Set();
  return new Set(Object.values(value).flatMap((inner) => [...textsOf(inner)]));
}

function scopeOf(group: string | undefined): string[] {
  if (group === undefined) return [];
  const own = /^(\$smart|\$code)\/(.+)$/s.exec(group);
  return own ? own.slice(1) : [group];
}

async function clientFor(given: readonly string[], endpoint: string): Promise<ClientFile> {
  const { allSnippets, clientFiles } = await import('../snippets/all.ts');
  const [written = '', ...more] = given;
  // As people write them: claude.ai, ChatGPT.
  const name = written.toLowerCase().replaceAll('.', '-');
  const found = clientFiles.find(({ client }) => client === name);
  if (found !== undefined && more.length === 0) return found;
  const known = clientFiles.map(({ client }) => client).join(', ');
  if (name === '' || more.length > 0) throw new HubError('misconfigured', `Name one client: ${known}.`);
  const service = allSnippets({ name: 'toolhub', url: endpoint }).find(({ client }) => client === name);
  if (service !== undefined)
    throw new HubError(
      'misconfigured',
      `${service.title} has no file on this machine. Add ${endpoint} in ${service.where}.`,
    );
  if (name === 'claude-ai' || name === 'chatgpt')
    throw new HubError(
      'misconfigured',
      `${name} runs on the internet and cannot get to ${endpoint}. It needs a public https address.`,
    );
  const { nearNames } = await import('./near-names.ts');
  const near = nearNames(
    name,
    clientFiles.map(({ client }) => client),
  );
  throw new HubError(
    'misconfigured',
    `There is no client "${oneLine(name, 60)}". ${near.length > 0 ? `Did you mean ${near.join(', ')}?` : `Known: ${known}.`}`,
  );
}

function text(flag: unknown): string | undefined {
  return typeof flag === 'string' && flag !== '' ? flag : undefined;
}
