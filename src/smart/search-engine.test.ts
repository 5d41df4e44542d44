import { beforeAll, describe, expect, test } from 'vitest';
import type { ToolDocument } from './document.ts';
import { loadLocalEmbedder, type LocalEmbedder } from './embedder-local.ts';
import { ranking } from './rank.ts';
import { createSearchEngine, type SearchAnswer, type SearchEngine } from './search-engine.ts';

let embedder: LocalEmbedder;
beforeAll(async () => {
  embedder = await loadLocalEmbedder();
});

function tool(server: string, name: string, description = '', more: Partial<ToolDocument> = {}): ToolDocument {
  return { key: `${server}/${name}`, server, name, description, parameterNames: '', parameterTexts: '', ...more };
}

const office: readonly ToolDocument[] = [
  tool('mail', 'send_message', 'Sends an e-mail to one or more recipients.', { parameterNames: 'to subject body' }),
  tool('mail', 'search_inbox', 'Finds e-mails by sender, subject or text.', { parameterNames: 'query limit' }),
  tool('calendar', 'create_event', 'Adds an appointment to a calendar.', { parameterNames: 'title start end' }),
  tool('calendar', 'list_events', 'Lists the appointments between two dates.', { parameterNames: 'from until' }),
  tool('weather', 'getForecast', 'Weather forecast for a place.', { parameterNames: 'city days' }),
  tool('files', 'readFile', 'Reads a file from disk.', { parameterNames: 'path' }),
  tool('files', 'deleteFile', 'Removes a file for ever.', { parameterNames: 'path' }),
  tool('shop', 'track-parcel', 'Tells where a parcel is.', { parameterNames: 'trackingNumber' }),
];

function engineOf(tools: Iterable<ToolDocument>, semantic = true): SearchEngine {
  const engine = createSearchEngine(semantic ? embedder : undefined);
  engine.put(tools);
  return engine;
}

function keys(answer: SearchAnswer): string[] {
  return answer.results.map((result) => result.key);
}

describe.each([
  ['with the embedder', true],
  ['by words alone', false],
])('%s', (_, semantic) => {
  test.each([
    ['send an email to Bob', 'mail/send_message'],
    ['what is the forecast for Oslo', 'weather/getForecast'],
    ['FORECASTS', 'weather/getForecast'],
    ['delete_file', 'files/deleteFile'],
    ['where is my parcel', 'shop/track-parcel'],
    ['parcl traking', 'shop/track-parcel'],
    ['list my appointments of this week', 'calendar/list_events'],
  ])('"%s" finds %s', (query, expected) => {
    expect(keys(engineOf(office, semantic).search({ query, limit: 10 }))[0]).toBe(expected);
  });

  test('no tools, no visible tools, no words: no results, and no error', () => {
    expect(engineOf([], semantic).search({ query: 'mail', limit: 10 }).results).toEqual([]);
    const engine = engineOf(office, semantic);
    expect(engine.search({ query: 'mail', limit: 10, allowed: new Set() }).results).toEqual([]);
    expect(engine.search({ query: 'mail', limit: 10, allowed: () => false }).results).toEqual([]);
    for (const query of ['', ' ', '?!', '🚀']) {
      expect(engine.search({ query, limit: 10 })).toMatchObject({ results: [], confident: false });
    }
  });
});

test('a paraphrase without a word in common finds its tool through the embedder', () => {
  const engine = engineOf(office);
  expect(keys(engine.search({ query: 'will it rain tomorrow', limit: 3 }))[0]).toBe('weather/getForecast');
  expect(keys(engine.search({ query: 'schedule a meeting', limit: 3 }))).toContain('calendar/create_event');
});

