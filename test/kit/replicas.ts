import { balancer, type Balancer } from './balancer.ts';
import { sharedPostgres } from './databases.ts';
import { type HubOptions, testHub, type TestHub } from './test-hub.ts';
import { until } from './until.ts';

/** Hubs on one PostgreSQL that know each other, behind a balancer that sends each request to the next of them. */
export interface Replicas {
  readonly hubs: readonly TestHub[];
  readonly front: Balancer;
  readonly databaseUrl: string;
  /** One more hub. */
  add(): Promise<TestHub>;
}

export const replicaSecret = 'a secret of all hubs that share this database';

/** `options` are those of the first hub; the others find their settings in the database. */
export async function replicas(count: number, { env = {}, ...options }: HubOptions): Promise<Replicas> {
  const databaseUrl = await (await sharedPostgres()).createDatabase();
  const shared = { DB_URL: databaseUrl, JWT_SECRET: replicaSecret, ...env };
  const hubs = [await testHub({ ...options, env: shared })];
  const front = await balancer([]);
  const add = async (): Promise<TestHub> => {
    const hub = await testHub({ mcpServers: {}, env: shared });
    hubs.push(hub);
    return hub;
  };
  while (hubs.length < count) await add();
  front.targets = hubs.map(({ url }) => url);
  await until('all hubs can reach each other', async () => {
    const all = await Promise.all(hubs.map(reachableAt));
    return all.every((reachable) => reachable === hubs.length);
  });
  return { hubs, front, databaseUrl, add };
}

/** How many hubs one of them can reach, itself included. */
export async function reachableAt(hub: Pick<TestHub, 'health'>): Promise<number> {
  const { hubs } = (await hub.health()) as { hubs?: { reachable: number } };
  return hubs?.reachable ?? 1;
}
