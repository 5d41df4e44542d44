import { describe, expect, test } from 'vitest';
import { answerQuestion } from './questions.ts';

/** A person who gives these answers in turn, and then ends the input. */
function person(...answers: string[]) {
  const said: string[] = [];
  return {
    said,
    say: (line: string) => void said.push(line),
    ask: (question: string) => {
      said.push(question);
      const answer = answers.shift();
      return answer === undefined ? Promise.reject(new Error('The input ended')) : Promise.resolve(answer);
    },
  };
}

const form = {
  mode: 'form' as const,
  message: 'Who are you?\u001b[2J',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string' as const, title: 'Your name' },
      age: { type: 'integer' as const, minimum: 0 },
      news: { type: 'boolean' as const, default: true },
      colour: { type: 'string' as const, enum: ['red', 'blue'] },
      days: { type: 'array' as const, items: { type: 'string' as const, enum: ['mon', 'tue'] } },
    },
    required: ['name', 'age'],
  },
};

describe('a form', () => {
  test('is filled in member by member, by its types', async () => {
    const at = person('Ann', '42', 'n', 'blue', 'mon, tue', 'y');
    const content = { name: 'Ann', age: 42, news: false, colour: 'blue', days: ['mon', 'tue'] };
    expect(await answerQuestion(form, 'shop-buy', at)).toEqual({ action: 'accept', content });
    expect(at.said.join('\n')).not.toContain('\u001b');
    expect(at.said.join('\n')).toMatch(/shop-buy asks: Who are you\?/);
  });

  test('asks again for what does not fit, and takes defaults and what may be left out', async () => {
    const at = person('', 'Ann', 'old', '-1', '7', '', 'green', '', '', '');
    const content = { name: 'Ann', age: 7, news: true };
    expect(await answerQuestion(form, 'shop-buy', at)).toEqual({ action: 'accept', content });
  });

  test('is declined with the last answer, and cancelled where the input ends', async () => {
    const declined = person('Ann', '42', '', '', '', 'n');
    expect(await answerQuestion(form, 'shop-buy', declined)).toEqual({ action: 'decline' });
    expect(await answerQuestion(form, 'shop-buy', person('Ann'))).toEqual({ action: 'cancel' });
  });
});

describe('a page to visit', () => {
  const visit = (url: string) => ({ mode: 'url' as const, message: 'Sign in', url, elicitationId: 'e1' });

  test('is shown, and accepted or not', async () => {
    const at = person('');
    expect(await answerQuestion(visit('https://bank.example/x'), 'pay', at)).toEqual({ action: 'accept' });
    expect(at.said.join('\n')).toContain('https://bank.example/x');
    expect(await answerQuestion(visit('https://bank.example/x'), 'pay', person('n'))).toEqual({ action: 'decline' });
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'nonsense'])('%s is not shown', async (url) => {
    const at = person('y');
    expect(await answerQuestion(visit(url), 'pay', at)).toEqual({ action: 'decline' });
    expect(at.said.join('\n')).not.toContain(url);
  });
});
