import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtParts } from '../../test/kit/built-parts.ts';
import { coreLimits } from '../core/limits.ts';
import type { LogEvent } from '../core/log-entry.ts';
import { logLimits } from './limits.ts';
import { createLog, type LogBook, type LogOptions } from './log.ts';
import { codePoints } from '../../test/kit/code-points.ts';

function open(options: Partial<LogOptions> = {}): { log: LogBook; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    write: (line) => void lines.push(line),
    colour: false,
    ...options,
  });
  return { log, lines };
}

describe('entries', () => {
  test('have an ISO time in UTC with milliseconds, a level, the service, and the fields within the message', () => {
    const { log } = open({ now: () => Date.UTC(2026, 10, 20, 8, 30, 0, 5) });
    log.for('server:memory').info('Connected', { tools: 9, version: '1.2', title: 'Knowledge graph', gone: undefined });
    expect(log.entries()).toEqual([
      {
        id: expect.any(Number),
        timestamp: '2026-11-20T08:30:00.005Z',
        level: 'info',
        service: 'server:memory',
        message: 'Connected tools=9 version=1.2 title="Knowledge graph"',
        fields: { tools: 9, version: '1.2', title: 'Knowledge graph' },
      },
    ]);
  });

  test('below the level are not made', () => {
    const { log, lines } = open({ level: 'warn' });
    const logger = log.for('hub');
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(log.entries().map((entry) => entry.message)).toEqual(['c', 'd']);
    expect(lines).toHaveLength(2);
  });

  test('have ids that always grow, even when the clock goes back and after a restart', () => {
    let time = 1_000_000;
    const { log } = open({ now: () => time });
    log.for('hub').info('one');
    time = 999_000;
    log.for('hub').info('two');
    const [one, two] = log.entries().map((entry) => entry.id);
    expect(two).toBeGreaterThan(one ?? Infinity);

    const later = open({ now: () => 1_000_001 });
    later.log.for('hub').info('three');
    expect(later.log.entries()[0]?.id).toBeGreaterThan(two ?? Infinity);
  });

  test('are kept up to the limit, the newest ones', () => {
    const { log } = open();
    const logger = log.for('hub');
    const total = logLimits.logRing * 2 + 10;
    for (let i = 1; i <= total; i++) logger.info(`n${i}`);
    const entries = log.entries();
    expect(entries).toHaveLength(logLimits.logRing);
    expect(entries[0]?.message).toBe(`n${total - logLimits.logRing + 1}`);
    expect(entries.at(-1)?.message).toBe(`n${total}`);
  });
});

describe('subscribers', () => {
  test('hear each entry and the clearing, in order, until they leave', () => {
    const { log } = open();
    const events: LogEvent[] = [];
    const leave = log.subscribe((event) => void events.push(event));
    log.for('hub').info('one');
    log.clear();
    log.for('hub').info('two');
    leave();
    log.for('hub').info('three');
    expect(events.map((event) => (event.type === 'log' ? event.log.message : event.type))).toEqual([
      'one',
      'clear',
      'two',
    ]);
    expect(log.entries().map((entry) => entry.message)).toEqual(['two', 'three']);
  });

  test('that throw harm neither the others nor the caller that logs', () => {
    const { log } = open();
    const heard: LogEvent[] = [];
    log.subscribe(() => {
      throw new Error('bad listener');
    });
    log.subscribe((event) => void heard.push(event));
    log.for('hub').info('one');
    expect(heard).toHaveLength(1);
  });
});

describe('secrets', () => {
  test('never appear in a message, a field, a subscriber, or the output', () => {
    const { log, lines } = open({ secrets: ['Bearer sk-live-123456', 'p"w\\d-x'] });
    const events: LogEvent[] = [];
    log.subscribe((event) => void events.push(event));
    log.for('server:x').warn('401 for sk-live-123456', {
      header: 'Bearer sk-live-123456',
      body: JSON.stringify({ password: 'p"w\\d-x' }),
      url: `https://a/?k=${encodeURIComponent('p"w\\d-x')}`,
    });
    const all = JSON.stringify([log.entries(), events]) + lines.join();
    expect(all).toContain('••••');
    expect(all).not.toContain('sk-live');
    expect(all).not.toContain('w\\\\');
    expect(all).not.toContain('%22w');
  });

  test('hide wherever they stand, whatever they are made of', () => {
    const secret = fc
      .string({ minLength: logLimits.secretChars, maxLength: 40 })
      .filter((text) => /^[!-~]+$/.test(text) && !/^=+$/.test(text));
    fc.assert(
      fc.property(
        secret,
        fc.string({ unit: fc.constantFrom(' ', '=', '\n') }),
        fc.nat(coreLimits.logLineChars * 6),
        (value, near, before) => {
          const { log, lines } = open({ secrets: [value] });
          log.for('hub').info(`${' '.repeat(before)}${near}${value}${near}`);
          expect(log.entries()[0]?.message).not.toContain(value);
          // Not the first half of one either, when a long line is cut in the middle of it.
          expect(lines.join()).not.toContain(`${value.slice(0, -1)}…`);
        },
      ),
    );
  });

  test('set later replace the earlier ones, and short values are left alone', () => {
    const { log } = open({ secrets: ['first-secret'] });
    log.setSecrets(['true', 'second-secret']);
    log.for('hub').info('first-secret second-secret true');
    expect(log.entries()[0]?.message).toBe('first-secret •••• true');
  });

  test('of several lines hide although stderr arrives line by line', () => {
    const { log } = open({ secrets: ['-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----'] });
    log.for('server:x').info('MIIEvQIBADANBg');
    expect(log.entries()[0]?.message).toBe('••••');
  });
});

