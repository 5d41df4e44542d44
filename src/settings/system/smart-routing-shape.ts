import { z } from 'zod';
import { coreLimits } from '../../core/limits.ts';
import type { EmbeddingSettings } from '../../core/settings/embedding-settings.ts';

const text = z.string();

/** Forms of MCPHub send numbers as texts, and an empty one for none. */
function whole(least: number, most: number, unit: string) {
  const error = `expected a whole number from ${least} to ${most} ${unit}`;
  return z.preprocess(
    (value) =>
      typeof value === 'string' ? (/^\d+$/.test(value.trim()) ? Number(value) : value.trim() || undefined) : value,
    z.int({ error }).min(least, { error }).max(most, { error }).optional(),
  );
}

/** An address with a variable in it is looked at when the variable is filled in. */
const address = text.refine(
  (value) => value.trim() === '' || value.includes('${') || isWebAddress(value.trim()),
  'expected an http:// or https:// address without a password in it',
);

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/**
 * `systemConfig.smartRouting` (reference: MCPHub §3.5). `dbUrl` is passed over: the database is the one of `DB_URL`.
 */
export const smartRoutingShape = z.looseObject({
  enabled: z.boolean().optional(),
  progressiveDisclosure: z.boolean().optional(),
  serverDescriptionMode: z.enum(['names', 'full']).optional(),
  embeddingProvider: text.optional(),
  embeddingModel: text.optional(),
  embeddingEncodingFormat: z.enum(['auto', 'float', 'base64']).optional(),
  embeddingDimensions: whole(1, 16_384, 'numbers'),
  embeddingMaxTokens: whole(1, 10_000_000, 'tokens'),
  basePacingDelayMs: whole(0, coreLimits.timerMs, 'milliseconds'),
  thresholds: z.record(text, z.number().min(0).max(1)).optional(),
  openaiApiBaseUrl: address.optional(),
  openaiApiKey: text.optional(),
  openaiApiEmbeddingModel: text.optional(),
  azureOpenaiEndpoint: address.optional(),
  azureOpenaiApiKey: text.optional(),
  azureOpenaiApiVersion: text.optional(),
  azureOpenaiEmbeddingDeployment: text.optional(),
  azureOpenaiEmbeddingModel: text.optional(),
});

/** What the section says about the embedding service. The newer of MCPHub's two names for the model wins. */
export function embeddingSettings(given: z.output<typeof smartRoutingShape>): EmbeddingSettings {
  return {
    enabled: given.enabled,
    provider: given.embeddingProvider,
    model: given.embeddingModel?.trim() ? given.embeddingModel : given.openaiApiEmbeddingModel,
    encodingFormat: given.embeddingEncodingFormat,
    dimensions: given.embeddingDimensions,
    maxTokens: given.embeddingMaxTokens,
    basePacingDelayMs: given.basePacingDelayMs,
    thresholds: given.thresholds,
    openai: { apiKey: given.openaiApiKey, baseUrl: given.openaiApiBaseUrl },
    azure: {
      endpoint: given.azureOpenaiEndpoint,
      apiKey: given.azureOpenaiApiKey,
      apiVersion: given.azureOpenaiApiVersion,
      deployment: given.azureOpenaiEmbeddingDeployment,
      model: given.azureOpenaiEmbeddingModel,
    },
  };
}
