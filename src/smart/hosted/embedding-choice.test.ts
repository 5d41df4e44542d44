import { describe, expect, test } from 'vitest';
import { chooseEmbedding, type EmbeddingService, type EmbeddingConfig } from './embedding-choice.ts';

const embedding = (given: Partial<EmbeddingConfig> = {}): EmbeddingConfig => ({ openai: {}, azure: {}, ...given });
const service = (given: Partial<EmbeddingConfig>): EmbeddingService => {
  const choice = chooseEmbedding(embedding(given));
  if (choice.kind !== 'hosted') throw new Error(`It chose ${JSON.stringify(choice)}`);
  return choice.service;
};

describe('the built-in embedder is used', () => {
  test.each([
    ['when nothing is said', {}],
    ['when keys are empty', { openai: { apiKey: '  ', baseUrl: '' } }],
    [
      'when there is only the address that MCPHub writes into every file',
      { openai: { baseUrl: 'https://api.openai.com/v1/' } },
    ],
    ['when smart routing is switched off', { enabled: false, openai: { apiKey: 'sk-1' } }],
    ['when it is chosen', { provider: 'builtin', openai: { apiKey: 'sk-1' } }],
  ])('%s', (_when, given) => {
    expect(chooseEmbedding(embedding(given))).toEqual({ kind: 'builtin' });
  });
});

test('a key is enough for OpenAI', () => {
  expect(service({ openai: { apiKey: ' sk-1\n' } })).toMatchObject({
    provider: 'openai',
    url: 'https://api.openai.com/v1/embeddings',
    headers: { authorization: 'Bearer sk-1' },
    model: 'text-embedding-3-small',
    maxTokens: 8191,
    threshold: 0.85,
  });
});

test('an address is enough for a service without a key, and no key is sent to it', () => {
  const found = service({ openai: { baseUrl: 'http://localhost:11434/v1/' }, model: 'nomic-embed-text' });
  expect(found).toMatchObject({ url: 'http://localhost:11434/v1/embeddings', headers: {}, model: 'nomic-embed-text' });
});

test('an address may name the endpoint itself', () => {
  expect(service({ openai: { baseUrl: 'http://tei:8080/v1/embeddings' } }).url).toBe('http://tei:8080/v1/embeddings');
});

test('Azure is asked as Azure wants it, and chosen by its endpoint alone', () => {
  const azure = {
    endpoint: 'https://x.openai.azure.com/',
    apiKey: 'k',
    deployment: 'emb 1',
    model: 'text-embedding-3-large',
  };
  const found = service({ azure });
  expect(found).toMatchObject({
    provider: 'azure_openai',
    headers: { 'api-key': 'k' },
    model: 'text-embedding-3-large',
  });
  expect(found.url).toBe('https://x.openai.azure.com/openai/deployments/emb%201/embeddings?api-version=2024-10-21');
  expect(service({ azure: { ...azure, apiVersion: '2025-01-01' } }).url).toContain('api-version=2025-01-01');
  expect(service({ azure, openai: { apiKey: 'sk-1' } }).provider).toBe('openai');
  expect(service({ azure, openai: { apiKey: 'sk-1' }, provider: 'azure_openai' }).provider).toBe('azure_openai');
});

describe('what cannot be used says why, and holds no key', () => {
  test.each([
    ['file:///etc/passwd', /http/],
    ['localhost:11434', /http/],
    ['not an address', /http/],
    ['https://user:secret-key-1@host/v1', /password/],
  ])('%s', (baseUrl, why) => {
    const choice = chooseEmbedding(embedding({ openai: { baseUrl, apiKey: 'secret-key-1' } }));
    expect(choice).toMatchObject({ kind: 'unusable', why: expect.stringMatching(why) as string });
    expect(JSON.stringify(choice)).not.toContain('secret-key-1');
  });
  test('Azure without its deployment', () => {
    const choice = chooseEmbedding(embedding({ azure: { endpoint: 'https://x', apiKey: 'secret-key-1' } }));
    expect(choice).toMatchObject({ kind: 'unusable', why: expect.stringContaining('embedding deployment') as string });
  });
  test('an unknown provider', () => {
    expect(chooseEmbedding(embedding({ provider: 'gemini' }))).toMatchObject({ kind: 'unusable', provider: 'gemini' });
  });
  test('a key that would break the header', () => {
    const choice = chooseEmbedding(embedding({ openai: { apiKey: 'secret-key-1\r\nx: y' } }));
    expect(choice.kind).toBe('unusable');
    expect(JSON.stringify(choice)).not.toContain('secret-key-1');
  });
});

test('vectors of different models, sizes and places are never mixed up, and another key changes nothing about them', () => {
  const spaces = [
    service({ openai: { apiKey: 'a' } }),
    service({ openai: { apiKey: 'a' }, model: 'text-embedding-3-large' }),
    service({ openai: { apiKey: 'a' }, dimensions: 256 }),
    service({ openai: { apiKey: 'a', baseUrl: 'http://localhost:1/v1' } }),
  ].map(({ space }) => space);
  expect(new Set(spaces).size).toBe(4);
  expect(service({ openai: { apiKey: 'b' } }).space).toBe(spaces[0]);
});

test('the threshold is the one configured for the model, else the one that suits it', () => {
  const openai = { apiKey: 'a' };
  expect(service({ openai, model: 'm', thresholds: { m: 0.7, other: 0.1 } }).threshold).toBe(0.7);
  expect(service({ openai, model: 'text-embedding-ada-002' }).threshold).toBeGreaterThan(0.9);
  expect(service({ openai, maxTokens: 99 }).maxTokens).toBe(99);
});
