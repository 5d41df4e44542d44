import { modelDefaults } from './model-defaults.ts';

/**
 * What environment and settings say about the embedding service (reference: MCPHub §3.5), variables filled in. Empty
 * texts count as not said.
 */
export interface EmbeddingConfig {
  /** False: no hosted service, whatever else is set. */
  readonly enabled?: boolean | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly encodingFormat?: EncodingFormat | undefined;
  readonly dimensions?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly basePacingDelayMs?: number | undefined;
  /** Share of the best score that results must reach, by model; `builtin` is the search without a service. */
  readonly thresholds?: Readonly<Record<string, number>> | undefined;
  readonly openai: { readonly apiKey?: string | undefined; readonly baseUrl?: string | undefined };
  readonly azure: {
    readonly endpoint?: string | undefined;
    readonly apiKey?: string | undefined;
    readonly apiVersion?: string | undefined;
    readonly deployment?: string | undefined;
    readonly model?: string | undefined;
  };
}

export type EncodingFormat = 'auto' | 'float' | 'base64';

/** A service that can be asked. */
export interface EmbeddingService {
  readonly provider: 'openai' | 'azure_openai';
  /** Where texts are posted to. */
  readonly url: string;
  /** With the key in it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  /**
   * Names the vectors: those of one space can be compared, others cannot. Model, size where one is asked for, and the
   * place, because a server of one's own may call any model by any name. Holds no secret.
   */
  readonly space: string;
  /** The size to ask for; undefined = what the model gives. */
  readonly dimensions: number | undefined;
  readonly maxTokens: number;
  /** Pause between requests while tools are embedded. */
  readonly pacingMs: number;
  readonly encodingFormat: EncodingFormat;
  readonly threshold: number;
  readonly background: number;
}

export type EmbeddingChoice =
  | { readonly kind: 'builtin' }
  /** A service is wanted, but cannot be asked with what was said. `why` may be shown to every user who searches. */
  | { readonly kind: 'unusable'; readonly provider: string; readonly why: string }
  | { readonly kind: 'hosted'; readonly service: EmbeddingService };

/** Which embedder to use: a hosted one as soon as there is a key or an address for it, else the built-in one. */
export function chooseEmbedding(embedding: EmbeddingConfig): EmbeddingChoice {
  if (embedding.enabled === false) return { kind: 'builtin' };
  const { openai, azure } = embedding;
  const wanted = text(embedding.provider)?.toLowerCase();
  const provider = wanted ?? (saysOpenai(openai) || !text(azure.endpoint) ? 'openai' : 'azure_openai');
  switch (provider) {
    case 'builtin':
      return { kind: 'builtin' };
    case 'openai':
      return saysOpenai(openai) ? chooseOpenai(embedding) : { kind: 'builtin' };
    case 'azure':
    case 'azure_openai':
      return chooseAzure(embedding);
    default: {
      const why = `the embedding provider "${provider.slice(0, 40)}" is not known to this hub (known: openai, azure_openai, builtin)`;
      return { kind: 'unusable', provider, why };
    }
  }
}

/** The threshold of the search without a service; undefined = the usual one. */
export function builtinThreshold({ thresholds }: EmbeddingConfig): number | undefined {
  return thresholds?.['builtin'];
}

/** MCPHub writes its default address into every file, so that address alone does not mean that a service is wanted. */
function saysOpenai({ apiKey, baseUrl }: EmbeddingConfig['openai']): boolean {
  const url = text(baseUrl)?.replace(/\/+$/, '');
  return text(apiKey) !== undefined || (url !== undefined && url !== openaiUrl);
}

const openaiUrl = 'https://api.openai.com/v1';
const openaiModel = 'text-embedding-3-small';
/** The newest version of the interface without a "preview". */
const azureVersion = '2024-10-21';

function chooseOpenai(embedding: EmbeddingConfig): EmbeddingChoice {
  const base = address(text(embedding.openai.baseUrl) ?? openaiUrl);
  if (base === undefined)
    return unusable('openai', 'its base URL is no http:// or https:// address without a password in it');
  const key = text(embedding.openai.apiKey);
  const path = base.pathname.replace(/\/+$/, '').replace(/\/embeddings$/, '');
  const model = text(embedding.model) ?? openaiModel;
  return hosted(embedding, {
    provider: 'openai',
    url: `${base.origin}${path}/embeddings${base.search}`,
    headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    model,
    place: `${model}${ofSize(embedding)}@${base.host}${path}`,
  });
}

function chooseAzure(embedding: EmbeddingConfig): EmbeddingChoice {
  const { endpoint, apiKey, apiVersion, deployment, model } = embedding.azure;
  const needed = { endpoint: text(endpoint), 'API key': text(apiKey), 'embedding deployment': text(deployment) };
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0) return unusable('azure_openai', `Azure needs its ${missing.join(', ')} too`);
  const base = address(text(endpoint) ?? '');
  if (base === undefined)
    return unusable('azure_openai', 'its endpoint is no http:// or https:// address without a password in it');
  const path = base.pathname.replace(/\/+$/, '').replace(/\/openai$/, '');
  const name = text(deployment) ?? '';
  const url = new URL(`${base.origin}${path}/openai/deployments/${encodeURIComponent(name)}/embeddings`);
  url.searchParams.set('api-version', text(apiVersion) ?? azureVersion);
  return hosted(embedding, {
    provider: 'azure_openai',
    url: url.href,
    headers: { 'api-key': text(apiKey) ?? '' },
    model: text(model) ?? text(embedding.model) ?? name,
    place: `${name}${ofSize(embedding)}@${base.host}${path}`,
  });
}

function hosted(
  embedding: EmbeddingConfig,
  given: Pick<EmbeddingService, 'provider' | 'url' | 'headers' | 'model'> & { readonly place: string },
): EmbeddingChoice {
  const { place, ...service } = given;
  if (Object.values(service.headers).some((value) => !/^[\x21-\x7e][\x20-\x7e]*$/.test(value)))
    return unusable(service.provider, 'its key has characters that no header may have');
  const defaults = modelDefaults(service.model);
  return {
    kind: 'hosted',
    service: {
      ...service,
      space: place,
      dimensions: embedding.dimensions,
      maxTokens: embedding.maxTokens ?? defaults.maxTokens,
      pacingMs: embedding.basePacingDelayMs ?? 0,
      encodingFormat: embedding.encodingFormat ?? 'auto',
      threshold: embedding.thresholds?.[service.model] ?? defaults.threshold,
      background: defaults.background,
    },
  };
}

function unusable(provider: string, what: string): EmbeddingChoice {
  return { kind: 'unusable', provider, why: `the embedding service cannot be used: ${what}` };
}

function ofSize({ dimensions }: EmbeddingConfig): string {
  return dimensions === undefined ? '' : `/${dimensions}`;
}

/** A login in the address would be shown wherever the address is. */
function address(given: string): URL | undefined {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const fine = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return fine ? url : undefined;
}

function text(given: string | undefined): string | undefined {
  const trimmed = given?.trim() ?? '';
  return trimmed === '' ? undefined : trimmed;
}
