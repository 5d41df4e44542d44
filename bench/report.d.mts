/** A recorded run: `bench/results/<scenario>.json`. */
export interface Recorded {
  readonly scenario: string;
  readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
}
export const quoted: Record<string, string[]>;
export function readResults(): Recorded[];
export function tableOf(run: Recorded): string;
export function withTables(text: string, runs: readonly Recorded[]): string;
/** The README with its line of these runs. */
export function withLine(text: string, runs: readonly Recorded[]): string;
