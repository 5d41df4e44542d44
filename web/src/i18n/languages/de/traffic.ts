import type { Texts } from '../../texts.ts';

export const traffic: Texts['traffic'] = {
  lead: 'Welche Clients welche Server über welchen Endpunkt aufrufen: je breiter, desto mehr Aufrufe; rot ist, was fehlschlug.',
  leadOwn: 'Ihre Aufrufe, von Ihren Clients zu den Servern: je breiter, desto mehr Aufrufe; rot ist, was fehlschlug.',
  hint: 'Ein Klick auf einen Namen zeigt nur dessen Aufrufe.',
  column: {
    client: 'Clients',
    scope: 'Endpunkte',
    server: 'Server',
    tool: 'Tools',
  },
  one: {
    client: 'Client',
    scope: 'Endpunkt',
    server: 'Server',
  },
  noClient: 'Ohne Namen (einfaches HTTP)',
  all: 'Alle Server',
  search: 'Suche',
  searchIn: 'Suche in {{name}}',
  others_one: '{{number}} weiterer',
  others_other: '{{number}} weitere',
  rest: 'Sonstige',
  calls_one: '{{number}} Aufruf',
  calls_other: '{{number}} Aufrufe',
  failedOf_one: '{{number}} Aufruf, {{failed}} fehlgeschlagen',
  failedOf_other: '{{number}} Aufrufe, {{failed}} fehlgeschlagen',
  sum_one: '{{number}} Aufruf, {{failed}} fehlgeschlagen. Abgelehnte Aufrufe sind nicht dargestellt.',
  sum_other: '{{number}} Aufrufe, {{failed}} fehlgeschlagen. Abgelehnte Aufrufe sind nicht dargestellt.',
  list: 'Liste dieser Aufrufe',
  table: 'Als Tabelle',
};
