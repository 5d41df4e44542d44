import { describe, expect, test } from 'vitest';
import { embeddingService } from '../../../test/kit/embedding-service.ts';
import type { EmbeddingConfig } from '../../smart/hosted/embedding-choice.ts';
import { checkEmbeddingService } from './embedding-service.ts';

const name = 'embedding service';

const openai = (given: EmbeddingConfig['openai'], more: Partial<EmbeddingConfig> = {}): EmbeddingConfig => {
  return { ...more, openai: given, azure: {} };
};

describe('the embedding service', () => {
  test('is not asked for when none is wanted', async () => {
    expect(await checkEmbeddingService(openai({}))).toMatchObject({ name, status: 'ok' });
    const off = openai({ apiKey: 'sk-one', baseUrl: 'http://127.0.0.1:9/v1' }, { enabled: false });
    expect(await checkEmbeddingService(off)).toMatchObject({ name, status: 'ok' });
  });

  test('that answers is shown with its model, its place and the size of its vectors', async () => {
    const service = await embeddingService();
    const found = await checkEmbeddingService(openai({ baseUrl: service.url }, { model: 'bge-m3' }));
    expect(found).toMatchObject({ name, status: 'ok' });
    expect(found.detail).toMatch(/^bge-m3 at 127\.0\.0\.1:\d+: 64 numbers/);
    expect(service.texts()).toEqual(['search']);
  });

  test('that refuses the key is to be looked at: the key is what to mend, and the hub works without', async () => {
    const service = await embeddingService();
    service.key = 'the right one';
    const found = await checkEmbeddingService(openai({ apiKey: 'sk-wrong', baseUrl: service.url }));
    expect(found).toMatchObject({ name, status: 'warn' });
    expect(found.detail).toContain('refused the key (401)');
    expect(found.fix).toContain('OPENAI_API_KEY');
  });

  test.each([
    ['knows no such model', 404, /does not know the address or the model/, /model/],
    ['breaks', 503, /answered with an error \(503\)/, /built-in search/],
    ['answers nothing that can be used', 'NaN', /vector cannot be used/, undefined],
    ['answers half', 'truncated', /not whole JSON/, undefined],
  ] as const)('that %s says so', async (_, fault, detail, fix) => {
    const service = await embeddingService();
    service.fail(fault);
    const found = await checkEmbeddingService(openai({ baseUrl: service.url }));
    expect(found).toMatchObject({ name, status: 'warn' });
    expect(found.detail).toMatch(detail);
    if (fix) expect(found.fix).toMatch(fix);
  });

  test('that cannot be asked at all says what is missing', async () => {
    const found = await checkEmbeddingService({ openai: {}, azure: { endpoint: 'https://x.example' } });
    expect(found).toMatchObject({ name, status: 'warn' });
    expect(found.detail).toContain('Azure needs its API key, embedding deployment too');
  });
});
