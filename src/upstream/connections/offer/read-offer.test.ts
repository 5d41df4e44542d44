import { expect, test } from 'vitest';
import { logLines } from '../../../../test/kit/channel-log.ts';
import type { ServerAbout } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import type { Ask } from '../exchange.ts';
import { readOffer } from './read-offer.ts';

const about: ServerAbout = {
  info: '{}',
  instructions: undefined,
  protocolVersion: '2025-11-25',
  capabilities: ['tools', 'prompts', 'resources'],
};

/** A server that answers with its tools, and with no other list. */
const toolsAlone: Ask = async (method) => {
  if (method !== 'tools/list') throw new HubError('upstream_failed', 'The program exited with code 1.');
  const result = { tools: [{ name: 't', inputSchema: {} }] };
  return { message: { result }, text: JSON.stringify({ result }) };
};

const options = () => ({ server: 's', lists: true, log: logLines(), deadline: performance.now() + 10_000 });

test('a list that a server cannot give is empty, and that is logged', async () => {
  const asked = options();
  const offer = await readOffer({ ask: toolsAlone, sendsHeaders: false, isOpen: true }, about, asked);
  expect([offer.tools.length, offer.prompts, offer.resources]).toEqual([1, [], []]);
  const empty = { level: 'warn', message: 'list could not be read; it is taken as empty' };
  expect(asked.log.lines).toEqual([empty, empty, empty]);
});

test('a server that ends while its lists are read offers nothing, and no list of it is logged', async () => {
  const asked = options();
  const read = readOffer({ ask: toolsAlone, sendsHeaders: false, isOpen: false }, about, asked);
  await expect(read).rejects.toThrow('The program exited with code 1.');
  expect(asked.log.lines).toEqual([]);
});
