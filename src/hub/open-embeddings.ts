import type { Closers } from '../core/closers.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { SystemSettings } from '../core/settings/system.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { approvalWebhook, auditOutputs } from './audit-outputs.ts';
import { guardAddress } from './guard-address.ts';
import type { Env } from '../env/env.ts';
import { expandText, type ReadFile } from '../settings/server/placeholders.ts';
import { secretValues } from '../settings/server/secret-values.ts';
import { embeddingSettings } from '../settings/system/smart-routing-shape.ts';
import type { EmbeddingConfig } from '../smart/hosted/embedding-choice.ts';
import { Embeddings } from '../smart/embeddings.ts';
import { smartLimits } from '../smart/limits.ts';
import { createVectorStore } from '../smart/vectors/kept.ts';
import { clientSecrets } from './client-secrets.ts';
import type { SecretFiles } from './secret-files.ts';

/** The hosted side of the search, with its vectors in the hub's database. */
export function openEmbeddings(database: DatabaseHandle, log: Logger, closers: Closers): Embeddings {
  const embeddings = new Embeddings({
    store: createVectorStore(database),
    log,
    // Other hubs have less to do then.
    saved: () => void database.attempt((open) => open.notify(channel, '')),
  });
  closers.add(() => embeddings.close());
  closers.add(database.onChange(({ state }) => state === 'ready' && embeddings.flag()));
  closers.add(database.listen(channel, () => embeddings.flag()));
  return embeddings;
}

const channel = 'embeddings';

/**
 * The config of the embedding service: the environment where it is set, else the settings, with `${VAR}` and
 * `${file:/path}` filled in.
 */
export function embeddingConfig(
  { system }: { readonly system: Pick<SystemSettings, 'embedding'> },
  { smart, variables }: Env,
  readFile: ReadFile,
): EmbeddingConfig {
  const given = system.embedding ?? embeddingSettings({});
  const filled = <T extends object>(texts: T): T => {
    const fill = (value: unknown): unknown =>
      typeof value === 'string' ? expandText(value, [variables], new Set(), readFile).trim() : value;
    return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, fill(value)])) as T;
  };
  return {
    ...over(smart, filled(given)),
    openai: over(smart.openai, filled(given.openai)),
    azure: over(smart.azure, filled(given.azure)),
  };
}

/** The members of `then`, where `first` has none of its own. */
function over<T extends object>(first: { readonly [K in keyof T]?: unknown }, then: T): T {
  const entries = Object.entries(then).map(([name, value]) => [name, first[name as keyof T] ?? (value as unknown)]);
  return Object.fromEntries(entries) as T;
}

/** What no log may show of the settings and the environment. */
export function secretsOf(settings: Settings, env: Env, files: SecretFiles): string[] {
  const { known, values } = files;
  const keys = embeddingKeys(embeddingConfig(settings, env, known));
  return [
    ...secretValues(settings, env.variables, known),
    ...keys,
    ...clientSecrets(settings, env, files),
    ...[auditOutputs(settings, env, { tryRead: known })?.webhook?.secret ?? []].flat(),
    ...[approvalWebhook(settings, env, { tryRead: known })?.secret ?? []].flat(),
    ...(settings.system.guards ?? []).flatMap((guard) => guardAddress(guard, env, { tryRead: known }).secret ?? []),
    ...[env.telemetry?.traces, env.telemetry?.metrics, env.telemetry?.logs].flatMap((signal) =>
      Object.values(signal?.headers ?? {}).flatMap((value) => [value, value.replace(/^(?:Bearer|Basic) /i, '')]),
    ),
    ...values(),
  ];
}

/** The keys in the config, which must not be shown. */
export function embeddingKeys({ openai, azure }: EmbeddingConfig): string[] {
  return [openai.apiKey, azure.apiKey].filter(
    (key): key is string => key !== undefined && key.length >= smartLimits.embeddingKeyChars,
  );
}