describe('a task finds tools for steps that it implies', () => {
  const travel: readonly ToolDocument[] = [
    ...office,
    tool('disk', 'write_file', 'Creates a file, or replaces what is in it.', { parameterNames: 'path content' }),
    tool('clock', 'get_current_time', 'The current date and time.', { parameterNames: 'timezone' }),
    tool('map', 'geocode_address', 'Turns an address into coordinates.', { parameterNames: 'address' }),
    tool('map', 'find_parking', 'Finds car parks near a place.', { parameterNames: 'latitude longitude radius' }),
    tool('rail', 'search_trains', 'Finds trains between two stations.', { parameterNames: 'from to day' }),
    tool('rail', 'book_train', 'Books a seat on a train.', { parameterNames: 'train' }),
    ...['packages', 'licences', 'versions', 'sizes', 'downloads', 'authors'].map((what) =>
      tool('registry', `compare_${what}`, `Compares the ${what} of libraries, as a report.`),
    ),
  ];
  const first = (query: string, tools = travel): string[] =>
    keys(engineOf(tools).search({ query, limit: 5, threshold: 0 }));
  const compare = 'Compare the packages, licences, versions, sizes, downloads and authors of both libraries';

  test('one that writes files, where it names a file for what it makes', () => {
    expect(first(`${compare}, as a report`)).not.toContain('disk/write_file');
    expect(first(`${compare}, as a report in /tmp/report.md`)).toContain('disk/write_file');
  });

  test('one that finds a place, where a tool wants coordinates and the task has none', () => {
    const query = 'where can I leave the car near the old town hall of Hanover';
    expect(keys(engineOf(travel).search({ query, limit: 5 }))).toEqual(['map/find_parking', 'map/geocode_address']);
    const known = engineOf(travel).search({ query: 'find car parks near 52.371, 9.735', limit: 2 });
    expect(keys(known)).not.toContain('map/geocode_address');
  });

  test('one that knows the date, where it names a day as seen from today', () => {
    expect(first('find trains from Rome to Milan and book a seat for tomorrow').slice(0, 3)).toContain(
      'clock/get_current_time',
    );
  });

  test('which says nothing about how likely the best tool is meant', () => {
    const without = createSearchEngine(embedder, { ...ranking, implied: 0 });
    without.put(travel);
    const query = 'Compare the licences of both libraries, as a report in /tmp/report.md';
    const [best, second] = engineOf(travel).search({ query, limit: 2 }).results;
    expect(second?.key).toBe('disk/write_file');
    expect(best).toEqual(without.search({ query, limit: 1 }).results[0]);
  });

  test('none where nothing visible does it, or the tool comes near by one word alone', () => {
    const without = travel.filter(({ server }) => server !== 'disk' && server !== 'files');
    const engine = engineOf([...without, tool('mail', 'write_letter', 'Writes a letter.')]);
    const query = `${compare}, as a report in /tmp/report.md`;
    expect(keys(engine.search({ query, limit: 3 })).every((key) => key.startsWith('registry/'))).toBe(true);
    const hidden = engineOf(travel).search({ query, limit: 3, allowed: (key) => key.startsWith('registry/') });
    expect(keys(hidden).every((key) => key.startsWith('registry/'))).toBe(true);
  });
});

test('results are at most as many as asked for, best first, and none below the threshold', () => {
  const engine = engineOf(office);
  for (const limit of [1, 2, 5]) {
    const all = engine.search({ query: 'read a file and send it by mail', limit, threshold: 0 });
    expect(all.results).toHaveLength(limit);
    const cut = engine.search({ query: 'read a file and send it by mail', limit });
    const best = cut.results[0]?.score ?? 0;
    expect(cut.threshold).toBeCloseTo(0.6 * best);
    expect(cut.results).toEqual(all.results.filter((result) => result.score >= cut.threshold));
  }
});

test('an explained answer is the same answer, and names what the threshold cut off', () => {
  const engine = engineOf(office);
  const plain = engine.search({ query: 'send an email', limit: 5 });
  const explained = engine.search({ query: 'send an email', limit: 5, explain: true });
  expect(explained.results.map(({ key, score }) => ({ key, score }))).toEqual(plain.results);
  expect(explained.results.length + explained.dropped.length).toBe(5);
  expect(explained.dropped.every((result) => result.score < explained.threshold)).toBe(true);
  expect(explained.results[0]?.explanation).toMatchObject({ words: expect.any(Number), meaning: expect.any(Number) });
  expect(plain.dropped).toEqual([]);
});

