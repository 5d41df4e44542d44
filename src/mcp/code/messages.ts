/** What a run of code and its thread say to each other. */

export interface CodeTask {
  readonly code: string;
  /** The engine's code: a `WebAssembly.Module`. */
  readonly engine: object;
  readonly memoryBytes: number;
  /** How long it may compute; the hub ends a run that waits for longer. */
  readonly timeoutMs: number;
  readonly bounds: {
    readonly logLines: number;
    readonly logChars: number;
    readonly resultChars: number;
    /** Calls of tools, and characters of all that is sent for them, in one run. */
    readonly calls: number;
    readonly argumentChars: number;
  };
}

export type FromCode =
  /** The engine is there, and the code begins: its time counts from here on. */
  | { readonly kind: 'begun' }
  /** A call of a tool; `args` as JSON text. */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly server: string;
      readonly tool: string;
      readonly args: string;
    }
  | { readonly kind: 'end'; readonly ended: CodeEnd };

/** The answer to a call: `{"value": …}` or `{"error": "…"}` as JSON text. */
export interface ToCode {
  readonly id: number;
  readonly answer: string;
}

export type CodeEnd =
  /** `result` as JSON text; undefined: nothing was returned. */
  | { readonly kind: 'result'; readonly result: string | undefined; readonly logs: readonly string[] }
  | {
      readonly kind: 'error';
      readonly message: string;
      /** In the code as it was given, from 1. */
      readonly line: number | undefined;
      readonly column: number | undefined;
      readonly logs: readonly string[];
    };
