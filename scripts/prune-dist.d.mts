/** For the test of it. */
export function pruneDist(built: string, sources: string): void;
