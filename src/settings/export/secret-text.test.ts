import { expect, test } from 'vitest';
import { hideInCommands, hideInUrls, hideKnownForms } from './secret-text.ts';

const hide = (text: string) =>
  hideInCommands(
    hideInUrls(
      hideKnownForms(text, () => '*'),
      () => '*',
    ),
    () => '*',
  );

test('texts made to be slow take time in proportion to their length', () => {
  const units = ['x', '1a', '1-', 'a.', 'a://', 'a:/', 'https://u:p@', 'http://x/?a&', ' --a', ' a=', ' ', '"', 'sk-'];
  const forms = ['eyJ-', 'eyJaaaaaaaaaa-', 'eyJaaaaaaaaaa.', 'xoxb-', 'AKIA', 'ghp_', '-----BEGIN A '];
  // In proportion to its square each of these would take minutes.
  for (const unit of [...units, ...forms]) expect(hide(`${unit.repeat(200_000 / unit.length)} ~`)).toMatch(/~$/);
});

test('a login in a URL is hidden, whatever stands before it', () => {
  for (const before of ['', ' ', '1', '-', '1.2+', 'x=', '(', 'a://x ', '1://', '"', '<'])
    expect(hideInUrls(`${before}https://ann:secret@example.com/a`, () => '*')).toBe(`${before}https://*@example.com/a`);
  expect(hideInUrls(`${'1'.repeat(100)}a+b://ann:secret@example.com`, () => '*')).toContain('a+b://*@example.com');
});

test('a token is hidden in the middle of a word too', () => {
  const jwt = 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl';
  for (const before of ['', 'token-', 'a.', '"', 'Bearer '])
    expect(hideKnownForms(before + jwt, () => '*')).toBe(`${before}*`);
});
