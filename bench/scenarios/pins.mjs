// What is compared when a server says `list_changed`: ten thousand tools with what was approved of them.
import { bundle } from '../../scripts/bundle.mjs';

export const about = 'CPU time of the pins of ten thousand tools, when a server says list_changed';

const tools = 10_000;
const cases = {
  'none changed': 0,
  'one changed': 1,
  'a hundred changed': 100,
  'each changed': tools,
  'each renamed': tools,
};

const tool = (name, i, change = '') => ({
  name,
  description: `Does what number ${i} is there for, with what it is given, and says what came of it.${change}`,
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where to look' }, limit: { type: 'integer', minimum: 1 } },
    required: ['path'],
  },
  annotations: { readOnlyHint: true },
});

/** As a server sends it: each list is made of new texts. */
const offer = (changed, isRenamed = false) => ({
  server: 's',
  about: { info: '{}', instructions: undefined, capabilities: ['tools'], protocolVersion: '2025-11-25' },
  tools: Array.from({ length: tools }, (_, i) => {
    const key = `${isRenamed ? 'renamed' : 'tool'}_${i}`;
    return { key, text: JSON.stringify(tool(key, i, i < changed && !isRenamed ? ` Changed.` : '')) };
  }),
  prompts: [],
  resources: [],
  templates: [],
});

export async function run({ rounds, note }) {
  await bundle({ hub: 'bench/search/hub.ts' }, '.built-bench');
  const { openPins } = await import('../../.built-bench/hub.js');
  const server = { name: 's', owner: 'admin', transport: { type: 'stdio' } };
  const settings = { servers: new Map([['s', server]]), users: [], system: { pinMode: 'hold' } };
  for (let round = -1; round < rounds; round++) {
    for (const [name, changed] of Object.entries(cases)) {
      let catalogue = { version: 0, offers: new Map([['s', offer(0)]]) };
      const quiet = () => undefined;
      const change = async (_, edit) => edit(undefined);
      const store = {
        isShared: false,
        load: async () => new Map(),
        change,
        isLost: () => false,
        onChange: () => quiet,
      };
      const log = { error: quiet, warn: quiet, info: quiet, debug: quiet };
      const told = { told: quiet, toldMore: quiet, changed: quiet };
      const options = { store, settings: () => settings, catalogue: () => catalogue, ...told, log };
      const pins = await openPins(options);
      pins.learn();
      pins.applied(catalogue);
      catalogue = { version: 1, offers: new Map([['s', offer(changed, name === 'each renamed')]]) };
      globalThis.gc?.();
      const before = process.cpuUsage();
      pins.learn();
      const held = tools - pins.applied(catalogue).offers.get('s').tools.length;
      const { user, system } = process.cpuUsage(before);
      if (held !== changed) throw new Error(`${held} are held, not ${changed}`);
      pins.close();
      // The first warms up.
      if (round >= 0) note({ contender: name }, { cpuMs: (user + system) / 1_000 });
    }
  }
}
