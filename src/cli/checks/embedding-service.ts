import { errorText, type ErrorCode, HubError } from '../../core/errors.ts';
import { createHostedEmbedder } from '../../smart/hosted/embedder.ts';
import { chooseEmbedding, type EmbeddingService, type EmbeddingConfig } from '../../smart/hosted/embedding-choice.ts';
import { smartLimits } from '../../smart/limits.ts';
import type { Check } from './check.ts';

const name = 'embedding service';

/**
 * Really asks the embedding service for one vector, if one is wanted. Never a failure: without it the built-in search
 * answers.
 */
export async function checkEmbeddingService(embedding: EmbeddingConfig): Promise<Check> {
  const choice = chooseEmbedding(embedding);
  switch (choice.kind) {
    case 'builtin':
      return { name, status: 'ok', detail: 'none is wanted; the search is built in' };
    case 'unusable':
      return { name, status: 'warn', detail: choice.why, fix: fixes.misconfigured };
    case 'hosted':
      return ask(choice.service);
  }
}

async function ask(service: EmbeddingService): Promise<Check> {
  const embedder = createHostedEmbedder(service);
  const what = `${service.model} at ${new URL(service.url).host}`;
  const startedAt = performance.now();
  try {
    const [vector] = await embedder.embed(['search'], smartLimits.embeddingQueryMs);
    if (!(vector instanceof Float32Array))
      return {
        name,
        status: 'warn',
        detail: `${what}: its vector cannot be used: ${vector?.refused ?? 'there is none'}`,
      };
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    return { name, status: 'ok', detail: `${what}: ${vector.length} numbers (${seconds} s)` };
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    const said = error.cause === undefined ? '' : `\n${errorText(error.cause)}`;
    const fix = fixes[error.code];
    return { name, status: 'warn', detail: `${what}: ${error.message}${said}`, ...(fix !== undefined && { fix }) };
  } finally {
    await embedder.close();
  }
}

const fixes: Partial<Record<ErrorCode, string>> & { readonly misconfigured: string } = {
  unauthenticated:
    'Give a key that the service takes: OPENAI_API_KEY or AZURE_OPENAI_API_KEY, or systemConfig.smartRouting.',
  misconfigured:
    'Correct its address and model; docs/smart-routing.md says where. The built-in search answers until then.',
  upstream_unavailable: 'See that it runs and can be reached from here. The built-in search answers until then.',
  timeout: 'See that it runs and can be reached from here. The built-in search answers until then.',
};
