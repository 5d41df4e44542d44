import { hash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AuditRecord } from '../../core/audit.ts';
import { createCleaner } from '../clean.ts';
import { canonicalJson, chained, chainStart, createChainCheck, expired } from './chain.ts';
import { auditJournal, keptEvent } from './event.ts';
import { auditLimits } from './limits.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

const { clean } = createCleaner(['known-secret']);
const byAnn = { actor: { kind: 'user', name: 'ann' }, address: '127.0.0.1', via: 'api' } as const;
const event = (target: string, more: object = {}) => ({ ...byAnn, action: 'server.update', target, ...more });
const kept = (target: string, more: object = {}) => keptEvent(event(target, more), 1, new Date(0), clean).record;

function chainOf(records: readonly Omit<AuditRecord, 'id' | 'prev' | 'hash'>[]): AuditRecord[] {
  let last: Pick<AuditRecord, 'id' | 'hash'> = { id: 0, hash: chainStart };
  return records.map((record) => (last = chained(record, last)) as AuditRecord);
}

function check(records: readonly unknown[]) {
  const chain = createChainCheck();
  for (const record of records) chain.take(JSON.parse(JSON.stringify(record)));
  return chain.done();
}

const four = () => chainOf(['a', 'b', 'c', 'd'].map((target) => kept(target, { after: { [target]: 1 } })));

test('a hash is SHA-256 of the record without it, members sorted', () => {
  const [first] = four();
  const text = `{"action":"server.update","actor":{"kind":"user","name":"ann"},"address":"127.0.0.1","after":{"a":1},"count":1,"id":1,"prev":"${chainStart}","result":"success","target":"a","time":"1970-01-01T00:00:00.000Z","via":"api"}`;
  expect(first?.hash).toBe(hash('sha256', text));
  expect(check(four())).toMatchObject({ records: 4, first: 1, last: { id: 4 } });
});

test('a record that was changed, removed, moved or put in is found, and named', () => {
  const [a, b, c, d] = four();
  expect(check([a, { ...b, target: 'x' }, c, d])).toMatchObject({
    id: 2,
    why: expect.stringContaining('was changed') as string,
  });
  expect(check([a, { ...b, before: {} }, c, d])).toMatchObject({ id: 2 });
  expect(check([a, c, d])).toMatchObject({ id: 3, why: expect.stringContaining('missing') as string });
  expect(check([a, c, b, d])).toMatchObject({ id: 3 });
  expect(check([a, b, b, c, d])).toMatchObject({ line: 3, id: 2 });
  expect(check([b, c, d])).toMatchObject({ line: 1, id: 2 });
  // Made to fit again from the change on: the record after it still has the old hash.
  const forged = chained({ ...kept('x'), count: 1 }, a as AuditRecord);
  expect(check([a, forged, c, d])).toMatchObject({ id: 3, why: expect.stringContaining('"prev"') as string });
  for (const no of [null, 5, [], {}, { id: 1 }, 'text']) expect(check([no])).toMatchObject({ line: 1 });
});

test('records that went because of their age are no gap where a later one says so', () => {
  const before = chainOf([kept('a'), kept('b'), kept('c')]);
  const [, gone, third] = before;
  const anchor = kept('', { after: { id: 2, hash: gone?.hash } });
  const last = chained({ ...anchor, action: expired }, third as AuditRecord);
  expect(check([third, last])).toMatchObject({ records: 2, first: 3 });
  expect(check([last])).toMatchObject({ line: 1, id: 4 });
});

test('any event of any size and characters gives a bounded record that holds, also after the journal', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints }), fc.jsonValue(), (text, value) => {
      const long = text.repeat(400);
      const made = keptEvent(event(long, { before: { [text]: value, long }, after: { value } }), 1, new Date(), clean);
      const again = auditJournal.decoder()(auditJournal.encoder()(made));
      expect(canonicalJson(again)).toBe(canonicalJson(made));
      const [record] = chainOf([again.record]);
      expect(check([record])).toMatchObject({ records: 1 });
      expect(Buffer.from(canonicalJson(record)).every((byte) => byte >= 0x20 && byte !== 0x7f)).toBe(true);
      expect(Buffer.byteLength(canonicalJson(record))).toBeLessThan(auditLimits.auditValueChars * 10);
    }),
  );
});

test('a megabyte of a name, deep values and secrets stay out', () => {
  const deep = JSON.parse('{"a":'.repeat(200) + '1' + '}'.repeat(200)) as object;
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`member${i}`, i]));
  const record = kept('x'.repeat(2 ** 20), { before: { deep }, after: { wide, text: 'a known-secret\u001b[2J' } });
  expect(record.target.length).toBe(auditLimits.auditTextChars);
  expect(canonicalJson(record).length).toBeLessThan(2 * auditLimits.auditValueChars + 4 * auditLimits.auditTextChars);
  expect(kept('a', { after: { text: 'a known-secret\u001b[2J' } }).after).toEqual({ text: 'a ••••' });
});
