import { expect, test } from 'vitest';
import { sharedPostgres, silent, tempFolder } from '../../../test/kit/databases.ts';
import { openDatabase } from '../../database/open.ts';
import { hubTable } from '../../replicas/hub-table.ts';
import { secretHash } from '../../replicas/pass.ts';
import { checkDatabase } from './database.ts';

const place = async () => ({
  url: await (await sharedPostgres()).createDatabase(),
  dataDir: tempFolder(),
  log: silent,
});
const look = ({ url, dataDir }: { url: string; dataDir: string }, jwtSecret?: string) =>
  checkDatabase({ database: { kind: 'postgres', url }, jwtSecret, dataDir, log: silent });

test('a database without tables, with those of this version, and one that a newer hub has changed', async () => {
  const at = await place();
  expect(await look(at)).toEqual([expect.objectContaining({ name: 'database', status: 'ok' })]);
  const open = await openDatabase(at);
  try {
    expect(await look(at)).toEqual([expect.objectContaining({ name: 'database', status: 'ok' })]);
    await open.query(`insert into toolhub.migrations (number, name, checksum) values (9999, 'later', 'x')`);
    const [check] = await look(at);
    expect(check).toMatchObject({ status: 'fail', detail: expect.stringContaining('a newer Tool Hub changed it') });
  } finally {
    await open.close();
  }
});

test('a database that is not there is named, and its password is not', async () => {
  const url = 'postgres://ann:s3cret-pw@127.0.0.1:1/none';
  const [check] = await look({ url, dataDir: tempFolder() });
  expect(check).toMatchObject({ name: 'database', status: 'fail', detail: expect.stringContaining('DB_URL') });
  expect(JSON.stringify(check)).not.toContain('s3cret-pw');
});

test('hubs on one database that have different secrets are named', async () => {
  const at = await place();
  const open = await openDatabase(at);
  const attempt = <T>(work: (database: typeof open) => Promise<T>) => work(open);
  try {
    await hubTable({ attempt }, { id: 'aaaaaaaa', urls: [], secretHash: secretHash('one'), version: '1' }).beat();
    expect((await look(at, 'one')).at(-1)).toMatchObject({ name: 'hubs', status: 'ok' });
    const other = (await look(at, 'two')).at(-1);
    expect(other).toMatchObject({
      name: 'hubs',
      status: 'fail',
      detail: expect.stringContaining('another JWT_SECRET'),
    });
    expect((await look(at)).at(-1)).toMatchObject({ status: 'fail' });
  } finally {
    await open.close();
  }
});
