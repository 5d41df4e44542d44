import { coreLimits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { type Binding, bindingId, type Bindings, oldestFirst, parsedBinding } from './bindings.ts';

export interface TableBindings {
  readonly database: DatabaseHandle;
  readonly sealer: SharedSealer;
  readonly log: Logger;
  /** Another hub has changed some, of these servers. */
  readonly changed: (servers: ReadonlySet<string>) => void;
}

const channel = 'user_credentials';

interface Row {
  readonly server: string;
  readonly username: string;
  readonly ciphertext: Uint8Array;
}

/** Bindings in the database that hubs share; each has all of them in memory. */
export async function openTableBindings({ database, sealer, log, changed }: TableBindings): Promise<Bindings> {
  let bindings = new Map<string, Binding>();
  let all: readonly Binding[] = [];
  let summary: string | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const open = (): Promise<Database> => database.whenReady(coreLimits.settingsVersionMs);

  /** One reading after the other: what an earlier one found must not take the place of what a later one did. */
  function read(from: Database): Promise<ReadonlySet<string>> {
    const reading = last.then(() => readNow(from));
    last = reading.catch(() => undefined);
    return reading;
  }

  /** Answers the servers of which something has changed. */
  async function readNow(from: Database): Promise<ReadonlySet<string>> {
    const before = await summaryOf(from);
    const rows = await from.query<Row>('select server, username, ciphertext from toolhub.user_credentials');
    const own = await sealer(from);
    const found = rows.flatMap((row) => {
      const binding = parsedBinding(own.open(Buffer.from(row.ciphertext).toString('base64url')));
      // An attacker who can write to the table must not be able to give one user the values of another.
      if (binding && bindingId(binding) === bindingId(row)) return [binding];
      log.warn('credentials in the database cannot be opened with the secret of this hub (JWT_SECRET)', {
        server: row.server,
      });
      return [];
    });
    const known = bindings;
    bindings = new Map(found.map((binding) => [bindingId(binding), binding]));
    all = oldestFirst(found);
    summary = before;
    return changedServers(known, bindings);
  }

  async function readAgain(from: Database): Promise<void> {
    try {
      changed(await read(from));
    } catch (error) {
      log.warn('credentials of users not read from the database', { error: reasonOf(error) });
    }
  }

  await database.attempt(read);
  const stopHearing = database.listen(channel, () => {
    const from = database.current();
    if (from) void readAgain(from);
  });
  // Notifications do not come through every pooler.
  const timer = setInterval(() => {
    const from = database.current();
    if (!from) return;
    summaryOf(from).then(
      (now) => (now === summary ? undefined : readAgain(from)),
      () => undefined,
    );
  }, coreLimits.settingsVersionMs).unref();

  return {
    get: (server, username) => bindings.get(bindingId({ server, username })),
    all: () => all,
    async change({ gone = [], put = [] }) {
      const to = await open();
      const own = await sealer(to);
      await to.tx(async (tx) => {
        for (const { server, username } of gone)
          await tx.query('delete from toolhub.user_credentials where server = $1 and username = $2', [
            server,
            username,
          ]);
        for (const binding of put)
          await tx.query(
            `insert into toolhub.user_credentials (server, username, ciphertext) values ($1, $2, $3)
             on conflict (server, username) do update set ciphertext = excluded.ciphertext, updated_at = now()`,
            [binding.server, binding.username, Buffer.from(own.seal(JSON.stringify(binding)), 'base64url')],
          );
      });
      const edited = new Set([...gone, ...put].map(({ server }) => server));
      // What other hubs have changed is found now, and not once more when they tell.
      const elsewhere = [...(await read(to))].filter((server) => !edited.has(server));
      await to.notify(channel, '');
      if (elsewhere.length > 0) changed(new Set(elsewhere));
    },
    async close() {
      clearInterval(timer);
      stopHearing();
    },
  };
}

function changedServers(before: ReadonlyMap<string, Binding>, now: ReadonlyMap<string, Binding>): ReadonlySet<string> {
  const servers = new Set<string>();
  for (const [id, binding] of before)
    if (JSON.stringify(now.get(id)) !== JSON.stringify(binding)) servers.add(binding.server);
  for (const [id, { server }] of now) if (!before.has(id)) servers.add(server);
  return servers;
}

async function summaryOf(from: Database): Promise<string | undefined> {
  const [row] = await from.query<{ content: string }>(
    `select count(*) || ' ' || coalesce(max(updated_at)::text, '') as content from toolhub.user_credentials`,
  );
  return row?.content;
}