test('a query that has nothing to do with any tool is answered without confidence, a clear one with it', () => {
  const engine = engineOf(office);
  expect(engine.search({ query: 'send an email message', limit: 5 }).confident).toBe(true);
  expect(engine.search({ query: 'quantum chromodynamics lattice spacing', limit: 5 }).confident).toBe(false);
});

test('the context decides between tools that fit equally well', () => {
  const engine = engineOf([
    tool('github', 'create_issue', 'Creates an issue.'),
    tool('jira', 'create_issue', 'Creates an issue.'),
  ]);
  const first = (context: string): string | undefined =>
    keys(engine.search({ query: 'create an issue', context, limit: 2 }))[0];
  expect(first('The project lives in Jira.')).toBe('jira/create_issue');
  expect(first('The project lives on GitHub.')).toBe('github/create_issue');
});

test('the context decides with a hosted embedder, too', () => {
  const tools = [
    tool('github', 'create_issue', 'Creates an issue.'),
    tool('jira', 'create_issue', 'Creates an issue.'),
  ];
  const similarities = new Map(tools.map(({ key }) => [key, 0.6]));
  const first = (context: string): string | undefined =>
    keys(engineOf(tools).search({ query: 'create an issue', context, limit: 2, similarities }))[0];
  expect(first('The project lives in Jira.')).toBe('jira/create_issue');
  expect(first('The project lives on GitHub.')).toBe('github/create_issue');
});

test('each part of a long request finds its tool', () => {
  const engine = engineOf(office);
  const query =
    'Tell me the weather in Rome for the weekend. Then send an email to Ann with the forecast.\nFinally add an appointment to my calendar.';
  expect(keys(engine.search({ query, limit: 4, threshold: 0 }))).toEqual(
    expect.arrayContaining(['weather/getForecast', 'mail/send_message', 'calendar/create_event']),
  );
});

test('each step of a task in one sentence finds its tool', () => {
  const engine = engineOf(office);
  const query = 'Look up the forecast for Rome, write an email about it and track the parcel with the umbrellas';
  expect(keys(engine.search({ query, limit: 3, threshold: 0 })).toSorted()).toEqual([
    'mail/send_message',
    'shop/track-parcel',
    'weather/getForecast',
  ]);
});

test('tools and requests in other languages meet, and a task in them is taken apart as well', () => {
  const engine = engineOf([
    ...office,
    tool('tianqi', 'query', '查询城市的天气预报'),
    tool('youjian', 'send', '发送电子邮件给收件人'),
    tool('fichiers', 'convertir', 'Convertit un document en PDF et enregistre le résultat.'),
    tool('bahn', 'verbindungen', 'Sucht Zugverbindungen zwischen zwei Bahnhöfen.'),
  ]);
  const first = (query: string): string | undefined => keys(engine.search({ query, limit: 3 }))[0];
  expect(first('明天北京的天气')).toBe('tianqi/query');
  expect(first('convertir des documents en pdf')).toBe('fichiers/convertir');
  expect(first('Zugverbindung nach Bern suchen')).toBe('bahn/verbindungen');
  expect(first('Zugverbindugen nach Bern')).toBe('bahn/verbindungen');
  const task = '先查询上海明天的天气预报，然后发送电子邮件给同事。';
  expect(keys(engine.search({ query: task, limit: 2, threshold: 0 })).toSorted()).toEqual([
    'tianqi/query',
    'youjian/send',
  ]);
});

test('equal tools come in the order of their keys', () => {
  const same = ['c', 'a', 'b'].map((key) => ({ ...tool('s', 'same', 'Same.'), key }));
  for (const order of [same, same.toReversed()]) {
    expect(keys(engineOf(order).search({ query: 'same', limit: 10 }))).toEqual(['a', 'b', 'c']);
    expect(keys(engineOf(order).search({ query: 'same', limit: 2 }))).toEqual(['a', 'b']);
  }
});

