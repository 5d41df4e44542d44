import { expect, test } from 'vitest';
import { logLines } from '../../test/kit/channel-log.ts';
import { server, settings } from '../../test/kit/snapshots.ts';
import type { Catalogue } from '../core/catalogue.ts';
import { governanceLimits } from './limits.ts';
import { openPins, type PinOptions } from './pins.ts';

test('of a server that changes ten thousand tools at once a bounded number is told one by one', async () => {
  const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };
  const catalogueOf = (description: string): Catalogue => {
    const tools = Array.from({ length: 10_000 }, (_, i) => ({
      key: `t${i}`,
      text: JSON.stringify({ name: `t${i}`, description }),
    }));
    const offer = { server: 's', about, tools, prompts: [], resources: [], templates: [] };
    return { version: 1, offers: new Map([['s', offer]]) };
  };
  let catalogue = catalogueOf('Reads.');
  const plain = settings({ servers: [server('s')] });
  const told: string[] = [];
  const options: PinOptions = {
    store: { load: async () => new Map(), save: async () => undefined, onChange: () => () => undefined },
    settings: () => ({ ...plain, system: { ...plain.system, pinMode: 'hold' } }),
    catalogue: () => catalogue,
    told: (_, { name }) => void told.push(name),
    toldMore: (_, more) => void told.push(`${more} more`),
    changed: () => undefined,
    log: logLines(),
  };
  const pins = await openPins(options);
  pins.learn();
  expect(told).toEqual([]);
  catalogue = catalogueOf('Reads all.');
  pins.learn();
  expect(told).toHaveLength(governanceLimits.pinsTold + 1);
  expect(told.at(-1)).toBe(`${10_000 - governanceLimits.pinsTold} more`);
  expect(pins.list({ state: 'changed' })).toHaveLength(10_000);
  expect(pins.applied(catalogue).offers.get('s')?.tools).toEqual([]);
  // What was told is not told again.
  pins.learn();
  expect(told).toHaveLength(governanceLimits.pinsTold + 1);
  pins.close();
});
