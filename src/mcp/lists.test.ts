import { expect, test } from 'vitest';
import { ownTexts } from '../core/access/item-texts.ts';
import { answerList } from './lists.ts';
import type { Hints } from './hints.ts';
import type { ClientRequest } from './request.ts';

/** The answer to a list of such texts, as text. */
function answered(texts: readonly string[]): string {
  let said = '';
  const reply = {
    answer: (text: string) => void (said = text),
    answerBytes: (head: string, bytes: Buffer, tail: string) => void (said = `${head}${bytes.toString()}${tail}`),
  };
  const view = { lists: { tools: { texts: ownTexts(texts), targets: [] } } };
  const request = { id: '1', view, reply, pageSize: 0, stateless: false, message: {} } as unknown as ClientRequest;
  answerList(request, 'tools', 'tools', {} as Hints);
  return said;
}

test.each([0, 1, 2, 500])('a list of %d items is these items, whether it is sent as a text or as bytes', (count) => {
  const texts = Array.from({ length: count }, (_, i) => `{"name":"t${i}","description":"ü → 😀 ${'x'.repeat(i)}"}`);
  expect(answered(texts)).toBe(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${texts.join(',')}]}}`);
});
