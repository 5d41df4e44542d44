import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { HubError } from '../core/errors.ts';
import { errnoOf } from '../disk/disk-error.ts';
import { readUserEnv } from '../env/user-env.ts';
import type { Flags } from './command.ts';
import { type ExitCode, exitCodes } from './exit.ts';
import { bearerFor, wantsLogin } from './remote/access.ts';
import { connectTo, hubAddress, refusalText } from './remote/hub-connection.ts';
import { oneLine, say } from './terminal.ts';

/** As far as a line shows it. */
const records = z.array(
  z.looseObject({
    id: z.number(),
    time: z.string(),
    actor: z.object({ kind: z.string(), name: z.string() }),
    via: z.string(),
    address: z.string(),
    action: z.string(),
    target: z.string(),
    result: z.string(),
    count: z.number(),
  }),
);

const filters = ['actor', 'action', 'target', 'since', 'until', 'limit'] as const;

/** The newest records, newest first. Throws HubError when the hub refuses. */
export async function listAudit(flags: Flags): Promise<ExitCode> {
  const { hub, env, token } = await meant(flags);
  const query = new URLSearchParams();
  for (const name of filters) {
    const value = flags[name];
    if (typeof value === 'string') query.set(name, value);
  }
  const answer = await hub.api(`/audit?${query.toString()}`, token === undefined ? {} : { token });
  if (answer.status === 401) throw wantsLogin(hub, env, token);
  const listed = answer.status === 200 ? records.safeParse(answer.body['data']).data : undefined;
  if (listed === undefined) throw refused(answer.status, refusalText(answer));
  for (const record of listed)
    process.stdout.write(`${flags['json'] === true ? JSON.stringify(record) : lineOf(record)}\n`);
  if (listed.length === 0) say('Nothing fits.');
  return exitCodes.stopped;
}

/** All records on standard output, as they come. */
export async function exportAudit(flags: Flags): Promise<ExitCode> {
  const { hub, env, token } = await meant(flags);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await hub.fetch(`${hub.url}/api/audit/export`, { headers });
  if (answer.status === 401) throw wantsLogin(hub, env, token);
  if (answer.status !== 200 || answer.body === null) {
    const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
    throw refused(answer.status, refusalText({ status: answer.status, body }));
  }
  await pipeline(answer.body, process.stdout, { end: false }).catch((error: unknown) => {
    if (error instanceof HubError) throw error;
    // Who reads it has enough.
    if (errnoOf(error) === 'EPIPE') return;
    throw new HubError('upstream_failed', `The export of ${hub.url} broke off: it is not whole.`, { cause: error });
  });
  return exitCodes.stopped;
}

async function meant(flags: Flags) {
  const env = readUserEnv();
  const { url } = flags;
  const hub = connectTo(hubAddress(typeof url === 'string' ? url : undefined, env), env);
  return { hub, env, token: await bearerFor(hub, env) };
}

function refused(status: number, why: string): HubError {
  const code = status === 400 ? 'invalid_input' : status === 403 ? 'forbidden' : 'upstream_failed';
  return new HubError(code, `Cannot read the audit log: ${why}`);
}

function lineOf({
  time,
  actor,
  via,
  address,
  action,
  target,
  result,
  count,
}: z.output<typeof records>[number]): string {
  const who = actor.name === '' ? actor.kind : actor.name;
  const outcome = `${result === 'success' ? '' : ` ${result}`}${count > 1 ? ` ×${count}` : ''}`;
  return oneLine(`${time} ${who} (${[via, address].filter(Boolean).join(', ')}) ${action} ${target}${outcome}`, 400);
}
