import { expect, test } from 'vitest';
import { type ReadinessFacts, readinessOf } from './probes.ts';

const well: ReadinessFacts = {
  isOpen: true,
  isStopping: false,
  isShared: true,
  database: { state: 'ready', kind: 'postgres', hasVector: true, isSlow: false },
};

test.each<[string, Partial<ReadinessFacts>, string]>([
  ['all is well', {}, 'ready'],
  ['there is no database by choice', { database: { state: 'off' } }, 'ready'],
  ['the database is slow', { database: { ...well.database, isSlow: true } as ReadinessFacts['database'] }, 'ready'],
  ['parts of it are not there yet', { isOpen: false }, 'starting'],
  ['the shared database is being opened', { database: { state: 'opening' } }, 'starting'],
  ['its own database is opened later', { database: { state: 'opening' }, isShared: false }, 'ready'],
  ['the database is away', { database: { state: 'down', error: 'refused at 10.0.0.9' } }, 'waiting'],
  ['it stops, whatever else there is', { isStopping: true, database: { state: 'down', error: '' } }, 'stopping'],
])('%s', (_what, facts, status) => {
  const answer = readinessOf({ ...well, ...facts });
  expect(answer.status).toBe(status);
  expect(JSON.stringify(answer), 'it is open to all').not.toContain('10.0.0.9');
});