describe('hostile text', () => {
  test('cannot steer the terminal or fake a line', () => {
    const { log, lines } = open({ format: 'pretty' });
    log
      .for('server:x\u001b[2J')
      .info('a\u001b[2J\u001b]0;title\u0007b\r\nfake line\u0000\u009b31m\u202e\tend\u001b[0m\n', {
        'k\n': 'v\u001b[1m\n',
      });
    expect(log.entries()[0]?.message).toBe('ab ↵ fake line␀� end k=v');
    expect(lines).toHaveLength(1);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    expect(lines[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  test('of any kind makes one bounded line that no terminal obeys', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints, maxLength: 200 }), fc.nat(40), (text, times) => {
        const { log, lines } = open({ format: 'pretty' });
        log.for('server:x').info(text.repeat(times), { text });
        expect(lines).toHaveLength(1);
        // oxlint-disable-next-line no-control-regex -- control characters are what this is about
        expect(lines[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        expect(log.entries()[0]?.message.length).toBeLessThanOrEqual(coreLimits.logLineChars);
      }),
    );
  });

  test('that is too long is cut with a mark, never within a character', () => {
    const { log } = open();
    log.for('hub').info('😀'.repeat(coreLimits.logLineChars));
    log.for('hub').info(`x${'😀'.repeat(coreLimits.logLineChars)}`);
    for (const { message } of log.entries()) {
      expect(message.length).toBeLessThanOrEqual(coreLimits.logLineChars);
      expect(message).toMatch(/^x?(?:😀)+…$/u);
    }
  });
});

describe('output', () => {
  test('json: one object per line with the bare message and the fields apart', () => {
    const { log, lines } = open({ now: () => 0 });
    log.for('hub').error('Cannot listen', { port: 3000 });
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        timestamp: '1970-01-01T00:00:00.000Z',
        level: 'error',
        service: 'hub',
        message: 'Cannot listen',
        fields: { port: 3000 },
      },
    ]);
  });

  test('pretty: aligned columns, coloured only when asked', () => {
    const plain = open({ format: 'pretty' });
    plain.log.for('hub').info('one');
    plain.log.for('server:memory').error('two');
    expect(plain.lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}hub {16}one$/);
    expect(plain.lines[1]?.indexOf('two')).toBe(plain.lines[0]?.indexOf('one'));

    const coloured = open({ format: 'pretty', colour: true });
    coloured.log.for('hub').warn('one');
    expect(coloured.lines[0]).toContain('\u001b[33mwarn \u001b[0m');
  });

  test('that fails to be written stops no caller', () => {
    const { log } = open({
      write: () => {
        throw new Error('disk full');
      },
    });
    log.for('hub').info('one');
    expect(log.entries()).toHaveLength(1);
  });

  test('whose reader has gone does not end the process', async () => {
    const program = `
      import { standardOutput } from ${JSON.stringify(builtParts)};
      const output = standardOutput();
      output.write('ready');
      process.stdin.resume().on('end', () => {
        let left = 5;
        const timer = setInterval(() => {
          output.write('into nowhere');
          if (--left > 0) return;
          clearInterval(timer);
          process.exitCode = 7;
        }, 1);
      });
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.end();
    const [code] = (await once(child, 'exit')) as [number | null];
    expect(code).toBe(7);
  });
});

test('entries about security stay in memory when the others are too many', () => {
  const { log } = open();
  log.security('api').warn('login failed', { user: 'ann' });
  for (let i = 0; i < 3 * logLimits.logRing; i++) log.for('api').info(`noise ${i}`);
  log.security('api').warn('login failed', { user: 'bob' });
  const entries = log.entries();
  expect(entries).toHaveLength(logLimits.logRing + 2);
  expect(entries.filter(({ message }) => message.startsWith('login')).map(({ message }) => message)).toEqual([
    'login failed user=ann',
    'login failed user=bob',
  ]);
  expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => a - b));
  for (let i = 0; i < 3 * logLimits.securityRing; i++) log.security('api').warn(`attempt ${i}`);
  expect(log.entries().length).toBeLessThanOrEqual(logLimits.logRing + logLimits.securityRing);
  log.clear();
  expect(log.entries()).toEqual([]);
});

test('a service that says much does not push out what the others said; alone it has all the room', () => {
  const { log } = open();
  const counts = () => {
    const found: Record<string, number> = {};
    for (const { service } of log.entries()) found[service] = (found[service] ?? 0) + 1;
    return found;
  };
  for (let i = 0; i < 30; i++) log.for('hub').info(`start ${i}`);
  for (let i = 0; i < 5 * logLimits.logRing; i++) {
    log.for('server:loud').info(`stderr ${i}`);
    if (i % 100 === 0) log.for('server:quiet').info(`says ${i}`);
  }
  expect(counts()).toEqual({ hub: 30, 'server:quiet': 50, 'server:loud': logLimits.logRing - 80 });
  const entries = log.entries();
  expect(entries.map(({ id }) => id)).toEqual(entries.map(({ id }) => id).sort((a, b) => a - b));
  expect(entries.at(-1)?.message).toBe(`stderr ${5 * logLimits.logRing - 1}`);
  for (let i = 0; i < 2 * logLimits.logRing; i++) log.for(`server:${i}`).info('one of very many');
  expect(log.entries().length).toBeLessThanOrEqual(logLimits.logRing);
  expect(log.entries().at(-1)?.service).toBe(`server:${2 * logLimits.logRing - 1}`);
});