test('a description of 10 MB is cut, not read', () => {
  const engine = createSearchEngine(embedder);
  const before = process.cpuUsage();
  engine.put([
    tool('s', 'huge', 'find the needle '.repeat(650_000)),
    tool('s', 'n'.repeat(1_000_000), '', { parameterNames: 'a '.repeat(5_000_000) }),
  ]);
  const bytes = engine.bytes();
  expect(keys(engine.search({ query: 'needle', limit: 1 }))).toEqual(['s/huge']);
  expect(
    keys(engine.search({ query: 'needle '.repeat(1_000_000), limit: 1, context: 'x y '.repeat(1_000_000) })),
  ).toEqual(['s/huge']);
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000);
  expect(bytes).toBeLessThan(1_000_000);
});

const hostile = [
  '',
  ' ',
  '...!!!',
  '((((a+)+)+)+$',
  '\\',
  '🚀🔥👩‍👩‍👧',
  '\u0000\uFFFF\uD800',
  'מחיקת קובץ',
  'حذف ملف',
  '删除文件',
  'ファイルを削除',
  '__proto__',
  'constructor',
  'toString',
  'a'.repeat(5_000),
  'the of and',
  '0'.repeat(400),
];

test('hostile texts are tools and queries like any other', () => {
  const engine = engineOf(hostile.map((text, i) => ({ ...tool(text, text, text), key: String(i) })));
  expect(engine.size).toBe(hostile.length);
  for (const query of hostile) {
    const { results } = engine.search({ query, limit: 100, threshold: 0 });
    for (const { score } of results) expect(score >= 0 && score <= 1).toBe(true);
  }
  expect(keys(engine.search({ query: '删除文件', limit: 1 }))).toEqual([String(hostile.indexOf('删除文件'))]);
  expect(keys(engine.search({ query: 'حذف', limit: 1 }))).toEqual([String(hostile.indexOf('حذف ملف'))]);
  expect(keys(engine.search({ query: 'constructor', limit: 1 }))).toEqual([String(hostile.indexOf('constructor'))]);
});

test('similarities of a hosted embedder decide, and tools it has not seen are still found', () => {
  const engine = engineOf(office);
  const similarities = new Map(office.map(({ key }) => [key, key === 'shop/track-parcel' ? 0.7 : 0.2]));
  const query = 'where did the postman leave my things';
  expect(keys(engine.search({ query, limit: 10, similarities }))).toEqual(['shop/track-parcel']);
  similarities.delete('weather/getForecast');
  expect(keys(engine.search({ query: 'weather forecast', limit: 2, threshold: 0, similarities }))).toContain(
    'weather/getForecast',
  );
  const hidden = new Set(['mail/send_message', 'weather/getForecast']);
  const allowed = (key: string): boolean => !hidden.has(key);
  const visible = office.filter(({ key }) => allowed(key));
  const told = new Map([...similarities, ['mail/send_message', 0.99] as const]);
  expect(engine.search({ query, limit: 10, similarities: told, allowed })).toEqual(
    engineOf(visible).search({ query, limit: 10, similarities }),
  );
});

test('a set that was asked with before finds what the index holds now', () => {
  const engine = engineOf(office.slice(0, 1));
  const allowed = new Set(office.map(({ key }) => key));
  const ask = () => engine.search({ query: 'search or send an e-mail', limit: 10, allowed, threshold: 0 });
  expect(keys(ask())).toEqual(['mail/send_message']);
  engine.put(office.slice(1, 2));
  expect(ask()).toEqual(
    engineOf(office.slice(0, 2)).search({ query: 'search or send an e-mail', limit: 10, threshold: 0 }),
  );
  engine.remove(['mail/send_message']);
  expect([keys(ask()), ask().searched]).toEqual([['mail/search_inbox'], 1]);
  engine.put([tool('shop', 'new'), ...office.slice(0, 1)]);
  expect(keys(ask()).sort()).toEqual(['mail/search_inbox', 'mail/send_message']);
});
