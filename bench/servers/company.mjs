// A tool server of a company over stdio: node company.mjs <services, with commas between them>. `crm`, `billing` and
// `support` have data; tools of any other service answer that it is done, and are there to be chosen from.
import { createInterface } from 'node:readline';

const text = (description) => ({ type: 'string', description });
const tool = (name, description, properties, required = Object.keys(properties)) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required },
});

const cities = ['Bern', 'Basel', 'Zug', 'Chur', 'Thun'];
const customers = Array.from({ length: 40 }, (_, i) => ({
  id: `C${100 + i}`,
  name: `Customer ${i}`,
  city: cities[i % cities.length],
  email: `office@customer${i}.example`,
  phone: `+41 31 555 ${String(1_000 + i)}`,
  address: { street: `Market Street ${i + 1}`, postcode: String(3_000 + i), country: 'CH' },
  account: {
    manager: `Manager ${i % 7}`,
    segment: i % 3 === 0 ? 'enterprise' : 'standard',
    since: `20${10 + (i % 14)}-03-01`,
  },
}));
const invoices = customers.flatMap(({ id }, i) =>
  Array.from({ length: 6 }, (_, n) => ({
    id: `I${i}-${n}`,
    customerId: id,
    amount: 100 * (n + 1) + i,
    currency: 'CHF',
    issued: `2026-0${n + 1}-15`,
    due: `2026-0${n + 2}-15`,
    status: (i + n) % 4 === 0 ? 'unpaid' : 'paid',
    lines: [{ article: `A-${n}`, quantity: n + 1, price: 100, text: 'Service according to the contract' }],
  })),
);
const tickets = customers.flatMap(({ id }, i) =>
  Array.from({ length: 4 }, (_, n) => ({
    id: `T${i}-${n}`,
    customerId: id,
    status: (i + n) % 3 === 0 ? 'open' : 'closed',
    title: `Question ${n} about the delivery`,
    history: Array.from(
      { length: 3 },
      (__, step) => `2026-0${step + 1}-02 ${step % 2 ? 'support' : 'customer'} wrote a message`,
    ),
  })),
);
const notes = [];

const withData = {
  crm: [
    [
      tool('list_customers', 'Lists the customers of a city with their contact data.', {
        city: text('Where they are'),
      }),
      ({ city }) => customers.filter((one) => one.city === city),
    ],
    [
      tool('add_note', 'Adds a note to a customer, which colleagues read before they call.', {
        customerId: text('Which customer'),
        note: text('What to write'),
      }),
      ({ customerId, note }) => ({ customerId, notes: notes.push({ customerId, note }) }),
    ],
  ],
  billing: [
    [
      tool('list_invoices', 'Lists the invoices of a customer, paid and unpaid.', {
        customerId: text('Whose invoices'),
      }),
      ({ customerId }) => invoices.filter((one) => one.customerId === customerId),
    ],
  ],
  support: [
    [
      tool('list_tickets', 'Lists the support tickets of a customer with their history.', {
        customerId: text('Whose tickets'),
      }),
      ({ customerId }) => tickets.filter((one) => one.customerId === customerId),
    ],
  ],
};

const deeds = [
  'create',
  'get',
  'list',
  'update',
  'delete',
  'search',
  'share',
  'copy',
  'archive',
  'restore',
  'watch',
  'export',
];

/** Twelve tools around one thing, each about as long as real ones are. */
function twelveTools(service) {
  return deeds.map((deed) => {
    const properties = {
      id: text(`The id of the ${service} entry, as \`${service}_list\` gives it`),
      fields: { type: 'array', items: { type: 'string' }, description: 'Which fields to answer with; all by default' },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'How many entries at most' },
      dryRun: { type: 'boolean', description: 'Says what would happen and changes nothing' },
    };
    const about = `${deed[0].toUpperCase()}${deed.slice(1)} ${service} entries of a project. Answers with the entries as they are afterwards, newest first.`;
    return [tool(`${service}_${deed}`, about, properties, ['id']), () => ({ done: true })];
  });
}

const offered = new Map(
  (process.argv[2] ?? '')
    .split(',')
    .flatMap((service) => withData[service] ?? twelveTools(service))
    .map(([described, run]) => [described.name, { described, run }]),
);

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'company', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [...offered.values()].map(({ described }) => described) }),
  'tools/call': ({ name, arguments: given = {} }) => ({
    content: [{ type: 'text', text: JSON.stringify(offered.get(name).run(given)) }],
  }),
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const found = answers[method];
  const answer = found ? { result: found(params) } : { error: { code: -32_601, message: 'no such method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}
