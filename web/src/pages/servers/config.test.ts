import { expect, test } from 'vitest';
import { changesOf, configOf, draftOf } from './config.ts';

const openapi = { url: 'https://api.example.com/openapi.json', security: { type: 'none' } };

test('the base URL of an API is written beside what no field shows of it, and gone when it is cleared', () => {
  const draft = draftOf({ openapi }, 'openapi');
  expect(draft.apiBase).toBe('');
  const named = configOf({ ...draft, apiBase: ' https://api.example.com/v2 ' });
  expect(named).toEqual({ openapi: { ...openapi, baseUrl: 'https://api.example.com/v2' } });
  const again = draftOf(named, 'openapi');
  expect(again.apiBase).toBe('https://api.example.com/v2');
  expect(configOf({ ...again, apiBase: '' })).toEqual({ openapi });
});

test('what was not touched is not sent', () => {
  const config = { openapi: { ...openapi, baseUrl: 'https://api.example.com/v2' }, unknown: { stays: true } };
  expect(changesOf(config, configOf(draftOf(config, 'openapi')))).toEqual({});
});
