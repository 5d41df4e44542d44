import { coreLimits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Database } from '../../database/database.ts';
import { reasonOf } from '../../database/failure.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';
import type { DatabaseHandle } from '../../database/supervise.ts';
import { type Binding, bindingId, type Bindings, parsedBinding } from './bindings.ts';

export interface TableBindings {
  readonly database: DatabaseHandle;
  readonly sealer: SharedSealer;
  readonly log: Logger;
  /** Another hub has changed some. */
  readonly changed: () => void;
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
  let summary: string | undefined;
  const open = (): Promise<Database> => database.whenReady(coreLimits.settingsVersionMs);

  async function read(from: Database): Promise<void> {
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
    bindings = new Map(found.map((binding) => [bindingId(binding), binding]));
    summary = before;
  }

  async function readAgain(from: Database): Promise<void> {
    try {
      await read(from);
      changed();
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

  async function write(work: (to: Database) => Promise<void>): Promise<void> {
    const to = await open();
    await work(to);
    await read(to);
    await to.notify(channel, '');
  }

  return {
    get: (server, username) => bindings.get(bindingId({ server, username })),
    all: () => [...bindings.values()].toSorted((a, b) => a.updatedAt - b.updatedAt),
    put: (binding) =>
      write(async (to) => {
        const sealed = (await sealer(to)).seal(JSON.stringify(binding));
        await to.query(
          `insert into toolhub.user_credentials (server, username, ciphertext) values ($1, $2, $3)
           on conflict (server, username) do update set ciphertext = excluded.ciphertext, updated_at = now()`,
          [binding.server, binding.username, Buffer.from(sealed, 'base64url')],
        );
      }),
    remove: (gone) =>
      write(async (to) => {
        for (const { server, username } of gone)
          await to.query('delete from toolhub.user_credentials where server = $1 and username = $2', [
            server,
            username,
          ]);
      }),
    async close() {
      clearInterval(timer);
      stopHearing();
    },
  };
}

async function summaryOf(from: Database): Promise<string | undefined> {
  const [row] = await from.query<{ content: string }>(
    `select count(*) || ' ' || coalesce(max(updated_at)::text, '') as content from toolhub.user_credentials`,
  );
  return row?.content;
}
