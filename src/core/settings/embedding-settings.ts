/**
 * The embedding service as `systemConfig.smartRouting` describes it (reference: MCPHub §3.5). Texts as written in the
 * file: `${VAR}` is expanded when the service is chosen, never before. The environment wins over each of them.
 */
export interface EmbeddingSettings {
  /** False: the search is built in, whatever else is set. */
  readonly enabled: boolean | undefined;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly encodingFormat: 'auto' | 'float' | 'base64' | undefined;
  readonly dimensions: number | undefined;
  readonly maxTokens: number | undefined;
  readonly basePacingDelayMs: number | undefined;
  /** Share of the best score that results must reach, by model; `builtin` is the search without a service. */
  readonly thresholds: Readonly<Record<string, number>> | undefined;
  readonly openai: { readonly apiKey: string | undefined; readonly baseUrl: string | undefined };
  readonly azure: {
    readonly endpoint: string | undefined;
    readonly apiKey: string | undefined;
    readonly apiVersion: string | undefined;
    readonly deployment: string | undefined;
    readonly model: string | undefined;
  };
}
